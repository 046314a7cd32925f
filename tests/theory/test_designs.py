"""Axis designs: every one is a weight matrix in disguise."""

import itertools

import numpy as np
import pytest

from shapley2d import InputError
from shapley2d._models.function import FunctionGame
from shapley2d._models.wrapped import GroupedGame
from shapley2d._theory.coalitions import MaskCoalitions, NestedCoalitions
from shapley2d._theory.designs import AllSubsets, Permutation, combine_axes
from shapley2d._theory.semivalues import check_semivalue, marginal_weights, size_probabilities

from oracles import RandomGame

SEMIVALUES = ["shapley", "banzhaf", ("beta", 4.0, 1.0), ("beta", 1.0, 2.5)]
DESIGNS = [
    AllSubsets(4),
    AllSubsets(3, "banzhaf"),
    Permutation([2, 0, 1]),
    Permutation([1, 3, 0, 2], ("beta", 2.0, 1.0)),
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda d: type(d).__name__)
def test_blocks_of_coalitions_add_up(design):
    utilities = np.random.default_rng(0).normal(size=(len(design.coalitions), 3))
    whole = design.combine(utilities)
    for cut in range(len(utilities) + 1):
        parts = design.combine(utilities[:cut]) + design.combine(utilities[cut:], start=cut)
        np.testing.assert_allclose(parts, whole, atol=1e-14)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_mean_over_all_orders_is_the_semivalue(semivalue):
    n = 4
    utilities = np.random.default_rng(1).normal(size=2**n)
    draws = []
    for order in itertools.permutations(range(n)):
        numbers = np.cumsum([0, *(1 << player for player in order)])
        draws.append(Permutation(order, semivalue).combine(utilities[numbers]))
    np.testing.assert_allclose(
        np.mean(draws, axis=0), AllSubsets(n, semivalue).combine(utilities), atol=1e-12
    )


def test_permutation_is_the_second_difference_of_the_grid():
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(5), rng.permutation(3)
    grid = rng.normal(size=(6, 4))
    values = combine_axes(grid, Permutation(rows), Permutation(columns))
    np.testing.assert_allclose(
        values[np.ix_(rows, columns)], np.diff(np.diff(grid, axis=0), axis=1), atol=1e-14
    )


def test_one_group_of_columns_gives_the_1d_value_of_the_rows():
    game = FunctionGame(RandomGame(4, 3, seed=3), 4, 3)
    rows, columns, one = AllSubsets(4), AllSubsets(3), AllSubsets(1)
    values = combine_axes(game.utilities(rows.coalitions, columns.coalitions), rows, columns)
    grouped = GroupedGame(game, range(4), [0, 0, 0])
    one_dimensional = combine_axes(grouped.utilities(rows.coalitions, one.coalitions), rows, one)
    np.testing.assert_allclose(one_dimensional[:, 0], values.sum(axis=1), atol=1e-12)


def test_nested_coalitions_in_slices():
    nested = NestedCoalitions([2, 0, 1])
    part = nested.slice(1, 3)
    assert isinstance(part, MaskCoalitions)
    assert part.masks().tolist() == [[False, False, True], [True, False, True]]
    assert [mask.sum() for mask in nested] == [0, 1, 2, 3]


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
    assert caught.value.option == "semivalue"
