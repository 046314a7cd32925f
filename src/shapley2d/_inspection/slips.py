"""What a slip of the finger makes of a number or a date, undone: the entries that may have been meant."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAD = ("789", "456", "123", " 0 ")  # a number pad
_TOP = "1234567890"  # the row above the letters
_DIGITS = 12  # beyond, digits are rounding
_SHIFTS = (1, -1, 2, -2, 3, -3)


def number_text(number: float) -> str:
    """A number as a person would type it.

    Examples
    --------
    >>> number_text(17.0), number_text(-0.5)
    ('17', '-0.5')
    """
    return np.format_float_positional(number, precision=_DIGITS, fractional=False, trim="-")


def meant_numbers(number: float) -> Iterator[tuple[str, float]]:
    """Numbers from which one slip leads to this one, with the slip's name; the most telling slips first.

    A digit left out is not among them: too many numbers may have been meant, and suggestions were
    no better for it.

    Examples
    --------
    >>> [meant for slip, meant in meant_numbers(71.0) if slip == "two digits swapped"]
    [17.0]
    >>> sorted(meant for slip, meant in meant_numbers(117.0) if slip == "a digit doubled")
    [17.0]
    """
    text = number_text(abs(number))
    sign = -1.0 if number < 0 else 1.0
    for slip, meant in swapped_or_doubled(text):
        yield slip, sign * float(meant)
    for places in _SHIFTS:
        yield "the decimal point slipped", sign * float(Decimal(text).scaleb(places))
    for meant in struck_beside(text):
        yield "a neighbouring key", sign * float(meant)
    if number:
        yield "the sign", -number


def swapped_or_doubled(text: str) -> Iterator[tuple[str, str]]:
    """Digits of which two neighbours were swapped, or one was doubled, to give these."""
    for k, digit in enumerate(text[:-1]):
        if digit.isdigit() and text[k + 1].isdigit() and digit != text[k + 1]:
            meant = text[:k] + text[k + 1] + digit + text[k + 2 :]
            if not meant.startswith("0") or text.startswith("0"):  # nobody means 01
                yield "two digits swapped", meant
    for k, digit in enumerate(text[:-1]):
        if digit.isdigit() and digit == text[k + 1]:
            yield "a digit doubled", text[:k] + text[k + 1 :]


def struck_beside(text: str) -> Iterator[str]:
    """Digits of which one is the key beside the one struck."""
    for k, digit in enumerate(text):
        if digit.isdigit():
            for key in NEIGHBOURS[digit]:
                yield text[:k] + key + text[k + 1 :]


def _neighbours() -> dict[str, str]:
    """The keys beside each digit, on a number pad and in the row above the letters."""
    near: dict[str, set[str]] = {digit: set() for digit in _TOP}
    rows = [*_PAD, *("".join(column) for column in zip(*_PAD, strict=True)), _TOP]
    for row in rows:
        for a, b in pairwise(row):
            if a != " " and b != " ":
                near[a].add(b)
                near[b].add(a)
    return {digit: "".join(sorted(keys)) for digit, keys in near.items()}


NEIGHBOURS = _neighbours()
"""The keys beside each digit."""
