"""The label as one more column of the K-nearest-neighbour game.

With the label phi(F + label) = phi(F), and without it nothing can be learned. So the features'
values are a semivalue of the game without the label
(:func:`shapley2d._theory.semivalues.feature_semivalue`), and the label's value in a row is the mean
of phi(F) over random coalitions F of the features, of size s with weight p(s; m + 1) each. For
Shapley's value it is what the features leave of phi(M).
"""

from __future__ import annotations

import math
from dataclasses import replace
from time import monotonic as now
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._estimation.estimate import Estimate
from shapley2d._methods.knn.bin_correction import correct_bins
from shapley2d._methods.knn.cells import value_game, value_knn
from shapley2d._tables.per_row import weighted_mean
from shapley2d._theory.semivalues import (
    Semivalue,
    feature_semivalue,
    marginal_weights,
    size_probabilities,
)
from shapley2d._theory.sums import BlockSums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._methods.knn.choices import KnnOptions
    from shapley2d._methods.knn.game import SplitGame
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

_BATCH = 64

_OF_LABEL = 0.1
"""Share of a time limit for the label: with as many validation rows it takes far less."""

_MARGIN = 1.2  # on the time of a validation row: machines are busy

_GROUPS = 8
"""Of validation rows, whose differences say how far off the label is where not all fit."""


def value_knn_label(problem: Problem, run: Run, options: KnnOptions) -> Estimate:
    """Values of the cells, those of the label in the last column."""
    row_semivalue, column_semivalue = run.semivalues
    factor, beside = feature_semivalue(column_semivalue)
    sums = _sums_of_features(run) if column_semivalue == "shapley" else None
    of_features = replace(run, semivalues=(row_semivalue, beside), sums=sums)

    limit = run.limit
    if limit is not None:
        of_features = replace(of_features, limit=limit.earlier(_OF_LABEL * limit.seconds))

    def value(game: SplitGame) -> Estimate:
        whole = replace(game, run=replace(game.run, limit=limit))
        return _with_label(value_game(game), whole, column_semivalue, factor)

    return value_knn(problem, of_features, options, value)


def _with_label(
    features: Estimate, coded: SplitGame, column_semivalue: Semivalue, factor: float
) -> Estimate:
    """The values of the features times a factor, and those of the label in the last column."""
    values, stderr = factor * features.values, factor * features.stderr
    row_stderr, column_stderr = factor * features.row_stderr, factor * features.column_stderr
    game, m = _RowGame(coded), coded.n_columns
    dof = features.dof
    count = 1 if column_semivalue == "shapley" else int(features.info["n_subsets"])
    parts = _rows_that_fit(game, coded, count)
    if parts is not None:
        alone = _label_of_some_rows(game, parts, column_semivalue, count, coded.seed)
        label, label_stderr, label_sum_stderr = alone
        dof = min(dof, float(_GROUPS - 1))
        if column_semivalue == "shapley":  # of all columns, what the features leave
            label = label - values.sum(axis=1)
            whole_stderr, label_stderr = label_stderr, np.hypot(row_stderr, label_stderr)
            assert features.total_stderr is not None
            label_sum_stderr = math.hypot(factor * features.total_stderr, label_sum_stderr)
            row_stderr = whole_stderr
        else:
            row_stderr = np.hypot(row_stderr, label_stderr)
    elif column_semivalue == "shapley":
        everything = game.values(np.ones((1, m), dtype=bool))[0]
        alone = game.corrected(everything, np.eye(m + 1)[m], walked=False)
        label, label_stderr = alone.values - values.sum(axis=1), np.hypot(row_stderr, alone.stderr)
        assert features.total_stderr is not None
        label_sum_stderr = math.hypot(factor * features.total_stderr, alone.sum_stderr)
        row_stderr = alone.stderr
    else:
        label_weights = marginal_weights(column_semivalue, m + 1)
        walked = features.info["subsets"] == "all"
        if walked:
            label, label_stderr, label_sum_stderr = (
                game.mean(column_semivalue),
                np.zeros(game.n_rows),
                0.0,
            )
        else:
            label, label_stderr, label_sum_stderr = _sampled_mean(
                game, column_semivalue, count, coded.seed
            )
            dof = min(dof, float(count - 1))
        alone = game.corrected(label, label_weights, walked=walked)
        label, label_stderr = alone.values, np.hypot(label_stderr, alone.stderr)
        label_sum_stderr = math.hypot(label_sum_stderr, alone.sum_stderr)
        row_stderr = np.hypot(row_stderr, label_stderr)
    return Estimate(
        np.column_stack([values, label]),
        np.column_stack([stderr, label_stderr]),
        row_stderr,
        np.append(column_stderr, label_sum_stderr),
        features.info,
        features.history,
        None if features.covariance is None else factor**2 * features.covariance,
        dof=dof,
    )


