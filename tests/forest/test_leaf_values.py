"""Cells in the leaves of trees against the definition: all subsets of rows and of columns."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d._base.streams import generator
from shapley2d._estimation.total import counted_from
from shapley2d._forest import leaves as leaf_game
from shapley2d._forest.leaves import LeafGame, Leaves
from shapley2d._forest.model import SplitTree
from shapley2d._forest.weights import mean_weights
from shapley2d._methods.solve import shares_of_labels
from shapley2d._theory.semivalues import size_probabilities
from shapley2d.exceptions import InputError

from forest_oracle import Part, leaf_of, misses, plain_values, row_values, utility
from oracles import brute_force

SEMIVALUES = [
    ("shapley", "shapley"),
    ("banzhaf", ("beta", 2.0, 3.0)),
    (("beta", 4.0, 1.0), "shapley"),
]
KINDS = 3


def random_tree(random, width, depth):
    """A random tree: numbers, sets of categories, and missing entries to either side."""
    nodes, sets = [[-1, -1, 0, 0.0, False]], {}

    def grow(k, left):
        if left == 0 or (left < depth and random.random() < 0.25):
            return
        if random.random() < 0.3:
            sets[k] = random.random(4) < 0.5
        nodes[k][2:] = [random.integers(width), random.integers(0, 3) + 0.5, random.random() < 0.5]
        for side in (0, 1):
            nodes.append([-1, -1, 0, 0.0, False])
            nodes[k][side] = len(nodes) - 1
            grow(len(nodes) - 1, left - 1)

    grow(0, depth)
    return SplitTree.of(*map(np.array, zip(*nodes, strict=True)), sets)


def random_table(random, n, width):
    """Small whole numbers with ties, gaps and repeated rows."""
    X = random.integers(0, 4, (n, width)).astype(float)
    X[random.random((n, width)) < 0.15] = np.nan
    X[-1] = X[0]
    return X


def random_leaves(random, tree, X, *, some=False):
    """Weights of the leaves for every kind of rows, and the rows' kinds and numbers."""
    n = len(X)
    plays = (random.random(n) < (0.7 if some else 1.0)).astype(float)
    weights = random.normal(size=(tree.n_nodes, KINDS)) * (tree.left < 0)[:, None]
    kinds = random.integers(0, KINDS, n).astype(np.int32)
    plain = bool(random.random() < 0.3)
    numbers = plays * (1.0 if plain else random.normal(size=n))
    return Leaves(0, tree, lines(X), weights, kinds, numbers, plays, plain)


def parts_of(leaves, X, owners=None):
    """The leaves by the definition."""
    owners = range(X.shape[1]) if owners is None else owners
    rows = np.flatnonzero(leaves.plays)
    found = []
    for leaf in np.flatnonzero(leaves.tree.left < 0).tolist():
        numbers = leaves.weights[leaf, leaves.kinds] * leaves.numbers
        found.append(Part([misses(leaves.tree, leaf, x, owners) for x in X], numbers, rows))
    return found


def lines(X):
    return np.ascontiguousarray(X.T, dtype=float)


def make_game(X, *, semivalues=SEMIVALUES[0], owners=None, **more):
    owners = np.arange(X.shape[1]) if owners is None else owners
    owners = np.asarray(owners, dtype=np.int32)
    return LeafGame(owners, len(X), semivalues, int(max(owners)) + 1, **more)


def values_of(game, several, blind=0.0, first=None):
    values = game.empty()
    for leaves in several:
        game.add_values(leaves, values)
    game.add_no_rows(blind, values)
    return counted_from(values, first)


@pytest.mark.parametrize("semivalues", SEMIVALUES)
@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("label", [False, True])
@pytest.mark.parametrize("baseline", ["labels", "zero"])
def test_every_subset_of_rows_and_columns(semivalues, some, label, baseline):
    """Also of trees that were grown on some of the rows, and where no rows score something."""
    random = np.random.default_rng(len(str(semivalues)) + some)
    n, owners = 5, [0, 1, 1, 2]  # two features are one player
    X = random_table(random, n, 4)
    several = [random_leaves(random, random_tree(random, 4, 4), X, some=some) for _ in range(3)]
    more = {"labelled": label, "from_zero": baseline == "zero"}
    game = make_game(X, semivalues=semivalues, owners=owners, **more)
    asked = SimpleNamespace(baseline=baseline, label="y" if label else None)
    shape = SimpleNamespace(shape=(n, game.n_columns))
    first = shares_of_labels(shape, SimpleNamespace(semivalues=semivalues), asked)
    values = values_of(game, several, 0.7, first)
    parts = [part for leaves in several for part in parts_of(leaves, X, owners)]
    h = utility(parts, 0.7, baseline=baseline, label=3 if label else None)
    expected = brute_force(h, n, game.n_columns, *semivalues)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_any_tree_on_any_small_table(seed, n):
    """Leaves that no row fits, trees that are a single leaf, rows that are alike."""
    random = np.random.default_rng(seed)
    X = random_table(random, n, 3)
    leaves = random_leaves(random, random_tree(random, 3, int(random.integers(0, 5))), X)
    leaves.kinds[-1], leaves.numbers[-1] = leaves.kinds[0], leaves.numbers[0]
    values = values_of(make_game(X), [leaves])
    expected = brute_force(utility(parts_of(leaves, X)), n, 3)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(values[0], values[-1], rtol=0, atol=1e-14)
    # rows and columns in another order
    rows, columns = random.permutation(n), random.permutation(3)
    feature = np.argsort(columns).astype(np.int32)[leaves.tree.feature]
    tree = leaves.tree._replace(feature=feature)
    kinds, numbers = leaves.kinds[rows], leaves.numbers[rows]
    other = X[np.ix_(rows, columns)]
    moved = replace(leaves, tree=tree, features=lines(other), kinds=kinds, numbers=numbers)
    other = values_of(make_game(other), [moved])
    np.testing.assert_allclose(other, values[np.ix_(rows, columns)], rtol=0, atol=1e-13)


