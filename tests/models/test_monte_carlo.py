"""Monte Carlo: it reaches the exact value, says how far it is, stops in time and never depends on the workers."""

import time

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from shapley2d import Exact, InputError, MonteCarlo, value_cells, value_game
from shapley2d._base.precision import convergence_ratio
from shapley2d.exceptions import OutOfTimeError, PrecisionWarning

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(7, 3)).round(1), np.array([0, 1, 0, 1, 0, 1, 1])
X_VALID, Y_VALID = RNG.normal(size=(30, 3)), RNG.integers(0, 2, 30)


def sampled(h, n, m, max_draws, tolerance=0, progress=False, **options):
    """As many permutations as are asked for, unless there is a tolerance."""
    method = MonteCarlo(max_draws=max_draws, tolerance=tolerance)
    return value_game(h, n, m, method=method, progress=progress, **options)


@pytest.fixture(scope="module")
def small_model_game():
    """Utilities of a model on a 7 x 3 table, each trained once, and the exact values."""
    from shapley2d._models.model_game import ModelGame
    from shapley2d._tables.problem import make_problem
    from shapley2d._theory.axes import subsets

    (split,) = make_problem(X, Y, X_VALID, Y_VALID).splits
    game = ModelGame(GaussianNB(), split)
    utilities = game.utilities(subsets(7), subsets(3))

    def h(S, F):
        return utilities[int(S @ (1 << np.arange(7))), int(F @ (1 << np.arange(3)))]

    return h, value_game(h, 7, 3).values


@pytest.mark.parametrize(
    ("draws", "cells", "sums"),
    [  # with the four draws that are not seen, ten are wider than need be but not without end
        (10, (0.95, 0.9999), (0.95, 1)),
        pytest.param(150, (0.92, 0.98), (0.9, 0.99), marks=pytest.mark.slow),
    ],
)
def test_intervals_cover_the_exact_value(small_model_game, draws, cells, sums):
    """Those of sums of rows and columns too, whose cells have correlated errors."""
    h, exact = small_model_game
    covered, rows, columns = [], [], []
    for seed in range(60):
        v = sampled(h, 7, 3, draws, random_state=seed)
        factor = v._interval_factor
        covered.append(np.abs(v.values - exact) <= factor * v.stderr)
        rows.append(np.abs(v.row_values - exact.sum(axis=1)) <= factor * v.row_stderr)
        columns.append(np.abs(v.column_values - exact.sum(axis=0)) <= factor * v.column_stderr)
        assert v.total == pytest.approx(exact.sum())  # every permutation pair is efficient
        assert v.dof == draws - 1 and v.total_stderr == 0
    for held, (least, most) in ((covered, cells), (rows, sums), (columns, sums)):
        assert least <= np.mean(held) <= most


def rare(S, F):
    """Worth something in one order out of fourteen."""
    return float(S.sum() == 4 and S[0] and S[5] and F.sum() == 3 and F[0])


def test_draws_that_are_all_alike_are_no_convergence():
    exact = value_game(rare, 9, 7).values
    with pytest.warns(
        PrecisionWarning, match="stopped at max_draws=150: the largest standard error is"
    ):
        v = value_game(rare, 9, 7, method=MonteCarlo(max_draws=150))
    assert v.values.any() and not v.info["converged"] and not v.exact and not v.caveat
    held = np.abs(v.values - exact) <= v._interval_factor * v.stderr
    assert held.mean() >= 0.9
    with pytest.warns(
        PrecisionWarning, match=r"no variation seen in 10 draws, so up to 0.26 of all orders"
    ):
        few = value_game(rare, 9, 7, method=MonteCarlo(max_draws=10))
    assert not few.values.any()
    assert not few.exact and not few.info["converged"]
    assert (
        few.describe()
        == "standard error at most 0, but no variation seen in 10 draws: do not rely on it"
    )


@pytest.mark.parametrize("step", [1.0, 0.1])  # tenths add up with rounding errors
def test_games_without_variation_end_soon_and_say_what_they_know(step):
    v = value_game(lambda S, F: step * S.sum() * F.sum(), 5, 4, method=MonteCarlo(max_draws=5000))
    assert v.info["converged"] and v.info["n_permutations"] == 119  # 0.975^119 is just below 0.05
    np.testing.assert_allclose(v.values, step)
    np.testing.assert_allclose(v.stderr, step / 119)  # as if one draw were off by a whole value
    assert not v.exact
    assert v.info["caveat"] == "no variation seen in 119 draws" and v.info["caveat"] in repr(v)
    nothing = value_game(lambda S, F: 0.0, 5, 4, method="mc")
    assert nothing.info["converged"] and not nothing.exact and nothing.caveat
    assert sampled(lambda S, F: 0.0, 3, 2, 60).info["n_permutations"] == 60


