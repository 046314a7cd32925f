"""Forests against plain recursions and walks in Python."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import pytest

from shapley2d._inspection.kernels import random_words
from shapley2d._inspection.kernels.forest import (
    CODES,
    Predicted,
    draw_bags,
    grow_forest,
)
from shapley2d._inspection.kernels.forest_answers import add_shares

SEED = np.uint64(5)


@numba.njit
def next_word(state):  # those of the package can be called by compiled code only
    return random_words.next_word(state)


@numba.njit
def next_below(state, stop):
    return random_words.next_below(state, stop)


@numba.njit
def bell(word, code):
    return random_words.bell(word, code)


def make_predicted(bins, ranks=None, *, empty=-1, is_category=False):
    bins = np.asarray(bins, dtype=np.int32)
    ranks = bins / 10.0 if ranks is None else ranks
    return Predicted(
        bins, np.asarray(ranks, dtype=np.float64), empty, int(bins.max()) + 1, is_category
    )


def make_table(seed, n=60, m=4, n_bins=5):
    """Codes that tie, and bins that depend on the first two columns."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [6, 9, 3, CODES][:m], size=(n, m)).astype(np.uint8)
    bins = (codes[:, 0] + codes[:, 1] + rng.integers(0, 2, n)) * n_bins // 16
    return codes, np.minimum(bins, n_bins - 1).astype(np.int32)


def impurity(goal):
    return float(((goal - goal.mean()) ** 2).sum()) if goal.size else 0.0


def best_split(codes, goal, rows, inputs, smallest):
    """The least impurity, and every split that has it."""
    least, splits = impurity(goal[rows]) - 1e-9, []
    for column in inputs:
        for cut in np.unique(codes[rows, column])[:-1]:
            left = codes[rows, column] <= cut
            if min(left.sum(), (~left).sum()) < smallest:
                continue
            cost = impurity(goal[rows[left]]) + impurity(goal[rows[~left]])
            if cost < least - 1e-9:
                least, splits = cost, []
            if cost < least + 1e-9:
                splits.append((column, int(cut)))
    return splits


def parts(word):
    """The left child, the column and the cut of a node."""
    return int(word) >> 24, (int(word) >> 8) & 0xFFFF, int(word) & 0xFF


def leaf_of(row, forest, tree):
    """The leaf of a row by a plain walk."""
    word = forest.nodes[forest.roots[tree]]
    while word >= 0:
        left, column, cut = parts(word)
        word = forest.nodes[left if row[column] <= cut else left + 1]
    return -1 - word


