"""What determines a run, in a form that a file can hold and that can be compared.

Data are hashed, settings go by their names, games by their sizes and a few utilities.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import fits_float
from shapley2d._base.words import counted
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from shapley2d._theory.game import Game

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_SHOWN = 80  # characters of a value in a message
_SAME_UTILITY = 1e-6  # another processor may round differently; another game differs by more
_PROBES = "utilities"
_N_PROBES = 16  # random parts of the table, of all games together
_METHOD = "method"


def fingerprint_games(games: Sequence[Game]) -> dict[str, Any]:
    """Sizes of games and some utilities: of the whole table, and of random parts of any size.

    Hashes cover data and code; a game may depend on more. One that is not the same twice is
    refused.
    """
    probes: list[list[float]] = []
    for game in games[:_N_PROBES]:
        random, whole = np.random.default_rng(0), (game.n_rows, game.n_columns)
        for k in range(1 + max(_N_PROBES // len(games), 1)):
            sizes = [int(random.integers(1, size + 1)) for size in whole] if k else [*whole]
            masks = [
                random.permutation(n)[None] < size for n, size in zip(whole, sizes, strict=True)
            ]
            found = [game.utilities(*masks).item() for _ in range(2 if k < 2 else 1)]
            if not _same_utility(found[0], found[-1]):
                raise InputError(
                    f"the utility of {_counts(*sizes)} is {found[0]:.6g} and then {found[1]:.6g}, "
                    "so the game is not the same twice and no run of it can go on from a "
                    "checkpoint: fix its random state, or leave the checkpoint out"
                )
            probes.append([*sizes, found[0]])
    return {"shape": [[game.n_rows, game.n_columns] for game in games], _PROBES: probes}


def _counts(rows: float, columns: float) -> str:
    return f"{counted(int(rows), 'row')} and {counted(int(columns), 'column')}"


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
            Setting(option),
            " is an object that does not say what it holds, so no checkpoint can know it again: "
            "give its class a __repr__, or use a function",
        )
    return _ADDRESS.sub("", repr(value))


def _full_name(thing: Any, option: str) -> str:
    """Module and name of a function or a class."""
    if "<" in thing.__qualname__:  # <lambda>, <locals>
        raise InputError(
            Setting(option),
            f" is or uses {thing.__qualname__}, which no checkpoint can know again: define it by "
            "name at the top level of a module",
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
        if name != _PROBES and one != other:
            found.append(f"{_short(name)} {_apart(one, other)}")
    return found or list(_other_utility(there.get(_PROBES, []), here.get(_PROBES, [])))


def _same_utility(one: float, other: float, scale: float = 0.0) -> bool:
    """Whether two utilities are equal but for rounding, beside utilities of some scale."""
    return abs(one - other) <= _SAME_UTILITY * max(abs(one), abs(other), scale)


def _other_utility(there: Any, here: list[list[float]]) -> Iterator[str]:
    """The first utility that differs, in words; the file may hold anything."""
    scale = max((abs(utility) for *_, utility in here), default=0.0)
    lines = there if isinstance(there, list) else []
    for (rows, columns, utility), line in zip_longest(here, lines[: len(here)]):
        sound = isinstance(line, list) and len(line) == 3 and all(map(fits_float, line))
        if not sound or not _same_utility(line[2], utility, scale):
            words = _apart(line[2] if sound else None, utility)
            yield f"the utility of {_counts(rows, columns)} {words}"
            return


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
