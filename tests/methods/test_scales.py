"""Numbers of any size: scale does not change values; numbers too large to square are refused."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from shapley2d import KNN, MonteCarlo, value_blocks, value_cells, value_game
from shapley2d._knn.game import RowGame
from shapley2d._knn.metric import measure
from shapley2d._knn.places import row_values
from shapley2d._models.sweeps.ridge import RidgeSweep
from shapley2d._tables.problem import make_problem
from shapley2d._theory.coalitions import NestedCoalitions
from shapley2d.exceptions import InputError
from shapley2d_paper.baselines import FLAT, OOB, TREE_MC

RNG = np.random.default_rng(0)
X, X_VALID = RNG.normal(size=(20, 3)).round(2), RNG.normal(size=(14, 3)).round(2)
Y, Y_VALID = X[:, 0] + 0.3 * RNG.normal(size=20), X_VALID[:, 0]
CLASSES, CLASSES_VALID = np.where(Y > 0, "up", "down"), np.where(Y_VALID > 0, "up", "down")
NUMBERS = {"task": "regression", "progress": False}
FEW = {"max_permutations": 6, "tolerance": 0, "progress": False}


@pytest.mark.parametrize("scale", [1e-160, 2.0**-520, 1e-300, 1e149])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("mc", {"model": "gaussian_nb", **FEW}),
        ("mc", {"model": "knn", **FEW}),
        (FLAT, FEW),
        (OOB, {"n_trees": 150, "oob_score": "distance", "progress": False}),
        (TREE_MC, FEW),
    ],
)
def test_columns_of_any_scale_give_the_same_values(method, options, scale):
    plain = value_cells(X, CLASSES, X_VALID, CLASSES_VALID, method=method, **options)
    v = value_cells(X * scale, CLASSES, X_VALID * scale, CLASSES_VALID, method=method, **options)
    # a scale that is no power of two moves thresholds by rounding, and with them rows that sit on
    # one
    np.testing.assert_allclose(v.values, plain.values, atol=1e-12 if scale == 2.0**-520 else 0.15)
    assert np.mean(np.abs(v.values - plain.values) < 1e-9) > 0.85


def test_a_column_too_small_to_have_a_variance_among_others():
    """Its coalitions alone have none: the first class is predicted, as for a constant column."""
    tiny = np.column_stack([X[:, 0] * 1e-158, X[:, 1]])
    tiny_valid = np.column_stack([X_VALID[:, 0] * 1e-158, X_VALID[:, 1]])
    v = value_cells(
        tiny, CLASSES, tiny_valid, CLASSES_VALID, method=MonteCarlo("gaussian_nb"), **FEW
    )
    assert np.isfinite(v.values).all()


@pytest.mark.parametrize("classifies", [True, False])
def test_ridge_stands_numbers_beside_which_its_penalty_is_lost(classifies):
    """It equals least squares of least norm, also for subsets with fewer rows than columns."""
    y, y_valid = (CLASSES, CLASSES_VALID) if classifies else (Y, Y_VALID)
    rows, columns = np.random.default_rng(1).permutation(20), np.array([2, 0, 1])
    orders = NestedCoalitions(rows.tolist()), NestedCoalitions(columns.tolist())
    (split,) = make_problem(X * 1e149, y, X_VALID * 1e149, y_valid).splits
    grid = RidgeSweep(split).utilities(*orders)
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
        known = game.utilities(*orders)[a, b]
        count = len(y_valid) if classifies else 1  # of classes, the number of right answers
        assert game._stable(rows[:a], columns[:b]) / count == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize("size", [1e71, 1e139, 1e200, 1e307])
@pytest.mark.parametrize(
    "value",
    [
        lambda y, y_valid: value_cells(X, y, X_VALID, y_valid, **NUMBERS),
        lambda y, y_valid: value_cells(X, y, X_VALID, y_valid, method=MonteCarlo("ridge"), **NUMBERS),
        lambda y, y_valid: value_blocks(X, y, X_VALID, y_valid, rows=[0] * 10 + [1] * 10, **NUMBERS),
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
        value_cells(X, Y * 1e-75, X_VALID, Y_VALID * 1e-75, progress=False)
    with pytest.raises(InputError, match=r"^y_valid holds a number beyond 1e\+70 in row 0"):
        value_cells(X, Y, X_VALID, np.full(14, 1e80), progress=False)


@pytest.mark.parametrize("size", [1e-68, 1e69])
@pytest.mark.parametrize(
    ("method", "options"),
    [("knn", {"subsets": "all"}), ("knn", {"subsets": "sampled"}), ("mc", {"model": "knn", **FEW})],
)
def test_values_are_in_squares_of_the_target(method, options, size):
    options = {**NUMBERS, **options}
    plain = value_cells(X, Y, X_VALID, Y_VALID, method=method, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v = value_cells(X, Y * size, X_VALID, Y_VALID * size, method=method, **options)
    np.testing.assert_allclose(v.values / size**2, plain.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(v.stderr / size**2, plain.stderr, rtol=1e-6, atol=1e-12)


def test_values_that_overflow_are_no_result():
    def huge(S, F):
        return 1e308 * (-1.0) ** (S.sum() + F.sum())

    with (
        np.errstate(all="ignore"),
        pytest.raises(InputError, match="too large for floating-point numbers"),
    ):
        value_game(huge, 3, 3, method=MonteCarlo(max_permutations=3), progress=False)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4, 1)])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
def test_columns_are_worth_nothing_where_all_rows_vote(task, semivalue, monkeypatch):
    """With as many neighbours as rows, distances do not matter: 0 to the bit, in any order."""
    y, y_valid = (
        (CLASSES, CLASSES_VALID) if task == "classification" else (Y * 1e60, Y_VALID * 1e60)
    )
    options = {"n_neighbors": 100, "semivalue": semivalue, "task": task, "progress": False}
    v = value_cells(X, y, X_VALID, y_valid, method=KNN(subsets="all"), baseline="labels", **options)
    assert not v.values.any()
    v = value_cells(
        X, y, X_VALID, y_valid, method=KNN(subsets="sampled"), baseline="labels", **options
    )
    assert np.abs(v.values).max() <= 1e-16 * (1.0 if task == "classification" else 1e120)
    one = value_cells(X, y, X_VALID, y_valid, baseline="zero", **options)
    other = value_cells(X[:, ::-1], y, X_VALID[:, ::-1], y_valid, baseline="zero", **options)
    np.testing.assert_array_equal(one.values[:, ::-1], other.values)
    (split,) = make_problem(X, y, X_VALID, y_valid, task=task).splits
    table = measure(split.train, split.valid, "auto")
    kept = {"task": task, "n_neighbors": 20, "semivalue": semivalue}
    rows = row_values(table, split.y.codes, split.y_valid.codes, **kept)
    subsets = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(bool)
    with monkeypatch.context() as patch:  # rank them all the same
        patch.setattr(RowGame, "all_vote", False)
        ranked = rows.values(subsets)
    atol = 1e-12 * np.abs(ranked).max()
    np.testing.assert_allclose(rows.values(subsets), ranked, rtol=1e-9, atol=atol)


@pytest.mark.parametrize("n_neighbors", [1, 2, 4, 7, 9])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
def test_what_values_of_a_regression_sum_to(n_neighbors):
    """By enumeration: without columns the neighbours are K rows drawn at random."""
    x, y, x_valid, y_valid = X[:7], Y[:7], X_VALID[:5], Y_VALID[:5]
    options = {"n_neighbors": n_neighbors, "votes": "k", "progress": False}
    zero = value_cells(x, y, x_valid, y_valid, baseline="zero", **options).total
    ties = value_cells(x, y, x_valid, y_valid, baseline="labels", **options).total
    drawn = [
        np.mean(y[list(rows)]) for rows in itertools.combinations(range(7), min(n_neighbors, 7))
    ]
    guess = np.mean([(each - y_valid) ** 2 for each in drawn])
    assert ties == pytest.approx(zero + guess, abs=1e-12)
    K, n = n_neighbors, 7
    variance = np.var(y) / K * (n - K) / (n - 1) if n > K else 0.0  # as docs/knn.md has it
    assert ties == pytest.approx(np.mean((y_valid - y.mean()) ** 2) + variance + zero, abs=1e-12)
