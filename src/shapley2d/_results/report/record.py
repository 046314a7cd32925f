"""The record of a run in words: the settings, and the call that repeats it."""

from __future__ import annotations

from typing import Any


def settings_words(info: dict[str, Any]) -> dict[str, str]:
    """Names and words of what the record holds, the method's settings last.

    Examples
    --------
    >>> settings_words({"method": "knn", "converged": True, "settings": {"n_neighbors": 5}})
    {'method': 'knn', 'converged': 'yes', 'n_neighbors': '5'}
    """
    record = {key: value for key, value in info.items() if key not in ("versions", "settings")}
    record |= info.get("settings") or {}
    return {key: _words(value) for key, value in record.items() if value is not None}


def call_words(info: dict[str, Any]) -> str:
    """The call that repeats the run; empty where the record does not tell a table's task.

    Examples
    --------
    >>> call_words({"method": "knn", "task": "classification", "folds": 5, "random_state": 0})
    'value_cells(X, y, method="knn", task="classification", folds=5, random_state=0)'
    """
    if not info.get("task") or not info.get("method"):
        return ""
    blocks = info.get("kind") == "blocks"
    options = {"method": info["method"], "task": info["task"], "folds": info.get("folds")}
    options |= info.get("settings") or {}
    if info.get("semivalue") not in (None, ["shapley", "shapley"]):
        rows, columns = (tuple(one) if isinstance(one, list) else one for one in info["semivalue"])
        options["semivalue"] = (rows, columns)
    options["random_state"] = info.get("random_state")
    judged = info.get("n_valid") != 0 and not info.get("folds")
    tables = "X, y, X_valid, y_valid" if judged else "X, y"
    parts = [tables, *(["..."] if blocks else [])]
    parts += [f"{key}={_code(value)}" for key, value in options.items() if value is not None]
    return f"{'value_blocks' if blocks else 'value_cells'}({', '.join(parts)})"


def _code(value: Any) -> str:
    if isinstance(value, str):
        return value if value.endswith(")") else f'"{value}"'  # a model is recorded as the code that makes it
    return repr(value)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(item) for item in value)
    return str(value)
