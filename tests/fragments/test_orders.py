"""Random orders: close to all sets, exact in sum, with intervals that hold."""

import itertools
import warnings

import numpy as np
import pytest
from tiny_fragments import tiny, value

from shapley2d import MonteCarlo
from shapley2d._base.precision import interval_factor
from shapley2d._fragments.estimate import ScoredOrders, estimate_game
from shapley2d._fragments.method import Judging
from shapley2d._methods.run import Run
from shapley2d._theory.axes import nested, step_weights
from shapley2d.exceptions import PrecisionWarning

from oracles import brute_force


class CheapGame:
    """Contributors whose worth is a function of their set, with an error line for every validation row.

    Each validation row gains from each contributor, less where others hold the same (a union).
    """

    def __init__(self, n, lines=0, seed=0, m=1):
        random = np.random.default_rng(seed)
        self.n_rows, self.n_columns, self.n_lines = n, m, max(lines, 1)
        self.n_trained, self.compiled, self.lines = 1, False, lines
        self._held = random.random((n, 12)) < 0.3 + 0.5 * random.random((n, 1))
        self._worth = random.gamma(1.0, size=(12, m))
        self._pairs = np.triu(random.normal(size=(n, n)) * 0.1, 1)
        self._rows = random.normal(size=(lines, 12))

    def rows(self, contributors, columns):
        """The score of each validation row."""
        union = self._held[contributors].any(axis=0)
        worth = (1 + self._rows) * self._worth[:, columns].sum(axis=1)
        return (
            np.sqrt(union @ self._worth[:, columns].sum(axis=1)) * (1 + 0.2 * (worth @ union)) / 3
        )

    def utilities(self, rows, columns):
        return np.array([[self.utility(one, some) for some in columns] for one in rows])

    def utility(self, contributors, columns):
        if not contributors.any() or not columns.any():
            return np.zeros(1 + self.n_lines)
        union = self._held[contributors].any(axis=0)
        score = np.sqrt(union @ self._worth[:, columns].sum(axis=1))
        score += contributors @ self._pairs @ contributors
        if not self.lines:
            return np.array([score, 0.0])
        each = self.rows(contributors, columns)
        off = each - each.mean()
        return np.append(each.mean(), off / np.sqrt(len(each) * (len(each) - 1)))


def of(game, design, seed=0, most=40, semivalue="shapley"):
    run = Run.create(seed, semivalue, progress=False, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        return estimate_game(game, run, Judging("cheap", design, 0.0, most))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (3, 1), (5, 1), (1, 3), (3, 2), (4, 3)])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 2, 1)])
def test_all_sets_are_the_definition(n, m, semivalue):
    game = CheapGame(n, m=m, seed=n)
    found = of(game, "all sets", semivalue=semivalue).estimate.values

    def h(S, F):
        return game.utility(np.isin(np.arange(n), list(S)), np.isin(np.arange(m), list(F)))[0]

    np.testing.assert_allclose(found, brute_force(h, n, m, semivalue, semivalue), atol=1e-12)


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 2, 1)])
@pytest.mark.parametrize("m", [1, 2])
def test_orders_come_near_all_sets(semivalue, m):
    game = CheapGame(4, m=m, seed=1)
    exact = of(game, "all sets", semivalue=semivalue).estimate
    found = of(game, "orders", most=400, semivalue=semivalue).estimate
    assert (np.abs(found.values - exact.values) < 4.5 * found.stderr + 1e-12).all()
    if semivalue == "shapley":
        everybody = game.utility(np.ones(4, dtype=bool), np.ones(m, dtype=bool))[0]
        assert found.values.sum() == pytest.approx(everybody, abs=1e-12)


def all_orders(game, semivalue):
    """Values of every pair of orders, as they are drawn and without what places are usually worth."""
    run, shape = Run.create(0, semivalue, progress=False, n_jobs=1), (game.n_rows, game.n_columns)
    draws = ScoredOrders(game, run, 1)
    steps = [step_weights(n, one) for n, one in zip(shape, run.semivalues, strict=True)]
    plain, placed = [], []
    for rows, columns in itertools.product(*(itertools.permutations(range(n)) for n in shape)):
        order = np.array(rows), np.array(columns)
        H = game.utilities(nested(order[0]), nested(order[1]))
        by_place = np.diff(np.diff(H, axis=0), axis=1) * np.outer(*steps)[..., None]
        by_place = np.concatenate([by_place, np.zeros_like(by_place[:, :1])], axis=1)
        for found, values in ((plain, by_place), (placed, draws.placed(by_place, order))):
            cells = np.empty((*shape, by_place.shape[-1]))
            cells[np.ix_(*order)] = values[:, :-1]
            found.append(cells)
    return np.array(plain), np.array(placed)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (4, 1), (3, 3), (4, 2)])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf"])
