"""The record of a run in words."""

from __future__ import annotations

from typing import Any

from shapley2d._results.plan import took_words

# shown in places of their own
_ELSEWHERE = ("versions", "settings", "about", "call", "block_owners", "date", "planned_s")


def known_facts(info: dict[str, Any]) -> dict[str, str]:
    """What a reader wants to know first of a page that was found in a folder.

    Examples
    --------
    >>> known_facts({"task": "regression", "date": "2026-05-01 12:30 UTC", "versions": {"shapley2d": "1.0"}})
    {'task': 'regression', 'made': '2026-05-01 12:30 UTC', 'by': 'shapley2d 1.0'}
    >>> known_facts({"seconds": 75.0, "planned_s": [70.0, 90.0]})
    {'took': '1 min 15 s, planned 1 min 10 s to 1 min 30 s'}
    """
    version = (info.get("versions") or {}).get("shapley2d")
    found = {
        "task": info.get("task"),
        "made": info.get("date"),
        "by": version and f"shapley2d {version}",
    }
    found["took"] = took_words(info)
    return {name: str(words) for name, words in found.items() if words}


def settings_words(info: dict[str, Any]) -> dict[str, str]:
    """Names and words of what the record holds, the method's settings last.

    Examples
    --------
    >>> settings_words({"method": "knn", "converged": True, "settings": {"n_neighbors": 5}})
    {'method': 'knn', 'converged': 'yes', 'n_neighbors': '5'}
    """
    record = {key: value for key, value in info.items() if key not in _ELSEWHERE}
    record |= info.get("settings") or {}
    return {key: _words(value) for key, value in record.items() if value is not None}


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_words(item)}" for key, item in value.items())
    return str(value)
