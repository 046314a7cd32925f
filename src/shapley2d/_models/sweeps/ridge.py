"""Ridge regression: rows update a Gram matrix; one Cholesky factor serves all column prefixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._models.kernels.ridge import ALPHA, fill_classes, fill_numbers
from shapley2d._models.kernels.scores import weight_right
from shapley2d._models.sweeps.encoded import Sweep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._models.sweeps.chains import Pair
    from shapley2d._tables.problem import Split


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

    def _fill(self, pair: Pair) -> NDArray[np.float64]:
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

    def _stable(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> float:
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


def _ridge_predictions(
    train: NDArray[np.float64], targets: NDArray[np.float64], valid: NDArray[np.float64]
) -> NDArray[np.float64]:
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