def test_bundles_of_leaves(monkeypatch):
    """Many rows: subtrees of several leaves share one state per row; a column without splits gets 0."""
    random = np.random.default_rng(3)
    X = random_table(random, 90, 6)
    leaves = random_leaves(random, random_tree(random, 5, 6), X)
    game = make_game(X)
    values = values_of(game, [leaves])
    np.testing.assert_allclose(values, plain_values(parts_of(leaves, X), 90, 6), rtol=0, atol=1e-12)
    assert values.any() and not values[:, 5].any()
    monkeypatch.setattr(leaf_game, "_ROOM", 5 * 90)  # few bundles are held at a time
    np.testing.assert_allclose(values_of(game, [leaves]), values, rtol=0, atol=1e-14)


def test_random_orders_of_the_columns_of_deep_leaves(monkeypatch):
    """Their mean is the sum over all subsets; in every order a row has the same sum."""
    random = np.random.default_rng(5)
    X = random_table(random, 30, 5)
    for some, label in ((False, True), (True, False)):
        leaves = random_leaves(random, random_tree(random, 5, 5), X, some=some)
        exact = values_of(make_game(X, labelled=label), [leaves])
        with monkeypatch.context() as patch:
            patch.setattr(leaf_game, "most_columns", lambda _: 1)
            game = make_game(X, labelled=label)
            shallow, draws = values_of(game, [leaves]), []
            for number in range(400):
                values = game.empty()
                game.add_order(leaves, generator(5, "path orders", number), values)
                draws.append(values[:, :-1])
        draws = np.array(draws) + shallow
        off = abs(draws.mean(axis=0) - exact) / (draws.std(axis=0) / 20 + 1e-12)
        assert off.max() < 4.5
        if not label:
            sums = np.tile(exact.sum(axis=1), (400, 1))
            np.testing.assert_allclose(draws.sum(axis=2), sums, rtol=0, atol=1e-12)


def test_leaves_of_rows():
    random = np.random.default_rng(7)
    X = random_table(random, 200, 4)
    for _ in range(5):
        tree = random_tree(random, 4, 6)
        assert tree.leaves_of(lines(X)).tolist() == [leaf_of(tree, x) for x in X]


@pytest.mark.parametrize(
    "semivalue", ["shapley", "banzhaf", ("beta", 16.0, 1.0), ("beta", 1.5, 4.0)]
)
def test_row_weights_are_means_over_sizes(semivalue):
    found = mean_weights(semivalue, 5000)
    for c in (1, 2, 3, 7, 60, 5000):
        p = size_probabilities(semivalue, c)
        expected = [p[0], p[1:] @ (1 / np.arange(2, c + 1))]
        np.testing.assert_allclose(found[:, c], expected, rtol=1e-10, atol=1e-16)


def chain(d):
    """A tree with one leaf below d columns, whose rows pass all of them."""
    node = np.arange(2 * d + 1)
    inner = (node % 2 == 0) & (node < 2 * d)
    left, right = np.where(inner, node + 1, -1), np.where(inner, node + 2, -1)
    feature = np.minimum(node // 2, d - 1)
    return SplitTree.of(left, right, feature, np.full(2 * d + 1, 0.5), left < -1)


@pytest.mark.parametrize("d", [12, 16])
def test_long_paths(d, monkeypatch):
    """All subsets of up to 16 columns on a path."""
    monkeypatch.setattr(leaf_game, "most_columns", lambda _: 16)
    random = np.random.default_rng(0)
    tree = chain(d)
    X = (random.random((4, d)) < 0.8).astype(float)
    X[[0, 3]] = 1.0
    leaves = random_leaves(random, tree, X)
    leaves = replace(leaves, weights=leaves.weights * (np.arange(tree.n_nodes) == 2 * d)[:, None])
    values = values_of(make_game(X), [leaves])
    part = parts_of(leaves, X)[-1]
    if d == 12:
        np.testing.assert_allclose(values, plain_values([part], 4, d), rtol=0, atol=1e-12)
    fits = X.all(axis=1)
    rows = -row_values(part.numbers)  # without any column all rows predict
    rows[fits] += row_values(part.numbers[fits])
    np.testing.assert_allclose(values.sum(axis=1), rows, rtol=0, atol=1e-12)


def test_paths_with_more_columns_than_bits():
    X = np.ones((3, 71))
    leaves = random_leaves(np.random.default_rng(0), chain(70), X)
    with pytest.raises(InputError, match="70 columns on its path, and at most 64 can be valued"):
        values_of(make_game(X), [leaves])
