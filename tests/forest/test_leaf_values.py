"""Cells in the leaves of trees against the definition: all subsets of rows and of columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d._forest import game as leaf_game
from shapley2d._forest.game import LeafGame, leaves_of
from shapley2d._forest.trees import Features, SplitTree, bits
from shapley2d._forest.weights import error_weights, share_weights
from shapley2d._tables.target import Target
from shapley2d._theory.semivalues import size_probabilities
from shapley2d.exceptions import InputError

from forest_oracle import forest_utility, goes_left, path_of, plain_values, row_values
from oracles import brute_force

SEMIVALUES = [
    ("shapley", "shapley"),
    ("banzhaf", ("beta", 2.0, 3.0)),
    (("beta", 4.0, 1.0), "shapley"),
]
CLASSES = 3


def random_tree(random, width, depth):
    """A random tree: numbers, sets of categories, and missing entries to either side."""
    nodes, sets = [[-1, -1, 0, 0.0, False]], {}

    def grow(k, left):
        if left == 0 or (left < depth and random.random() < 0.25):
            return
        if random.random() < 0.3:
            sets[k] = bits(random.random(4) < 0.5)
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


def target(y, regression):
    task = "regression" if regression else "classification"
    return Target(task, y, y, np.array([]) if regression else np.arange(CLASSES))


def lines(X):
    return np.ascontiguousarray(X.T, dtype=float)


def make_game(X, y, Xv, yv, *, weights=None, semivalues=SEMIVALUES[0], owners=None, **more):
    owners = np.arange(X.shape[1]) if owners is None else owners
    regression = y.dtype.kind == "f"
    features = Features(lines(X), lines(Xv), np.asarray(owners, dtype=np.int32))
    return LeafGame(
        features,
        target(y, regression),
        target(yv, regression),
        weights,
        semivalues,
        int(max(owners)) + 1,
        **more,
    )


def values_of(game, trees):
    values = np.zeros((game.n_rows, game.n_columns))
    for tree in trees:
        game.add_values(tree, values)
    return values / len(trees)


@pytest.mark.parametrize("semivalues", SEMIVALUES)
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("label", [False, True])
@pytest.mark.parametrize("baseline", ["labels", "zero"])
def test_every_subset_of_rows_and_columns(semivalues, regression, label, baseline):
    random = np.random.default_rng(len(str(semivalues)) + 2 * regression)
    n, owners = 5, [0, 1, 1, 2]  # two features are one player
    X, Xv = random_table(random, n, 4), random_table(random, 4, 4)
    y, yv = (random.integers(0, CLASSES, k) for k in (n, 4))
    if regression:
        y, yv = random.normal(size=n), random.normal(size=4)
    weights = random.random(4)
    trees = [random_tree(random, 4, 4) for _ in range(3)]
    game = make_game(
        X, y, Xv, yv, weights=weights, semivalues=semivalues, owners=owners, labelled=label
    )
    values = values_of(game, trees)
    if baseline == "zero":
        values = values + game.from_zero()
    h = forest_utility(
        trees,
        X,
        y,
        Xv,
        yv,
        owners=owners,
        regression=regression,
        weights=weights,
        baseline=baseline,
        label=3 if label else None,
    )
    expected = brute_force(h, n, game.n_columns, *semivalues)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


@given(seed=st.integers(0, 10**6), regression=st.booleans(), n=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_any_tree_on_any_small_table(seed, regression, n):
    """One class only, leaves that no row fits, trees that are a single leaf, rows that are alike."""
    random = np.random.default_rng(seed)
    X, Xv = random_table(random, n, 3), random_table(random, 2, 3)
    y, yv = random.integers(0, random.integers(1, CLASSES + 1), n), random.integers(0, CLASSES, 2)
    if regression:
        y, yv = y.astype(float), yv.astype(float)
    trees = [random_tree(random, 3, int(random.integers(0, 5))) for _ in range(2)]
    values = values_of(make_game(X, y, Xv, yv), trees)
    h = forest_utility(trees, X, y, Xv, yv, regression=regression)
    np.testing.assert_allclose(values, brute_force(h, n, 3), rtol=0, atol=1e-12)
    if y[0] == y[-1]:  # they are copies
        np.testing.assert_allclose(values[0], values[-1], rtol=0, atol=1e-15)


@pytest.mark.parametrize("regression", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_bundles_of_leaves(regression):
    """Many rows: subtrees of several leaves share one state per row."""
    random = np.random.default_rng(3)
    X, Xv = random_table(random, 90, 5), random_table(random, 3, 5)
    y, yv = random.integers(0, CLASSES, 90), random.integers(0, CLASSES, 3)
    if regression:
        y, yv = random.normal(size=90), random.normal(size=3)
    trees = [random_tree(random, 5, 6) for _ in range(2)]
    values = values_of(make_game(X, y, Xv, yv), trees)
    expected = plain_values(trees, X, y, Xv, yv, regression=regression)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-13)


def test_little_memory_changes_nothing(monkeypatch):
    random = np.random.default_rng(4)
    X, Xv = random_table(random, 3000, 6), random_table(random, 200, 6)
    y, yv = random.integers(0, CLASSES, 3000), random.integers(0, CLASSES, 200)
    trees = [random_tree(random, 6, 7) for _ in range(2)]
    game = make_game(X, y, Xv, yv)
    whole = values_of(game, trees)
    monkeypatch.setattr(leaf_game, "_ROOM", 5 * 3000)  # few bundles are held at a time
    np.testing.assert_allclose(values_of(game, trees), whole, rtol=0, atol=1e-15)


def test_columns_that_no_split_names_get_exactly_zero():
    random = np.random.default_rng(6)
    X, Xv = random_table(random, 50, 5), random_table(random, 9, 5)
    y, yv = random.integers(0, CLASSES, 50), random.integers(0, CLASSES, 9)
    values = values_of(make_game(X, y, Xv, yv), [random_tree(random, 3, 5)])
    assert not values[:, 3:].any()
    assert values[:, :3].any()


def test_leaves_of_rows():
    random = np.random.default_rng(7)
    X = random_table(random, 200, 4)
    for _ in range(5):
        tree = random_tree(random, 4, 6)
        found = leaves_of(tree, lines(X))
        for i, x in enumerate(X):
            path = path_of(tree, x)
            k = 0
            for _, node, left in path:
                assert left == goes_left(tree, node, x[tree.feature[node]])
                k = tree.left[node] if left else tree.right[node]
            assert found[i] == k


@pytest.mark.parametrize(
    "semivalue", ["shapley", "banzhaf", ("beta", 16.0, 1.0), ("beta", 1.5, 4.0)]
)
@pytest.mark.parametrize(("n", "rtol"), [(60, 1e-12), (5000, 1e-10)])  # convolved in two ways
def test_row_weights_are_means_over_sizes(semivalue, n, rtol):
    shares, errors = share_weights(semivalue, n), error_weights(semivalue, n)
    for c in (1, 2, 3, 7, 60, n):
        p, s = size_probabilities(semivalue, c)[1:], np.arange(1, c)
        spread = (c - 1 - s) / s * (2 / (s + 1) - 1 / (s + 1) ** 2) / max(c - 2, 1)
        expected = [
            size_probabilities(semivalue, c)[0],
            p @ (1 / (s + 1)),
            p @ (1 / (s + 1) ** 2),
            p @ spread,
        ]
        np.testing.assert_allclose(errors[:, c], expected, rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(shares[:, c], expected[:2], rtol=rtol, atol=1e-16)


@pytest.mark.parametrize("d", [12, 16])
def test_long_paths(d, monkeypatch):
    """All subsets of up to 16 columns on a path."""
    monkeypatch.setattr(leaf_game, "most_columns", lambda _: 16)
    random = np.random.default_rng(0)
    left = np.array([k + 1 if k % 2 == 0 and k < 2 * d else -1 for k in range(2 * d + 1)])
    right = np.where(left >= 0, left + 1, -1)
    feature = np.minimum(np.arange(2 * d + 1) // 2, d - 1)
    tree = SplitTree.of(left, right, feature, np.full(2 * d + 1, 0.5), left < -1)
    X = (random.random((4, d)) < 0.8).astype(float)
    X[[0, 3]] = 1.0
    Xv, y, yv = np.ones((1, d)), np.array([0, 1, 0, 0]), np.array([0])
    values = values_of(make_game(X, y, Xv, yv), [tree])
    if d == 12:
        expected = plain_values([tree], X, y, Xv, yv)
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    fits = X.all(axis=1)
    rows = -row_values(y, 0, 0.0, regression=False)  # without any column all rows vote
    rows[fits] += row_values(y[fits], 0, 0.0, regression=False)
    np.testing.assert_allclose(values.sum(axis=1), rows, rtol=0, atol=1e-12)


def test_paths_with_more_columns_than_bits():
    left = np.array([k + 1 if k % 2 == 0 and k < 140 else -1 for k in range(141)])
    right = np.where(left >= 0, left + 1, -1)
    tree = SplitTree.of(left, right, np.arange(141) // 2, np.zeros(141), left < -1)
    game = make_game(np.ones((3, 71)), np.arange(3), np.ones((1, 71)), np.array([0]))
    with pytest.raises(InputError, match="70 columns on its path, and at most 64 can be valued"):
        values_of(game, [tree])
