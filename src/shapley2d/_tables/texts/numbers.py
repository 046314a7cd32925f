"""Numbers in text: thousands separators, decimal commas, currencies, percent signs, units."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa, pc
from shapley2d._tables.texts.units import UNITS, is_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._tables.table import Kind

EXACT = 2.0**53
"""Up to here float64 holds every whole number exactly; beyond, neighbours become equal."""

LONGEST = 1000
"""Characters of an entry that are looked at: a longer one is text, whatever it holds."""

_PLAIN = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$"
_SPACE = r"[ \x{a0}\x{2007}\x{2009}\x{202f}]"
_QUOTE = r"['\x{2019}]"
_SIGN = r"[+\x{2212}-]"
_CURRENCY = (
    r"(?:[A-Z]{0,2}\$|[€£¥₹₽₩₺₴₪₫₱₿]|(?i:usd|eur|gbp|chf|jpy|cny|inr|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|rub|brl|mxn|krw|"
    r"zar|try|sgd|hkd|kr|zł|kč))"
)


def _pattern(decimal: str, grouping: str, *, units: bool = False) -> str:
    """A number with an optional currency, percent sign or unit, in brackets if negative."""
    first = r"[1-9]\d{0,2}"
    grouped = "|".join(rf"{first}(?:{mark}\d{{3}})+" for mark in (grouping, _SPACE, _QUOTE))
    whole = rf"(?:\d+|{grouped})"
    digits = rf"(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)"
    front = rf"(?:{_SIGN}?{_SPACE}?{_CURRENCY}?|{_CURRENCY}{_SPACE}?{_SIGN}){_SPACE}?"
    unit = rf"|(?i:{'|'.join(UNITS)})" if units else ""
    written = rf"{front}{digits}{_SPACE}?(?:{_CURRENCY}|%{unit})?"
    return rf"^(?:{written}|\({written}\))$"


_MARKS = {  # with decimal points and with decimal commas, by whether units are read
    units: (_pattern(r"\.", ",", units=units), _pattern(",", r"\.", units=units))
    for units in (False, True)
}
_UNMARKED = r"[0-9.,'()+\-\x{2019}\x{2212}\s\x{a0}\x{2007}\x{2009}\x{202f}]+"
NEARLY_ALL = 0.95
"""Share of a column's numbers that have as many decimals: of measured numbers a tenth would end
with a zero, which is then written."""

_THOUSANDS = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"  # 1.500 may mean 1500


@dataclass(frozen=True)
class TextReading:
    """The reading of the distinct texts of a column."""

    kind: Kind
    # (n,): the number or the days since 1970 of each; NaN where missing or a stray. Unused for text
    values: Floats
    strays: Bools  # (n,): texts that are neither missing nor of this kind
    # the notation, where it had to be decided: ``"decimal commas"``, ``"thousands commas"``, ``"day
    # first"`` or ``"month first"``
    notation: str = ""
    remark: str = ""  # anything else that the user should know
    plain: bool = True  # whether all entries are written as Python writes them
    doubtful: bool = False  # whether the other notation gives as many numbers or dates
    unit: str = ""  # the unit of measure that all numbers have


def plain_numbers(texts: Any) -> Floats | None:
    """The numbers of a column that holds nothing else, NaN for nulls; None for other columns."""
    if are_endless(texts).any():
        return None
    try:
        texts.slice(0, 64).cast(pa.float64())  # pyarrow reads on after the first failure
        numbers = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    known = np.isfinite(values)
    if known.sum() != len(values) - texts.null_count or not known.any() or are_long(values):
        return None
    return values


def common_places(texts: Any, rows: NDArray[np.int64] | None = None) -> int:
    """Decimals that nearly all numbers are written with, zeros included; 0 where they differ.

    ``rows`` says in how many each text is, where the texts are distinct ones.
    """
    known = pc.drop_null(texts)
    points = pc.find_substring(known, ".").to_numpy(zero_copy_only=False)
    points = np.where(_matches(known, "[eE]"), -1, points)
    lengths = pc.utf8_length(known).to_numpy(zero_copy_only=False)
    rows = None if rows is None else rows[flags(texts.is_valid())]
    counts = np.bincount(np.where(points >= 0, lengths - points - 1, 0), rows)
    places = int(counts.argmax()) if counts.size else 0
    return places if places and counts[places] >= NEARLY_ALL * counts.sum() else 0


def parse_numbers(
    texts: Any, counts: NDArray[np.int64], *, commas: str = "", unit: str | None = None
) -> TextReading:
    """Parse numbers; whether commas are decimal commas is decided for all texts together.

    Commas are decimal if that makes numbers of more entries than decimal points do. ``1,234`` alone
    is ambiguous: then ``commas`` decides, and by default commas group thousands. Numbers may
    have a unit of measure: that of most, ``unit`` if it is given, and none if that is empty. The
    texts are distinct and trimmed; ``counts`` says how often each occurs.
    """
    try:
        nothing = np.zeros(len(texts), dtype=bool)
        return TextReading("number", _floats(texts.cast(pa.float64())), nothing)
    except pa.ArrowInvalid:
        pass
    plain = _matches(texts, _PLAIN)
    point, comma = (_matches(texts, form) & ~plain for form in _MARKS[unit != ""])
    # with decimal commas, 1.500 is 1500 and 1.5 is not a number
    thousands = plain & _matches(texts, _THOUSANDS)
    fractions = plain & ~thousands & _matches(texts, "[.eEiI]")
    by_point, by_comma = counts[point].sum(), counts[comma].sum() - counts[fractions].sum()
    with_comma = _matches(texts, ",")
    decimal = by_comma > by_point or (
        by_comma == by_point and commas == "decimal commas" and with_comma.any()
    )
    # fewer commas are strays
    decimal = decimal and counts[comma].sum() > 0.1 * counts[comma | thousands].sum()
    chosen = comma if decimal else point
    found = (plain & ~fractions if decimal else plain) | chosen
    values = _values(texts, plain, chosen, "," if decimal else ".")
    if decimal:
        values[thousands] = np.round(1000.0 * values[thousands])
    marks = pc.utf8_upper(pc.replace_substring_regex(texts, _UNMARKED, ""))
    marks = pc.if_else(pa.array(chosen), marks, "").to_numpy(zero_copy_only=False)
    marks, found, unit = _one_mark(marks, found, counts, unit)
    notation = ""
    if (with_comma & chosen).any():
        notation = "decimal commas" if decimal else "thousands commas"
    return TextReading(
        "number",
        np.where(found, values, np.nan),
        flags(texts.is_valid()) & ~found,
        notation,
        f"read as numbers in {unit!r}" if unit else _remark_of_marks(marks, found, counts),
        not chosen.any(),
        bool(by_point == by_comma),
        unit,
    )


def _values(texts: Any, plain: Bools, chosen: Bools, decimal: str) -> Floats:
    """The numbers in plain texts and in those with marks; NaN for others."""
    digits = pc.replace_substring_regex(texts, f"[^0-9{decimal}]+", "")
    digits = pc.if_else(pa.array(plain), texts, pc.replace_substring(digits, decimal, "."))
    values = _floats(pc.if_else(pa.array(plain | chosen), digits, None).cast(pa.float64()))
    return np.where(chosen & _matches(texts, r"^\(|[\x{2212}-]"), -values, values)


def _one_mark(
    marks: NDArray[Any], found: Bools, counts: NDArray[np.int64], unit: str | None
) -> tuple[NDArray[Any], Bools, str]:
    """Amounts in another currency or unit than most do not count as numbers; and the unit.

    Amounts without a currency count, too, but not numbers without the unit of the others.
    """
    different = {mark: int(counts[found & (marks == mark)].sum()) for mark in set(marks[found])}
    measured = bool(unit) or any(map(is_unit, different))
    if not measured:
        different.pop("", None)
    most = max(sorted(different), key=lambda mark: different[mark], default="")
    most = unit.upper() if unit else most
    found = found & ((marks == most) | ((marks == "") & (not measured)))
    return np.where(found, marks, ""), found, most.lower() * is_unit(most)


def _remark_of_marks(marks: NDArray[Any], found: Bools, counts: NDArray[np.int64]) -> str:
    """A remark if only some numbers have a currency or percent sign."""
    marked = found & (marks != "")
    n_marked, n_found = int(counts[marked].sum()), int(counts[found].sum())
    if not 0 < n_marked < n_found:
        return ""
    return f"{n_marked} of its {n_found} numbers have {str(marks[marked][0])!r}, which is ignored"


def _matches(texts: Any, pattern: str) -> Bools:
    return flags(pc.match_substring_regex(texts, pattern))


def _floats(array: Any) -> Floats:
    return np.array(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def flags(array: Any) -> Bools:
    """A pyarrow array of booleans as numpy, with null as false."""
    return np.asarray(array.fill_null(fill_value=False).to_numpy(zero_copy_only=False), dtype=bool)


def are_endless(texts: Any) -> Bools:
    """Which texts are longer than :data:`LONGEST`."""
    # bytes first: hardly a column holds as many in one entry, and letters take longer to count
    known = len(texts) > texts.null_count  # a column of nulls has no lengths
    size = pc.max(pc.binary_length(texts)).as_py() if known else None
    if size is None or size <= LONGEST:
        return np.zeros(len(texts), dtype=bool)
    return flags(pc.greater(pc.utf8_length(texts), LONGEST))


def are_long(numbers: Floats) -> bool:
    """Whether some numbers are too large for float64 to hold every whole number."""
    return bool(np.nanmax(np.abs(numbers), initial=0.0) > EXACT)


def as_digits(items: Sequence[Any]) -> list[str | None]:
    """Whole numbers of any length, or decimals, as text with all digits."""
    return [
        None if item is None else f"{item:f}" if isinstance(item, Decimal) else str(item)
        for item in items
    ]