def is_seen(seen, row, tree):
    return bool(int(seen[row, tree // 64]) >> (tree % 64) & 1)


def shares_of(forest, leaf, n_bins):
    shares = np.zeros(n_bins)
    stretch = slice(forest.leaves[leaf], forest.leaves[leaf + 1])
    shares[forest.bins[stretch]] = forest.counts[stretch] / forest.sizes[leaf]
    return shares


@pytest.mark.parametrize("kind", ["numbers", "two categories"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_node_has_the_best_split_of_its_rows(kind, seed):
    """With all columns tried nothing is random in a tree of numbers, nor in one of two categories (Gini's split)."""
    codes, bins = make_table(seed)
    if kind == "two categories":
        bins = (bins > 2).astype(np.int32)
    predicted = make_predicted(bins, is_category=kind != "numbers")
    goal = bins / 10.0
    bags = np.random.default_rng(seed).permutation(60)[None, :45].astype(np.int32)
    inputs, smallest = np.array([0, 1, 3]), 4
    forest = grow_forest(codes, inputs, predicted, bags, smallest, 3, SEED)

    def visit(node, rows):
        can_split = rows.size >= 2 * smallest
        splits = best_split(codes, goal, rows, inputs, smallest) if can_split else []
        word = forest.nodes[node]
        if word < 0:
            assert splits == []
            leaf = -1 - word
            assert forest.sizes[leaf] == rows.size
            expected = np.bincount(bins[rows], minlength=predicted.n_bins) / rows.size
            np.testing.assert_allclose(shares_of(forest, leaf, predicted.n_bins), expected)
            return 1
        left, column, cut = parts(word)
        assert (column, cut) in splits
        goes_left = codes[rows, column] <= cut
        return visit(left, rows[goes_left]) + visit(left + 1, rows[~goes_left])

    assert visit(0, bags[0]) == forest.sizes.size > 2


@pytest.mark.slow
def test_all_categories_are_told_apart_in_the_mean():
    """The variance of random numbers that a split removes is the Gini impurity that it removes, in the mean."""
    rng = np.random.default_rng(0)
    classes, left = rng.integers(0, 4, 40), rng.random(40) < 0.4
    classes[left] = classes[left] % 2

    def gini(codes):
        return codes.size - (np.bincount(codes) ** 2).sum() / codes.size

    state = np.array([3], np.uint64)
    words = [np.uint64(next_word(state)) for _ in range(4000)]
    goals = np.array([[bell(word, code) for code in range(4)] for word in words])[:, classes]
    removed = [impurity(goal) - impurity(goal[left]) - impurity(goal[~left]) for goal in goals]
    wanted = gini(classes) - gini(classes[left]) - gini(classes[~left])
    assert np.mean(removed) == pytest.approx(wanted, rel=0.05)


def test_random_numbers_are_those_of_splitmix64():
    """The first words for the seed 1234567, as published with the generator."""
    state = np.array([1234567], np.uint64)
    words = [int(next_word(state)) for _ in range(3)]
    assert words == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    drawn = np.bincount([next_below(state, 5) for _ in range(5000)], minlength=5)
    assert drawn.size == 5
    assert drawn.min() > 850
    normal = np.array([bell(np.uint64(next_word(state)), 7) for _ in range(5000)])
    assert abs(normal.mean()) < 0.05
    assert abs(normal.std() - 1) < 0.05


def test_bags_are_drawn_without_replacement_and_remembered():
    bags, seen = draw_bags(30, 18, 70, SEED)
    for tree, bag in enumerate(bags):
        assert sorted(bag) == sorted(row for row in range(30) if is_seen(seen, row, tree))
        assert np.unique(bag).size == 18
    drawn = np.bincount(bags.ravel(), minlength=30)
    assert drawn.min() > 70 * 0.6 - 20
    assert drawn.max() < 70 * 0.6 + 20
    assert np.array_equal(bags, draw_bags(30, 18, 70, SEED)[0])
    assert not np.array_equal(bags, draw_bags(30, 18, 70, np.uint64(6))[0])


def grown(seed, *, is_category=False, empty=-1, trees=6):
    codes, bins = make_table(seed)
    bins[::17] = -1
    predicted = make_predicted(bins, is_category=is_category, empty=empty)
    bags, seen = draw_bags(60, 36, trees, SEED)
    forest = grow_forest(codes, np.arange(1, 4), predicted, bags, 3, 2, SEED)
    return codes, predicted, seen, forest


def test_entries_that_cannot_be_learnt_from_are_left_out():
    _, predicted, _, forest = grown(1)
    learnt = [forest.sizes[a:b].sum() for a, b in _stretches(forest)]
    bags, _ = draw_bags(60, 36, 6, SEED)
    assert learnt == [(predicted.bins[bag] >= 0).sum() for bag in bags]
    assert min(parts(word)[1] for word in forest.nodes if word >= 0) >= 1  # of the inputs alone


def _stretches(forest):
    """The leaves of each tree."""
    counts = [
        int((forest.nodes[a:b] < 0).sum())
        for a, b in zip(forest.roots[:-1], forest.roots[1:], strict=True)
    ]
    ends = np.cumsum([0, *counts])
    return list(pairwise(ends))


@pytest.mark.parametrize("is_category", [False, True])
def test_rows_are_asked_of_trees_that_have_not_seen_them(is_category):
    codes, predicted, seen, forest = grown(2, is_category=is_category)
    sums, asked = np.zeros((60, predicted.n_bins)), np.zeros(60, np.int32)
    add_shares(codes, seen, forest, sums, asked)
    for row in range(60):
        trees = [tree for tree in range(6) if not is_seen(seen, row, tree)]
        leaves = [leaf_of(codes[row], forest, tree) for tree in trees]
        wanted = sum(
            (shares_of(forest, leaf, predicted.n_bins) for leaf in leaves),
            np.zeros(predicted.n_bins),
        )
        np.testing.assert_allclose(sums[row], wanted, atol=1e-12)
        assert asked[row] == len(trees)


def test_a_bag_without_anything_to_learn_from_is_not_asked():
    codes, bins = make_table(0)
    bins[:] = -1
    bins[0] = 1
    predicted = make_predicted(bins)
    bags, seen = draw_bags(60, 10, 8, SEED)
    forest = grow_forest(codes, np.arange(4), predicted, bags, 2, 2, SEED)
    sums, asked = np.zeros((60, 2)), np.zeros(60, np.int32)
    add_shares(codes, seen, forest, sums, asked)
    useful = [tree for tree, bag in enumerate(bags) if 0 in bag]
    assert [int(asked[row]) for row in range(60)] == [
        sum(not is_seen(seen, row, tree) for tree in useful) for row in range(60)
    ]


def test_empty_cells_among_numbers_are_told_apart_by_some_nodes_and_ranks_by_others():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, size=(400, 2)).astype(np.uint8)
    bins = np.minimum(codes[:, 0] // 5, 3).astype(np.int32)
    bins[codes[:, 1] >= 15] = 4
    predicted = make_predicted(bins, empty=4)
    bags, seen = draw_bags(400, 240, 30, SEED)
    forest = grow_forest(codes, np.arange(2), predicted, bags, 5, 2, SEED)
    sums, asked = np.zeros((400, 5)), np.zeros(400, np.int32)
    add_shares(codes, seen, forest, sums, asked)
    right = (sums / asked[:, None])[np.arange(400), bins]
    assert right[bins == 4].mean() > 0.9
    assert right[bins < 4].mean() > 0.9
