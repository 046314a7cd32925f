"""Compiled pieces of a ranking: dissimilarities, distances and their bins, the sort of near rows."""

import numba
import numpy as np
import pytest

from knn.row_oracles import fixed_point_distances, random_table
from shapley2d._knn.fixed_point import Distances
from shapley2d._knn.kernels.rows import (
    BINS,
    make_keys,
    make_lines,
    make_room,
    sort_near,
    subset_codes,
)


@numba.njit
def compiled_lines(train, terms, nominal, first, lines):
    return make_lines(train, terms, nominal, first, lines)


@numba.njit
def compiled_keys(lines, codes, low, distances, keys):
    make_keys(lines, codes, low, distances, keys)


@numba.njit
def compiled_sort(s, last, entries, terms, codes, room):
    return sort_near(s, last, entries, terms, codes, room)


@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("m", [1, 4, 6, 17])
def test_distances_and_their_bins_are_those_of_the_definition(m, levels):
    rng = np.random.default_rng(m)
    columns = random_table(rng, 60, m, 2, levels=levels, missing=0.2)
    columns.valid[0, 1] = 1e7  # a missing entry is nearer than any number
    room = make_room(60, m, 1, classifies=True, ranks_all=True)
    subsets = np.concatenate([rng.random((4, m)) < 0.5, np.ones((1, m), dtype=bool)])
    terms, lows, slacks = Distances(columns).seen(subsets)
    for t in range(2):
        size = compiled_lines(columns.train, terms[t], columns.nominal, 0, room.lines)
        assert size == 60
        for s, codes in enumerate(subset_codes(subsets)):
            keys = room.keys[0]
            compiled_keys(room.lines, codes, lows[t, s], room.totals[0], keys)
            expected, slack = fixed_point_distances(columns, subsets[s], t)
            np.testing.assert_array_equal(room.totals[0, :60], expected)
            assert slacks[t, s] == slack and keys.max() < BINS
            order = np.argsort(expected)
            assert (np.diff(keys[order].astype(int)) >= 0).all()


@pytest.mark.parametrize("n", [1, 2, 50, 500, 5000])
@pytest.mark.parametrize("top", [1, 7, 1000, 2**40])
def test_near_rows_are_sorted_by_distance(n, top):
    """Also where many share a bin; the others are left out."""
    rng = np.random.default_rng(n)
    columns = random_table(rng, n, 1, 1, levels=top, missing=0.1)
    columns.valid[:] = 0
    every = np.ones((1, 1), dtype=bool)
    distances, _ = fixed_point_distances(columns, every[0], 0)
    rows = Distances(columns)
    terms, lows, _ = rows.seen(every)
    keys = np.maximum((distances.view(np.int64) >> 42) - lows[0, 0], 0)
    for last, ranks_all in ((BINS, True), (int(np.median(keys)), False)):
        room = make_room(n, 1, 1, classifies=True, ranks_all=ranks_all)
        room.keys[0] = keys
        if ranks_all:
            room.totals[0] = distances
        found = compiled_sort(0, last, rows.entries, terms[0], subset_codes(every), room)
        near = room.rows[:found]
        np.testing.assert_array_equal(np.sort(near), np.flatnonzero(keys <= last))
        np.testing.assert_array_equal(room.distances[:found], distances[near])
        assert (np.diff(distances[near]) >= 0).all() and not room.begin.any()
