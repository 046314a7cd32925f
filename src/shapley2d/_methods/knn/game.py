"""The K-nearest-neighbour game of every split of a problem, and its lists of pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._knn.columns.estimators import ColumnSemivalue
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.rounding import rounding_bound
from shapley2d._knn.row_values import row_values
from shapley2d._methods.knn.backend import backend_name
from shapley2d._methods.knn.pieces import (
    MANY_CHUNKS,
    AllSubsetPieces,
    SampledPieces,
    chunk_rows,
    deal_rows,
    in_turn,
    n_changes,
)
from shapley2d._methods.knn.sums import SplitSums, TableSums
from shapley2d._theory.semivalues import marginal_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._knn.row_values import RowValues
    from shapley2d._methods.knn.choices import KnnOptions
    from shapley2d._methods.knn.pieces import Pieces
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


@dataclass(frozen=True)
class SplitGame:
    """The tables of all splits in code, with the row kernels of one form.

    Attributes
    ----------
    problem : Problem
    run : Run
    options : KnnOptions
    form : {"exact", "fast"}
    device : Device or None
        A GPU; None for the processor.
    small : bool
        Whether to use the kernels of small tables.
    coded : list of IntegerColumns
    parts : list of RowValues
        One per split.
    """

    problem: Problem
    run: Run
    options: KnnOptions
    form: str
    device: Device | None
    small: bool
    coded: list[IntegerColumns]
    parts: list[RowValues]

    @classmethod
    def make(
        cls,
        problem: Problem,
        run: Run,
        options: KnnOptions,
        form: str,
        *,
        device: Device | None = None,
        small: bool = False,
    ) -> SplitGame:
        """Code the tables, and set up the row kernels."""
        coded = [
            integer_columns(split.train, split.valid, options.metric) for split in problem.splits
        ]
        bare = cls(problem, run, options, form, device, small, coded, [])
        return replace(bare, parts=bare._make_parts(form))

    def in_form(self, form: str) -> SplitGame:
        """The same game with its rows ranked in another form."""
        if form == self.form:
            return self
        return replace(self, form=form, parts=self._make_parts(form))

    def _make_parts(self, form: str) -> list[RowValues]:
        options: dict[str, Any] = {
            "task": self.problem.target.task,
            "n_neighbors": int(self.options.n_neighbors),
            "semivalue": self.run.semivalues[0],
            "form": form,
            # a worker of a cluster is one of many
            "n_jobs": self.run.n_jobs if self.options.cluster is None else 1,
            "device": self.device,
            "small": self.small,
        }
        return [
            row_values(
                columns,
                split.y.codes,
                split.y_valid.codes,
                valid_weights=split.valid_weights,
                **options,
            )
            for columns, split in zip(self.coded, self.problem.splits, strict=True)
        ]

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.run.seed

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.problem.table.n_rows

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return self.problem.table.n_columns

    @property
    def rows(self) -> list[NDArray[np.intp]]:
        """The rows of the table that are in each split."""
        return [split.rows for split in self.problem.splits]

    @property
    def is_binned(self) -> bool:
        """Whether rows are in bins whose errors have to be estimated."""
        return any(part.is_binned for part in self.parts)

    @cached_property
    def target(self) -> ColumnSemivalue:
        """The semivalue of the columns."""
        return ColumnSemivalue(self.n_columns, self.run.semivalues[1])

    @cached_property
    def rounding_bound(self) -> float:
        """How far off values can be because distances are rounded."""
        return rounding_bound(self.parts, self.coded, self.seed)

    @property
    def facts(self) -> dict[str, Any]:
        """What the record of a run says of it."""
        return {
            "metric": self.options.metric,
            "n_neighbors": int(self.options.n_neighbors),
            "backend": backend_name(self.device),
        }

    def column_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What subsets of every size count for the columns in them, and for the others."""
        joining = marginal_weights(self.run.semivalues[1], self.n_columns)
        weights_in, weights_out = np.append(0.0, joining), np.append(joining, 0.0)
        if self.options.baseline == "zero":
            weights_out[0] = 0.0
        return weights_in, weights_out

    def pieces(self, n_subsets: int, attempt: int, *, samples_rows: bool, is_pilot: bool) -> Pieces:
        """A list of pieces of work: with all column subsets, or with a sample for every chunk.

        Parameters
        ----------
        n_subsets : int
            Subsets of a piece; 2^m are all of them.
        attempt : int
            See :class:`~shapley2d._methods.knn.pieces.SampledPieces`.
        samples_rows : bool
            Whether the run may end before all validation rows were used.
        is_pilot : bool
            Whether the first pieces say how many subsets it takes.
        """
        random = generator(self.seed, "validation chunks")
        chunks = []
        takes_all = n_subsets >= 2**self.n_columns
        for part, split in zip(self.parts, self.problem.splits, strict=True):
            size, y = part.walk_rows(), split.y_valid.codes
            if takes_all and not samples_rows:
                order = random.permutation(part.n_valid)
                starts = range(0, order.size, size)
                chunks.append([np.sort(order[start : start + size]) for start in starts])
                continue
            size = min(size, -(-part.n_valid // MANY_CHUNKS))
            if not takes_all:
                shape = (part.n_rows, part.n_valid, part.n_columns)
                size = chunk_rows(*shape, n_subsets, part.rows_at_a_time)
            chunks.append(deal_rows(y, size, random))
        dealt = in_turn(chunks)
        if takes_all:
            return AllSubsetPieces(self.parts, dealt, self.column_weights())
        # joint errors of blocks, and errors of rows, come from the changes, not from their squares
        squares_do = self.target.efficient and self.run.sums is None
        squared = squares_do and all(part.can_square for part in self.parts)
        left_out = n_changes(self.n_rows * self.n_columns, len(dealt) // len(self.parts))
        if squared:
            left_out = max(left_out, self.parts[0].squares_at_most)
        return SampledPieces(
            self.parts,
            dealt,
            self.target,
            n_subsets,
            left_out,
            squared,
            self.seed,
            attempt,
            is_pilot=is_pilot,
            zero_baseline=self.options.baseline == "zero",
        )

    def empty_sums(self) -> TableSums:
        """Sums to add pieces to."""
        blocks = self.run.sums
        splits = [
            SplitSums(
                part.n_valid,
                (part.n_rows, self.n_columns),
                None if blocks is None else blocks.take_rows(rows),
                efficient=self.target.efficient,
            )
            for part, rows in zip(self.parts, self.rows, strict=True)
        ]
        return TableSums(
            splits, self.rows, (self.n_rows, self.n_columns), with_blocks=blocks is not None
        )
