"""Coalitions of an axis and their weights: all of them, or those along orders."""

import itertools

import numpy as np
import pytest

from shapley2d import InputError
from shapley2d._base.streams import generator
from shapley2d._models.game_draws import Orders
from shapley2d._models.games import FunctionGame, GroupedGame
from shapley2d._theory.axes import nested, set_weights, step_weights, subsets
from shapley2d._theory.semivalues import check_semivalue, marginal_weights, size_probabilities

from oracles import RandomGame

SEMIVALUES = ["shapley", "banzhaf", ("beta", 4.0, 1.0), ("beta", 1.0, 2.5)]


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_blocks_of_coalitions_add_up(semivalue):
    utilities = np.random.default_rng(0).normal(size=(16, 3))
    whole = set_weights(subsets(4), semivalue).T @ utilities
    for cut in range(17):
        one, other = subsets(4, 0, cut), subsets(4, cut)
        parts = set_weights(one, semivalue).T @ utilities[:cut]
        parts += set_weights(other, semivalue).T @ utilities[cut:]
        np.testing.assert_allclose(parts, whole, atol=1e-14)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_mean_over_all_orders_is_the_semivalue(semivalue):
    n = 4
    utilities = np.random.default_rng(1).normal(size=2**n)
    draws = []
    for order in itertools.permutations(range(n)):
        numbers = np.cumsum([0, *(1 << player for player in order)])
        steps = np.diff(utilities[numbers]) * step_weights(n, semivalue)
        draws.append(steps[np.argsort(order)])
    exact = set_weights(subsets(n), semivalue).T @ utilities
    np.testing.assert_allclose(np.mean(draws, axis=0), exact, atol=1e-12)


def test_a_draw_is_the_second_difference_of_the_grid():
    game = FunctionGame(RandomGame(5, 3, seed=2), 5, 3)
    random = generator(7, "draw", 4)
    rows, columns = random.permutation(5), random.permutation(3)
    grid = game.utilities(nested(rows), nested(columns))
    asked = [game], [slice(None)], 5, ("shapley", "shapley")
    values = Orders(*asked, seed=7, most=10)(4).values[np.ix_(rows, columns)]
    np.testing.assert_allclose(values, np.diff(np.diff(grid, axis=0), axis=1), atol=1e-14)


def test_one_group_of_columns_gives_the_1d_value_of_the_rows():
    game = FunctionGame(RandomGame(4, 3, seed=3), 4, 3)
    rows, columns, one = subsets(4), subsets(3), subsets(1)
    of_rows, of_columns, of_one = (set_weights(x, "shapley") for x in (rows, columns, one))
    values = of_rows.T @ game.utilities(rows, columns) @ of_columns
    grouped = GroupedGame(game, range(4), [0, 0, 0])
    one_dimensional = of_rows.T @ grouped.utilities(rows, one) @ of_one
    np.testing.assert_allclose(one_dimensional[:, 0], values.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("n", [1, 2, 7, 1200])
def test_size_probabilities_sum_to_one(semivalue, n):
    assert size_probabilities(semivalue, n).sum() == pytest.approx(1)
    assert (marginal_weights(semivalue, n) >= 0).all()


@pytest.mark.parametrize(
    "wrong",
    [
        "core",
        ("beta", 0, 1),
        ("beta", 1),
        ("gamma", 1, 1),
        3,
        ("beta", "x", 1),
        ("beta", float("inf"), 1),
    ],
)
def test_unknown_semivalue_is_named(wrong):
    with pytest.raises(InputError, match="is not known: use 'shapley'") as caught:
        check_semivalue(wrong)
    assert str(caught.value).startswith("semivalue=")
