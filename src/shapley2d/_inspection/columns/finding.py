"""A finding about a whole column, and the numbers that several kinds share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SURE, UNKNOWN, LOW, LEAST = 0.95, 0.45, 0.3, 0.15
"""Probabilities of being wrong where all entries of a finding have the same evidence, measured on
tables with known truth and on their clean twins; the last is a second spelling or format."""

SUREST, SURE_RIGHT, UNSURE = 0.97, 0.9, 0.8
"""Cap on the probability that a suggested entry is right, or that a rule states; from where on a
suggestion is sure, and may be written unseen; and cap for those that do not follow from the entry.
"""

RARE = 0.02
"""Share of the rows up to which something is an exception, not how the table is made."""

SCREENED = 20_000
"""Rows, texts or pairs of columns that are compared with each other, at most."""

SAME_KEY = "another row has the same key"
"""The reason of an entry that a repeated key alone makes suspect."""

COMMON = 0.1
"""Share of the commonest entry up to which rows, or columns, hardly agree by chance."""

HABIT = 0.05
"""Share of the rows from which something is a second way to do it, and no exception."""


@dataclass(frozen=True)
class ColumnFinding:
    """A problem of a whole column, or of two that belong together.

    Attributes
    ----------
    columns : tuple of str
        The column it is about, then those that it depends on.
    kind : str
        ``"units"``, ``"signs"``, ``"formats"``, ``"suffix"``, ``"date orders"``, ``"key"``,
        ``"spellings"``, ``"codes"``, ``"rule"`` and so on.
    text : str
        One plain sentence that names the column and says what to do.
    rows : ndarray of int
        Positions of the rows concerned; empty where all are.
    suggestions : dict of int to str
        The suggested entry by row, as text; may be empty.
    probability : float
        How likely an entry of these rows is wrong, on average.
    chances : ndarray or None
        How likely it is row by row, where rows differ.
    right : ndarray or None
        How likely the suggestions are right where the entries are wrong, row by row; None where the
        kind of the finding tells it.
    """

    columns: tuple[str, ...]
    kind: str
    text: str
    rows: NDArray[np.intp]
    suggestions: dict[int, str] = field(default_factory=dict)
    probability: float = 0.0
    chances: NDArray[np.float64] | None = None
    right: NDArray[np.float64] | None = None

    @property
    def row_chances(self) -> NDArray[np.float64]:
        """How likely each entry is wrong, row by row."""
        if self.chances is None:
            return np.full(self.rows.size, self.probability)
        return self.chances


def logistic(logit: Any) -> Any:
    """The probability that log-odds say."""
    return 1 / (1 + np.exp(-np.clip(logit, -30.0, 30.0)))


def fact(name: str, kind: str, text: str) -> ColumnFinding:
    """A finding about a whole column that calls no entry wrong."""
    return ColumnFinding((name,), kind, text, rows=np.zeros(0, dtype=np.intp))
