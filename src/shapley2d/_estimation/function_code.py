"""Digests of a user's function, its code and the values it uses, the same in every process.

Compared are bytecode, constants and names (comments and blank lines do not count), default
arguments, and the values of variables from outside that hold functions of the same module, arrays,
or plain values that do not change by themselves. Lists, dictionaries and counters are left out: a
cache or a count of calls differs from run to run and says nothing.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from typing import Any

import numpy as np

from shapley2d._estimation.fingerprint import PYTHON, hash_parts

_MAX_PARTS = 64  # digests of a function; the rest share one
_HAS_DOCSTRING = 0x4000000  # a flag since Python 3.13
_MAX_OBJECTS = 2**20  # entries of a table of objects that is worth a digest
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_STORES = ("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "DELETE_DEREF", "DELETE_GLOBAL")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_KNOWN = ("shapley2d", "builtins", "numpy", "sklearn")  # their versions stand for their code


def function_code(function: Any, name: str = "h") -> dict[str, str]:
    """Digests of a function's parts, by their names in messages; empty if it has no Python code.

    Bytecode differs between versions of Python, so the version goes with it.

    Examples
    --------
    >>> weight = 2.0
    >>> one, other = function_code(lambda S, F: S.sum()), function_code(lambda S, F: S.sum() + 1)
    >>> one["the code of h"] == other["the code of h"]
    False
    """
    parts: dict[str, str] = {}
    try:
        _add(function, name, parts, set())
    except Exception:  # noqa: BLE001  (an object with a __getattr__ of its own may raise anything)
        return {}
    if not parts:
        return {}
    if len(parts) > _MAX_PARTS:
        names = sorted(parts)
        rest = hash_parts(f"{key}={parts[key]}".encode() for key in names[_MAX_PARTS:])
        parts = {
            **{key: parts[key] for key in names[:_MAX_PARTS]},
            "other values that it uses": rest,
        }
    return {PYTHON: _version(), **parts}


def model_code(model: Any, name: str = "model") -> dict[str, str]:
    """Digests of the code of the user's own classes: a model's, and those of models within it."""
    parts: dict[str, str] = {}
    within = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    for key, part in {"": model, **within}.items():
        for kind in type(part).__mro__ if hasattr(part, "get_params") else ():
            if kind.__module__.split(".", 1)[0] not in _KNOWN:
                _add_class(kind, f"{name}{key and '.'}{key}", parts)
    return {PYTHON: _version(), **parts} if parts else {}


def _version() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def _add(function: Any, name: str, parts: dict[str, str], seen: set[int]) -> None:
    """Add a callable's parts, each callable once."""
    if id(function) in seen or len(seen) > _MAX_PARTS:
        return
    seen.add(id(function))
    if isinstance(function, functools.partial):
        _add(function.func, name, parts, seen)
        bound = {str(k): value for k, value in enumerate(function.args)} | function.keywords
        _add_values(bound, f"a bound argument of {name}", parts, seen)
        return
    if isinstance(function, types.MethodType):
        _add_object(function.__self__, name, parts, seen)
        return
    for inner in ("py_func", "__wrapped__", "_score_func"):  # of numba, of a decorator, of a scorer
        if callable(getattr(function, inner, None)):
            _add(getattr(function, inner), name, parts, seen)
    if isinstance(function, types.FunctionType):
        _add_function(function, name, parts, seen)
        return
    has_no_state = isinstance(function, (type, types.BuiltinFunctionType))
    if not has_no_state and not hasattr(function, "py_func"):
        _add_object(function, name, parts, seen)


def _add_function(
    function: types.FunctionType, name: str, parts: dict[str, str], seen: set[int]
) -> None:
    code = function.__code__
    parts[f"the code of {name}"] = hash_parts(_code_parts(code))
    defaults = dict(enumerate(function.__defaults__ or ())) | (function.__kwdefaults__ or {})
    _add_values(
        {str(key): value for key, value in defaults.items()},
        f"a default argument of {name}",
        parts,
        seen,
    )
    changed = _stored(code)
    closure = {
        variable: cell.cell_contents
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
        if variable not in changed and _filled(cell)
    }
    used = {
        variable: function.__globals__[variable]
        for variable in sorted(_names(code))
        if variable in function.__globals__ and variable not in changed
    }
    _add_values(used | closure, f"what {name} uses", parts, seen, function.__globals__)


