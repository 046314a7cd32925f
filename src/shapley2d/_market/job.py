"""A valuation of blocks, checked and ready to run: as asked, or with something changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._market.block_game import estimate_blocks
from shapley2d._market.cell_sums import MAX_JOINT, estimate_cell_sums
from shapley2d._market.jackknife import problems_without_a_part
from shapley2d._market.layout import Prepared
from shapley2d._market.other_validation_rows import (
    Errors,
    cell_replicates,
    is_joint,
    leaving_time,
    replicates_of,
    sums_of,
    with_blocks,
)
from shapley2d._tables.problem import split_tables
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._market.layout import BlockLayout, Changed
    from shapley2d._market.owners import Claim
    from shapley2d._market.regions import Regions
    from shapley2d._methods.method import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split, Tables
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target
    from shapley2d._theory.sums import BlockSums


@dataclass(frozen=True)
class Variation:
    """What differs in a counterfactual: training table, what owners have, or validation rows."""

    table: Callable[[Table, Target], Changed] | None = None
    regions: Callable[[Regions], Regions] | None = None
    problem: Callable[[Problem], Problem] | None = None


@dataclass(frozen=True)
class Answer:
    """The values of blocks and owners, with their errors and the tables behind them."""

    problem: Problem
    layout: BlockLayout
    estimate: Estimate  # of the blocks
    owners: NDArray[np.float64] | None  # values of the owners, where players are cells
    errors: Errors  # of the owners' values, or of the blocks where there are no owners
    method: Method  # as chosen
    n_parts: int  # parts of the validation rows that were left out in turn

    @property
    def owner_values(self) -> NDArray[np.float64]:
        """What every owner is worth."""
        if self.owners is not None:
            return self.owners
        assert self.layout.ownership is not None
        return np.asarray(np.tensordot(self.layout.ownership.shares, self.estimate.values, axes=2))


@dataclass(frozen=True)
class BlocksJob:
    """A valuation of blocks with its tables read and its defaults settled."""

    tables: Tables
    run: Run
    method: Method
    players: str  # "cells", "blocks"
    copies: str  # "one", "each"
    valid_parts: int | None  # parts of the validation rows to leave out; None for the default
    # the set of every row and of every column
    rows: Any
    columns: Any
    rows_from: str  # the argument that named the sets of rows: "rows", "owner_column"
    claims: list[Claim] | None  # what the owners claim; None where no table names them
    claimed: NDArray[np.bool_] | None  # the rows of the table that they claim; None for all
    owned: bool  # whether there are owners: of a table of them, or the sets of one axis
    contributed: bool  # whether contributors are valued: owners, or the sets of one axis
    # the question
    cv: Any
    label: str | None
    scoring: Any
    baseline: str

    def problem(self, change: Any = None) -> Problem:
        """The problem of the tables, or of what a change makes of them."""
        return split_tables(
            self.tables, cv=self.cv, seed=self.run.seed, label=self.label, scoring=self.scoring,
            baseline=self.baseline, change=change,
        )  # fmt: skip

    def answer(self, variation: Variation | None = None) -> Answer:
        """Value the blocks, with something changed if a variation is given."""
        varied = variation or Variation()
        prepared: Prepared | None = None

        def change(table: Table, target: Target, split: Split | None) -> Changed:
            nonlocal prepared
            prepared = Prepared.of(
                table,
                target,
                self.copies if self.owned else None,
                split=split,
                with_label=self.label is not None,
                claimed=self.claimed,
                change=varied.table,
            )
            return prepared.table, prepared.target, prepared.origin[prepared.kept]

        problem = self.problem(change)
        assert prepared is not None
        if varied.problem is not None:
            problem = varied.problem(problem)
        layout = prepared.layout(
            problem,
            self.rows,
            self.columns,
            self.claims,
            varied.regions,
            sets_own=self.owned and self.claims is None,
            option=self.rows_from,
            seed=self.run.seed,
        )
        value = self._by_cells if self.players == "cells" else self._by_blocks
        return value(problem, layout)

    def _by_blocks(self, problem: Problem, layout: BlockLayout) -> Answer:
        """Values of blocks that join as wholes."""
        sums = sums_of(layout)
        _check_sums(self.valid_parts, sums)
        joint = sums if is_joint(sums) else None
        n_parts, folds = self.valid_parts or 0, len(problem.splits)
        run = leaving_time(self.run, n_parts)
        estimate, chosen, problem = estimate_blocks(problem, run, layout.grid, joint, self.method)
        if len(problem.splits) < folds:
            estimate = estimate.noting(folds_made=folds)
        errors = Errors(estimate.covariance, None, estimate.dof)
        if estimate.info.get("time_up"):
            n_parts = 0
        if n_parts:
            assert sums is not None
            again = chosen.repeating(estimate.info)

            def without(part: Problem, quiet: Run) -> NDArray[np.float64]:
                found = estimate_blocks(part, quiet, layout.grid, None, again, as_before=True)
                return with_blocks(sums, found.estimate.values)

            parts = problems_without_a_part(problem, n_parts, self.run.seed)
            replicates = replicates_of(self.run, n_parts, parts, without)
            errors, n_parts = errors.with_spread(replicates, sums), len(replicates)
        return Answer(problem, layout, estimate, None, errors, chosen, n_parts)

    def _by_cells(self, problem: Problem, layout: BlockLayout) -> Answer:
        """Values of the blocks as sums of cells."""
        owned = None if layout.ownership is None else layout.ownership.shares
        sums = sums_of(layout)
        _check_sums(self.valid_parts, sums)
        n_parts = 0 if sums is None else self._n_parts(problem)
        run = leaving_time(self.run, n_parts)
        found = estimate_cell_sums(
            problem, run, layout.grid, owned, self.method, joint=is_joint(sums)
        )
        estimate = found.blocks
        errors = Errors(estimate.covariance, None, estimate.dof)
        if estimate.info.get("time_up"):  # its errors know of the rows that were not used
            n_parts = 0
        if n_parts and not estimate.info.get("interrupted"):
            assert sums is not None
            again = self.method.repeating(estimate.info)
            whole = with_blocks(sums, estimate.values)
            replicates = cell_replicates(self.run, problem, layout, again, sums, whole, n_parts)
            errors, n_parts = errors.with_spread(replicates, sums), len(replicates)
        return Answer(problem, layout, estimate, found.owners, errors, self.method, n_parts)

    def _n_parts(self, problem: Problem) -> int:
        """Parts of the validation rows: those asked for, by default if they cost one valuation."""
        if self.valid_parts is not None:
            return self.valid_parts
        if not self.contributed or not self.method.averages:
            return 0
        most = min(split.valid.n_rows for split in problem.splits)
        return min(10, most) if most > 1 else 0


def _check_sums(n_parts: int | None, sums: BlockSums | None) -> None:
    if n_parts and sums is None:
        raise InputError(
            Setting("valid_parts"),
            f" is for owners, or for at most {MAX_JOINT} blocks: name the owners by ",
            Setting("owners"),
        )
