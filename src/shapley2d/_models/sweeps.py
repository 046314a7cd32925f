"""The built-in models that sweep: one pass fills the grid of all nested coalitions.

Naive Bayes: a row adds to running sums, a column adds its log-likelihoods. Ridge regression: rows
update sums of squares and products, and one elimination serves all prefixes of the columns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._models.cell_game import CellGame, chains
from shapley2d._models.kernels import naive_bayes, ridge
from shapley2d._tables.encoding import encode_tables, fill_means, near_one
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.problem import Split

    Pair = tuple[Ints, Ints, Ints, Ints]  # rows, sizes, encoded columns, ends: a grid's two chains


_AT_ONCE = 2**28  # rows x pairs of columns x validation rows between two pauses: half a second


def swept(
    rows: Bools, columns: Bools, members: Sequence[Ints], score: Callable[[Pair], Floats]
) -> Floats:
    """Utilities of all pairs of coalitions, 0 of those without rows or encoded columns.

    ``members``: the encoded columns of every player. ``score`` sweeps a chain of rows and one of
    columns: utilities of the first ``sizes`` rows under the first ``ends`` encoded columns.
    """
    worth, widths = np.zeros((len(rows), len(columns))), np.array([own.size for own in members])
    of_rows = chains(rows)
    for order, sizes, part in chains(columns):
        width = np.concatenate([members[player] for player in order])
        ends = np.cumsum(widths[order], dtype=np.intp)[sizes - 1]
        first = int(np.searchsorted(ends, 1))  # players without encoded columns change nothing
        if first < ends.size:
            places = slice(part.start + first, part.stop)
            for chain in of_rows:
                pair = chain.order, chain.sizes, width, ends[first:]
                worth[chain.part, places] = score(pair)
    return worth


class Sweep(CellGame):
    """A built-in model as a game, whose ``_fill`` sweeps grids.

    Tables are encoded as for scikit-learn's estimators: a category is one 0/1 column per value,
    which come and go together. A missing number is filled with the mean of the column over the
    whole training table, so that its value does not depend on the coalition.

    ``_fill`` gives the weight of right answers, or squared errors times weights.
    """

    trains_alone = False
    scale_free = False  # whether columns may be multiplied by one number, to bring them near 1

    def __init__(self, split: Split) -> None:
        encoded = encode_tables(split.train, split.valid)
        train, valid = fill_means(encoded.train), fill_means(encoded.valid, encoded.train)
        if self.scale_free:
            train, valid = near_one(train, valid, by_column=False)
        super().__init__(split, train, encoded.owners)
        varies = (train != train[0]).any(axis=0)
        self._members = [
            np.flatnonzero((encoded.owners == j) & varies) for j in range(self.n_columns)
        ]
        weights, codes = split.weights, split.y_valid.codes
        self._total, self._codes = float(weights.sum()), split.y.codes.astype(np.int64)
        self._targets_valid, self._blocks = np.zeros(0), np.zeros(0, dtype=np.int64)
        if self._classifies:
            # validation rows in blocks of one class, and where these begin; labels that training
            # never shows are left out: they are never right
            order = np.argsort(codes, kind="stable")
            order = order[codes[order] >= 0]
            n_classes = split.y.classes.size
            self._blocks = np.searchsorted(codes[order], np.arange(n_classes + 1)).astype(np.int64)
            valid, weights = valid[order], weights[order]
            self._right = np.bincount(codes[order], weights, n_classes)
        else:
            targets, self._targets_valid, self._spread = number_targets(split)
            self._labels = targets[:, None]
        self._train, self._valid = train, np.ascontiguousarray(valid.T)
        self._weights = np.ascontiguousarray(weights)

    def _trained(self, rows: Bools, columns: Bools, teaching: Bools) -> Floats:
        found = swept(rows, columns, self._members, self._scores)
        return np.where(teaching @ columns.T, found, np.nan)

    def _of_labels(self, predicted: Floats) -> Floats:
        if self._classifies:
            best = predicted == predicted.max(axis=1, keepdims=True)
            return np.asarray(best @ self._right / best.sum(axis=1) / self._total)
        return r_squared(self._spread + self._total * predicted[:, 0] ** 2, self._spread)

    def _scores(self, pair: Pair) -> Floats:
        rows, sizes, width, ends = pair
        grid, n_valid = np.empty((sizes.size, ends.size)), self._weights.size
        # each part adds up all earlier rows again, which has to stay a small part of its work
        step = max(_AT_ONCE // (width.size**2 * n_valid), 32 * rows.size // n_valid, 1)
        for first in range(0, sizes.size, step):
            part = slice(first, first + step)
            self.pause(grid[part].size)
            self._fill((rows, sizes[part], width, ends), grid[part])
        return grid / self._total if self._classifies else r_squared(grid, self._spread)

    def _fill(self, pair: Pair, grid: Floats) -> None:
        raise NotImplementedError


class NaiveBayesSweep(Sweep):
    """The accuracy of scikit-learn's ``GaussianNB()``, swept over whole grids.

    Rows of a single class predict that class. The variances are those of ``GaussianNB``: of a
    coalition's rows of one class, plus 1e-9 times the largest variance of any of the coalition's
    columns over all of its rows; where that is too small for a number, the first class is
    predicted, as ``GaussianNB`` does. Sums are added in the order in which players join, so that a
    validation row whose two best classes are equally likely except for rounding may be decided
    differently.

    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = NaiveBayesSweep(split)
    >>> game.utilities(np.tri(5, 4, -1, dtype=bool)[:, [0, 2, 1, 3]], np.array([[True]]))[:, 0]
    array([0.5 , 0.5 , 1.  , 0.75, 1.  ])
    """

    scale_free = True

    def _fill(self, pair: Pair, grid: Floats) -> None:
        tables = (self._train, self._codes, self._valid, self._blocks, self._weights)
        naive_bayes.fill_grid(*tables, *pair, grid)


class RidgeSweep(Sweep):
    """R squared of ridge regression, or accuracy of the ridge classifier, swept over whole grids.

    In regression the model is scikit-learn's ``Ridge()``, in classification its
    ``RidgeClassifier()``: targets of -1 and 1 for each class that the coalition shows, the largest
    prediction wins; for two classes, the second wins if its prediction is positive. Features are
    not scaled. Rows of a single class predict that class. Predictions agree with scikit-learn's to
    about 1e-8 of the targets' spread (both factor the same matrix by Cholesky, in another order of
    the columns); a validation row that is that close to a tie may be decided differently. Where
    numbers are so large that the penalty of 1 is lost beside the rounding of their squares, and the
    coalition has columns that depend on one another, singular values take the place of the factor.
    """

    def _fill(self, pair: Pair, grid: Floats) -> None:
        tables = (self._train, self._labels, self._valid, self._targets_valid, self._blocks)
        ridge.fill_grid(*tables, self._weights, pair, grid)
        rows, sizes, columns, ends = pair
        for a, b in np.argwhere(~np.isfinite(grid)):
            grid[a, b] = self._stable(rows[: sizes[a]], columns[: ends[b]])

    def _stable(self, rows: Ints, columns: Ints) -> float:
        """The same by singular values, for numbers that lose the penalty in their rounding."""
        train, targets = self._train[np.ix_(rows, columns)], self._labels[rows]
        centre, middle, width = train.mean(axis=0), targets.mean(axis=0), columns.size
        system = np.concatenate([train - centre, math.sqrt(ridge.ALPHA) * np.eye(width)])
        wanted = np.concatenate([targets - middle, np.zeros((width, middle.size))])
        slopes = np.linalg.lstsq(system, wanted, rcond=None)[0]
        scores = middle + (self._valid[columns].T - centre) @ slopes
        if not self._classifies:
            return float(self._weights @ (scores[:, 0] - self._targets_valid) ** 2)
        present = np.flatnonzero(targets.any(axis=0))
        if present.size == 2:
            scores[:, present[0]] = 0.5  # of two classes only the second is regressed on
        right = present[scores[:, present].argmax(axis=1)]
        classes = np.repeat(np.arange(middle.size), np.diff(self._blocks))
        return float(self._weights @ (right == classes))


def number_targets(split: Split) -> tuple[Floats, Floats, float]:
    """Targets of a regression less the mean of the validation rows, and the spread of these."""
    if split.valid.n_rows < 2:
        raise InputError("R squared needs at least two validation rows: pass more, or fewer folds")
    train, valid = (np.asarray(y.codes, dtype=np.float64) for y in (split.y, split.y_valid))
    middle = np.clip(np.average(valid, weights=split.weights), valid.min(), valid.max())
    return train - middle, valid - middle, float(split.weights @ (valid - middle) ** 2)


def r_squared(errors: Floats, spread: float) -> Floats:
    """R squared of sums of squared errors; ``spread`` is that of predicting the mean."""
    if spread > 0:
        return 1.0 - errors / spread
    return np.where(errors == 0.0, 1.0, 0.0)  # constant targets, as scikit-learn scores them


SWEEPS: dict[str, type[Sweep]] = {"gaussian_nb": NaiveBayesSweep, "ridge": RidgeSweep}
"""The models that are swept, by name."""