def test_what_places_are_usually_worth_leaves_draws_unbiased_and_nearer(n, m, semivalue):
    game = CheapGame(n, lines=3, m=m, seed=n)
    plain, placed = all_orders(game, semivalue)
    np.testing.assert_allclose(placed.mean(axis=0), plain.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(placed.sum(axis=(1, 2)), plain.sum(axis=(1, 2)), atol=1e-12)
    assert placed[..., 0].var(axis=0).mean() < 0.7 * plain[..., 0].var(axis=0).mean()


def test_values_by_orders_of_real_fragments():
    fragments, y, valid = tiny()
    parts = {f"{name} {k}": part[k::2] for name, part in fragments.items() for k in (0, 1)}
    exact = value(parts, y, valid, method="tree")
    found = value(parts, y, valid, method=MonteCarlo("tree", max_draws=40))
    assert found._fragments.how == "orders"
    assert found._fragments.n_trained == len(found._fragments.sets)  # each set once
    assert found.total == pytest.approx(exact.total, abs=1e-12)
    assert (np.abs(found.row_values - exact.row_values) < 4 * found.row_stderr).all()
    more = MonteCarlo("tree", max_draws=400, tolerance=0.0)
    of_rows = value(parts, y, valid, method=more).row_stderr  # little is left open by orders
    np.testing.assert_allclose(of_rows, exact.row_stderr, rtol=0.4)
    np.testing.assert_array_equal(found.alone, exact.alone)
    np.testing.assert_array_equal(found.without, exact.without)


def coverage_by_orders(n, runs, most=40):
    """How often intervals hold each contributor's value; truth from many orders."""
    game = CheapGame(n, seed=3)
    far = ("all sets",) if n <= 10 else ("orders", 10**6, 20_000)
    truth = of(game, *far).estimate.values[:, 0]
    held = np.zeros(n)
    for seed in range(runs):
        found = of(game, "orders", seed, most).estimate
        half = interval_factor(found.dof) * found.row_stderr
        held += np.abs(found.values[:, 0] - truth) <= half + 1e-12
    return held / runs


def test_intervals_by_orders_hold():
    held = coverage_by_orders(8, 100)
    assert held.mean() >= 0.93
    assert held.min() >= 0.87


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 30])
def test_intervals_by_orders_hold_many_times(n):
    held = coverage_by_orders(n, 500)
    assert held.mean() >= 0.93
    assert held.min() >= 0.90


@pytest.mark.parametrize("n", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_intervals_by_validation_rows_hold(n):
    """Of 200 rows drawn from a large pool, by all sets."""
    pool = CheapGame(n, 20_000, seed=5)
    truth = of(pool_mean(pool), "all sets").estimate.values[:, 0]
    random, held, runs = np.random.default_rng(0), np.zeros(n), 60
    for _ in range(runs):
        game = CheapGame(n, 200, seed=5)
        game._rows = pool._rows[random.choice(20_000, 200)]
        found = of(game, "all sets").estimate
        assert found.dof == 199
        held += np.abs(found.values[:, 0] - truth) <= interval_factor(199) * found.stderr[:, 0]
    assert held.mean() / runs >= 0.93


def pool_mean(pool):
    """The pool's game without its lines, which fill memory."""
    game = CheapGame(pool.n_rows)
    game.utility = lambda c, f: (
        np.array([pool.rows(c, f).mean(), 0.0]) if c.any() and f.any() else np.zeros(2)
    )
    return game


def test_joint_errors_are_those_of_every_contributor():
    for design in ("all sets", "orders"):
        found = of(CheapGame(5, 50), design)
        variance = np.diag(found.covariance)
        np.testing.assert_allclose(np.sqrt(variance), found.estimate.row_stderr, rtol=0.15)


def test_a_draw_depends_on_its_number_alone():
    draws = ScoredOrders(CheapGame(5, 4, m=2), Run.create(7), 10)
    one, other, third = draws(3), draws(3), draws(4)
    np.testing.assert_array_equal(one.values, other.values)
    assert not np.array_equal(one.values, third.values)