def test_stops_at_the_tolerance(small_model_game):
    h, _ = small_model_game
    loose, tight = (sampled(h, 7, 3, 5000, tolerance=tolerance) for tolerance in (0.1, 0.05))
    for v, tolerance in ((loose, 0.1), (tight, 0.05)):
        assert v.info["converged"]
        assert convergence_ratio(v.values, v.stderr) <= tolerance
        assert v.history[-1] == (v.info["n_permutations"], v.info["ratio"])
    assert loose.info["n_permutations"] < tight.info["n_permutations"]


def test_same_seed_same_values_other_seed_others(small_model_game):
    h, _ = small_model_game

    def values(seed):
        return sampled(h, 7, 3, 15, random_state=seed).values

    assert (values(1) == values(1)).all()
    assert (values(1) != values(2)).any()
    assert (values(np.random.default_rng(1)) == values(np.random.default_rng(1))).all()
    assert (values(np.random.RandomState(1)) == values(np.random.RandomState(1))).all()
    assert (values(None) != values(None)).any()


def test_interrupt_keeps_what_was_computed(small_model_game):
    h, _ = small_model_game
    calls = []

    def interrupted(S, F):
        calls.append(1)
        if len(calls) > 600:
            raise KeyboardInterrupt
        return h(S, F)

    with pytest.warns(PrecisionWarning, match="interrupted"):
        v = sampled(interrupted, 7, 3, 5000)
    assert v.info["interrupted"]
    count = v.info["n_permutations"]
    assert count >= 2
    assert (sampled(h, 7, 3, count).values == v.values).all()


def test_progress_tells_how_far_it_is(small_model_game):
    h, _ = small_model_game
    reports = []
    sampled(h, 7, 3, 5000, tolerance=0.1, progress=lambda *report: reports.append(report))
    fractions = [fraction for fraction, _ in reports]
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert fractions[-1] > 0.7
    assert "of the spread, wanted 0.1" in reports[-1][1]


def test_cross_valuation_is_the_mean_over_folds():
    """Every fold valued by hand: the others train, a row is worth 0 where it validates."""
    from sklearn.tree import DecisionTreeClassifier

    from shapley2d._tables.problem import make_problem

    y = np.array([0, 1] * 4)
    X8 = np.random.default_rng(9).integers(0, 5, (8, 2)).astype(float)
    v = value_cells(X8, y, method="exact", cv=2, random_state=4)
    expected, utility = np.zeros((8, 2)), 0.0
    for split in make_problem(X8, y, cv=2, seed=4).splits:
        held = np.setdiff1d(np.arange(8), split.rows)
        method = Exact(DecisionTreeClassifier(random_state=4))
        tables = (X8[split.rows], y[split.rows], X8[held], y[held])
        part = value_cells(*tables, method=method)
        expected[split.rows] += part.values / 2
        utility += part.total / 2
    np.testing.assert_allclose(v.values, expected, atol=1e-12)
    assert v.total == pytest.approx(utility)
    assert v.info["folds"] == 2


def test_runs_that_one_order_decides_are_told():
    """R squared of a line through two near points is -1e7."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(26, 2)), rng.normal(size=26)
    method = MonteCarlo(LinearRegression(), max_draws=30, tolerance=0)
    with pytest.warns(
        PrecisionWarning, match=r"^1 of 30 permutations makes up \d+% of their variation: .* ridge"
    ):
        v = value_cells(X[:6], y[:6], X[6:], y[6:], method=method, random_state=0)
    assert f", but {v.info['caveat']}" in v.describe()
    assert 0.23 < v.info["largest_share"] <= 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"method": "knn"}, InputError, "values tables, not games: use method='exact' or"),
        ({"max_draws": 3}, TypeError, "unexpected keyword argument 'max_draws'"),
        ({"n_rows": 0}, InputError, "n_rows=0 must be a whole number of at least 1"),
        ({"n_rows": 20, "n_columns": 20}, InputError, r"need 2\^40 utilities"),
    ],
)
def test_bad_options_are_named(arguments, error, message):
    options = {"n_rows": 3, "n_columns": 2, "progress": False, **arguments}
    with pytest.raises(error, match=message):
        value_game(lambda S, F: 1.0, **options)


@pytest.mark.parametrize("method", ["exact", "mc"])
def test_a_draw_that_is_late_ends_between_two_utilities(method):
    calls = []

    def slow(S, F):
        calls.append(time.sleep(0.02))
        return 1.0

    with pytest.raises(OutOfTimeError, match=r"max_time=0\.2 is over: there is no first result"):
        value_game(slow, 8, 8, method=method, max_time=0.2, n_jobs=1)
    assert len(calls) <= 12


def test_game_objects_are_taken_and_checked():
    from shapley2d._models.games import FunctionGame

    game = FunctionGame(lambda S, F: S.sum() * F.sum(), 2, 3)
    assert value_game(game, 2, 3).total == 6
    with pytest.raises(InputError, match="the game has 2 rows and 3 columns, not n_rows=3"):
        value_game(game, 3, 2)
