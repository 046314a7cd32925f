"""Checks of options; each error names the option and says what is allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import nearest_word, one_of, shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


MOST = 2**53
"""The largest whole number that an option may be: float64 still holds it exactly."""

MOST_JOBS = 4096
"""The largest number of workers."""


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond the range of floats
        return False


def check_number(value: Any, name: str, *, zero: bool = False) -> None:
    """Check that an option is a positive finite number."""
    kinds = (int, float, np.integer, np.floating)
    good = isinstance(value, kinds) and not isinstance(value, bool) and _is_finite(value)
    if not good or value < 0 or (value == 0 and not zero):
        least = "not be negative" if zero else "be positive"
        raise InputError(f"{name}={shown(value)} must be a number and {least}")


def check_whole(value: Any, name: str, least: int) -> None:
    """Check that an option is a whole number of at least ``least``."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}={shown(value)} must be a whole number of at least {least}")
    if value > MOST:
        raise InputError(f"{name}={shown(value)} is too large: it may be at most {MOST:,}")


def check_choice(value: Any, name: str, choices: Iterable[Any]) -> None:
    """Check that an option is one of some words."""
    known = tuple(choices)
    words = [word for word in known if isinstance(word, str)]
    if any(value is choice for choice in known) or (isinstance(value, str) and value in words):
        return
    near = nearest_word(value, words) if isinstance(value, str) else None
    hint = f"did you mean {near!r}?" if near else f"use {one_of(known)}"
    raise InputError(f"{name}={shown(value)} is not known: {hint}")


def check_flag(value: Any, name: str) -> None:
    """Check that an option is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}={shown(value)} must be True or False")


def check_jobs(n_jobs: Any) -> None:
    """Check a number of workers, as joblib takes it."""
    if n_jobs is None:
        return
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not whole or n_jobs == 0:
        raise InputError(
            f"n_jobs={shown(n_jobs)} must be a whole number of workers, or -1 for all cores"
        )
    if not -MOST_JOBS <= n_jobs <= MOST_JOBS:
        raise InputError(
            f"n_jobs={shown(n_jobs)} is too large: at most {MOST_JOBS:,} workers are possible"
        )
