"""The method ``KNN``: the row axis in closed form, the column axis exact or sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from shapley2d._base.defaults import MIN_COALITIONS, N_NEIGHBORS, TOLERANCE
from shapley2d._base.warnings import warn, warn_input
from shapley2d._base.words import counted, plural, shown
from shapley2d._methods.method import PRECISE, Method, Option
from shapley2d._methods.score_facts import CLOSED_SCORES, score_facts
from shapley2d.exceptions import InputError, PrecisionWarning

if TYPE_CHECKING:
    from shapley2d._base.arrays import Ints
    from shapley2d._knn.draws import KnnDraws
    from shapley2d._knn.neighbours import Neighbours
    from shapley2d._knn.utility_game import KnnGame
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

TRIPLES_PER_S = 2e7
"""Rows x validation rows x column subsets that a core values in a second (how_long.py)."""

FEW_TRIPLES = 2**27
"""Up to here (row, validation row, column subset) all subsets are evaluated: a few seconds."""

MAX_ALL_COLUMNS = 24
"""Beyond here all subsets are refused: they would be 2^25 and more."""

MAX_SAMPLED_COLUMNS = 1024
"""Beyond here a sample is refused, too: its regressions take the third power of their number."""

FIRST_PER_COLUMN = 4
"""Subsets to a column that a sampled draw has at first, where the caller asks for no number.

