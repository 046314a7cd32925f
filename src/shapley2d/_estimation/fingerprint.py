"""What determines the draws of a run, in a form that can be kept and compared: hashes of data, names of settings."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._theory.coalitions import MaskCoalitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shapley2d._theory.game import Game

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_SHOWN = 80
_SAME_UTILITY = 1e-6  # another processor may round differently; another game differs by more
_PROBES = "utilities"
_METHOD = "method"


def fingerprint_games(games: Sequence[Game]) -> dict[str, Any]:
    """The sizes of games and a few of their utilities: games are code, which has no hash."""
    probes: list[float] = []
    for game in games:
        random = np.random.default_rng(0)
        rows, columns = (
            MaskCoalitions(np.stack([np.ones(size, dtype=bool), random.permutation(size) < (size + 1) // 2]))
            for size in (game.n_rows, game.n_columns)
        )
        probes += np.diag(game.utilities(rows, columns)).tolist()
    return {"shape": [[game.n_rows, game.n_columns] for game in games], _PROBES: probes}


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
            f"{name}={describe(item)}" for name, item in sorted(value.get_params(deep=False).items())
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

    Settings of another method say nothing beyond its name:

    >>> differences({"method": "mc", "model": None}, {"method": "flat", "model": "tree"})
    ['method is mc there and flat here']
    """
    if _METHOD in there and _METHOD in here and there[_METHOD] != here[_METHOD]:
        return [f"{_METHOD} {_apart(there[_METHOD], here[_METHOD])}"]
    found = [
        f"{name} {_apart(there.get(name), here.get(name))}"
        for name in dict.fromkeys([*there, *here])
        if name != _PROBES and there.get(name) != here.get(name)
    ]
    if not found and not _same_utilities(there.get(_PROBES, []), here.get(_PROBES, [])):
        found.append("the utilities of the whole table and of half of it differ")
    return found


def _same_utilities(there: list[float], here: list[float]) -> bool:
    return len(there) == len(here) and bool(np.allclose(there, here, rtol=_SAME_UTILITY, atol=_SAME_UTILITY))


def _apart(there: Any, here: Any) -> str:
    if any(isinstance(value, str) and _HASH.fullmatch(value) for value in (there, here)):
        return "differs"
    return f"is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def hash_parts(parts: Iterable[bytes]) -> str:
    """A digest of some bytes that no other split into parts has."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return f"sha256:{digest.hexdigest()}"
