"""The tree grower against a plain recursion, and its parts against numpy."""

import numpy as np
import pytest

from model_oracles import tree_by_hand
from shapley2d_paper.baselines.kernels.cart import (
    best_binary,
    best_classes,
    best_numbers,
    grow_tree,
    make_scratch,
    score_leaves,
    split_threshold,
)


def make_data(seed, n_classes, n=30, p=4, n_valid=25):
    """Few values, so that rows, splits and columns tie; a 0/1 column; 0 classes is a regression."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, size=(p, n)).astype(np.float32)
    values[-1] = values[-1] > 2
    valid = rng.integers(0, 5, size=(p, n_valid)).astype(np.float32)
    codes = (rng.integers(0, n_classes, n) if n_classes else np.zeros(n)).astype(np.int32)
    labels = codes.astype(np.float64) if n_classes else rng.integers(0, 20, n) / 4.0
    return values, valid, (codes, labels, n_classes)


def impurity(labels, n_classes):
    """Gini impurity times the number of rows, or the squared error."""
    if not n_classes:
        return np.sum((labels - labels.mean()) ** 2)
    return labels.size - np.sum(np.unique(labels, return_counts=True)[1] ** 2) / labels.size


def best_split(values, labels, n_classes, rows, active):
    """The first of the best splits by column, then by threshold: a column's place and a number of rows; or None."""
    best = None
    for k, column in enumerate(active):
        x = values[column, rows]
        for low in np.unique(x)[:-1]:
            left = x <= low
            cost = impurity(labels[rows[left]], n_classes) + impurity(
                labels[rows[~left]], n_classes
            )
            if best is None or cost < best[0] - 1e-9:
                best = cost, k, int(left.sum())
    return best and best[1:]


def presort(values, rows, active):
    orders = [rows[np.argsort(values[column, rows], kind="stable")] for column in active]
    return np.ascontiguousarray(orders, dtype=np.int32)


@pytest.mark.parametrize("averages", [False, True])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_leaves_are_those_of_a_plain_recursion(n_classes, averages):
    for seed in range(6):
        values, valid, target = make_data(seed, n_classes)
        rng = np.random.default_rng(seed)
        rows = np.sort(
            rng.integers(0, 30, 40 if seed % 2 else 20)
        )  # some of them repeatedly, as in a bag
        active, n_valid = rng.permutation(4)[: 1 + seed % 4].astype(np.intp), valid.shape[1]
        below = np.arange(n_valid, dtype=np.int32)
        leaves, scratch = make_scratch(40, n_valid)
        work = presort(values, rows, active)
        count = grow_tree(values, target, work, active, valid, below, leaves, scratch, averages)
        expected = tree_by_hand(
            values[np.ix_(active, rows)].T,
            target[1][rows],
            valid[active].T,
            classifies=n_classes > 0,
        )
        found = np.full(n_valid, np.nan)
        for (low, high), prediction in zip(
            leaves.stretches[:count], leaves.predictions, strict=False
        ):
            assert low < high and np.isnan(found[below[low:high]]).all()
            found[below[low:high]] = prediction
        np.testing.assert_allclose(found, expected, atol=1e-12)
        labels_valid = rng.integers(0, max(n_classes, 2), n_valid).astype(float)
        right = (
            np.sum(expected == labels_valid)
            if n_classes
            else np.sum((expected - labels_valid) ** 2)
        )
        found = score_leaves(leaves, count, below, labels_valid, n_classes)
        assert found == pytest.approx(right)


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_the_best_split_is_found_in_one_pass(n_classes):
    for seed in range(10):
        values, _, (codes, labels, _) = make_data(seed, n_classes)
        rows, active = (
            np.random.default_rng(seed).permutation(30)[:17],
            np.array([1, 3, 0], dtype=np.intp),
        )
        work, inverse = presort(values, rows, active), 1 / np.maximum(np.arange(31), 1)
        expected = best_split(values, labels, n_classes, rows, active)
        kernel = best_binary if n_classes == 2 else best_classes if n_classes else best_numbers
        room = (
            (np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)) if n_classes > 2 else ()
        )
        target = codes if n_classes else labels
        for one in (kernel, kernel.py_func):
            assert one(values, target, work, active, inverse, *room) == expected


def test_columns_that_do_not_vary_are_not_split():
    values, codes = np.full((1, 4), 2.0, np.float32), np.array([0, 1, 0, 1], np.int32)
    values[0, 3] += 1e-8  # nothing in 32 bits
    work, active = np.arange(4, dtype=np.int32)[None], np.zeros(1, np.intp)
    assert best_binary(values, codes, work, active, np.ones(5)) == (-1, -1)


def test_thresholds_lie_between_their_values_and_never_on_the_upper():
    assert split_threshold(np.float32(1), np.float32(2)) == 1.5
    largest = np.finfo(np.float32).max
    assert split_threshold(np.float32(-largest), np.float32(largest)) == 0.0
    low = np.float64(1.0)
    for kernel in (split_threshold, split_threshold.py_func):
        assert kernel(low, np.nextafter(low, 2)) == low
