"""The call that repeats a run, as code."""

from __future__ import annotations

import ast
import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_POSITIONAL = ("X", "y", "X_valid", "y_valid", "h")
_WRITTEN_OUT = ("kinds", "semivalue")  # containers of a few words
_ALWAYS = ("method", "random_state")
_NO_MATTER = ("n_jobs", "progress", "checkpoint", "cluster")  # they change no value


def repeat_call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """The call of a public function; data are written as the names of their parameters.

    Arguments that are the default or that change no value are left out, except for the method and
    the seed.
    """
    parts = []
    for name, parameter in inspect.signature(function).parameters.items():
        value = arguments.get(name)
        left_out = name not in _ALWAYS and is_default(value, parameter.default)
        if value is None or left_out or name in _NO_MATTER:
            continue
        code = name if _is_data(name, value) else value_code(value, name)
        parts.append(code if name in _POSITIONAL else f"{name}={code}")
    return f"{function.__name__}({', '.join(parts)})"


def is_default(value: Any, default: Any) -> bool:
    """Whether a setting is the default, as far as plain values can be compared."""
    plain = type(value) is type(default) and isinstance(value, (str, int, float, tuple))
    return value is default or (plain and bool(value == default))


def _is_data(name: str, value: Any) -> bool:
    """Whether a value is a table, or has an entry for every row or column.

    The path of a file and the name of a column can be written out.
    """
    if isinstance(value, (str, os.PathLike)) or hasattr(value, "get_params"):
        return False
    return name in _POSITIONAL or (hasattr(value, "__len__") and name not in _WRITTEN_OUT)


def value_code(value: Any, name: str = "value") -> str:
    """A value as code; ``name`` where it has none."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        simple = value.isprintable() and '"' not in value and "\\" not in value
        return f'"{value}"' if simple else repr(value)
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if callable(value) and hasattr(value, "__name__") and not hasattr(value, "get_params"):
        return value.__name__ if value.__name__.isidentifier() else name
    try:
        code = value.__repr__(N_CHAR_MAX=10**9)  # scikit-learn's estimators, not shortened
    except TypeError:
        code = repr(value)
    if "..." in code:  # scikit-learn shortens long lists
        return name
    try:
        return ast.unparse(ast.parse(code, mode="eval"))  # on one line
    except (SyntaxError, ValueError):
        return name
