"""Random numbers inside compiled code (splitmix64): the same on any thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import INNER

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S11, _S16, _S27, _S30, _S31 = (np.uint64(k) for k in (11, 16, 27, 30, 31))
_LOW = np.uint64(0xFFFF)
_UNIT = 2.0**-53


def scrambled(word: Any) -> Any:
    """Another word, every bit of which depends on every bit of this one; or of each of an array."""
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return word ^ (word >> _S31)


def words(state: np.uint64, skipped: int, n: int) -> NDArray[np.uint64]:
    """The next n random words of a state, after some that are skipped."""
    steps = np.arange(skipped + 1, skipped + n + 1, dtype=np.uint64)
    return np.asarray(scrambled(state + _STEP * steps))


def below(some: NDArray[np.uint64], stops: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers from 0 up to each stop, by random words."""
    return ((some >> _S11).astype(np.float64) * _UNIT * stops).astype(np.int64)


_scramble: Any = numba.njit(**INNER)(scrambled)


@numba.njit(**INNER)
def next_word(state: NDArray[np.uint64]) -> Any:
    """The next random word; ``state`` holds one and moves on."""
    state[0] += _STEP
    return _scramble(state[0])


@numba.njit(**INNER)
def next_below(state: NDArray[np.uint64], stop: int) -> int:
    """A random whole number from 0 to ``stop - 1``."""
    return int(np.float64(next_word(state) >> _S11) * _UNIT * stop)


@numba.njit(**INNER)
def bell(word: np.uint64, code: int) -> float:
    """A nearly normal number (mean 0, variance 1) for a code: the sum of four uniform ones."""
    bits = _scramble(word + _STEP * np.uint64(code + 1))
    total = 0.0
    for _ in range(4):
        total += np.float64(bits & _LOW)
        bits = bits >> _S16
    return (total / 65535.0 - 2.0) * 1.7320508075688772