def _sums_of_features(run: Run) -> BlockSums | None:
    """Sums of features: the error of a label's cell is minus those of the others of its row."""
    if run.sums is None:
        return None
    sums = run.sums
    weights = sums.weights - sums.weights[:, :, sums.columns[-1:]]
    return BlockSums(weights, sums.rows, sums.columns[:-1])


class _Corrected(NamedTuple):
    """One value per row, their standard errors and that of their sum."""

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    sum_stderr: float


class _RowGame:
    """phi(F), the mean over the splits; on a processor all rows are ranked."""

    def __init__(self, game: SplitGame) -> None:
        problem, options = game.problem, game.options
        self.n_rows, self.n_columns = game.n_rows, game.n_columns
        self._seed = game.seed
        self._zero_baseline = options.baseline == "zero"
        self._joining = np.zeros(self.n_rows)
        if not self._zero_baseline and problem.target.task == "regression":
            # a row that joins none is measured from the mean of all targets, not from an error of 0
            for split in problem.splits:
                off = split.y_valid.codes - split.y.codes.mean()
                alone = marginal_weights(game.run.semivalues[0], split.rows.size)[0]
                error = weighted_mean(off**2, split.valid_weights)
                self._joining[split.rows] += alone * error / len(problem.splits)
        may_bin = game.device is not None and options.form != "exact"
        parts = game.in_form("fast" if may_bin else "exact").parts
        self._rows = game.rows
        self._parts = list(zip(self._rows, parts, strict=True))

    @property
    def n_valid(self) -> list[int]:
        """Validation rows of every split."""
        return [part.n_valid for _, part in self._parts]

    def values(
        self, coalitions: NDArray[np.bool_], valid: list[NDArray[np.intp]] | None = None
    ) -> NDArray[np.float64]:
        """Under column subsets: means over all validation rows, or over those of every split."""
        mean = np.zeros((len(coalitions), self.n_rows))
        for k, (rows, part) in enumerate(self._parts):
            chosen = None if valid is None else valid[k]
            mean[:, rows] += part.values(coalitions, valid=chosen) / len(self._parts)
        if self._zero_baseline:
            mean[~coalitions.any(axis=1)] = 0.0
        return mean + self._joining

    def mean(self, semivalue: Semivalue) -> NDArray[np.float64]:
        """Mean over all column subsets, as the label meets them: a walk of equal weights."""
        weights = marginal_weights(semivalue, self.n_columns + 1)
        if self._zero_baseline:
            weights[0] = 0.0
        mean = self._joining.copy()
        for rows, part in self._parts:
            mean[rows] += part.walk(weights, -weights)[:, 0] / len(self._parts)
        return mean

    def corrected(
        self, values: NDArray[np.float64], weights: NDArray[np.float64], *, walked: bool
    ) -> _Corrected:
        """Means over subsets weighted by size, less the known errors of a GPU's bins."""
        binned = [part for _, part in self._parts]
        if not any(part.is_binned for part in binned):
            return _Corrected(values, np.zeros(self.n_rows), 0.0)
        weights = np.where((np.arange(weights.size) == 0) & (self._zero_baseline), 0.0, weights)
        m = self.n_columns
        # All columns alike: what counts for those in a coalition counts for the others too.
        alike = Estimate(
            np.repeat(values[:, None], m, axis=1),
            np.zeros((self.n_rows, m)),
            np.zeros(self.n_rows),
            np.zeros(m),
            {},
            total_stderr=0.0,
        )
        right = correct_bins(
            alike,
            [part.walked(weights, -weights) if walked else part for part in binned],
            [part.ranked() for part in binned],
            self._rows,
            (weights, -weights),
            self._seed,
        )
        return _Corrected(right.values[:, 0], right.stderr[:, 0], float(right.column_stderr[0]))


