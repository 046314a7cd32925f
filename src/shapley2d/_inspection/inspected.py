"""The numbers of an inspection: the scored cells, the findings, and which table they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shapley2d._valuation.row_words import RowWords

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._inspection.cells import ScoredCells
    from shapley2d._inspection.columns.finding import ColumnFinding


@dataclass(frozen=True, repr=False, eq=False)
class InspectedCells(RowWords):
    """What rankings, repairs, pages and files read of an :class:`~shapley2d.Inspection`.

    Attributes
    ----------
    _cells : ScoredCells
        Everything about single cells, the label being one more column behind the others.
    _values : ndarray of shape (n, p) or None
        What each cell is worth to a model, from the ``valuation`` passed along; NaN if unknown.
    _score_gains : ndarray of shape (n, p) or None
        What each suggested entry, taken alone, adds to the score of a forest, where the valuation
        passed along is of one; NaN if unknown.
    _frame : {"pandas", "polars", "pyarrow"}
        The kind of frame that the methods return.
    _digests, _fingerprint
        Digests of the columns, by which ``repair`` recognizes the table, and of the whole table,
        which files of decisions carry.
    _settled : frozenset of (int, int)
        Cells that a person has called right, by position: they are not listed again.
    """

    _cells: ScoredCells
    findings: list[ColumnFinding]
    row_names: NDArray[Any]
    lines: NDArray[np.int64] | None = None
    info: dict[str, Any] = field(default_factory=dict)
    _values: NDArray[np.float64] | None = None
    _score_gains: NDArray[np.float64] | None = None
    _frame: str = "pandas"
    _digests: dict[str, str] = field(default_factory=dict)
    _fingerprint: str = ""
    _settled: frozenset[tuple[int, int]] = frozenset()

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns, the label not counted."""
        n, p = self._cells.scores.shape
        return n, p - self._cells.has_label

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, the label's left out."""
        return self._cells.names[: self.shape[1]]

    @property
    def label_name(self) -> str | None:
        """Name of the label; None without one."""
        return self._cells.names[-1] if self._cells.has_label else None
