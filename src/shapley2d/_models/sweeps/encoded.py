"""A built-in model on a split, encoded as the kernels of the sweeps take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._models.sweeps.chains import sweep_utilities
from shapley2d._models.sweeps.scoring import ConstantBaseline, r_squared, varying_members
from shapley2d._tables.encoding import encode_tables, fill_means, near_one
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._models.sweeps.chains import Pair
    from shapley2d._tables.problem import Split
    from shapley2d._theory.coalitions import Coalitions


class Sweep:
    """A game whose ``_fill`` sweeps the whole grid of two chains of nested coalitions.

    Tables are encoded as for scikit-learn's estimators: a category is one 0/1 column per value,
    which come and go together. A missing number is filled with the mean of the column over the
    whole training table, so that its value does not depend on the coalition. With ``scale_free``,
    all columns may be multiplied by one number without changing the model, and extremely large or
    small numbers are brought near 1.

    ``_fill`` gives the weight of right answers, or squared errors times weights.
    """

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

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities."""
        return sweep_utilities(rows, columns, self._members, self._scores, self._baseline)

    def _scores(self, pair: Pair) -> NDArray[np.float64]:
        grid = self._fill(pair)
        return grid / self._total if self._classifies else r_squared(grid, self._spread)

    def _fill(self, pair: Pair) -> NDArray[np.float64]:
        raise NotImplementedError


def number_targets(split: Split) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Targets of a regression less the mean of training, and the spread of the validation's."""
    if split.valid.n_rows < 2:
        raise InputError("R squared needs at least two validation rows: pass more, or fewer folds")
    train, valid = (np.asarray(y.codes, dtype=np.float64) for y in (split.y, split.y_valid))
    centre = float(train.mean())
    off = valid - np.average(valid, weights=split.weights)
    return train - centre, valid - centre, float(split.weights @ off**2)
