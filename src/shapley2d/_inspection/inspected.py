"""The numbers of an inspection: the scored cells, the findings, and which table they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._inspection.columns.finding import shortened
from shapley2d._valuation.row_words import RowWords
from shapley2d.exceptions import cut_names

if TYPE_CHECKING:
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
    # (n, p): what each cell is worth to a model, from the valuation passed along; NaN if not known
    _values: NDArray[np.float64] | None = None
    # (n, p): what each suggested entry, taken alone, adds to the score of a forest, where the
    # valuation passed along is of one; NaN if not known
    _score_gains: NDArray[np.float64] | None = None
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

    @cached_property
    def _told(self) -> list[tuple[str, list[ColumnFinding]]]:
        """The findings by the sentences that tell them: one for columns with the same words."""
        groups: dict[Any, list[ColumnFinding]] = {}
        for k, one in enumerate(self.findings):
            key: Any = k
            if one.kind == "words for missing":
                entries = self._cells.entries[self._cells.names.index(one.columns[0])]
                key = frozenset(entries[i] or "" for i in one.rows.tolist())
            groups.setdefault(key, []).append(one)
        return [
            (some[0].text if len(some) == 1 else _of_columns(sorted(key), some), some)
            for key, some in groups.items()
        ]


def _of_columns(words: list[str], findings: list[ColumnFinding]) -> str:
    """The sentence for columns with the same words for missing."""
    names = ", ".join(repr(one.columns[0]) for one in findings)
    return cut_names(
        f"{sum(one.rows.size for one in findings):,} entries of {len(findings):,} columns are "
        f"{', '.join(map(shortened, words[:3]))}, which counts as missing: leave them empty, or "
        f"find the right ones, in {names}"
    )


def known_number(numbers: NDArray[np.float64] | None, i: int, j: int) -> float | None:
    """What is known of a cell; None where nothing is, or not of this one."""
    return None if numbers is None or np.isnan(numbers[i, j]) else float(numbers[i, j])
