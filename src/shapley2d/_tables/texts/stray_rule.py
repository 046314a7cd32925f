"""The rule by which a column of text is of one kind or another, a few strays notwithstanding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._tables.texts.dates import may_be_dates, parse_dates
from shapley2d._tables.texts.numbers import flags, parse_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Kind

MISSING = (
    "", "?", "NA", "N/A", "#N/A", "#NA", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "<NA>", "NaT",
)  # fmt: skip
"""What counts as missing in every column, as it is written here."""

MISSING_AMONG_NUMBERS = (
    "-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", ".", "..", "...", "na", "n/a", "n.a.", "n.a", "nan", "null", "#n/a",
    "none", "nil", "empty", "(empty)", "blank", "(blank)", "missing", "unknown", "unk", "not available",
    "not applicable", "not known", "no data", "0000-00-00", "0000-00-00 00:00:00",
)  # fmt: skip
"""What else counts as missing in a column of numbers or dates, in any case of its letters."""

MAX_STRAYS = 0.1
"""The largest part of a column's entries that may be strays."""

MIN_NUMBERS = 5
"""Numbers or dates that it takes before an entry counts as a stray among them."""

MAX_CODES = 20
"""So many different whole numbers may be codes."""

CODE_REPEATS = 3
"""Among codes, a text that occurs so often is a code too."""


@dataclass(frozen=True)
class TextReading:
    """What different texts stand for.

    Attributes
    ----------
    kind : str
    values : ndarray of shape (n,)
        The number, or the days since 1970, behind each; NaN where it is missing or a stray. Of no
        use for text.
    strays : ndarray of bool of shape (n,)
        Texts that are neither missing nor of this kind.
    notation : str
        How numbers or dates are written, where that had to be decided.
    remark : str
        What else a user should know.
    plain : bool
        Whether all entries are written as a computer would.
    doubtful : bool
        Whether another notation is as likely.
    """

    kind: Kind
    values: NDArray[np.float64]
    strays: NDArray[np.bool_]
    notation: str = ""
    remark: str = ""
    plain: bool = True
    doubtful: bool = False


def read_texts(
    texts: Any, counts: NDArray[np.int64], *, kind: str | None = None, notation: str = ""
) -> TextReading:
    """Decide what a column of text holds.

    Numbers or dates, where at least nine tenths of the entries are; in small columns all but one of
    six or more. The others are strays. Where the numbers are at most 20 different whole ones they
    may be codes: a text that occurs three times or more is then one of them, and all are text.

    Parameters
    ----------
    texts : pyarrow.StringArray
        The different texts of the column, without space around them; null where one is missing.
    counts : ndarray of int
        How often each occurs.
    kind : {None, "number", "date", "text"}
        What the user says that it is.
    notation : str
        How another column, or the training table, writes its numbers or dates: decides where both
        are possible.

    Examples
    --------
    >>> import pyarrow as pa
    >>> reading = read_texts(pa.array(["1.5", "2.5", "1O"]), np.array([4, 5, 1]))
    >>> reading.kind, reading.strays.tolist()
    ('number', [False, False, True])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = np.full(len(texts), np.nan)
    none = np.zeros(len(texts), dtype=bool)
    present = flags(texts.is_valid())
    if not present.any():
        return TextReading("number" if kind is None else _KINDS[kind], nothing, none)
    if kind == "text":
        return TextReading("category", nothing, none)
    lower = pc.utf8_lower(texts)
    if (
        kind is None
        and flags(pc.is_in(lower, value_set=pa.array(["true", "false"])))[present].all()
    ):
        return TextReading(
            "boolean", np.where(present, flags(pc.equal(lower, "true")), np.nan), none
        )
    given = present & ~flags(pc.is_in(lower, value_set=pa.array(MISSING_AMONG_NUMBERS)))
    texts = pc.if_else(pa.array(given), texts, None)
    if kind != "date":
        numbers = parse_numbers(texts, counts, commas=notation)
        strays = given & ~numbers.found
        if kind == "number" or _few(strays, given, counts, numbers.values):
            remark = _remark_of_marks(numbers.marks, numbers.found, counts)
            return TextReading(
                "number",
                numbers.values,
                strays,
                numbers.notation,
                remark,
                numbers.plain,
                numbers.doubtful,
            )
    if kind == "date" or (kind is None and _enough(may_be_dates(texts), given, counts)):
        dates = parse_dates(texts, counts, order=notation)
        strays = given & ~dates.found
        if kind == "date" or _few(strays, given, counts, None):
            return TextReading(
                "date", dates.values, strays, dates.notation, "", dates.plain, dates.doubtful
            )
    return TextReading("category", nothing, none)


_KINDS: dict[str, Kind] = {"number": "number", "date": "date", "text": "category"}


def _enough(likely: NDArray[np.bool_], given: NDArray[np.bool_], counts: NDArray[np.int64]) -> bool:
    """Whether a closer look is worth while."""
    n_likely, n_given = int(counts[likely].sum()), int(counts[given].sum())
    return 0 < n_likely >= n_given - max(1, MAX_STRAYS * n_given)


def _few(
    strays: NDArray[np.bool_],
    given: NDArray[np.bool_],
    counts: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
) -> bool:
    """Whether the strays are few enough to be strays."""
    regular = given & ~strays
    n_regular, n_strays = int(counts[regular].sum()), int(counts[strays].sum())
    if not n_strays:
        return n_regular > 0
    if n_regular < MIN_NUMBERS or n_strays > max(1, MAX_STRAYS * (n_regular + n_strays)):
        return False
    if numbers is None or int(counts[strays].max()) < CODE_REPEATS:
        return True
    distinct = np.unique(numbers[regular])
    return distinct.size > MAX_CODES or not np.array_equal(distinct, np.round(distinct))


def _remark_of_marks(
    marks: NDArray[Any], found: NDArray[np.bool_], counts: NDArray[np.int64]
) -> str:
    """Say that only some numbers carry a currency or a percent sign."""
    marked = found & (marks != "")
    n_marked, n_found = int(counts[marked].sum()), int(counts[found].sum())
    if not 0 < n_marked < n_found:
        return ""
    return f"{n_marked} of its {n_found} numbers carry {str(marks[marked][0])!r}, which is left out"
