"""Compiled pieces of a ranking: dissimilarities, distances, sorts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from knn.row_oracles import random_table, table_distances
from shapley2d._kernels.distance import column_dissimilarities, distances_from, distances_of_rows
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
    every = np.ones(5, dtype=bool)
    for kernel in (column_dissimilarities, column_dissimilarities.py_func):
        for t in range(3):
            out = np.empty_like(columns.train)
            # The difference from a missing entry overflows, and is not used.
            with np.errstate(over="ignore"):
                kernel(
                    columns.train,
                    columns.valid[:, t].copy(),
                    columns.measures,
                    0,
                    every,
                    0,
                    20,
                    out,
                )
            for j in range(5):
                one = np.arange(5) == j
                np.testing.assert_array_equal(out[j], table_distances(columns, one, t))
                np.testing.assert_array_equal(out[j], columns.distances(t, one))


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
        kernel(columns.train, columns.valid[:, 1].copy(), columns.measures, 0, listed, out)
        for coalition, line in zip(listed, out, strict=True):
            np.testing.assert_array_equal(line, table_distances(columns, coalition, 1))


def test_distances_of_some_rows_are_those_of_the_table():
    rng = np.random.default_rng(5)
    columns = random_table(rng, 40, 5, 3, missing=0.3)
    rows = rng.integers(0, 40, 17).astype(np.int32)
    for kernel in (distances_of_rows, distances_of_rows.py_func):
        for t, coalition in enumerate(rng.random((3, 5)) < 0.6):
            out = np.full(20, -1)
            with np.errstate(over="ignore"):
                kernel(
                    columns.train,
                    columns.valid[:, t].copy(),
                    columns.measures,
                    coalition,
                    rows,
                    out,
                )
            np.testing.assert_array_equal(out[:17], columns.distances(t, coalition)[rows])
            assert (out[17:] == -1).all()


@pytest.mark.parametrize("shift", [-1, 4, 12, 20])
def test_leading_digits_are_too_small_by_less_than_one_for_every_column(shift):
    rng = np.random.default_rng(shift + 1)
    columns = random_table(rng, 200, 4, 1, levels=1000 if shift > 0 else 100, missing=0.1)
    columns = replace(columns, weight=columns.weight * 1013, missing=columns.missing * 2**16)
    coalitions = np.array(list(np.ndindex(2, 2, 2, 2)), dtype=bool)
    out = np.empty((16, 200), dtype=np.int32)
    distances_from(
        columns.train, columns.valid[:, 0].copy(), columns.measures, shift, coalitions, out
    )
    for coalition, leading in zip(coalitions, out, strict=True):
        exact = columns.distances(0, coalition) / 2.0**shift
        assert (leading <= exact).all() and (leading > exact - max(coalition.sum(), 1)).all()
