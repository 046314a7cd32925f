"""JSON records of files that may come from anyone: parsed and checked, never trusted."""

from __future__ import annotations

import json
import math
import re
from dataclasses import is_dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from shapley2d._base.limits import is_too_deep

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Made = TypeVar("_Made")

RECORD_DEPTH = 32
"""Levels of lists and objects in a record; our own have about five."""


def parse_record(data: bytes) -> dict[str, Any]:
    """Parse a JSON object, or raise a ValueError whose message is a phrase."""
    try:
        text = data.decode("utf-8")
        deep = is_too_deep(text, RECORD_DEPTH)
        record = None if deep else json.loads(text)
    except ValueError:
        raise ValueError("its record is not JSON") from None
    if deep:
        raise ValueError("its record is nested too deeply")
    if not isinstance(record, dict):
        raise ValueError("its record is not a JSON object")  # noqa: TRY004  (one kind of error for one cause)
    return record


def whole_number(value: Any, what: str, least: int = 0, most: int = 2**53) -> int:
    """Check that an entry is a whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{what} is not a whole number from {least} on")
    return value


def fits_float(value: Any) -> bool:
    """Whether an entry is a number that a float can hold; JSON allows integers of any length."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value.bit_length() < 1024
    return isinstance(value, float)


def real_number(value: Any, what: str, least: float = 0.0) -> float:
    """Check that an entry is a number of at least ``least``; it may be infinite."""
    if not fits_float(value) or not value >= least:
        raise ValueError(f"{what} is not a number from {least:g} on")
    return float(value)


class Maybe(NamedTuple):
    """A form that may be missing, or None."""

    form: Any


def check_form(value: Any, form: Any, what: str = "its record", *, exact: bool = False) -> None:
    """Check that an entry has a form, or raise a ValueError whose message is a phrase.

    ``int`` is a whole number and ``float`` any number from 0 on. ``[form]`` is a list of any
    length, ``(form, ...)`` one of that length, ``{name: form}`` an object with these entries and
    maybe others (``exact``: with these and no others, where :class:`Maybe` only allows None),
    ``{str: form}`` one with any entries, a pattern is text that it matches. Messages call the entry
    ``what``.

    >>> check_form({"pairs": [[1, 0.5]], "why": None}, {"pairs": [(int, float)], "why": Maybe(str)})
    >>> check_form({"pairs": [[1, -2]]}, {"pairs": [(int, float)]})
    Traceback (most recent call last):
    ValueError: pairs in its record is not a number from 0 on
    """
    if isinstance(form, Maybe):
        if value is not None:
            check_form(value, form.form, what, exact=exact)
    elif form is int:
        whole_number(value, what)
    elif form is float:
        real_number(value, what)
    elif isinstance(form, dict) and isinstance(value, dict):
        named = str not in form
        if exact and named and set(form) != set(value):
            odd = min(set(form) ^ set(value))
            raise ValueError(f"{what} {'lacks' if odd in form else 'has an unknown entry'} {odd!r}")
        for name in form if named else value:
            words = f"{name} in its record" if named else what
            check_form(value.get(name), form[name if named else str], words, exact=exact)
    elif isinstance(form, (list, tuple)) and isinstance(value, list):
        forms = [*form] * len(value) if isinstance(form, list) else form
        if len(forms) != len(value):
            raise ValueError(f"{what} is not what it should be")
        for part, one in zip(value, forms, strict=True):
            check_form(part, one, what, exact=exact)
    elif isinstance(form, re.Pattern):
        if not isinstance(value, str) or not form.fullmatch(value):
            raise ValueError(f"{what} is not what it should be")
    elif not (isinstance(form, (type, UnionType)) and isinstance(value, form)):
        raise ValueError(f"{what} is not what it should be")


def make_of(kind: type[_Made], record: Any, what: str = "its record") -> _Made:
    """A dataclass from a JSON object, by the types of its fields; other entries are left out.

    Where an entry is missing, or None, the field has its default. A ValueError says in a phrase
    what does not fit.
    """
    check_form(record, dict, what)
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        value = record.get(name)
        if value is None:
            continue
        kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        inner: list[Any] = [one for one in kinds if is_dataclass(one)]
        plain = tuple(get_origin(one) or one for one in kinds)
        if inner:
            value = make_of(inner[0], value, name)
        elif not isinstance(value, (*plain, int) if float in plain else plain):
            raise ValueError(f"{name} in {what} is not what it should be")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} in {what} is not finite")
        found[name] = value
    try:
        return kind(**found)
    except TypeError:
        raise ValueError(f"{what} is not whole") from None


def history_pairs(value: Any) -> list[tuple[int, float]]:
    """Check the history of a run: counts of draws, and the relative error after each count."""
    check_form(value, [(int, float)], "its history")
    return [(count, float(ratio)) for count, ratio in value]


def numbers_of(value: list[Any], *shape: int | None) -> NDArray[np.float64]:
    """A list as an array of this shape, where None stands for any length."""
    found = np.array(value, dtype=np.float64)
    fits = found.ndim == len(shape) and all(
        want in (None, size) for want, size in zip(shape, found.shape, strict=True)
    )
    if not fits or np.isnan(found).any():
        raise ValueError("a list of its record does not fit")
    return found


def none_if_infinite(number: float) -> float | None:
    """A number for JSON, which has no infinity."""
    return None if math.isinf(number) else number
