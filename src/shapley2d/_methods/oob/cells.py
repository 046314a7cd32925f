"""2D-OOB: cells valued by how well trees that never saw a row predict it from a few columns.

Many trees are grown, each on a bootstrap of the rows and a random subset of the columns. The value
of cell (i, j) is the mean score of row i over the trees whose bag lacks row i and whose columns
include j (Sun, Shen and Kwon, "2D-OOB: attributing data contribution through joint valuation
framework", NeurIPS 2024). No validation rows are needed. The values are no semivalue: they do not
sum to a performance.
"""

from __future__ import annotations

import math
from contextlib import closing
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_number
from shapley2d._base.precision import convergence_ratio
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.streams import generator
from shapley2d._base.warnings import warn
from shapley2d._estimation.checkpoint import check_place
from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.workers import ordered_results
from shapley2d._methods.identity import checkpoint_of
from shapley2d._methods.oob.grown import GrownTrees
from shapley2d._methods.oob.means import TreeMeans, tree_means
from shapley2d._methods.record import refuse_semivalue
from shapley2d._tables.encoding import as_float32, encode_tables, fill_means, near_one
from shapley2d.exceptions import InputError, InputWarning, PrecisionWarning, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

_MAX_PIECE = 50  # trees that are handed over together
_PIECE_ROWS = 200_000  # their rows, over all of them
_MOST_MORE = 10  # times the trees that were asked for may be grown so that every cell has two


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
    scores, drawn = _grow(trees, run, "2D-OOB", grown, cluster)
    interrupted = len(scores) < n_trees
    means = tree_means(scores, drawn, right_or_wrong=trees.right_or_wrong)
    scarce = first_scarce = int((means.counts < 2).sum())
    # some trees more rather than nothing at all
    while scarce and not interrupted and len(scores) < 2 * max(n_trees, enough):
        more = trees.after(len(scores), max(1, n_trees // 10))
        extra = _grow(more, run, "2D-OOB, for cells with too few trees", grown, cluster)
        interrupted = len(extra[0]) < more.n_trees
        scores, drawn = np.concatenate([scores, extra[0]]), np.concatenate([drawn, extra[1]])
        means = tree_means(scores, drawn, right_or_wrong=trees.right_or_wrong)
        scarce = int((means.counts < 2).sum())
    if scarce and interrupted:
        raise KeyboardInterrupt
    if scarce:
        raise InputError(*_too_few(problem.table, n_trees, column_share, 2 * enough))
    if first_scarce and not interrupted:
        warn(
            InputWarning(
                Setting("n_trees", n_trees),
                f" left {first_scarce} of {means.counts.size} cells with fewer than two trees that see their column "
                f"and not their row, so {len(scores) - n_trees} more were grown",
            )
        )
    if interrupted:
        warn(
            PrecisionWarning(
                f"interrupted after {len(scores)} of {n_trees} trees: the values are less precise than asked, as "
                "their stderr shows"
            )
        )
    facts = {"resumed_at": grown.resumed_at} if grown.resumed_at else {}
    return _estimate(
        means,
        n_trees=len(scores),
        columns_per_tree=n_drawn,
        oob_score=oob_score,
        interrupted=interrupted,
        **facts,
    )


def check_oob(problem: Problem, run: Run, score: Any) -> None:
    """Refuse what trees cannot answer."""
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


def columns_drawn(column_share: Any, n_columns: int) -> int:
    """How many columns each tree sees.

    Examples
    --------
    >>> columns_drawn(0.25, 9), columns_drawn(0.01, 9), columns_drawn(3, 9)
    (2, 1, 3)
    """
    check_number(column_share, "column_share")
    whole = isinstance(column_share, (int, np.integer))
    if column_share > (n_columns if whole else 1):
        raise InputError(
            Setting("column_share", column_share),
            f" must be a share of the columns, up to 1.0, or a whole number of them, up to {n_columns}",
        )
    return int(column_share) if whole else max(1, round(column_share * n_columns))


def draw_tree(
    seed: int, number: int, shape: tuple[int, int], n_drawn: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often tree ``number`` has each row in its bag, and which columns it sees, in random order."""
    n_rows, n_columns = shape
    random = generator(seed, "draw", number)
    counts = np.bincount(random.integers(n_rows, size=n_rows), minlength=n_rows)
    return counts, random.permutation(n_columns)[:n_drawn]


class Trees:
    """Numbered bundles of trees: a line per tree with the scores of the rows, then which columns it saw.

    A row in the bag has the score NaN. A tree is known by its number, whichever bundle it is in.
    """

    def __init__(
        self, table: Table, target: Target, n_trees: int, n_drawn: int, score: str, seed: int
    ) -> None:
        self.shape = (table.n_rows, table.n_columns)
        self.n_trees, self.first = n_trees, 0
        self.size = max(1, min(_MAX_PIECE, _PIECE_ROWS // table.n_rows))
        self.right_or_wrong = score == "correct" and target.task == "classification"
        self.n_drawn, self.score, self._seed = n_drawn, score, seed
        encoded = encode_tables(table, table)
        (matrix,) = near_one(fill_means(encoded.train), by_column=True)
        self._members = [np.flatnonzero(encoded.owners == j) for j in range(table.n_columns)]
        values = as_float32(matrix.T)
        order = np.argsort(values, axis=1, kind="stable").astype(np.int32)
        self._presorted = (values, order)
        self._scaled = _scaled(matrix, encoded.owners) if score == "distance" else None
        if target.task == "classification":
            self._labels = target.codes.astype(np.float64)
            self._target = (target.codes.astype(np.int32), self._labels, int(target.classes.size))
        else:
            self._labels = target.codes - target.codes.mean()
            self._target = (np.zeros(table.n_rows, dtype=np.int32), self._labels, 0)
            self._variance = float(np.mean(self._labels**2))

    def after(self, first: int, n_trees: int) -> Trees:
        """The trees that come after the first so many."""
        more = copy(self)
        more.first, more.n_trees = first, n_trees
        return more

    @property
    def n_pieces(self) -> int:
        """Bundles in all."""
        return -(-self.n_trees // self.size)

    def __call__(self, number: int) -> NDArray[np.float64]:
        n_rows, n_columns = self.shape
        first = self.first + number * self.size
        trees = range(first, min(first + self.size, self.first + self.n_trees))
        lines = np.zeros((len(trees), n_rows + n_columns))
        for line, tree in zip(lines, trees, strict=True):
            counts, columns = draw_tree(self._seed, tree, self.shape, self.n_drawn)
            line[:n_rows] = self._scores(
                counts, np.concatenate([self._members[j] for j in columns])
            )
            line[n_rows + columns] = 1.0
        return lines

    def _scores(self, counts: NDArray[np.int64], active: NDArray[np.intp]) -> NDArray[np.float64]:
        from shapley2d._kernels.out_of_bag import predict_out_of_bag

        predicted = np.zeros(counts.size)
        predict_out_of_bag(self._presorted, self._target, counts, active, predicted)
        if self._target[2]:
            scores = (predicted == self._labels).astype(np.float64)
        else:
            scores = 1.0 - (predicted - self._labels) ** 2 / self._variance
        if self._scaled is not None:
            from shapley2d._kernels.closeness import add_closeness

            add_closeness(self._scaled, self._target, counts, active, scores)
        return np.where(counts == 0, scores, np.nan)


def _scaled(matrix: NDArray[np.float64], owners: NDArray[np.intp]) -> NDArray[np.float64]:
    """Columns as lines, centred, and divided so that those of one player have a variance of 1 in all."""
    centred = (matrix - matrix.mean(axis=0)).T
    variance = np.bincount(owners, np.mean(centred**2, axis=1))
    return np.ascontiguousarray(
        centred / np.sqrt(np.where(variance > 0, variance, 1.0))[owners][:, None]
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
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Scores of all trees, and the columns they saw; of those grown so far after Ctrl-C."""
    n_rows, n_columns = trees.shape
    scores = np.empty((trees.n_trees, n_rows), dtype=np.float32)
    drawn = np.empty((trees.n_trees, n_columns), dtype=bool)
    done, pace = 0, Pace()

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
        except KeyboardInterrupt:
            if done == 0:
                raise
        finally:
            grown.save()
    return scores[:done], drawn[:done]


def _too_few(table: Table, n_trees: int, column_share: Any, enough: int) -> tuple[Any, ...]:
    cells = f"{table.n_rows * table.n_columns:,} cells"
    why = f" leaves some of the {cells} with fewer than two trees that see their column and not their row: "
    remedy = f"grow about {enough:,} trees, or let each see more columns: raise "
    return Setting("n_trees", n_trees), why + remedy, Setting("column_share", column_share)


def _enough_trees(table: Table, n_drawn: int) -> int:
    """Trees with which hardly any table leaves a cell with fewer than two scores."""
    n_rows, n_columns = table.n_rows, table.n_columns
    share = (1 - 1 / n_rows) ** n_rows * n_drawn / n_columns  # of the trees that score a given cell
    return math.ceil(
        (math.log(n_rows * n_columns) + 10) / share
    )  # leaves about one table in a thousand short


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