One more than intervals need. Draws grow where their errors exceed the tolerance.
"""

CROSSED_ROWS = 4000
"""With more rows that validate each other, a sample of them is used: all take minutes to hours."""


@dataclass(frozen=True, repr=False)
class KNN(Method):
    """Nearest neighbours: no model is trained, and no subset of rows is sampled.

    2D-KNN, Algorithm 2 of the paper (Liu et al., ICML 2023).

    The utility of some rows and columns is the share of the K nearest rows that have the label of
    a validation row, on average, which is the score ``"probability"``, that of the right label; in
    regression minus the squared error of their mean. The sum over all subsets of rows has a closed
    form (Jia et al., VLDB 2019); subsets of columns are all evaluated, or sampled. Where all are,
    values are exact.

    Parameters
    ----------
    n_neighbors : int
        K, the number of neighbours that vote.
    metric : {"auto", "sqeuclidean"}
        The distance between entries: ``"auto"`` scales every column by its spread, takes categories
        as equal or not, and has a rule for missing entries; ``"sqeuclidean"`` takes raw numbers.
    votes : {"k", "share"}
        What right votes are divided by: ``"k"``, the number of neighbours even where fewer rows are
        there, as in the paper; or ``"share"``, the votes there are, by which rows of noise are
        worth nothing.
    subsets : {"auto", "all", "sampled"}
        All column subsets, a sample of them, or whichever is cheaper for the tolerance.
    n_subsets : int, optional
        The size of that sample; as many as the tolerance takes by default. With fewer than three to
        a column the result says that its intervals are not to be trusted (``info["caveat"]``).
    valid_rows : {"all", "auto"}, optional
        All validation rows; or ``"auto"``, a sample of them, most influential first, until the
        tolerance is met, with what the others would change in the standard errors. By default all,
        but ``"auto"`` for cells of more than 4,000 rows without a validation table.
    tolerance : float
        Stop when the largest standard error is at most this share of the spread of the values.
    device : {"auto", "cpu", "cuda"}
        Where to compute: the processor, an NVIDIA GPU (extras cuda12 and cuda13), or the GPU where
        it is faster.

    Examples
    --------
    >>> from shapley2d import KNN, value_cells
    >>> X, y = [[0, 5], [1, 3], [9, 4], [8, 6]], ["low", "low", "high", "high"]
    >>> v = value_cells(X, y, X, y, method=KNN(n_neighbors=2))
    >>> v.column_values.round(6).tolist()
    [0.5, 0.0]
    """

    name: ClassVar[str] = "knn"
    takes_column_groups: ClassVar[bool] = True
    summary: ClassVar[str] = "nearest neighbours, trains no model"
    how: ClassVar[str] = "the {n_neighbors} nearest neighbours"

    n_neighbors: Annotated[int, Option("number of neighbours that vote", short="-k")] = N_NEIGHBORS
    metric: Annotated[
        Literal["auto", "sqeuclidean"],
        Option("distance between entries: auto scales every column, sqeuclidean takes raw numbers"),
    ] = "auto"
    votes: Annotated[
        Literal["k", "share"],
        Option(
            "what right votes are divided by: k, the number of neighbours even where fewer rows "
            "are there, as in the paper; or share, the votes there are, by which rows of noise are "
            "worth nothing"
        ),
    ] = "k"
    subsets: Annotated[
        Literal["auto", "all", "sampled"],
        Option("all column subsets, a sample of them, or whichever is cheaper for the tolerance"),
    ] = "auto"
    n_subsets: Annotated[
        int | None,
        Option(
            "the size of that sample",
            least=MIN_COALITIONS,
            shown_default="as many as the tolerance takes",
        ),
    ] = None
    valid_rows: Annotated[
        Literal["all", "auto"] | None,
        Option(
            "validation rows to use: all; or auto, a sample of them, most influential first, until "
            "the tolerance is met; standard errors include the sampling",
            shown_default="all, but auto for cells of more than 4,000 rows without a validation "
            "table",
        ),
    ] = None
    tolerance: Annotated[float, PRECISE] = TOLERANCE
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        Option(
            "where to compute: cpu; cuda, an NVIDIA GPU (extras cuda12 and cuda13); or auto, the "
            "GPU where it is faster"
        ),
    ] = "auto"

    def draws(self, problem: Problem, run: Run) -> KnnDraws:
        """Chunks of validation rows under column subsets; the row axis has a closed form."""
        import numpy as np

        from shapley2d._base.in_threads import count_threads
        from shapley2d._knn.draws import KnnDraws
        from shapley2d._knn.few_rows import rows_alone
        from shapley2d._knn.lines import ColumnLines
        from shapley2d._knn.metric import check_metric, varying_columns
        from shapley2d._tables.problem import weigh_problem

        # a text that is the same in every row too, though no distance needs it
        check_metric(self.metric, problem.table)
        facts = self._facts(problem)
        problem, m = weigh_problem(problem), problem.table.n_columns
        if problem.baseline != "zero":
            _warn_of_few_rows(problem, self.n_neighbors)
        varies = varying_columns(problem.table) & (self.n_neighbors < _most_rows(problem))
        groups = problem.column_groups
        players = np.arange(m) if groups is None else groups.numbers[:m]  # the label's is the last
        has_label = problem.label is not None
        columns = ColumnLines(players, varies, run.semivalues[1], has_label=has_label)
        self._check_columns(columns.n_kept)
        level = self._level(columns.n_kept, problem)
        folds = self._folds(problem, run, columns.used, level)
        self._warn_of_few_subsets(level, columns.n_kept)
        by_votes = (self.n_neighbors, self.votes, problem.baseline, run.semivalues[0])
        rows, alone = [], []
        for split, fold in zip(problem.splits, folds, strict=True):
            rows.append(split.rows[fold.order])
            alone.append(rows_alone(split, *by_votes)[fold.order])
        draws = KnnDraws(
            folds=folds,
            rows=rows,
            alone=alone,
            shape=(problem.table.n_rows, columns.n_columns),
            columns=columns,
            seed=run.seed,
            level=level,
            n_subsets=self.n_subsets,
            may_take_all=self._may_take_all(columns.n_kept),
            every_row=self._valid_rows(problem) == "all",
            # a worker of a cluster is one of many
            n_threads=count_threads(run.n_jobs) if run.cluster is None else 1,
        )
        draws.known = {"metric": self.metric, "n_neighbors": self.n_neighbors, **facts}
        return draws

    def _folds(self, problem: Problem, run: Run, used: Ints, level: int) -> list[Neighbours]:
        """The row values of all folds, on the processor, or on a GPU where that pays."""
        from shapley2d._knn.device import choose_device
        from shapley2d._knn.gpu import GpuNeighbours
        from shapley2d._knn.metric import measure
        from shapley2d._knn.neighbours import Neighbours

        wanted, more = self._device(run), dict[str, Any]()
        device = choose_device(wanted, level * _pairs(problem))
        kind: type[Neighbours] = Neighbours
        if device is not None:
            kind, more = GpuNeighbours, {"device": device, "asked_for": wanted == "cuda"}
        return [
            kind(
                measure(split.train, split.valid, self.metric, tells=k == 0).take(used),
                split.y.codes,
                split.y_valid.codes,
                task=problem.target.task,
                n_neighbors=self.n_neighbors,
                semivalue=run.semivalues[0],
                valid_weights=split.valid_weights,
                **more,
            )
            for k, split in enumerate(problem.splits)
        ]

    def _level(self, n_columns: int, problem: Problem) -> int:
        """Column subsets of a draw, at first; 2^m where all are evaluated.

        How much there is to do decides, not a clock: the same call has the same result on a busy
        machine.
        """
        from shapley2d._knn.kriging import MAX_SUBSETS

        everything, wanted = 2**n_columns, self.n_subsets
        takes_all = self.subsets == "all"
        if wanted is None:
            wanted = max(FIRST_PER_COLUMN * n_columns, 1)
            few = everything * _pairs(problem) <= FEW_TRIPLES
            takes_all = takes_all or (
                self._may_take_all(n_columns) and (few or self.tolerance == 0)
            )
        wanted += wanted % 2  # subsets come with their complements
        if n_columns <= MAX_ALL_COLUMNS and (takes_all or wanted >= everything):
            return int(everything)
        passes = -(-wanted // MAX_SUBSETS)
        return -(-wanted // (2 * passes)) * 2

    def _may_take_all(self, n_columns: int) -> bool:
        """Whether a sampled run may start again with all subsets, once these cost less."""
        return self.subsets == "auto" and self.n_subsets is None and n_columns <= MAX_ALL_COLUMNS

    def _check_columns(self, n_columns: int) -> None:
        """Refuse, before anything long is done, more columns than can be valued."""
        if n_columns > MAX_SAMPLED_COLUMNS:
            raise InputError(
                f"{n_columns:,} columns are more than the {MAX_SAMPLED_COLUMNS:,} that "
                "method='knn' can take: use method='mc' with model='knn', value groups of columns, "
                "or drop columns"
            )
        if self.subsets == "all" and n_columns > MAX_ALL_COLUMNS:
            raise InputError(
                f"subsets='all' needs 2^{n_columns} column subsets for {n_columns} columns: use "
                "subsets='sampled'"
            )

    def _warn_of_few_subsets(self, level: int, n_columns: int) -> None:
        from shapley2d._knn.kriging import FEW_PER_PLAYER, few_subsets

        if self.n_subsets is None or not few_subsets(level, n_columns):
            return
        warn(
            PrecisionWarning(
                f"n_subsets={self.n_subsets} is few for {n_columns} columns: errors are large, and "
                "95 % intervals can miss those columns that matter most in subsets of a size that "
                f"is not sampled; use n_subsets={-(-FEW_PER_PLAYER * n_columns // 2) * 2} or more"
            )
        )

    def seconds(self, problem: Problem, run: Run) -> float:
        """How long all validation rows take on the processor, about."""
        from shapley2d._base.in_threads import count_threads

        groups, m = problem.column_groups, problem.table.n_columns
        n_players = m if groups is None else len(set(groups.numbers[:m].tolist()))
        work = self._level(n_players, problem) * _pairs(problem)
        return work / (TRIPLES_PER_S * count_threads(run.n_jobs))

    def score(self, problem: Problem, run: Run) -> float:  # noqa: ARG002
        """The score of the whole table, less that of the labels alone."""
        from shapley2d._theory.game import gain_of_all

        return gain_of_all(self.games(problem), from_zero=problem.baseline == "zero")

    def games(self, problem: Problem) -> list[KnnGame]:
        """The utility as a game of any rows and columns, one for every split."""
        from shapley2d._knn.utility_game import KnnGame
        from shapley2d._tables.problem import weigh_problem

        self._check(problem)
        return [
            KnnGame(
                split,
                n_neighbors=self.n_neighbors,
                metric=self.metric,
                votes=self.votes,
            )
            for split in weigh_problem(problem).splits
        ]

    def facts(self, problem: Problem) -> dict[str, Any]:
        """What the record of a run of :meth:`games` says of them."""
        return {"model": "knn", "n_neighbors": self.n_neighbors, "metric": self.metric} | (
            self._facts(problem)
        )

    def _facts(self, problem: Problem) -> dict[str, Any]:
        from shapley2d._knn.few_rows import knn_baseline
        from shapley2d._tables.problem import weigh_problem

        self._check(problem)
        weighed = weigh_problem(problem)
        facts = {"votes": self.votes, **knn_baseline(weighed, self.n_neighbors, self.votes)}
        if self.n_neighbors >= _most_rows(problem):  # a share of neighbours that are not there
            return facts | {"all_neighbors": problem.baseline == "labels" and not problem.label}
        return facts | score_facts(weighed, "neighbours", self.n_neighbors)

    def about(self, facts: dict[str, Any]) -> dict[str, str]:
        """The words about the method that a result keeps."""
        words = super().about(facts)
        if facts.get("all_neighbors"):
            words["total"] = "as all rows are always neighbours and no column matters"
        return words

    def _valid_rows(self, problem: Problem) -> str:
        """By default all rows of a table, and a sample of many folds' rows."""
        if self.valid_rows is not None:
            return self.valid_rows
        crossed = any(split.valid_rows is not None for split in problem.splits)
        many = crossed and problem.table.n_rows > CROSSED_ROWS
        return "auto" if many else "all"

    def _device(self, run: Run) -> str:
        if run.cluster is None:
            return self.device
        if self.device == "cuda":
            raise InputError("cluster works on processors: leave device='cuda' out")
        return "cpu"

    @staticmethod
    def _check(problem: Problem) -> None:
        """Refuse a score that nearest neighbours have no closed form for."""
        scoring, task = problem.scoring, problem.target.task
        known = CLOSED_SCORES[task]
        if scoring is None or (isinstance(scoring, str) and scoring in known):
            return
        kind = "Regressor" if task == "regression" else "Classifier"
        why = "it is not a mean over validation rows"
        if scoring == "accuracy":
            why = "which label has most votes is not a sum over neighbours"
        if isinstance(scoring, str) and "absolute" in scoring:
            why = "the absolute error is not a sum over pairs of neighbours"
        elif task == "regression":
            why = "nearest neighbours have the squared error only"
        others = f"scoring={known[0]!r}" if len(known) == 1 else " or ".join(map(repr, known))
        raise InputError(
            f"scoring={shown(scoring)} has no closed form: {why}: use {others}, or method='mc' "
            f"with a model of scikit-learn, such as KNeighbors{kind}()"
        )


def _pairs(problem: Problem) -> int:
    """Pairs of a row and a validation row, in all splits."""
    return sum(one.train.n_rows * one.valid.n_rows for one in problem.splits)


def _most_rows(problem: Problem) -> int:
    """The most rows that train."""
    return max(split.train.n_rows for split in problem.splits)


def _warn_of_few_rows(problem: Problem, n_neighbors: int) -> None:
    """Warn where all rows are neighbours of every validation row: nothing depends on a column."""
    most = _most_rows(problem)
    if n_neighbors < most:
        return
    warn_input(
        f"n_neighbors={n_neighbors} is not below the {counted(most, 'row')} that "
        f"{plural(most, 'trains', 'train')}: all of them are always neighbours, so no column "
        f"matters and every entry is worth 0; use fewer, such as {max(1, math.isqrt(most))}",
    )
