"""The call that repeats a run, as code."""

from __future__ import annotations

import ast
import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BY_NAME = (
    "X", "y", "X_valid", "y_valid", "h", "rows", "columns", "owners", "row_names", "column_names", "groups", "time",
    "valid_weight", "precedence",
)  # fmt: skip
_NO_MATTER = ("n_jobs", "progress", "checkpoint", "cluster")  # they change no value


def call_code(
    function: Callable[..., Any], given: Mapping[str, Any], options: Mapping[str, Any], seed: int
) -> str:
    """The call of a public function with these arguments; tables and the like go by the names of their parameters.

    Options that change no value are left out, and so are those that have their default, except the
    method.

    Parameters
    ----------
    function : callable
    given : mapping
        Its arguments by name.
    options : mapping
        Those of the method.
    seed : int
        What ``random_state`` came to.

    Examples
    --------
    >>> def value(X, y, method="knn", *, cv=5, random_state=0, progress="auto", **options): ...
    >>> call_code(value, {"X": 1, "y": 2, "method": "mc", "cv": 5, "random_state": None}, {"tolerance": 0.1}, 7)
    'value(X, y, method="mc", random_state=7, tolerance=0.1)'
    """
    parts = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD or name not in given:
            continue
        value = seed if name == "random_state" else given[name]
        if name in _NO_MATTER or (
            _is(value, parameter.default) and name not in ("method", "random_state")
        ):
            continue
        named = name in _BY_NAME and not isinstance(
            value, (str, os.PathLike)
        )  # files and columns tell their own name
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and name in _BY_NAME:
            parts.append(name if named else value_code(value))
        else:
            parts.append(f"{name}={name if named else value_code(value, name)}")
    parts += [
        f"{name}={value_code(value, name)}"
        for name, value in options.items()
        if value is not None and name not in _NO_MATTER
    ]
    return f"{function.__name__}({', '.join(parts)})"


def value_code(value: Any, name: str = "value") -> str:
    """A value as code: a model by its representation, a function by its name, anything else by ``name``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return (
            f'"{value}"'
            if value.isprintable() and '"' not in value and "\\" not in value
            else repr(value)
        )
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if callable(value) and hasattr(value, "__name__") and not hasattr(value, "get_params"):
        return value.__name__ if value.__name__.isidentifier() else name
    if name == "cv" and isinstance(value, (list, tuple)):  # splits, one by one
        return name
    code = value.__repr__(N_CHAR_MAX=10**9) if hasattr(value, "get_params") else repr(value)
    if "..." in code:  # scikit-learn shortens long lists
        return name
    try:
        return ast.unparse(ast.parse(code, mode="eval"))  # on one line
    except (SyntaxError, ValueError):
        return name


def _is(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return (
        type(value) is type(default)
        and isinstance(value, (str, int, float, tuple))
        and bool(value == default)
    )
