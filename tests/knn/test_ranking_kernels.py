"""Compiled pieces of a ranking: dissimilarities, distances and their bins, the sort of near rows."""

import numba
import numpy as np
import pytest

from knn.row_oracles import lens_distances, random_table
from shapley2d._knn.kernels.rows import (
    BINS,
    make_keys,
    make_lines,
    make_room,
    sort_near,
    subset_codes,
)
from shapley2d._knn.lens import bins_and_slack, make_lens


@numba.njit
def compiled_sort(keys, last, entries, lens, nominal, codes, whole, near):
    return sort_near(keys, last, entries, lens, nominal, codes, whole, near)


@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("m", [1, 4, 6, 17])
def test_distances_and_their_bins_are_those_of_the_lens(m, levels):
    rng = np.random.default_rng(m)
    columns = random_table(rng, 60, m, 2, levels=levels, missing=0.2)
    columns.valid[0, 1] = 1e7  # a missing entry is nearer than any number
    lens, room = make_lens(columns), make_room(60, m, 1, classifies=True, ranks_all=True)
    subsets = np.concatenate([rng.random((4, m)) < 0.5, np.ones((1, m), dtype=bool)])
    lows, slacks = bins_and_slack(lens, subsets)
    for t in range(2):
        size = make_lines.py_func(columns.train, lens[t], columns.nominal, 0, room.lines)
        assert size == 60
        for s, codes in enumerate(subset_codes(subsets)):
            keys = room.keys[0]
            memory = (room.totals[0], room.bits[0])
            make_keys.py_func(room.lines, codes, lows[t, s], *memory, keys)
            expected, slack = lens_distances(columns, subsets[s], t)
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
    lens, every = make_lens(columns), np.ones((1, 1), dtype=bool)
    distances, _ = lens_distances(columns, every[0], 0)
    low = bins_and_slack(lens, every)[0][0, 0]
    keys = np.maximum((distances.view(np.int64) >> 42) - low, 0).astype(np.uint16)
    room = make_room(n, 1, 1, classifies=True, ranks_all=False)
    near = (room.listed, room.members, room.begin, room.rows, room.distances)
    table = (columns.train.T.copy(), lens[0], columns.nominal, subset_codes(every)[0])
    for last, whole in ((BINS, distances), (int(np.median(keys)), distances[:0])):
        for kernel in (compiled_sort, sort_near.py_func)[: 2 if n <= 500 else 1]:
            found = kernel(keys, last, *table, whole, near)
            rows = room.rows[:found]
            np.testing.assert_array_equal(np.sort(rows), np.flatnonzero(keys <= last))
            np.testing.assert_array_equal(room.distances[:found], distances[rows])
            assert (np.diff(distances[rows]) >= 0).all() and not room.begin.any()
