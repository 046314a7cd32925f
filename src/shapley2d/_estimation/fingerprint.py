"""What determines a run, in a form that a file can hold and that can be compared.

Data are hashed, settings go by their names, games by their sizes and a few utilities.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import fits_float
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shapley2d._theory.game import Game

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_SHOWN = 80  # characters of a value in a message
_MAX_LISTED = 3  # parts of a function that a message names
_SAME_UTILITY = 1e-6  # another processor may round differently; another game differs by more
_PROBES = "utilities"
_METHOD = "method"
PYTHON = "python"
"""Goes with digests of code, which differ between versions of Python."""


def fingerprint_games(games: Sequence[Game]) -> dict[str, Any]:
    """Sizes of games and a few of their utilities; refuses a game that is not the same twice."""
    probes: list[float] = []
    for game in games:
        random = np.random.default_rng(0)
        whole = [np.ones((1, size), dtype=bool) for size in (game.n_rows, game.n_columns)]
        part = [random.permutation(mask.size)[None] < (mask.size + 1) // 2 for mask in whole]
        first, half, second = (
            float(game.utilities(*(MaskCoalitions(mask) for mask in masks))[0, 0])
            for masks in (whole, part, whole)
        )
        if not same_utility(first, second):
            raise InputError(not_repeatable("all rows and columns", first, second))
        probes += [first, half]
    return {"shape": [[game.n_rows, game.n_columns] for game in games], _PROBES: probes}


def not_repeatable(what: str, first: float, second: float) -> str:
    """The message for a game that is not the same twice."""
    return (
        f"the utility of {what} is {first:.6g} and then {second:.6g}, so the game is not the same "
        "twice and no run of it can go on from a checkpoint: fix its random state, or leave the "
        "checkpoint out"
    )


def describe(value: Any) -> Any:
    """A setting as JSON can hold it, the same in every process.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> describe(DecisionTreeClassifier(max_depth=3))[:40]
    'DecisionTreeClassifier(ccp_alpha=0.0, cl'
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return hash_parts([str(value.dtype).encode(), str(value.shape).encode(), value.tobytes()])
    if hasattr(value, "get_params") and not isinstance(value, type):
        inside = ", ".join(
            f"{name}={describe(item)}"
            for name, item in sorted(value.get_params(deep=False).items())
        )
        return f"{type(value).__qualname__}({inside})"
    if callable(value) and hasattr(value, "__qualname__"):
        return value.__qualname__
    return _ADDRESS.sub("", repr(value))


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """What differs between two fingerprints, in words.

    Examples
    --------
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
        if isinstance(other, dict) and PYTHON in other:
            found += _code_differences(one, other)
        elif name != _PROBES and one != other:
            found.append(f"{_short(name)} {_apart(one, other)}")
    if not found and not _same_utilities(there.get(_PROBES, []), here.get(_PROBES, [])):
        found.append("the utilities of the whole table and of half of it differ")
    return found


def same_utility(one: float, other: float, scale: float = 0.0) -> bool:
    """Whether two utilities are equal but for rounding, beside utilities of some scale."""
    return abs(one - other) <= _SAME_UTILITY * max(abs(one), abs(other), scale)


def _same_utilities(there: Any, here: list[float]) -> bool:
    if not isinstance(there, list) or len(there) != len(here) or not all(map(fits_float, there)):
        return False
    scale = max(map(abs, here), default=0.0)
    return all(same_utility(one, other, scale) for one, other in zip(there, here, strict=True))


def _code_differences(there: Any, here: dict[str, str]) -> list[str]:
    """What differs between digests of code, by name; nothing across versions of Python."""
    if not isinstance(there, dict):
        return ["the function is of another kind"]
    if there.get(PYTHON) != here.get(PYTHON):
        return []
    unlike = [f"{name} differs" for name in here if there.get(name) != here[name]]
    gone = [f"{_short(name)} is missing here" for name in there if name not in here]
    return (unlike + gone)[:_MAX_LISTED]


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
