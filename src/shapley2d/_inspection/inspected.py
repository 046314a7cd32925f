"""The numbers of an inspection: the scored cells, the findings, and which table they are about."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shapley2d._inspection.learned import SETTINGS
from shapley2d._tables.row_words import RowWords

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._inspection.cells import ScoredCells
    from shapley2d._inspection.columns.finding import ColumnFinding


@dataclass(frozen=True, repr=False, eq=False)
class InspectedCells(RowWords):
    """What rankings, repairs, pages and files read of an :class:`~shapley2d.Inspection`."""

    _cells: ScoredCells  # all about single cells, the label being one more column behind the others
    findings: list[ColumnFinding]
    row_names: NDArray[Any]
    lines: NDArray[np.int64] | None = None
    info: dict[str, Any] = field(default_factory=dict)
    _frame: str = "pandas"  # the kind of frame that the methods return
    _digests: dict[str, str] = field(default_factory=dict)  # of columns: repair knows the table
    _fingerprint: str = ""  # of the whole table; files of decisions carry it
    # cells that a person has called right, by position: they are not listed again
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

    @property
    def expected_errors(self) -> float:
        """The sum of the entries' probabilities; in a clean table too it is some 1 % of them."""
        return float(self._cells.probability[:, : self.shape[1]].sum())

    @property
    def expected_errors_interval(self) -> tuple[int, int]:
        """80 % interval for the number of wrong entries, from the ratios seen on held-out tables.

        It begins at what stands out, 0 if nothing does, and ends at what all probabilities sum to:
        errors that look like any other entry cannot be seen, so it is wide.
        """
        low, high = SETTINGS["true per expected"]
        out = self._cells.standing_out[:, : self.shape[1]]
        return int(low * self._cells.probability[:, : self.shape[1]][out].sum()), math.ceil(
            high * self.expected_errors
        )
