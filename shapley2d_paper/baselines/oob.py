"""2D-OOB: cells valued by how well trees that never saw a row predict it from a few columns.

Many trees are grown, each on a bootstrap of the rows and a random subset of the columns. The value
of cell (i, j) is the mean score of row i over the trees whose bag lacks row i and whose columns
include j (Sun, Shen and Kwon, "2D-OOB: attributing data contribution through joint valuation
framework", NeurIPS 2024). No validation rows are needed. The values are not a semivalue: they do
not sum to a performance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from shapley2d._base.precision import convergence_ratio
from shapley2d._base.words import shown
from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.run import run_draws
from shapley2d._methods.method import Method, Option
from shapley2d.exceptions import InputError
from shapley2d_paper.baselines.checks import refuse_semivalue, refuse_settings
from shapley2d_paper.baselines.oob_trees import Trees, columns_drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

_CHUNK = 2**22  # scores whose means are taken at a time


@dataclass(frozen=True, repr=False)
class OOB(Method):
    """2D-OOB, bagged trees: how well trees that never saw a row predict it from the column.

    The splits of a problem are not looked at. Standard errors are those of the mean over trees for
    this table: they show how far more trees would move the values.

    Parameters
    ----------
    max_draws : int
        Trees to grow. The scores of all of them are kept until the end: four bytes per tree and
        row.
    column_share : float or int
        The part of the columns that each tree sees, rounded to the nearest number of columns, at
        least one. A whole number is a number of columns: 1 is one column, 1.0 all of them.
    oob_score : {"correct", "distance"}
        How a tree scores a row. ``"correct"``: 1 where it predicts the row's class, else 0; for a
        target of numbers 1 - (error squared) / (variance of the target), which is 1 at best and 0
        where a tree is as far off as the mean typically is. ``"distance"`` (classes only): adds how
        close the row is to the mean of its class in the bag, from 1 (as close as the closest row in
        the bag) to 0 (as far as the farthest) and below.

    Notes
    -----
    A category is one player however many 0/1 columns encode it. A missing number counts as the mean
    of its column. For the distance every column is scaled to a variance of 1, all 0/1 columns of a
    category together.

    Examples
    --------
    >>> from shapley2d import value_cells
    >>> X = np.column_stack([np.arange(40), np.random.default_rng(0).random(40)])
    >>> y = X[:, 0] >= 20
    >>> X[3, 0] = 35  # looks like the other class now
    >>> values = value_cells(X, y, method=OOB(max_draws=200, column_share=0.5)).values
    >>> [int(i) for i in np.unravel_index(values.argmin(), values.shape)]
    [3, 0]
    """

    name: ClassVar[str] = "oob"
    summary: ClassVar[str] = (
        "2D-OOB, bagged trees: how well trees that never saw a row predict it from the column"
    )
    how: ClassVar[str] = "out-of-bag performance of a bagged ensemble (2D-OOB)"
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

    def draws(self, problem: Problem, run: Run) -> Trees:
        """The trees."""
        _check(problem, run, self.oob_score)
        table = problem.table
        n_drawn = columns_drawn(self.column_share, table.n_columns)
        return Trees(table, problem.target, self.max_draws, n_drawn, self.oob_score, run.seed)

    def solve(self, problem: Problem, run: Run) -> Estimate:
        """The means over the trees that score a cell, with their errors."""
        trees, table = self.draws(problem, run), problem.table
        _, total = run_draws(
            trees,
            title="2D-OOB",
            n_jobs=run.n_jobs,
            cluster=run.cluster,
            progress=run.progress,
            limit=run.limit,
        )
        scores, saw = total.notes_of("scores"), total.notes_of("saw")
        means = tree_means(scores, saw, right_or_wrong=trees.right_or_wrong)
        least, n_drawn = int(means.counts.min()), trees.n_drawn
        if least < 2:
            share = (1 - 1 / table.n_rows) ** table.n_rows * n_drawn / table.n_columns
            # trees with which about one table in a thousand is left with such a cell
            enough = math.ceil((math.log(means.counts.size) + 10) / share)
            raise InputError(
                f"max_draws={shown(self.max_draws)} leaves some of the {means.counts.size:,} "
                "cells with fewer than two trees that see their column and not their row: "
                f"grow about {max(enough, self.max_draws + 1):,} trees, or let each see more "
                f"columns: raise column_share={shown(self.column_share)}"
            )
        dof = float(least - 1)
        info = {
            "n_trees": trees.n_trees,
            "columns_per_tree": n_drawn,
            "oob_score": self.oob_score,
            "min_trees_per_cell": least,
            "ratio": convergence_ratio(means.values, means.stderr, dof),
        }
        return Estimate(
            means.values, means.stderr, means.row_stderr, means.column_stderr, info, dof=dof
        )


def _check(problem: Problem, run: Run, score: str) -> None:
    """Refuse options that 2D-OOB does not support."""
    refuse_settings("oob", scoring=problem.scoring, checkpoint=run.checkpoint)
    refuse_semivalue("oob", run, "its values are means over trees")
    if problem.label is not None:
        raise InputError(
            "method='oob' cannot value the label as one more column: leave include_label out"
        )
    if score == "distance" and problem.target.task == "regression":
        raise InputError(
            "oob_score='distance' measures from the mean of a row's class, and a target of "
            "numbers has none: use oob_score='correct'"
        )


class TreeMeans(NamedTuple):
    """Mean scores of the cells, standard errors of them and of their sums, and their counts."""

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    row_stderr: NDArray[np.float64]
    column_stderr: NDArray[np.float64]
    counts: NDArray[np.float64]


def tree_means(
    scores: NDArray[np.floating], drawn: NDArray[np.bool_], *, right_or_wrong: bool = False
) -> TreeMeans:
    """The mean score of every cell over the trees that score it.

    Parameters
    ----------
    scores : ndarray of shape (B, n)
        The score of every row by every tree; NaN where the tree has the row in its bag.
    drawn : ndarray of shape (B, m)
        Which columns each tree saw. A tree scores the cells of its rows out of bag in these
        columns.
    right_or_wrong : bool
        Whether scores are 0 or 1. Trees that all agree do not prove that the next one will, so the
        errors are those with half a right and half a wrong score more (as in Jeffreys' interval),
        never 0.

    Notes
    -----
    A mean's error is a sum over trees of (score - mean) / count. One tree is part of many means, so
    the errors of the cells of a row, or of a column, are correlated: for a sum of means these terms
    are summed tree by tree before they are squared. A cell without scores has the value 0; see
    ``counts``.

    Examples
    --------
    >>> scores = np.array([[1.0, np.nan], [0.0, 1.0], [np.nan, 1.0]])
    >>> means = tree_means(scores, np.array([[True], [True], [True]]))
    >>> means.values.ravel(), means.stderr.ravel()
    (array([0.5, 1. ]), array([0.5, 0. ]))
    """
    n_trees, n_rows = scores.shape
    saw = drawn.astype(np.float64)
    n_columns = saw.shape[1]
    values, variance, counts = (np.zeros((n_rows, n_columns)) for _ in range(3))
    row_variance, column_errors = np.zeros(n_rows), np.zeros((n_trees, n_columns))
    step = max(1, _CHUNK // n_trees)
    with threadpool_limits(limits=1):  # sums do not depend on how many threads there are
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            part = scores[:, rows].astype(np.float64)
            out = (~np.isnan(part)).astype(np.float64)
            part[np.isnan(part)] = 0.0
            # exact for scores of 0 and 1, so that equal shares are equal numbers
            total = part.T @ saw
            centre = part.sum(axis=0) / np.maximum(out.sum(axis=0), 1.0)
            part -= centre * out  # squares of small numbers lose no digits
            counts[rows] = count = out.T @ saw
            inverse = 1.0 / np.maximum(count, 1.0)
            mean = part.T @ saw * inverse
            squares = np.maximum((part**2).T @ saw - count * mean**2, 0.0)
            values[rows] = total / np.maximum(count, 1.0)
            variance[rows] = squares * inverse / np.maximum(count - 1.0, 1.0)
            errors = part.T * (inverse @ saw.T) - out.T * ((inverse * mean) @ saw.T)
            row_variance[rows] = np.sum(errors**2, axis=1)
            column_errors += part @ inverse - out @ (inverse * mean)
    column_variance = np.sum((saw * column_errors) ** 2, axis=0)
    if right_or_wrong:
        more = 0.5 * (values**2 + (1.0 - values) ** 2) / np.maximum(counts, 1.0) ** 2
        variance += more
        row_variance += more.sum(axis=1)
        column_variance += more.sum(axis=0)
    return TreeMeans(
        values, np.sqrt(variance), np.sqrt(row_variance), np.sqrt(column_variance), counts
    )
