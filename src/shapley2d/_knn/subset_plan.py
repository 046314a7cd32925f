"""How many column subsets are evaluated, and when all of them are.

How much there is to do decides, not a clock: the same call has the same result on a busy machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapley2d._knn.kriging import MAX_SUBSETS
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._tables.problem import Problem

FEW_TRIPLES = 2**27
"""Up to here (row, validation row, column subset) all subsets are evaluated: a few seconds."""

MAX_ALL_COLUMNS = 24
"""Beyond here all subsets are refused: they would be 2^25 and more."""

MAX_SAMPLED_COLUMNS = 1024
"""Beyond here a sample is refused, too: its regressions take the third power of their number."""

FIRST_PER_COLUMN = 12
"""Subsets to a column that a sampled piece has, where the caller asks for no number."""

LEAST_SUBSETS = 32
"""Subsets of such a piece, at least."""

MOST_SUBSETS = 2**15
"""Subsets for every validation row that sampling to a tolerance ends with, at the latest."""


@dataclass(frozen=True)
class SubsetPlan:
    """How many column subsets a run evaluates.

    ``subsets`` {"auto", "all", "sampled"}: all column subsets, a sample of them, or whichever is
        cheaper for the tolerance.
    ``n_subsets``: column subsets to evaluate when sampled; None for as many as the tolerance takes.
        With fewer than three to a column the result says that its intervals are not to be trusted
        (``info["caveat"]``), and a :class:`~shapley2d.exceptions.PrecisionWarning` does.
    ``tolerance``: largest standard error that is good enough, relative to the spread of the values.
    ``problem``: its pairs of a row and a validation row see every subset.
    """

    subsets: str
    n_subsets: int | None
    tolerance: float
    problem: Problem

    def takes_all_subsets(self, n_columns: int) -> bool:
        """Whether all column subsets are evaluated without asking whether a sample would do."""
        if self.subsets == "all":
            return True
        if self.n_subsets is not None:
            return bool(2**n_columns <= self.n_subsets) and n_columns <= MAX_ALL_COLUMNS
        if self.subsets == "sampled" or n_columns > MAX_ALL_COLUMNS:
            return False
        return self.tolerance == 0 or 2**n_columns * self.pairs <= FEW_TRIPLES

    def may_take_all(self, n_columns: int) -> bool:
        """Whether a sampled run may start again with all subsets, once these cost less."""
        chooses = self.subsets == "auto" and self.n_subsets is None
        return chooses and n_columns <= MAX_ALL_COLUMNS

    def piece_subsets(self, n_columns: int) -> int:
        """Column subsets of a piece; 2^m where all are evaluated."""
        everything = int(2**n_columns)
        if self.takes_all_subsets(n_columns):
            return everything
        if self.n_subsets is None:
            wanted = min(max(FIRST_PER_COLUMN * n_columns, LEAST_SUBSETS), MAX_SUBSETS)
        else:
            wanted = -(-self.n_subsets // self.n_passes)
        return everything if wanted >= everything else wanted - wanted % 2  # complement pairs

    @property
    def n_passes(self) -> int:
        """Passes through the validation rows that the subsets asked for take."""
        return -(-(self.n_subsets or 1) // MAX_SUBSETS)

    @property
    def pairs(self) -> float:
        """Pairs of a row and a validation row, in all splits."""
        return sum(float(one.train.n_rows) * one.valid.n_rows for one in self.problem.splits)

    def work(self) -> float:
        """Triples of row, validation row and column subset of the first pass."""
        return self.piece_subsets(self.problem.table.n_columns) * self.n_passes * self.pairs

    def check(self, n_columns: int) -> None:
        """Refuse, before anything long is done, more columns than can be valued."""
        if n_columns > MAX_SAMPLED_COLUMNS:
            raise InputError(
                f"{n_columns:,} columns are more than the {MAX_SAMPLED_COLUMNS:,} that ",
                Setting("method", "knn"),
                " can take: use ",
                Setting("method", "mc"),
                " with ",
                Setting("model", "knn"),
                ", value groups of columns, or drop columns",
            )
        if self.subsets == "all" and n_columns > MAX_ALL_COLUMNS:
            raise InputError(
                Setting("subsets", "all"),
                f" needs 2^{n_columns} column subsets for {n_columns} columns: use ",
                Setting("subsets", "sampled"),
            )
