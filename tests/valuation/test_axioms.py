"""Exact values of games: the definition, known answers, and the four axioms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapley2d import value_game

from oracles import RandomGame, brute_force

SEMIVALUES = ["shapley", "banzhaf", ("beta", 4, 1), ("beta", 1, 2.5)]
sizes = st.tuples(st.integers(1, 5), st.integers(1, 4))
seeds = st.integers(0, 2**32 - 1)


def exact(game, n, m, **options):
    return value_game(game, n, m, **options).values


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (3, 4), (5, 4), (5, 1), (1, 4)])
def test_equals_brute_force(n, m, semivalue):
    game = RandomGame(n, m, seed=n * 10 + m)
    expected = brute_force(game.of_sets, n, m, semivalue, semivalue)
    np.testing.assert_allclose(exact(game, n, m, semivalue=semivalue), expected, rtol=0, atol=1e-12)


def test_semivalues_may_differ_between_the_axes():
    game = RandomGame(4, 3, seed=1)
    expected = brute_force(game.of_sets, 4, 3, "banzhaf", ("beta", 2, 1))
    values = exact(game, 4, 3, semivalue=("banzhaf", ("beta", 2, 1)))
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_beta_1_1_is_shapley():
    game = RandomGame(4, 4, seed=2)
    np.testing.assert_allclose(
        exact(game, 4, 4, semivalue=("beta", 1, 1)), exact(game, 4, 4), rtol=0, atol=1e-12
    )


@given(sizes, st.data())
def test_unanimity_game_is_shared_equally_by_its_block(size, data):
    n, m = size
    S = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    F = data.draw(st.sets(st.integers(0, m - 1), min_size=1))
    rows, columns = np.isin(np.arange(n), list(S)), np.isin(np.arange(m), list(F))
    values = exact(lambda s, f: float((s | ~rows).all() and (f | ~columns).all()), n, m)
    expected = np.outer(rows, columns) / (len(S) * len(F))
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)


@given(sizes, seeds, st.floats(-3, 3), st.floats(-3, 3))
def test_linearity(size, seed, a, b):
    n, m = size
    one, two = RandomGame(n, m, seed), RandomGame(n, m, seed + 1)
    both = exact(lambda S, F: a * one(S, F) + b * two(S, F), n, m)
    np.testing.assert_allclose(both, a * exact(one, n, m) + b * exact(two, n, m), atol=1e-11)


@given(sizes, seeds)
def test_efficiency_and_corollary_2(size, seed):
    """All values sum to h(N, M), rows to the 1D values of h(., M), columns to those of h(N, .)."""
    n, m = size
    game = RandomGame(n, m, seed)
    v = value_game(game, n, m)
    assert v.total == pytest.approx(game.of_sets(range(n), range(m)), abs=1e-12)
    rows = brute_force(lambda S, F: game.of_sets(S, range(m)) if F else 0.0, n, 1)
    columns = brute_force(lambda S, F: game.of_sets(range(n), F) if S else 0.0, 1, m)
    np.testing.assert_allclose(v.row_values, rows[:, 0], atol=1e-12)
    np.testing.assert_allclose(v.column_values, columns[0], atol=1e-12)


@given(sizes, seeds, st.data())
def test_symmetry_renaming_rows_and_columns_renames_values(size, seed, data):
    n, m = size
    game = RandomGame(n, m, seed)
    p = np.array(data.draw(st.permutations(range(n))))
    q = np.array(data.draw(st.permutations(range(m))))
    renamed = exact(lambda S, F: game.of_sets(p[S].tolist(), q[F].tolist()), n, m)
    np.testing.assert_allclose(renamed, exact(game, n, m)[np.ix_(p, q)], atol=1e-12)


@given(st.tuples(st.integers(2, 5), st.integers(2, 4)), seeds, st.floats(-2, 2))
def test_dummy_gets_its_constant(size, seed, c):
    """A cell whose marginal is the constant c everywhere is worth c."""
    n, m = size
    game = RandomGame(n, m, seed)

    def with_dummy(S, F):  # row 0 does nothing but add c together with column 0
        rest = S.copy()
        rest[0] = False
        return game(rest, F) + c * float(S[0] and F[0])

    values = exact(with_dummy, n, m)
    assert values[0, 0] == pytest.approx(c, abs=1e-12)
    np.testing.assert_allclose(values[0, 1:], 0, atol=1e-12)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_additive_game_is_its_own_value(semivalue):
    worth = np.random.default_rng(0).normal(size=(4, 3))
    values = exact(lambda S, F: worth[np.ix_(S, F)].sum(), 4, 3, semivalue=semivalue)
    np.testing.assert_allclose(values, worth, atol=1e-12)
