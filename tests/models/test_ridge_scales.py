"""Ridge on numbers so large that its penalty is lost beside them."""

import itertools

import numpy as np
import pytest

from shapley2d._models.sweeps import RidgeSweep
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import nested

RNG = np.random.default_rng(0)
X, X_VALID = RNG.normal(size=(20, 3)).round(2), RNG.normal(size=(14, 3)).round(2)
Y, Y_VALID = X[:, 0] + 0.3 * RNG.normal(size=20), X_VALID[:, 0]
CLASSES, CLASSES_VALID = np.where(Y > 0, "up", "down"), np.where(Y_VALID > 0, "up", "down")


@pytest.mark.parametrize("classifies", [True, False])
def test_ridge_stands_numbers_beside_which_its_penalty_is_lost(classifies):
    """It equals least squares of least norm, also for subsets with fewer rows than columns."""
    y, y_valid = (CLASSES, CLASSES_VALID) if classifies else (Y, Y_VALID)
    rows, columns = np.random.default_rng(1).permutation(20), np.array([2, 0, 1])
    (split,) = make_problem(X * 1e149, y, X_VALID * 1e149, y_valid).splits
    grid = RidgeSweep(split).utilities(nested(rows), nested(columns))
    numbers = (y == "up") * 2.0 - 1 if classifies else Y
    for a, b in itertools.product(range(2, 21), range(1, 4)):
        S, F = rows[:a], columns[:b]
        if classifies and len(set(CLASSES[S])) == 1:
            continue
        centre, middle = X[np.ix_(S, F)].mean(axis=0), numbers[S].mean()
        slope = np.linalg.lstsq(X[np.ix_(S, F)] - centre, numbers[S] - middle, rcond=1e-12)[0]
        guess = middle + (X_VALID[:, F] - centre) @ slope
        if classifies:
            expected = np.mean(np.where(guess > 0, "up", "down") == CLASSES_VALID)
        else:
            expected = 1 - np.sum((guess - Y_VALID) ** 2) / np.sum((Y_VALID - Y_VALID.mean()) ** 2)
        assert grid[a, b] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    (split,) = make_problem(X, y, X_VALID, y_valid).splits
    game = RidgeSweep(split)
    for a, b in ((3, 2), (12, 3)):  # where the factor serves, singular values say the same
        known = game.utilities(nested(rows), nested(columns))[a, b]
        found = game._stable(
            rows[:a], columns[:b]
        )  # the number of right answers, or squared errors
        score = found / len(y_valid) if classifies else 1 - found / game._spread
        assert score == pytest.approx(known, rel=1e-9)
