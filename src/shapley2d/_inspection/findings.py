"""What an inspection finds: for every cell how odd it is, how likely wrong, and what was expected instead.

The label, where there is one, is one more column behind the others, here and in every array.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column


@dataclass(frozen=True)
class Expected:
    """What one column's entries should say, predicted for each row from its other entries.

    Attributes
    ----------
    entries : ndarray of shape (n,)
        The suggested entry as a typed column holds it: a number, days since 1970, 0 or 1, the
        position of a category; NaN where nothing should stand there.
    low, high : ndarray of shape (n,) or None
        The middle 80 % of what is expected, for numbers and dates.
    alternatives : ndarray of int of shape (n, k) or None
        For categories and booleans the likeliest entries, likeliest first; -1 where there are
        fewer, and ``-2`` for an empty cell.
    chances : ndarray of shape (n, k) or None
        How likely each alternative is.
    """

    entries: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    alternatives: NDArray[np.int32] | None = None
    chances: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class ColumnFinding:
    """Something about a whole column, or about two that belong together.

    Attributes
    ----------
    columns : tuple of str
        The column it is about, first; then those that it depends on.
    kind : str
        ``"units"``, ``"formats"``, ``"suffix"``, ``"date orders"``, ``"key"``, ``"spellings"``,
        ``"codes"``, ``"rule"`` and so on.
    text : str
        One plain sentence that names the column and says what to do.
    rows : ndarray of int
        Positions of the rows it concerns; empty where it concerns all.
    suggestions : dict of int to str
        What the entry of a row should say by this finding, as text; may be empty.
    probability : float
        How likely an entry of these rows is wrong by this finding, in the mean.
    chances : ndarray or None
        The same row by row, where it differs.
    """

    columns: tuple[str, ...]
    kind: str
    text: str
    rows: NDArray[np.intp]
    suggestions: dict[int, str] = field(default_factory=dict)
    probability: float = 0.0
    chances: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Findings:
    """What an inspection says of n rows and p columns, the label included.

    Attributes
    ----------
    columns : tuple of Column
        The typed columns that were inspected, the label last where there is one.
    has_label : bool
    scores : ndarray of shape (n, p)
        How odd every entry is; comparable within the table.
    probability : ndarray of shape (n, p)
        Calibrated probability of being wrong.
    expected : tuple of Expected
        One for every column.
    parts : dict of str to ndarray of shape (n, p)
        What the score of each cell is made of, by the name of the reason; they add up to the
        scores.
    suspects : dict of (int, int) to str
        For the cells most likely wrong, by row and column, what else is known of the entry in plain
        words, such as the misspelling that it may be.
    column_findings : tuple of ColumnFinding
    info : dict
        Facts of the run: rows the forests saw, share of errors, seconds.
    """

    columns: tuple[Column, ...]
    has_label: bool
    scores: NDArray[np.float64]
    probability: NDArray[np.float64]
    expected: tuple[Expected, ...]
    parts: dict[str, NDArray[np.float32]]
    suspects: dict[tuple[int, int], str] = field(default_factory=dict)
    column_findings: tuple[ColumnFinding, ...] = ()
    info: dict[str, Any] = field(default_factory=dict)
