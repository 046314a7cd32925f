"""The built-in models on a split, encoded as their kernels take it.

Naive Bayes: a row adds to running sums, a column adds its log-likelihoods. Ridge regression: rows
update a Gram matrix, and one Cholesky factor serves all prefixes of the columns.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._models.kernels.naive_bayes import fill_grid
from shapley2d._models.kernels.ridge import ALPHA, fill_classes, fill_numbers
from shapley2d._models.kernels.scores import weight_right
from shapley2d._models.sweeps.chains import SweepGame
from shapley2d._models.sweeps.scoring import ConstantBaseline, r_squared, varying_members
from shapley2d._tables.encoding import encode_tables, fill_means, near_one
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._models.sweeps.chains import Pair
    from shapley2d._tables.problem import Split


class Sweep(SweepGame):
    """A built-in model as a game, whose ``_fill`` sweeps grids.

    Tables are encoded as for scikit-learn's estimators: a category is one 0/1 column per value,
    which come and go together. A missing number is filled with the mean of the column over the
    whole training table, so that its value does not depend on the coalition. With ``scale_free``,
    all columns may be multiplied by one number without changing the model, and extremely large or
    small numbers are brought near 1.

    ``_fill`` gives the weight of right answers, or squared errors times weights.
    """

    compiled = True

    def __init__(self, split: Split, *, baseline: str = "labels", scale_free: bool = False) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        encoded = encode_tables(split.train, split.valid)
        train, valid = fill_means(encoded.train), fill_means(encoded.valid, encoded.train)
        if scale_free:
            train, valid = near_one(train, valid, by_column=False)
        members = tuple(np.flatnonzero(encoded.owners == j) for j in range(self.n_columns))
        weights = split.weights
        self._total, self._classifies = float(weights.sum()), split.y.task == "classification"
        if self._classifies:
            # validation rows in blocks of one class, and where these begin; labels that training
            # never shows are left out: they are never right
            codes = split.y_valid.codes
            order = np.argsort(codes, kind="stable")
            order = order[codes[order] >= 0]
            starts = np.searchsorted(codes[order], np.arange(split.y.classes.size + 1))
            valid, weights = valid[order], weights[order]
            self._blocks = starts.astype(np.int64)
        else:
            self._targets, self._targets_valid, self._spread = number_targets(split)
        self._train, self._valid = train, np.ascontiguousarray(valid.T)
        self._weights = np.ascontiguousarray(weights)
        zero = baseline == "zero"
        # without one, the model decides what rows that are all alike are worth
        self._baseline = None if zero else ConstantBaseline(split, train)
        self._members = members if zero else varying_members(train, members)

    def _scores(self, pair: Pair) -> Floats:
        grid = self._fill(pair)
        return grid / self._total if self._classifies else r_squared(grid, self._spread)

    @abstractmethod
    def _fill(self, pair: Pair) -> Floats: ...


class NaiveBayesSweep(Sweep):
    """The accuracy of scikit-learn's ``GaussianNB()``, swept over whole grids.

    Rows of a single class predict that class. The variances are those of ``GaussianNB``: of a
    coalition's rows of one class, plus 1e-9 times the largest variance of any of the coalition's
    columns over all of its rows. Where that is 0, because all columns are constant over the
    coalition, likelihoods do not exist; with ``baseline="zero"`` the first class present is
    predicted, as ``GaussianNB`` does. Sums are added in the order in which players join, so that a
    validation row whose two best classes are equally likely except for rounding may be decided
    differently.

    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = NaiveBayesSweep(split)
    >>> game.grid(np.array([0, 2, 1, 3]), np.array([0]))[:, 1]
    array([0.5 , 0.5 , 1.  , 0.75, 1.  ])
    """

    def __init__(self, split: Split, **asked: Any) -> None:
        super().__init__(split, **asked, scale_free=True)
        self._codes = split.y.codes.astype(np.int64)

    def _fill(self, pair: Pair) -> Floats:
        _, sizes, _, ends = pair
        grid = np.empty((sizes.size, ends.size))
        tables = (self._train, self._codes, self._valid, self._blocks, self._weights)
        fill_grid(*tables, *pair, grid)
        return grid


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

    def __init__(self, split: Split, **asked: Any) -> None:
        super().__init__(split, **asked)
        if self._classifies:
            classes = np.arange(split.y.classes.size)
            self._indicators = (split.y.codes[:, None] == classes[None, :]).astype(np.float64)

    def _fill(self, pair: Pair) -> Floats:
        rows, sizes, columns, ends = pair
        grid = np.empty((sizes.size, ends.size))
        if self._classifies:
            tables = (self._train, self._indicators, self._valid, self._blocks)
            fill_classes(*tables, self._weights, pair, grid)
        else:
            numbers = (self._train, self._targets[:, None], self._valid, self._targets_valid)
            fill_numbers(*numbers, self._weights, pair, grid)
        for a, b in np.argwhere(~np.isfinite(grid)):
            grid[a, b] = self._stable(rows[: sizes[a]], columns[: ends[b]])
        return grid

    def _stable(self, rows: Ints, columns: Ints) -> float:
        """The same by singular values, for numbers that lose the penalty in their rounding."""
        chosen, valid = self._train[np.ix_(rows, columns)], self._valid[columns].T
        if not self._classifies:
            predictions = _ridge_predictions(chosen, self._targets[rows, None], valid)
            return float(self._weights @ (predictions[:, 0] - self._targets_valid) ** 2)
        indicators = self._indicators[rows]
        present = np.flatnonzero(indicators.any(axis=0))
        predictions = _ridge_predictions(chosen, 2.0 * indicators[:, present] - 1.0, valid)
        if present.size == 2:
            predictions[:, 0] = 0.0  # of two classes only the second is regressed on
        scores = np.zeros((indicators.shape[1], len(predictions)))
        scores[present] = predictions.T
        right = np.zeros(len(predictions), dtype=np.uint8)
        return float(
            weight_right(scores, present, present.size, self._blocks, self._weights, right)
        )


def _ridge_predictions(train: Floats, targets: Floats, valid: Floats) -> Floats:
    """Predictions of a ridge regression; ignores directions that differ by rounding alone."""
    centre, middle = train.mean(axis=0), targets.mean(axis=0)
    off = train - centre
    size = float(np.abs(off).max(initial=0.0)) or 1.0
    left, spectrum, right = np.linalg.svd(off / size, full_matrices=False)
    usable = spectrum > np.finfo(np.float64).eps * max(off.shape) * spectrum.max(initial=0.0)
    penalty = ALPHA / size / size
    shrink = np.where(usable, spectrum / np.where(usable, spectrum**2 + penalty, 1.0), 0.0)
    onto = (right.T * shrink) @ (left.T @ (targets - middle))
    return np.asarray(middle + ((valid - centre) / size) @ onto)


def number_targets(split: Split) -> tuple[Floats, Floats, float]:
    """Targets of a regression less the mean of training, and the spread of the validation's."""
    if split.valid.n_rows < 2:
        raise InputError("R squared needs at least two validation rows: pass more, or fewer folds")
    train, valid = (np.asarray(y.codes, dtype=np.float64) for y in (split.y, split.y_valid))
    centre = float(train.mean())
    off = valid - np.average(valid, weights=split.weights)
    return train - centre, valid - centre, float(split.weights @ off**2)


SWEEPS: dict[str, type[Sweep]] = {"gaussian_nb": NaiveBayesSweep, "ridge": RidgeSweep}
"""The models that are swept, by name."""
