"""The rule that decides what a column of text holds; a few stray entries do not change it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa, pc
from shapley2d._tables.texts.dates import may_be_dates, parse_dates
from shapley2d._tables.texts.numbers import TextReading, are_endless, flags, parse_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._tables.table import Kind

MISSING = (
    "", "?", "NA", "N/A", "#N/A", "#NA", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null",
    "<NA>", "NaT",
)  # fmt: skip
"""Missing in every column, in exactly this spelling."""

MISSING_AMONG_NUMBERS = (
    "-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", ".", "..", "...", "na", "n/a", "n.a.", "n.a",
    "nan", "null", "#n/a", "none", "nil", "empty", "(empty)", "blank", "(blank)", "missing",
    "unknown", "unk", "not available", "not applicable", "not known", "not given", "not specified",
    "no data", "no value", "0000-00-00", "0000-00-00 00:00:00", "tbd", "tba", "k.a.", "k. a.",
    "k.a", "keine angabe", "unbekannt", "n.n.", "s.o.", "s/d", "sin datos", "s.d.", "n.c.",
    "non renseigné", "inconnu",
)  # fmt: skip
"""Also missing in a column of numbers or dates, in any case."""

MAX_STRAYS = 0.1
"""The largest share of entries that may be strays."""

MAX_CODES = 20
"""Up to this many different whole numbers may be codes, and are classes in a target."""


def read_texts(
    texts: Any,
    counts: NDArray[np.int64],
    *,
    kind: str | None = None,
    notation: str = "",
    unit: str | None = None,
) -> TextReading:
    """Decide what a column of text holds.

    It holds numbers or dates if at least 90 % of the entries are, or all but one of six or more;
    the others are strays. At most 20 different whole numbers may be codes: if a text among them
    occurs three times or more, it is a code too, and the column is text. An entry longer than
    :data:`~shapley2d._tables.texts.numbers.LONGEST` characters is text. The texts are distinct and
    trimmed, null where missing; ``counts`` says how often each occurs. ``kind`` is the one that the
    user set; ``notation``, of another column or of the training table, decides where both are
    possible, and ``unit`` which unit numbers may have, an empty one that they have none.
    """
    nothing = np.full(len(texts), np.nan)
    none = np.zeros(len(texts), dtype=bool)
    present = flags(texts.is_valid())
    if not present.any():
        return TextReading("number" if kind is None else _KINDS[kind], nothing, none)
    if kind == "text":
        return TextReading("category", nothing, none)
    lower = pc.utf8_lower(texts)
    is_flag = flags(pc.is_in(lower, value_set=pa.array(["true", "false"])))
    if kind is None and is_flag[present].all():
        return TextReading(
            "boolean", np.where(present, flags(pc.equal(lower, "true")), np.nan), none
        )
    given = present & ~flags(pc.is_in(lower, value_set=pa.array(MISSING_AMONG_NUMBERS)))
    endless = are_endless(texts)
    texts = pc.if_else(pa.array(given & ~endless), texts, None)
    if kind != "date":
        numbers = parse_numbers(texts, counts, commas=notation, unit=unit)
        strays = given & (numbers.strays | endless)
        if kind == "number" or are_few(strays, given, counts, numbers.values):
            return replace(numbers, strays=strays)
    if kind == "date" or (kind is None and _enough(may_be_dates(texts), given, counts)):
        dates = parse_dates(texts, counts, order=notation)
        strays = given & (dates.strays | endless)
        if kind == "date" or are_few(strays, given, counts, None):
            return replace(dates, strays=strays)
    return TextReading("category", nothing, none)


_KINDS: dict[str, Kind] = {"number": "number", "date": "date", "text": "category"}


def _enough(likely: Bools, given: Bools, counts: NDArray[np.int64]) -> bool:
    """Whether enough entries look like dates to parse them."""
    n_likely, n_given = int(counts[likely].sum()), int(counts[given].sum())
    return 0 < n_likely >= n_given - max(1, MAX_STRAYS * n_given)


def are_few(strays: Bools, given: Bools, counts: NDArray[np.int64], numbers: Floats | None) -> bool:
    """Whether few enough entries are strays, and they are not codes."""
    regular = given & ~strays
    n_regular, n_strays = int(counts[regular].sum()), int(counts[strays].sum())
    if not n_strays:
        return n_regular > 0
    if n_regular < 5 or n_strays > max(1, MAX_STRAYS * (n_regular + n_strays)):
        return False
    if numbers is None or int(counts[strays].max()) < 3:
        return True
    distinct = np.unique(numbers[regular])
    return distinct.size > MAX_CODES or not np.array_equal(distinct, np.round(distinct))
