"""Monte Carlo: it reaches the exact value, says how far it is, stops in time and never depends on the workers."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from shapley2d import Exact, InputError, MonteCarlo, value_cells, value_game
from shapley2d._base.precision import convergence_ratio, interval_factor
from shapley2d._estimation.monte_carlo import Moments, monte_carlo
from shapley2d.exceptions import PrecisionWarning

from oracles import semivalue_weight

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(7, 3)).round(1), np.array([0, 1, 0, 1, 0, 1, 1])
X_VALID, Y_VALID = RNG.normal(size=(30, 3)), RNG.integers(0, 2, 30)


def sampled(h, n, m, max_permutations, tolerance=0, progress=False, **options):
    """As many permutations as are asked for, unless there is a tolerance."""
    method = MonteCarlo(max_permutations=max_permutations, tolerance=tolerance)
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
        PrecisionWarning, match="stopped at max_permutations=150: the largest standard error is"
    ):
        v = value_game(rare, 9, 7, method=MonteCarlo(max_permutations=150))
    assert v.values.any() and not v.info["converged"] and not v.exact and not v.caveat
    held = np.abs(v.values - exact) <= v._interval_factor * v.stderr
    assert held.mean() >= 0.9
    with pytest.warns(
        PrecisionWarning, match=r"no variation seen in 10 draws, so up to 0.26 of all orders"
    ):
        few = value_game(rare, 9, 7, method=MonteCarlo(max_permutations=10))
    assert not few.values.any()
    assert not few.exact and not few.info["converged"]
    assert few.describe() == "standard error at most 0, but no variation seen in 10 draws"


@pytest.mark.parametrize("step", [1.0, 0.1])  # tenths add up with rounding errors
def test_games_without_variation_end_soon_and_say_what_they_know(step):
    v = value_game(
        lambda S, F: step * S.sum() * F.sum(), 5, 4, method=MonteCarlo(max_permutations=5000)
    )
    assert v.info["converged"] and v.info["n_permutations"] == 119  # 0.975^119 is just below 0.05
    np.testing.assert_allclose(v.values, step)
    np.testing.assert_allclose(v.stderr, step / 119)  # as if one draw were off by a whole value
    assert not v.exact
    assert v.info["caveat"] == "no variation seen in 119 draws" and v.info["caveat"] in repr(v)
    nothing = value_game(lambda S, F: 0.0, 5, 4, method="mc")
    assert nothing.info["converged"] and not nothing.exact and nothing.caveat
    assert sampled(lambda S, F: 0.0, 3, 2, 60).info["n_permutations"] == 60


def test_a_cell_that_never_varied_has_an_error():
    """Column 1 matters in one order of 30: draws without it say little about it."""
    moments = Moments()
    for draw in np.random.default_rng(0).normal(size=(20, 3, 1)):
        moments.add(np.hstack([draw, np.full((3, 1), 0.5)]))
    usual = moments.arrays()["cells_squares"].mean() / 19
    np.testing.assert_allclose(moments.stderr()[:, 1], np.sqrt(4 * usual) / 20)
    assert moments.ratio() == pytest.approx(convergence_ratio(moments.mean(), moments.stderr(), 19))


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


def test_moments_are_those_of_numpy():
    draws = np.random.default_rng(0).normal(size=(9, 4, 3)) + 100
    moments = Moments()
    for draw in draws:
        moments.add(draw)
    np.testing.assert_allclose(moments.mean(), draws.mean(axis=0))
    sums = {"cells": draws, "rows": draws.sum(axis=2), "columns": draws.sum(axis=1)}
    for part, found in (sums | {"total": draws.sum(axis=(1, 2))[:, None]}).items():
        variance = found.var(axis=0, ddof=1)  # and four more draws, as those of all rows
        usual = variance.mean(axis=0) if part in ("cells", "rows") else variance
        expected = np.sqrt((variance + 4 / 9 * usual) / 9)
        np.testing.assert_allclose(moments.stderr(part), expected)


class Lookup:
    """R squared of a ridge regression on every subset of the cells of a small table, by its bits."""

    def __init__(self, penalty, seed, n=5, m=2, n_valid=40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n + n_valid, m))
        y = X @ np.arange(1, m + 1) / m + rng.normal(size=n + n_valid) / 2
        self.n_rows, self.n_columns = n, m
        present = np.arange(2 ** (n * m))[:, None] >> np.arange(n * m) & 1
        centre, targets, known = X[:n].mean(axis=0), y[:n] - y[:n].mean(), y[n:]
        filled = (present * (X[:n] - centre).ravel()).reshape(-1, n, m)
        means = filled.mean(axis=1, keepdims=True)
        apart = filled - means
        squares = np.swapaxes(apart, 1, 2) @ apart + penalty * np.eye(m)
        slopes = np.linalg.pinv(squares, rcond=1e-12, hermitian=True) @ (
            np.swapaxes(apart, 1, 2) @ targets[:, None]
        )
        found = y[:n].mean() + ((X[n:] - centre)[None] - means) @ slopes
        self.utilities = 1 - np.mean((found[:, :, 0] - known) ** 2, axis=1) / known.var()

    def draws(self, seed):
        """Values of the cells in random orders of them, by number."""

        def draw(number):
            order = np.random.default_rng([seed, number]).permutation(self.n_rows * self.n_columns)
            steps = np.diff(self.utilities[np.append(0, np.cumsum(1 << order))])
            return steps[np.argsort(order)].reshape(self.n_rows, self.n_columns)

        return draw

    def exact(self):
        cells = self.n_rows * self.n_columns
        subsets = np.arange(len(self.utilities))
        size = np.array([subset.bit_count() for subset in subsets.tolist()])
        values = np.empty(cells)
        for cell in range(cells):
            without = subsets[subsets >> cell & 1 == 0]
            weight = [semivalue_weight("shapley", s, cells) for s in size[without]]
            more = self.utilities[without | 1 << cell] - self.utilities[without]
            values[cell] = weight @ more
        return values.reshape(self.n_rows, self.n_columns)


def warned_and_covered(penalty, n_runs, n_draws):
    """How many runs are warned of, and how many values the intervals of the others hold."""
    warned, covered = [], []
    for seed in range(n_runs):
        game = Lookup(penalty, seed % 5)
        estimate = monte_carlo(game.draws(seed), tolerance=0, max_draws=n_draws, n_jobs=1)
        warned.append("largest_share" in estimate.info)
        if not warned[-1]:
            off = np.abs(estimate.values - game.exact())
            covered.append(np.mean(off <= interval_factor(estimate.dof) * estimate.stderr))
    return np.mean(warned), np.mean(covered) if covered else np.nan


def test_runs_that_one_order_decides_are_told():
    """R squared of a line through two near points is -1e7: intervals held .3 of the values."""
    assert warned_and_covered(0.0, 10, 100)[0] >= 0.9
    warned, covered = warned_and_covered(1.0, 20, 100)
    assert warned == 0 and covered >= 0.9
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(26, 2)), rng.normal(size=26)
    method = MonteCarlo(LinearRegression(), max_permutations=30, tolerance=0)
    with pytest.warns(
        PrecisionWarning, match=r"^1 of 30 permutations makes up \d+% of their variation: .* ridge"
    ):
        v = value_cells(X[:6], y[:6], X[6:], y[6:], method=method, random_state=0)
    assert v.describe().endswith(f", but {v.info['caveat']}")
    assert 0.23 < v.info["largest_share"] <= 1


@pytest.mark.slow
def test_intervals_hold_unless_one_order_decides():
    warned, _ = warned_and_covered(0.0, 200, 100)
    assert warned >= 0.95
    for penalty in (0.1, 0.3, 1.0):
        warned, covered = warned_and_covered(penalty, 200, 100)
        assert warned <= 0.05 and covered >= 0.93


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"method": "knn"}, InputError, "values tables, not games: use method='exact' or"),
        ({"max_permutations": 3}, TypeError, "unexpected keyword argument 'max_permutations'"),
        ({"n_rows": 0}, InputError, "n_rows=0 must be a whole number of at least 1"),
        ({"n_rows": 20, "n_columns": 20}, InputError, r"need 2\^40 utilities"),
    ],
)
def test_bad_options_are_named(arguments, error, message):
    options = {"n_rows": 3, "n_columns": 2, "progress": False, **arguments}
    with pytest.raises(error, match=message):
        value_game(lambda S, F: 1.0, **options)


def test_game_objects_are_taken_and_checked():
    from shapley2d._models.function import FunctionGame

    game = FunctionGame(lambda S, F: S.sum() * F.sum(), 2, 3)
    assert value_game(game, 2, 3).total == 6
    with pytest.raises(InputError, match="the game has 2 rows and 3 columns, not n_rows=3"):
        value_game(game, 3, 2)
