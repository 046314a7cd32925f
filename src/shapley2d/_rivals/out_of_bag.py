"""The method ``OutOfBag``: 2D-OOB (Sun, Shen and Kwon, NeurIPS 2024, arXiv:2408.03572).

Many trees are grown, each on a bootstrap of the rows and a random subset of the columns. The value
of cell (i, j) is the mean score of row i over the trees whose bag lacks row i and whose columns
include j. No validation rows are needed. The values are not a semivalue: they do not sum to a
performance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from shapley2d._base.checks import check_number
from shapley2d._base.words import counted, shown
from shapley2d._methods.method import Method, Option
from shapley2d._rivals.refusals import refuse_options, refuse_semivalue
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._rivals.bagged_trees import BaggedTrees
    from shapley2d._tables.problem import Problem


@dataclass(frozen=True, repr=False)
class OutOfBag(Method):
    """2D-OOB: how well trees that never saw a row predict it from a few columns.

    Parameters
    ----------
    max_draws : int
        Trees to grow. The scores of all of them are kept until the end: four bytes per tree and
        row.
    column_share : float or int
        The part of the columns that each tree sees, rounded to the nearest number of columns, at
        least one. A whole number is a number of columns: 1 is one column, 1.0 (and on the command
        line 1) all of them.
    oob_score : {"correct", "distance"}
        How a tree scores a row. ``"correct"``: 1 where it predicts the row's class, else 0; for a
        target of numbers 1 - (error squared) / (variance of the target), which is 1 at best and 0
        where a tree is as far off as the mean typically is. ``"distance"`` (classes only): adds how
        close the row is to the mean of its class in the bag, from 1 (as close as the closest row in
        the bag) to 0 (as far as the farthest) and below.

    Notes
    -----
    Standard errors are those of the mean over trees for this table: they show how far more trees
    would move the values. A category is one player however many 0/1 columns encode it. A missing
    number counts as the mean of its column. For the distance every column is scaled to a variance
    of 1, all 0/1 columns of a category together.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d import OutOfBag, value_cells
    >>> X = np.column_stack([np.arange(40), np.random.default_rng(0).random(40)])
    >>> y = X[:, 0] >= 20
    >>> X[3, 0] = 35  # looks like the other class now
    >>> values = value_cells(X, y, method=OutOfBag(max_draws=200, column_share=0.5)).values
    >>> [int(i) for i in np.unravel_index(values.argmin(), values.shape)]
    [3, 0]
    """

    name: ClassVar[str] = "oob"
    summary: ClassVar[str] = (
        "2D-OOB: how well bagged trees that never saw a row predict it from the column"
    )
    how: ClassVar[str] = "out-of-bag performance of bagged trees (2D-OOB)"
    meaning: ClassVar[str] = (
        "the mean score of its row by trees that saw its column and never saw the row"
    )
    total: ClassVar[str] = ""
    caution: ClassVar[str] = (
        "The values are mean scores of trees, not contributions: a low one is suspect, "
        "its sign means nothing."
    )
    needs_validation: ClassVar[bool] = False

    max_draws: Annotated[int, Option("how many trees to grow")] = 1000
    column_share: Annotated[
        float, Option("the share of the columns that a tree sees, or a whole number of them")
    ] = 0.25
    oob_score: Annotated[
        Literal["correct", "distance"],
        Option("right predictions, or with the distance from the class's mean"),
    ] = "correct"

    def draws(self, problem: Problem, run: Run) -> BaggedTrees:
        """The trees."""
        from shapley2d._rivals.bagged_trees import BaggedTrees

        if problem.splits:
            raise InputError(
                f"method={self.name!r} needs no validation table: rows out of the bag validate; "
                "leave X_valid out"
            )
        refuse_options(self.name, scoring=problem.scoring, checkpoint=run.checkpoint)
        refuse_semivalue(self.name, run, "its values are means over trees")
        if problem.grouped or problem.label is not None:
            raise InputError(
                f"method={self.name!r} values single cells: leave row_groups, column_groups and "
                "include_label out"
            )
        if self.oob_score == "distance" and problem.target.task == "regression":
            raise InputError(
                "oob_score='distance' measures from the mean of a row's class, and a target of "
                "numbers has none: use oob_score='correct'"
            )
        n_seen = self._columns_of(problem.table.n_columns)
        return BaggedTrees(
            problem, self.max_draws, n_seen, run.seed, by_distance=self.oob_score == "distance"
        )

    def solve(self, problem: Problem, run: Run) -> Estimate:
        """The means over the trees that score a cell, with their errors."""
        from shapley2d._estimation.run import run_draws

        trees = self.draws(problem, run)
        _, total = run_draws(
            trees, title="2D-OOB", n_jobs=run.n_jobs, cluster=run.cluster, progress=run.progress,
            limit=run.limit,
        )  # fmt: skip
        least = trees.fewest(total)
        if least < 2:
            raise InputError(
                f"max_draws={self.max_draws} leaves some cells with "
                f"{counted(least, 'tree')} that see their column and not their row, and an error "
                "takes two: grow more trees, or let each see more columns (column_share)"
            )
        return trees.estimate(total)

    def _columns_of(self, n_columns: int) -> int:
        """How many columns each tree sees."""
        share = self.column_share
        check_number(share, "column_share")
        whole = isinstance(share, int) or (share > 1 and float(share).is_integer())
        if share > (n_columns if whole else 1):
            raise InputError(
                f"column_share={shown(share)} must be a share of the columns, up to 1.0, or a "
                f"whole number of them, up to {n_columns}"
            )
        return int(share) if whole else max(1, round(share * n_columns))
