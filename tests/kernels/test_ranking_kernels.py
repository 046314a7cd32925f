"""Compiled pieces of a ranking: dissimilarities, sorts, bins."""

from __future__ import annotations

import numpy as np
import pytest

from knn.test_knn_rows import random_table, table_distances
from shapley2d._kernels.bins import all_tied, bin_of, bin_words, find_ends
from shapley2d._kernels.distance import column_dissimilarities, distances_from
from shapley2d._kernels.sort import rank_rows, sort_packed_rows, sort_rows


@pytest.mark.parametrize("n", [1, 2, 50, 97, 500, 5000])
@pytest.mark.parametrize("top", [1, 7, 1000, 2**31 - 1, 2**62])
def test_sorts_order_rows_and_keep_them_with_their_keys(n, top):
    rng = np.random.default_rng(n)
    distances = rng.integers(0, top, n, dtype=np.int64)
    if n > 2:
        distances[:2] = top
    packed, spare = np.empty((2, n), dtype=np.int64)
    runs = [
        (sort_rows, np.empty(n, np.int64), np.empty(n, np.int32)),
        (sort_packed_rows, packed, spare),
    ]
    if n <= 500:
        runs.append((sort_rows.py_func, np.empty(n, np.int64), np.empty(n, np.int32)))
    for sort, *scratch in runs:
        keys, rows = distances.copy(), np.arange(n, dtype=np.int32)
        sort(keys, rows, *scratch)
        check_ranking(distances, keys, rows)
    keys, rows = np.empty(n, np.int64), np.empty(n, np.int32)
    rank_rows(distances, keys, rows, packed, spare)
    check_ranking(distances, keys, rows)


def test_rows_that_agree_in_their_leading_bits_are_ranked_by_the_others():
    """A far outlier leaves all other keys the same leading bits."""
    rng = np.random.default_rng(0)
    distances = np.append(rng.integers(0, 2**40, 4000), 2**62)
    keys, rows = np.empty_like(distances), np.empty(4001, np.int32)
    rank_rows(distances, keys, rows, *np.empty((2, 4001), dtype=np.int64))
    check_ranking(distances, keys, rows)
    tied = distances >> 35 << 35  # now with ties among them
    rank_rows(tied, keys, rows, *np.empty((2, 4001), dtype=np.int64))
    check_ranking(tied, keys, rows)


def check_ranking(distances, keys, rows):
    np.testing.assert_array_equal(keys, np.sort(distances))
    np.testing.assert_array_equal(distances[rows], keys)
    np.testing.assert_array_equal(np.sort(rows), np.arange(rows.size))


def test_dissimilarities_are_those_of_the_table():
    rng = np.random.default_rng(1)
    columns = random_table(rng, 20, 5, 3, missing=0.3)
    for kernel in (column_dissimilarities, column_dissimilarities.py_func):
        for t in range(3):
            out = np.empty_like(columns.train)
            # The difference from a missing entry overflows, and is not used.
            with np.errstate(over="ignore"):
                kernel(columns.train, columns.valid[:, t].copy(), columns.measures, 0, 20, out)
            for j in range(5):
                one = np.arange(5) == j
                np.testing.assert_array_equal(out[j], table_distances(columns, one, t))
                np.testing.assert_array_equal(out[j], columns.distances(t, one))


def test_bins_never_decrease_with_the_distance():
    top = np.iinfo(np.int64).max
    distances = np.unique(np.r_[np.arange(3000), np.geomspace(1, top / 2, 20_000).astype(np.int64), top])
    distances = distances[distances >= 0].astype(np.int64)
    bins = np.empty(4 * len(distances), dtype=np.uint16)
    ends = np.empty((4, 3), dtype=np.int64)
    find_ends(np.array([distances] * 4), ends)
    bin_words(np.array([distances] * 4), ends, bins)
    lanes = bins.reshape(-1, 4).astype(int)
    assert np.all(np.diff(lanes[:, 0]) >= 0) and np.all(lanes == lanes[:, :1])
    assert lanes.max() < 0x7FFF and lanes[0, 0] == 0
    assert ends[:, :2].tolist() == [[lanes[0, 0], lanes[-1, 0]]] * 4
    coarse = (distances[:128] >> ends[0, 2]).astype(int)  # what is too near to tell apart is ranked exactly
    assert len(np.unique(lanes[:128, 0])) == len(np.unique(coarse))


def test_a_bin_of_one_distance_is_recognised():
    distances = np.full(2000, 1 << 20, dtype=np.int64)
    distances[:700] = 5
    for kernel in (all_tied, all_tied.py_func):
        code = bin_of.py_func(1 << 20, 0)
        assert kernel(distances, code, 0)
        distances[1900] += 1
        assert not kernel(distances, code, 0)
        distances[1900] -= 1
        assert kernel(distances, 77, 0)


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_distances_are_the_same_beside_complements(n_columns):
    """Alone, before and behind its complement, twice in a row, none and all: the same whole numbers."""
    rng = np.random.default_rng(n_columns)
    columns = random_table(rng, 30, n_columns, 2, missing=0.2)
    masks = rng.random((4, n_columns)) < 0.5
    listed = np.concatenate([masks[:1], ~masks[:1], masks[1:2], masks[1:2], ~masks[2:3], masks[2:3], masks[3:],
                             np.zeros((1, n_columns), bool), np.ones((1, n_columns), bool), ~masks[3:]])  # fmt: skip
    for kernel in (distances_from, distances_from.py_func):
        out = np.full((len(listed), 30), -1)
        kernel(columns.train, columns.valid[:, 1].copy(), columns.measures, listed, out)
        for coalition, line in zip(listed, out, strict=True):
            np.testing.assert_array_equal(line, table_distances(columns, coalition, 1))
