"""Checks of options; each names the option that is wrong and says what it may be."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import one_of
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable


MOST = 2**53
"""The largest whole number that an option may be: as a float64 it is still itself."""

MOST_JOBS = 4096
"""Workers that one machine can be asked for."""


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond any float
        return False


def check_number(value: Any, name: str, *, zero: bool = False) -> None:
    """Check that an option is a positive finite number.

    Examples
    --------
    >>> check_number(0, "tolerance")
    Traceback (most recent call last):
    shapley2d.exceptions.InputError: tolerance=0 must be a number and be positive
    """
    kinds = (int, float, np.integer, np.floating)
    good = isinstance(value, kinds) and not isinstance(value, bool) and _is_finite(value)
    if not good or value < 0 or (value == 0 and not zero):
        least = "not be negative" if zero else "be positive"
        raise InputError(Setting(name, value), f" must be a number and {least}")


def check_whole(value: Any, name: str, least: int) -> None:
    """Check that an option is a whole number of at least ``least``."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(Setting(name, value), f" must be a whole number of at least {least}")
    if value > MOST:
        raise InputError(Setting(name, value), f" is too large: it may be {MOST:,}")


def check_choice(value: Any, name: str, choices: Iterable[Any]) -> None:
    """Check that an option is one of some words.

    Examples
    --------
    >>> check_choice("fats", "form", ("auto", "exact", "fast"))
    Traceback (most recent call last):
    shapley2d.exceptions.InputError: form='fats' is not known: did you mean 'fast'?
    """
    known = tuple(choices)
    if any(
        value is word or (isinstance(value, str) and isinstance(word, str) and value == word)
        for word in known
    ):
        return
    near = difflib.get_close_matches(value, [word for word in known if isinstance(word, str)], 1) if (
        isinstance(value, str)
    ) else []  # fmt: skip
    hint = f"did you mean {near[0]!r}?" if near else f"use {one_of(known)}"
    raise InputError(Setting(name, value), f" is not known: {hint}")


def check_flag(value: Any, name: str) -> None:
    """Check that an option is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(Setting(name, value), " must be True or False")


def check_jobs(n_jobs: Any) -> None:
    """Check a number of workers, as joblib takes it."""
    if n_jobs is None:
        return
    if (
        not isinstance(n_jobs, (int, np.integer))
        or isinstance(n_jobs, (bool, np.bool_))
        or n_jobs == 0
    ):
        raise InputError(
            Setting("n_jobs", n_jobs), " must be a whole number of workers, or -1 for all cores"
        )
    if not -MOST_JOBS <= n_jobs <= MOST_JOBS:
        raise InputError(
            Setting("n_jobs", n_jobs), f" are more workers than the {MOST_JOBS:,} that are possible"
        )
