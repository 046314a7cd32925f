"""Numbers of any size: scale does not change values; numbers too large to square are refused."""

import warnings

import numpy as np
import pytest

from shapley2d import KNN, MonteCarlo, value_cells, value_game
from shapley2d.exceptions import InputError, UtilityError
from shapley2d_paper.baselines import OOB, Flat, TreeMC

RNG = np.random.default_rng(0)
X, X_VALID = RNG.normal(size=(20, 3)).round(2), RNG.normal(size=(14, 3)).round(2)
Y, Y_VALID = X[:, 0] + 0.3 * RNG.normal(size=20), X_VALID[:, 0]
CLASSES, CLASSES_VALID = np.where(Y > 0, "up", "down"), np.where(Y_VALID > 0, "up", "down")
NUMBERS = {"task": "regression"}
FEW = {"max_draws": 6, "tolerance": 0}


@pytest.mark.parametrize("scale", [2.0**-520, 1e149])
@pytest.mark.parametrize(
    "method",
    [
        MonteCarlo("gaussian_nb", **FEW),
        MonteCarlo("knn", **FEW),
        Flat(**FEW),
        OOB(max_draws=150, oob_score="distance"),
        TreeMC(**FEW),
    ],
    ids=repr,
)
def test_columns_of_any_scale_give_the_same_values(method, scale):
    plain, v = (
        value_cells(X * factor, CLASSES, X_VALID * factor, CLASSES_VALID, method=method)
        for factor in (1.0, scale)
    )
    # a scale that is no power of two moves thresholds by rounding, and with them rows that sit on
    # one
    np.testing.assert_allclose(v.values, plain.values, atol=1e-12 if scale == 2.0**-520 else 0.15)
    assert np.mean(np.abs(v.values - plain.values) < 1e-9) > 0.85


def test_a_column_too_small_to_have_a_variance_among_others():
    """Its coalitions alone have none: the first class is predicted, as for a constant column."""
    tiny = np.column_stack([X[:, 0] * 1e-158, X[:, 1]])
    tiny_valid = np.column_stack([X_VALID[:, 0] * 1e-158, X_VALID[:, 1]])
    method = MonteCarlo("gaussian_nb", **FEW)
    v = value_cells(tiny, CLASSES, tiny_valid, CLASSES_VALID, method=method)
    assert np.isfinite(v.values).all()


@pytest.mark.parametrize("size", [1e71, 1e307])
@pytest.mark.parametrize(
    "value",
    [
        lambda y, y_valid: value_cells(X, y, X_VALID, y_valid, **NUMBERS),
        lambda y, y_valid: value_cells(X, y, X_VALID, y_valid, method=MonteCarlo("ridge"), **NUMBERS),
        lambda y, y_valid: value_cells(X, y, X_VALID, y_valid, row_groups=[0] * 10 + [1] * 10, **NUMBERS),
    ],
)  # fmt: skip
def test_targets_too_large_to_square_are_refused(value, size):
    row = int(np.flatnonzero(np.abs(Y * size) > 1e70)[0])
    with pytest.raises(
        InputError,
        match=rf"^y holds a number beyond 1e\+70 in row {row}, .*: divide it by a constant",
    ):
        value(Y * size, Y_VALID * size)


def test_targets_too_close_to_square_their_differences_are_refused():
    with pytest.raises(
        InputError,
        match=r"^y differs by less than 1e-70 between rows, .*: multiply it by a constant",
    ):
        value_cells(X, Y * 1e-75, X_VALID, Y_VALID * 1e-75)
    with pytest.raises(InputError, match=r"^y_valid holds a number beyond 1e\+70 in row 0"):
        value_cells(X, Y, X_VALID, np.full(14, 1e80))


@pytest.mark.parametrize("size", [1e-68, 1e69])
@pytest.mark.parametrize(
    "method", [KNN(subsets="all"), KNN(subsets="sampled"), MonteCarlo("knn", **FEW)]
)
def test_values_are_in_squares_of_the_target(method, size):
    plain = value_cells(X, Y, X_VALID, Y_VALID, method=method, **NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v = value_cells(X, Y * size, X_VALID, Y_VALID * size, method=method, **NUMBERS)
    np.testing.assert_allclose(v.values / size**2, plain.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(v.stderr / size**2, plain.stderr, rtol=1e-6, atol=1e-12)


def test_values_that_overflow_are_no_result():
    def huge(S, F):
        return 1e308 * (-1.0) ** (S.sum() + F.sum())

    with (
        np.errstate(all="ignore"),
        pytest.raises(
            UtilityError, match=r"values that are not finite numbers; .* in larger units"
        ),
    ):
        value_game(huge, 3, 3, method=MonteCarlo(max_draws=3))