def _rows_that_fit(
    game: _RowGame, coded: SplitGame, count: int
) -> list[list[NDArray[np.intp]]] | None:
    """Groups of random validation rows of every split that a time limit leaves room for.

    None where there is no limit, or where all rows fit, or are too few for groups.
    """
    limit = coded.run.limit
    if limit is None or min(game.n_valid) < 2 * _GROUPS:
        return None
    random = generator(coded.seed, "label rows")
    orders = [random.permutation(n_valid) for n_valid in game.n_valid]
    begin = now()
    game.values(np.ones((1, game.n_columns), dtype=bool), [order[:1] for order in orders])
    a_row_s = max(now() - begin, 1e-9) * count
    fitting = int(limit.left() / (_MARGIN * a_row_s))
    if fitting >= max(game.n_valid):
        return None
    size = max(fitting // _GROUPS, 1)
    sizes = [min(size, order.size // _GROUPS) for order in orders]
    return [
        [order[g * each : (g + 1) * each] for order, each in zip(orders, sizes, strict=True)]
        for g in range(_GROUPS)
    ]


def _label_of_some_rows(
    game: _RowGame,
    parts: list[list[NDArray[np.intp]]],
    semivalue: Semivalue,
    count: int,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Values from groups of validation rows, their errors and that of their sum.

    For Shapley's value under all columns, else means over subsets, which every group has its own
    of: what groups differ by is all that the values are off by.
    """
    m = game.n_columns
    lines = []
    for g, valid in enumerate(parts):
        masks = np.ones((1, m), dtype=bool)
        if semivalue != "shapley":
            masks = _label_subsets(m, semivalue, max(count // _GROUPS, 1), seed, g)
        lines.append(game.values(masks, valid).mean(axis=0))
    used = len(parts) * sum(rows.size for rows in parts[0]) / sum(game.n_valid)
    # rows that are not drawn are all that is missing under one subset
    missing = math.sqrt(max(1.0 - used, 0.0) if semivalue == "shapley" else 1.0)
    found = np.array(lines)
    share = missing / math.sqrt(len(parts))
    stderr = found.std(axis=0, ddof=1) * share
    return found.mean(axis=0), stderr, float(found.sum(axis=1).std(ddof=1) * share)


def _label_subsets(
    m: int, semivalue: Semivalue, count: int, seed: int, *number: int
) -> NDArray[np.bool_]:
    """Random subsets of the features, as often as the label joins them."""
    random = generator(seed, "label coalitions", *number)
    size = random.choice(m + 1, count, p=size_probabilities(semivalue, m + 1))
    return random.permuted(np.arange(m)[None, :] < size[:, None], axis=1)


def _sampled_mean(
    game: _RowGame, semivalue: Semivalue, count: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The label's values, their errors and that of their sum: a mean over random subsets."""
    masks = _label_subsets(game.n_columns, semivalue, count, seed)
    mean, squares, sum_squares = np.zeros(game.n_rows), np.zeros(game.n_rows), 0.0
    for start in range(0, count, _BATCH):
        part = game.values(masks[start : start + _BATCH])
        mean += part.sum(axis=0) / count
        squares += (part**2).sum(axis=0) / count
        sum_squares += float((part.sum(axis=1) ** 2).sum()) / count
    stderr = np.sqrt(np.maximum(squares - mean**2, 0.0) / (count - 1))
    return mean, stderr, float(np.sqrt(max(sum_squares - mean.sum() ** 2, 0.0) / (count - 1)))
