"""A valuation of blocks, checked and ready to run: as asked, or with something changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shapley2d._market.block_game import estimate_blocks
from shapley2d._market.cell_sums import MAX_JOINT, Summed, Sums
from shapley2d._market.layout import Prepared
from shapley2d._market.validation_parts import DEFAULT_PARTS, block_replicates, deal_parts
from shapley2d._tables.problem import split_tables
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._market.layout import BlockLayout, Changed, Named
    from shapley2d._market.regions import Regions
    from shapley2d._methods.method import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Tables
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


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
    summed: Summed
    method: Method  # as chosen
    n_parts: int  # parts of the validation rows that were left out in turn


@dataclass(frozen=True)
class BlocksJob:
    """A valuation of blocks with its tables read and its defaults settled."""

    tables: Tables
    run: Run
    method: Method
    parties: str  # "known", "anonymous"
    copies: str  # "one", "each"
    named: Named  # sets of rows and columns, and who owns what
    valid_parts: int | None  # parts of the validation rows to leave out; None for the default
    # the question
    cv: Any
    scoring: Any
    baseline: str

    @property
    def owned(self) -> bool:
        """Whether there are owners: of a table of them, or the sets of one axis."""
        return self.named.regions is not None

    def answer(self, variation: Variation | None = None) -> Answer:
        """Value the blocks, with something changed if a variation is given."""
        varied = variation or Variation()
        prepared = Prepared.of(self.tables, self.named, self.copies, varied.table)
        problem = split_tables(
            prepared.tables, cv=self.cv, seed=self.run.seed, label=self.named.label,
            scoring=self.scoring, baseline=self.baseline,
        )  # fmt: skip
        if varied.problem is not None:
            problem = varied.problem(problem)
        known, seed = self.parties == "known", self.run.seed
        layout = prepared.layout(problem, self.named, varied.regions, players=known, seed=seed)
        return (self._by_blocks if known else self._by_cells)(problem, layout)

    def _by_blocks(self, problem: Problem, layout: BlockLayout) -> Answer:
        """Values of blocks that join as wholes."""
        sums = Sums.of(layout, cells=False)
        n_parts, folds = self._n_parts(problem, sums), len(problem.splits)
        parts = deal_parts(problem, n_parts, self.run.seed) if n_parts else None
        run = replace(self.run, sums=sums.asked)
        estimate, replicates, method, problem = estimate_blocks(
            problem, run, layout.grid, self.method, parts
        )
        if len(problem.splits) < folds:
            estimate = estimate.noting(folds_made=folds)
        return Answer(problem, layout, sums.summed(estimate, replicates), method, n_parts)

    def _by_cells(self, problem: Problem, layout: BlockLayout) -> Answer:
        """Values of the blocks as sums of cells."""
        sums = Sums.of(layout, cells=True)
        n_parts = self._n_parts(problem, sums)
        run = leaving_time(self.run, n_parts)
        estimate = self.method.solve(problem, replace(run, sums=sums.asked))
        if estimate.info.get("time_up"):  # its errors know of the rows that were not used
            n_parts = 0
        replicates = None
        if n_parts and not estimate.info.get("interrupted"):
            again = self.method.repeating(estimate.info)
            whole = sums.blocks(estimate.values)
            replicates = block_replicates(problem, self.run, again, sums.blocks, whole, n_parts)
        n_parts = 0 if replicates is None else n_parts
        return Answer(problem, layout, sums.summed(estimate, replicates), self.method, n_parts)

    def _n_parts(self, problem: Problem, sums: Sums) -> int:
        """Parts of the validation rows: those asked for, by default if they cost one valuation."""
        if self.valid_parts:
            if not len(sums.payees):
                raise InputError(
                    Setting("valid_parts"),
                    f" is for owners, or for at most {MAX_JOINT} blocks: name the owners by ",
                    Setting("owners"),
                )
            return self.valid_parts
        one_axis = (self.named.rows is None) != (self.named.columns is None)
        cheap = (self.owned or one_axis) and self.method.averages
        usual = self.owned if self.parties == "known" else cheap
        if self.valid_parts is not None or not usual or not len(sums.payees):
            return 0
        most = min(split.valid.n_rows for split in problem.splits)
        return min(DEFAULT_PARTS, most) if most > 1 else 0


def leaving_time(run: Run, n_parts: int) -> Run:
    """The run of the values, with as much time left for other validation rows, if these follow."""
    if run.limit is None or not n_parts:
        return run
    return replace(run, limit=run.limit.earlier(run.limit.left() / 2))
