"""The record of a run in words."""

from __future__ import annotations

from typing import Any

_ELSEWHERE = ("versions", "settings", "about", "call", "block_owners")  # shown in places of their own


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
    return str(value)
