"""Signs that a page has and a terminal has not: minus, times, powers of ten."""

from __future__ import annotations

import re

_TIMES = "\N{MULTIPLICATION SIGN}"


def power_of_ten(exponent: int) -> str:
    """A power of ten as a page writes it."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def typeset(words: str) -> str:
    """A sentence with the signs that a page has for minus, times and powers of ten.

    >>> typeset("-3.9 x average cell") == "\N{MINUS SIGN}3.9 \N{MULTIPLICATION SIGN} average cell"
    True
    >>> typeset("at most 2.5e-07 points") == f"at most 2.5 {_TIMES} {power_of_ten(-7)} points"
    True
    """
    words = re.sub(
        r"(?<=\d)e([+-]\d+)\b", lambda found: f" {_TIMES} {power_of_ten(int(found[1]))}", words
    )
    return re.sub(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", words).replace(" x ", f" {_TIMES} ")
