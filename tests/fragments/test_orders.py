"""Random orders: close to all sets, exact in sum, with intervals that hold."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tiny_fragments import tiny, value

from shapley2d import MonteCarlo
from shapley2d._base.precision import interval_factor
from shapley2d._estimation.old_total import Total
from shapley2d._estimation.set_draws import AllSets, Orders
from shapley2d._fragments.estimate import estimate_game
from shapley2d._methods.run import Run

from oracles import brute_force


class CheapGame:
    """Contributors whose worth is a function of their set, with an error line for every validation row.

    Each validation row gains from each contributor, less where others hold the same (a union).
    """

    def __init__(self, n, lines=0, seed=0, m=1):
        random = np.random.default_rng(seed)
        self.n_rows, self.n_columns, self.n_lines = n, m, lines
        self.n_trained = 1
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

    def utility(self, contributors, columns):
        if not contributors.any() or not columns.any():
            return np.zeros(1 + self.n_lines)
        union = self._held[contributors].any(axis=0)
        score = np.sqrt(union @ self._worth[:, columns].sum(axis=1))
        score += contributors @ self._pairs @ contributors
        if not self.n_lines:
            return np.array([score])
        each = self.rows(contributors, columns)
        off = each - each.mean()
        return np.append(each.mean(), off / np.sqrt(len(each) * (len(each) - 1)))


def of(game, design, seed=0, most=40):
    run = Run.create(seed, progress=False, n_jobs=1)
    return estimate_game(game, run, design, tolerance=0.0, most=most, compiled=False, identity={})


def summed(draws, total, count, whole):
    for number in range(count):
        total.add(draws(number))
    return total.values(whole)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (3, 1), (5, 1), (1, 3), (3, 2), (4, 3)])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 2, 1)])
def test_all_sets_are_the_definition(n, m, semivalue):
    game = CheapGame(n, m=m, seed=n)
    draws = AllSets(game, (semivalue, semivalue))
    total = Total((n, m, 1), draws.count, orders=False)
    found = summed(draws, total, draws.count, None)[:, :, 0]

    def h(S, F):
        return game.utility(np.isin(np.arange(n), list(S)), np.isin(np.arange(m), list(F)))[0]

    np.testing.assert_allclose(found, brute_force(h, n, m, semivalue, semivalue), atol=1e-12)


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 2, 1)])
@pytest.mark.parametrize("m", [1, 2])
def test_orders_come_near_all_sets(semivalue, m):
    game = CheapGame(4, m=m, seed=1)
    run = replace(Run.create(0, semivalue, progress=False, n_jobs=1))
    ask = {"tolerance": 0.0, "compiled": False, "identity": {}}
    exact = estimate_game(game, run, "all sets", most=1, **ask)
    found = estimate_game(game, run, "orders", most=400, **ask)
    error = np.sqrt(found.order_variances[:, :-1]) + 1e-12
    assert (np.abs(found.values - exact.values)[:, :, 0] < 4.5 * error).all()
    if semivalue == "shapley":
        assert found.values.sum() == pytest.approx(found.whole[0], abs=1e-12)


def test_values_by_orders_of_real_fragments():
    fragments, y, valid = tiny()
    parts = {f"{name} {k}": part[k::2] for name, part in fragments.items() for k in (0, 1)}
    exact = value(parts, y, valid, method="gaussian_nb")
    found = value(parts, y, valid, method=MonteCarlo("gaussian_nb", max_permutations=40))
    assert found._fragments.how == "orders"
    assert found._fragments.n_trained == len(found._fragments.sets)  # each set once
    assert found.total == pytest.approx(exact.total, abs=1e-12)
    assert (np.abs(found.row_values - exact.row_values) < 4 * found.row_stderr).all()
    more = MonteCarlo("gaussian_nb", max_permutations=400, tolerance=0.0)
    of_rows = value(parts, y, valid, method=more).row_stderr  # little is left open by orders
    np.testing.assert_allclose(of_rows, exact.row_stderr, rtol=0.4)
    np.testing.assert_array_equal(found.alone, exact.alone)
    np.testing.assert_array_equal(found.without, exact.without)


def coverage_by_orders(n, runs, most=40):
    """How often intervals hold each contributor's value; truth from many orders."""
    game = CheapGame(n, seed=3)
    if n <= 10:
        truth = of(game, "all sets").values[:, 0, 0]
    else:
        truth = of(game, "orders", 10**6, 20_000).values[:, 0, 0]
    held = np.zeros(n)
    for seed in range(runs):
        found = of(game, "orders", seed, most)
        half = interval_factor(found.order_dof) * np.sqrt(found.order_variances[:, -1])
        held += np.abs(found.values[:, 0, 0] - truth) <= half + 1e-12
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
    truth = of(pool_mean(pool), "all sets").values[:, 0, 0]
    random, held, runs = np.random.default_rng(0), np.zeros(n), 60
    for _ in range(runs):
        game = CheapGame(n, 200, seed=5)
        game._rows = pool._rows[random.choice(20_000, 200)]
        found = of(game, "all sets")
        lines = found.values[:, 0, 1:]
        half = interval_factor(199) * np.sqrt((lines**2).sum(axis=1))
        held += np.abs(found.values[:, 0, 0] - truth) <= half
    assert held.mean() / runs >= 0.93


def pool_mean(pool):
    """The pool's game without its lines, which fill memory."""
    game = SimpleNamespace(n_rows=pool.n_rows, n_columns=1, n_lines=0, n_trained=1)
    game.utility = lambda c, f: (
        np.array([pool.rows(c, f).mean()]) if c.any() and f.any() else np.zeros(1)
    )
    return game


def test_a_draw_depends_on_its_number_alone():
    draws = Orders(CheapGame(5, 4, m=2), ("shapley", "shapley"), 7)
    one, other = draws(3), draws(3)
    np.testing.assert_array_equal(one.values, other.values)
    assert not np.array_equal(one.places, draws(4).places) or not np.array_equal(
        one.values, draws(4).values
    )
