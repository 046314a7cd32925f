"""The K-nearest-neighbour game of every split of a problem, and its lists of pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._knn.columns.semivalue import ColumnSemivalue
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.row_values import row_values
from shapley2d._methods.knn.backend import backend_name
from shapley2d._methods.knn.pieces import (
    LEAST_ROWS,
    MANY_CHUNKS,
    ROUND_WORK,
    AllSubsetPieces,
    SampledPieces,
    chunk_rows,
    n_error_lines,
)
from shapley2d._methods.knn.strata import (
    LEAST_ROUNDS,
    Stratum,
    deal_stratum,
    in_turn,
    make_strata,
    what_rows_change,
)
from shapley2d._methods.knn.sums import StratumSums, TableSums
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
            integer_columns(split.train, split.valid, options.metric, tells=k == 0)
            for k, split in enumerate(problem.splits)
        ]
        bare = cls(problem, run, options, form, device, small, coded, [])
        return replace(bare, parts=bare._make_parts(form))

    def in_form(self, form: str) -> SplitGame:
        """The game with its rows ranked in another form."""
        if form == self.form:
            return self
        if form == "exact":  # the tables are the same
            return replace(self, form=form, parts=[part.ranked() for part in self.parts])
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

    @property
    def samples_rows(self) -> bool:
        """Whether a run may end before all validation rows were used."""
        if self.options.round_rows:
            return True
        fewest = min(part.n_valid for part in self.parts)
        asked = self.options.valid_rows == "auto" and self.options.tolerance > 0
        return asked and fewest >= 2 * LEAST_ROUNDS

    def in_rounds_of(self, round_rows: int) -> SplitGame:
        """The game whose validation rows are drawn in rounds of this many; 0 leaves it as it is."""
        if round_rows == self.options.round_rows:
            return self
        return replace(self, options=replace(self.options, round_rows=round_rows))

    @cached_property
    def row_sizes(self) -> list[NDArray[np.float64]]:
        """What every validation row of a split can change, where that decides who is drawn."""
        if not self.samples_rows:
            return [np.ones(part.n_valid) for part in self.parts]
        return [what_rows_change(split, self.problem.target.task) for split in self.problem.splits]

    @cached_property
    def strata(self) -> list[Stratum]:
        """The validation rows that are drawn alike; all of a split where all are used."""
        if not self.samples_rows:
            return [Stratum(k, np.arange(part.n_valid)) for k, part in enumerate(self.parts)]
        return [one for k, sizes in enumerate(self.row_sizes) for one in make_strata(k, sizes)]

    @cached_property
    def target(self) -> ColumnSemivalue:
        """The semivalue of the columns."""
        return ColumnSemivalue(self.n_columns, self.run.semivalues[1])

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

    def pieces(self, n_subsets: int, attempt: int, *, is_pilot: bool) -> Pieces:
        """A list of pieces of work: with all column subsets, or with a sample for every chunk.

        Parameters
        ----------
        n_subsets : int
            Subsets of a piece; 2^m are all of them.
        attempt : int
            See :class:`~shapley2d._methods.knn.pieces.SampledPieces`.
        is_pilot : bool
            Whether the first pieces say how many subsets it takes.
        """
        random = generator(self.seed, "validation chunks")
        takes_all = n_subsets >= 2**self.n_columns
        chunks = [self._chunks(one, n_subsets, random) for one in self.strata]
        dealt, parts = in_turn(chunks), [self.parts[one.split] for one in self.strata]
        if takes_all:
            return AllSubsetPieces(parts, dealt, self.column_weights())
        # joint errors of blocks, and errors of rows, come from the lines, not from their squares
        squares_do = self.target.efficient and self.run.sums is None
        squared = squares_do and all(part.can_square for part in self.parts)
        error_lines = n_error_lines(self.n_rows * self.n_columns, min(map(len, chunks)))
        if self.options.round_rows:  # which rows were drawn is nearly all of the error
            error_lines = 1
        if squared:
            error_lines = max(error_lines, self.parts[0].squares_at_most)
        return SampledPieces(
            parts,
            dealt,
            self.target,
            n_subsets,
            error_lines,
            squared,
            self.seed,
            attempt,
            is_pilot=is_pilot,
            zero_baseline=self.options.baseline == "zero",
        )

    def _chunks(
        self, stratum: Stratum, n_subsets: int, random: np.random.Generator
    ) -> list[NDArray[np.intp]]:
        """The chunks of validation rows of a stratum."""
        part, y = self.parts[stratum.split], self.problem.splits[stratum.split].y_valid.codes
        size = part.walk_rows()
        if n_subsets < 2**self.n_columns:
            shape = (part.n_rows, part.n_valid, part.n_columns)
            work = {"work": ROUND_WORK} if self.samples_rows else {}
            size = chunk_rows(*shape, n_subsets, part.rows_at_a_time, **work)
            least = max(LEAST_ROWS, part.rows_at_a_time)
            if self.options.round_rows:
                size, least = min(size, self.options.round_rows), part.rows_at_a_time
        elif self.samples_rows:
            size, least = min(size, -(-part.n_valid // MANY_CHUNKS)), 1
            size = min(size, self.options.round_rows or size)
        else:
            order = random.permutation(part.n_valid)
            return [np.sort(order[k : k + size]) for k in range(0, order.size, size)]
        sizes = self.row_sizes[stratum.split]
        repeats = n_subsets < 2**self.n_columns
        return deal_stratum(stratum, y, sizes, size, random, least=least, repeats=repeats)

    def empty_sums(self) -> TableSums:
        """Sums to add pieces to."""
        blocks = self.run.sums
        sums = [
            StratumSums(
                one.rows.size,
                (self.parts[one.split].n_rows, self.n_columns),
                None if blocks is None else blocks.take_rows(self.rows[one.split]),
                efficient=self.target.efficient,
            )
            for one in self.strata
        ]
        return TableSums(
            sums,
            self.strata,
            self.rows,
            (self.n_rows, self.n_columns),
            with_blocks=blocks is not None,
        )
