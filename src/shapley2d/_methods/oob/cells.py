"""2D-OOB: cells valued by how well trees that never saw a row predict it from a few columns.

Many trees are grown, each on a bootstrap of the rows and a random subset of the columns. The value
of cell (i, j) is the mean score of row i over the trees whose bag lacks row i and whose columns
include j (Sun, Shen and Kwon, "2D-OOB: attributing data contribution through joint valuation
framework", NeurIPS 2024). No validation rows are needed. The values are not a semivalue: they do
not sum to a performance.
"""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.precision import convergence_ratio
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.warnings import warn
from shapley2d._base.words import counted
from shapley2d._estimation.batches import single_threaded
from shapley2d._estimation.checkpoint import check_place
from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.workers import ordered_results
from shapley2d._methods.identity import checkpoint_of
from shapley2d._methods.oob.trees import GrownTrees, Trees, columns_drawn
from shapley2d._methods.record import refuse_semivalue
from shapley2d.exceptions import (
    InputError,
    InputWarning,
    OutOfTimeError,
    PrecisionWarning,
    Setting,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table

_CHUNK = 2**22  # scores whose means are taken at a time
_MOST_MORE = 10  # times as many trees as asked for, at most, so that every cell has two scores


def oob_cells(
    problem: Problem,
    run: Run,
    *,
    n_trees: int,
    column_share: float,
    oob_score: str,
    checkpoint: Any = None,
    cluster: Any = None,
) -> Estimate:
    """2D-OOB values of the cells of a table.

    Parameters
    ----------
    problem : Problem
        Its table and target; its splits are not looked at.
    run : Run
    n_trees : int
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
    checkpoint : path-like, optional
        Where to keep the scores of the trees that are grown, and to go on from, to the same bits.
    cluster : str, distributed.Client or executor, optional
        Where to grow them instead of here.

    Returns
    -------
    Estimate
        Standard errors are those of the mean over trees for this table: they show how far more
        trees would move the values. Ctrl-C ends the work and keeps the trees grown, if every cell
        has been scored twice by then.

    Notes
    -----
    A category is one player however many 0/1 columns encode it. A missing number counts as the mean
    of its column. For the distance every column is scaled to a variance of 1, all 0/1 columns of a
    category together.

    Examples
    --------
    >>> from shapley2d._methods.run import Run
    >>> from shapley2d._tables.problem import make_problem
    >>> X = np.column_stack([np.arange(40), np.random.default_rng(0).random(40)])
    >>> y = X[:, 0] >= 20
    >>> X[3, 0] = 35  # looks like the other class now
    >>> options = {"n_trees": 200, "column_share": 0.5, "oob_score": "correct"}
    >>> values = oob_cells(make_problem(X, y), Run.create(), **options).values
    >>> [int(i) for i in np.unravel_index(values.argmin(), values.shape)]
    [3, 0]
    """
    check_oob(problem, run, oob_score)
    n_drawn = columns_drawn(column_share, problem.table.n_columns)
    enough = _enough_trees(problem.table, n_drawn)
    if enough > _MOST_MORE * n_trees:
        raise InputError(*_too_few(problem.table, n_trees, column_share, enough))
    if checkpoint is not None:
        check_place(checkpoint)  # before anything long is done
    trees = Trees(problem.table, problem.target, int(n_trees), n_drawn, oob_score, run.seed)
    grown = GrownTrees(_checkpoint(checkpoint, problem, run, trees, enough), trees.shape)
    scores, drawn, stopped = _grow(trees, run, "2D-OOB", grown, cluster)
    means = tree_means(scores, drawn, right_or_wrong=trees.right_or_wrong)
    scarce = first_scarce = int((means.counts < 2).sum())
    # a few more trees, rather than an error after all that work
    while scarce and stopped is None and len(scores) < 2 * max(n_trees, enough):
        more = trees.after(len(scores), max(1, n_trees // 10))
        *extra, stopped = _grow(more, run, "2D-OOB, for cells with too few trees", grown, cluster)
        scores, drawn = np.concatenate([scores, extra[0]]), np.concatenate([drawn, extra[1]])
        means = tree_means(scores, drawn, right_or_wrong=trees.right_or_wrong)
        scarce = int((means.counts < 2).sum())
    if scarce and stopped is not None:
        raise stopped
    if scarce:
        raise InputError(*_too_few(problem.table, n_trees, column_share, 2 * enough))
    if first_scarce and stopped is None:
        warn(
            InputWarning(
                Setting("n_trees", n_trees),
                f" left {first_scarce:,} of {means.counts.size:,} cells with fewer than two trees "
                "that see their column and not their row, so "
                f"{counted(len(scores) - n_trees, 'more was', 'more were')} grown",
            )
        )
    interrupted = isinstance(stopped, KeyboardInterrupt)
    if interrupted:
        warn(
            PrecisionWarning(
                f"interrupted after {len(scores):,} of {counted(n_trees, 'tree')}: the values are "
                "less precise than asked, as their stderr shows"
            )
        )
    facts = {"resumed_at": grown.resumed_at} if grown.resumed_at else {}
    facts |= {"time_up": True} if isinstance(stopped, OutOfTimeError) else {}
    return _estimate(
        means,
        n_trees=len(scores),
        columns_per_tree=n_drawn,
        oob_score=oob_score,
        interrupted=interrupted,
        **facts,
    )


def check_oob(problem: Problem, run: Run, score: Any) -> None:
    """Refuse options that 2D-OOB does not support."""
    refuse_semivalue("oob", run.semivalues, "its values are means over trees")
    if problem.label is not None:
        raise InputError(
            Setting("method", "oob"),
            " cannot value the label as one more column: leave ",
            Setting("include_label"),
            " out",
        )
    if score == "distance" and problem.target.task == "regression":
        raise InputError(
            Setting("oob_score", "distance"),
            " measures from the mean of a row's class, and a target of numbers has none: use ",
            Setting("oob_score", "correct"),
        )


def _checkpoint(
    path: Any, problem: Problem, run: Run, trees: Trees, enough: int
) -> Checkpoint | None:
    """The checkpoint at a path, for trees of this table only; how many are wanted may change."""
    if path is None:
        return None
    return checkpoint_of(
        path,
        run,
        {},
        method="oob",
        problem=problem,
        max_bytes=4 * sum(trees.shape) * _MOST_MORE * max(trees.n_trees, enough),
        unit="trees",
        columns_per_tree=trees.n_drawn,
        oob_score=trees.score,
    )


def _grow(
    trees: Trees, run: Run, title: str, grown: GrownTrees, cluster: Any
) -> tuple[NDArray[np.float32], NDArray[np.bool_], BaseException | None]:
    """Scores of all trees, the columns they saw, and what ended it early: Ctrl-C, or the time."""
    n_rows, n_columns = trees.shape
    scores = np.empty((trees.n_trees, n_rows), dtype=np.float32)
    drawn = np.empty((trees.n_trees, n_columns), dtype=bool)
    done, pace = 0, Pace()
    stopped: BaseException | None = None

    def take(lines: NDArray[np.floating]) -> int:
        stop = done + len(lines)
        scores[done:stop], drawn[done:stop] = lines[:, :n_rows], lines[:, n_rows:] > 0
        return stop

    done = take(grown.lines(trees.first, trees.n_trees))
    left_over = trees.after(trees.first + done, trees.n_trees - done)
    pieces = ordered_results(left_over, 0, left_over.n_pieces, n_jobs=run.n_jobs, cluster=cluster)
    with reporting(run.progress, title) as report, closing(pieces):
        try:
            for piece in pieces:
                done = take(piece)
                grown.add(piece)
                pace.tick()
                left = (trees.n_trees - done) / trees.size * (pace.seconds() or 0.0)
                report(done / trees.n_trees, f"{done:,} of {trees.n_trees:,} trees", left)
                if run.limit is not None and done < trees.n_trees:
                    run.limit.check(pace.seconds() or 0.0)
        except (KeyboardInterrupt, OutOfTimeError) as cause:
            if done == 0:
                raise
            stopped = cause
        finally:
            grown.save()
    return scores[:done], drawn[:done], stopped


def _too_few(table: Table, n_trees: int, column_share: Any, enough: int) -> tuple[Any, ...]:
    cells = f"{table.n_rows * table.n_columns:,} cells"
    why = (
        f" leaves some of the {cells} with fewer than two trees that see their column and not "
        f"their row: grow about {enough:,} trees, or let each see more columns: raise "
    )
    return Setting("n_trees", n_trees), why, Setting("column_share", column_share)


def _enough_trees(table: Table, n_drawn: int) -> int:
    """Trees with which hardly any table leaves a cell with fewer than two scores."""
    n_rows, n_columns = table.n_rows, table.n_columns
    share = (1 - 1 / n_rows) ** n_rows * n_drawn / n_columns  # of the trees that score a given cell
    # + 10: about one table in a thousand is left with such a cell
    return math.ceil((math.log(n_rows * n_columns) + 10) / share)


def _estimate(means: TreeMeans, **info: Any) -> Estimate:
    least = int(means.counts.min())
    dof = float(least - 1)
    facts = {
        **info,
        "min_trees_per_cell": least,
        "ratio": convergence_ratio(means.values, means.stderr, dof),
    }
    return Estimate(
        means.values, means.stderr, means.row_stderr, means.column_stderr, facts, dof=dof
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
    with single_threaded():  # sums do not depend on how many threads there are
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
