"""What determines a run, in a form that a file can hold and that can be compared.

Data are hashed, settings go by their names.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_SHOWN = 80  # characters of a value in a message
_METHOD = "method"


def describe(value: Any, option: str = "model") -> Any:
    """A setting as JSON can hold it, the same in every process.

    Functions and classes go by module and name, so one without a name of its own is refused.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe(GaussianNB())
    'sklearn.naive_bayes.GaussianNB(priors=None, var_smoothing=1e-09)'
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [describe(item, option) for item in value]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return hash_parts([str(value.dtype).encode(), str(value.shape).encode(), value.tobytes()])
    if hasattr(value, "get_params") and not isinstance(value, type):
        inside = ", ".join(
            f"{name}={describe(item, option)}"
            for name, item in sorted(value.get_params(deep=False).items())
        )
        return f"{_full_name(type(value), option)}({inside})"
    if isinstance(value, functools.partial):
        bound = describe([*value.args, *sorted(value.keywords.items())], option)
        return f"{describe(value.func, option)} with {bound}"
    if inspect.ismethod(value):
        return f"{describe(value.__self__, option)}.{value.__name__}"
    scored_by = getattr(value, "_score_func", None)  # of make_scorer
    if scored_by is not None:
        return f"{describe(scored_by, option)} by {value!r}"
    if callable(value) and hasattr(value, "__qualname__"):
        return _full_name(value, option)
    if callable(value) and _ADDRESS.search(repr(value)):
        raise InputError(
            f"{option} is an object that does not say what it holds, so no checkpoint can know it "
            "again: give its class a __repr__, or use a function"
        )
    return _ADDRESS.sub("", repr(value))


def _full_name(thing: Any, option: str) -> str:
    """Module and name of a function or a class."""
    if "<" in thing.__qualname__:  # <lambda>, <locals>
        raise InputError(
            f"{option} is or uses {thing.__qualname__}, which no checkpoint can know again: define "
            "it by name at the top level of a module"
        )
    return f"{thing.__module__}.{thing.__qualname__}"


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """What differs between two fingerprints, in words.

    >>> differences({"random_state": 0, "model": None}, {"random_state": 1, "model": None})
    ['random_state is 0 there and 1 here']

    Settings of different methods are not compared:

    >>> differences({"method": "mc", "model": None}, {"method": "exact", "model": "tree"})
    ['method is mc there and exact here']
    """
    if _METHOD in there and _METHOD in here and there[_METHOD] != here[_METHOD]:
        return [f"{_METHOD} {_apart(there[_METHOD], here[_METHOD])}"]
    found = []
    for name in dict.fromkeys([*here, *there]):
        one, other = there.get(name), here.get(name)
        if one != other:
            found.append(f"{_short(name)} {_apart(one, other)}")
    return found


def _apart(there: Any, here: Any) -> str:
    if any(isinstance(value, str) and _HASH.fullmatch(value) for value in (there, here)):
        return "differs"
    return f"is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    """A value for a message, cut and printable: a file may hold control characters."""
    start = str(value)[: _MAX_SHOWN + 1]
    text = "".join(letter if letter.isprintable() else "?" for letter in start)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def hash_parts(parts: Iterable[bytes]) -> str:
    """A digest of byte strings, which differs for another split of the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return f"sha256:{digest.hexdigest()}"