def _add_object(holder: Any, name: str, parts: dict[str, str], seen: set[int]) -> None:
    """Add an object that is called, or whose method is: the code of its class and what it holds."""
    kind = type(holder)
    if kind.__module__.split(".", 1)[0] in _KNOWN:
        return
    changed = _add_class(kind, name, parts)
    held = {
        key: value for key, value in getattr(holder, "__dict__", {}).items() if key not in changed
    }
    _add_values(held, f"what {name} holds", parts, seen)


def _add_class(kind: type, name: str, parts: dict[str, str]) -> set[str]:
    """Add the code of a class's methods; return the attributes that they change after __init__."""
    changed: set[str] = set()
    for key, member in sorted(vars(kind).items()):
        plain = getattr(member, "__func__", member)
        if isinstance(plain, types.FunctionType):
            parts[f"the code of {name}.{key}"] = hash_parts(_code_parts(plain.__code__))
            changed |= set() if key == "__init__" else _stored_attributes(plain.__code__)
    return changed


def _add_values(
    values: dict[str, Any],
    where: str,
    parts: dict[str, str],
    seen: set[int],
    module: dict[str, Any] | None = None,
) -> None:
    """Add values that can be told apart, and functions that belong to the same module."""
    for variable, value in values.items():
        if isinstance(value, types.FunctionType):
            if module is None or value.__globals__ is module:
                _add(value, _new_name(variable, parts), parts, seen)
            continue
        digest = _digest(value)
        if digest is not None:
            parts[f"{where} ({variable})"] = digest


def _new_name(variable: str, parts: dict[str, str]) -> str:
    """The name of another function in messages, unlike those that are taken."""
    named = f"the code of {variable}"
    taken = named in parts or f"{named}.__call__" in parts
    return f"the other {variable}" if taken else variable


def _digest(value: Any) -> str | None:
    """A digest of an array or a plain value; None for what may change by itself or is unknown."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return hash_parts([str(value.dtype).encode(), str(value.shape).encode(), value.tobytes()])
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (tuple, frozenset)):
        inner = [_digest(item) for item in value]
        if None in inner:
            return None
        ordered = sorted(map(str, inner)) if isinstance(value, frozenset) else map(str, inner)
        return hash_parts([type(value).__name__.encode(), *(part.encode() for part in ordered)])
    if not isinstance(value, _PLAIN):
        return _frame_digest(value)
    # Python refuses to write very long integers in decimal
    text = hex(value) if isinstance(value, int) else repr(value)
    return hash_parts([f"{type(value).__name__} {text}".encode()])


def _frame_digest(value: Any) -> str | None:
    """A digest of a table or column of pandas or polars."""
    if not hasattr(value, "to_numpy") or not hasattr(value, "shape") or isinstance(value, type):
        return None
    try:
        array = np.asarray(value.to_numpy())
        if not array.dtype.hasobject:
            return _digest(array)
        return hash_parts([repr(array.tolist()).encode()]) if array.size <= _MAX_OBJECTS else None
    except Exception:  # noqa: BLE001  (something else that only looks like a table)
        return None


def _code_parts(code: types.CodeType) -> list[bytes]:
    """What the code does step by step: no file, no line numbers, no docstring."""
    parts = [repr((code.co_freevars, code.co_argcount, code.co_flags & ~_HAS_DOCSTRING)).encode()]
    for step in dis.get_instructions(code):
        if isinstance(step.argval, types.CodeType):
            parts += [step.opname.encode(), *_code_parts(step.argval)]
        else:
            parts.append(f"{step.opname} {_digest(step.argval)}".encode())
    return parts


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _names(code: types.CodeType) -> set[str]:
    """Variables of its module that a function and those inside it look up."""
    here = {str(step.argval) for step in dis.get_instructions(code) if step.opname in _LOADS}
    return here.union(*(_names(inner) for inner in _inner(code)))


def _stored(code: types.CodeType) -> set[str]:
    """Variables from outside that a function changes: counters and the like."""
    here = {str(step.argval) for step in dis.get_instructions(code) if step.opname in _STORES}
    return here.union(*(_stored(inner) for inner in _inner(code)))


def _stored_attributes(code: types.CodeType) -> set[str]:
    return {str(step.argval) for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"}


def _filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
