"""Bins of distances by their leading digits: those of the exact distances, whatever the table."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knn.row_oracles import TASKS, bin_bound, random_labels, random_table
from shapley2d._kernels.bins import all_tied, bin_of, bin_scratch, bin_words, fill_bins, find_ends
from shapley2d._kernels.distance import distances_from
from shapley2d._knn.far_bins import leading_digits
from shapley2d._knn.row_values import row_values


def wide_table(rng, n, n_valid, bits, *, missing=0.05):
    """Distances of up to ``bits`` bits with ties: categories, small counts, and numbers of many sizes."""
    columns = random_table(rng, n, 6, n_valid, levels=9, missing=missing)
    for entries in (columns.train, columns.valid):
        present = entries[4] != columns.missing_code
        entries[4, present] = rng.integers(0, 2 ** (bits // 4), present.sum())
    weight = np.array([2.0 ** (bits - 8) / 3, 2.0 ** (bits - 5), 2.0 ** (bits - 9) / 5, 2.0 ** (bits - 5),
                       2.0 ** (bits // 2 - 3), 2.0 ** (bits - 6)]).astype(np.int64) | (np.arange(6) % 2 == 0)  # fmt: skip
    return replace(columns, weight=weight, missing=weight + rng.integers(0, 3, 6))


def of(columns):
    """The tables as kernels take them."""
    return columns.train, np.ascontiguousarray(columns.valid.T), columns.measures


def filled(columns, t, coalitions):
    """The bins of up to four coalitions, with the scratch, the leading digits and how they were cut."""
    train, valid, measures = of(columns)
    digits = leading_digits(SimpleNamespace(train=train, valid=valid, measures=measures))
    distances = np.zeros((4, columns.n_rows), dtype=np.int32)
    distances_from(train, valid[t], measures, digits.shift, coalitions, distances)
    scratch = bin_scratch(columns.n_rows, 2, 0, 2)
    fill_bins(of(columns), t, coalitions, distances, digits, scratch)
    return scratch, distances, digits


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), bits=st.sampled_from([12, 30, 34, 45, 61]))
def test_bins_are_those_of_exact_distances(seed, bits):
    rng = np.random.default_rng(seed)
    columns = wide_table(rng, 700, 2, bits)
    coalitions = rng.random((rng.integers(1, 5), 6)) < 0.5
    scratch, _, digits = filled(columns, 1, coalitions)
    assert sum(map(int, digits.reach)) <= 2**31 - 1
    found = scratch.bins.reshape(-1, 4).astype(int)
    for lane, coalition in enumerate(coalitions):
        exact = columns.distances(1, coalition)
        order = np.argsort(exact, kind="stable")
        assert (np.diff(found[order, lane]) >= 0).all()  # no nearer row in a farther bin
        ranked, codes = exact[order], found[order, lane]
        assert (codes[1:][ranked[1:] == ranked[:-1]] == codes[:-1][ranked[1:] == ranked[:-1]]).all()
        first, last = scratch.ends[lane]
        assert first == codes.min() and last >= codes.max()


def test_bins_in_doubt_occur_and_are_settled():
    """Small numbers beside one that is far: the sums of what is left of them fall short of the edges of bins."""
    rng = np.random.default_rng(0)
    columns = wide_table(rng, 3000, 1, 61, missing=0)
    columns.train[[0, 2]] = rng.integers(0, 40, (2, 3000))
    columns.train[4], columns.valid[:] = 0, 0
    columns.train[4, 7] = 2**30
    small = replace(columns, weight=np.array([int(1.37 * 2**30), 5, int(1.61 * 2**30), 5, 1, 7]))
    coalition = np.array([[True, False, True, False, True, False]])
    scratch, leading, digits = filled(small, 0, coalition)
    assert digits.shift == 30 and scratch.slack[0] == 2
    rounded = np.array([bin_of.py_func(np.int32(x)) for x in leading[0]])
    exact = small.distances(0, coalition[0]) >> digits.shift
    expected = np.array([bin_of.py_func(np.int32(x)) for x in exact])
    np.testing.assert_array_equal(scratch.bins.reshape(-1, 4)[:, 0], expected)
    assert (rounded != expected).sum() > 10


@pytest.mark.parametrize(
    "scale", [1, 2**20, 2**29, 2**30]
)  # of few bits, and of more than could be shifted up
def test_a_coalition_of_small_numbers_has_digits_of_its_own(scale):
    """A column that dwarfs all others would leave them no digits."""
    rng = np.random.default_rng(1)
    columns = wide_table(rng, 500, 1, 61, missing=0)
    columns.valid[4] = 0
    dwarfed = replace(columns, weight=np.array([3, 5, 3, 5, 1, 2**61 // scale]) * scale)
    dwarfed.train[4] = rng.integers(0, 2**9, 500)
    coalitions = np.array([[True] * 5 + [False], [True] * 6])
    scratch, leading, digits = filled(dwarfed, 0, coalitions)
    assert digits.reach[:5].sum() < 2**20 and scratch.slack[0] == 0
    own, exact = leading[0].astype(object), dwarfed.distances(0, coalitions[0]).astype(object)
    assert 2**30 <= own.max() < 2**31
    assert (
        own * exact.max() == exact * own.max()
    ).all()  # the same numbers with more or fewer zeros behind them
    assert len(np.unique(scratch.bins.reshape(-1, 4)[:, 0])) > 100


def test_bins_never_decrease_with_the_distance():
    top = np.iinfo(np.int32).max
    distances = np.unique(
        np.r_[np.arange(3000), np.geomspace(1, top, 20_000).astype(np.int64), top]
    )
    distances = distances.astype(np.int32)
    found = np.empty(4 * len(distances), dtype=np.uint16)
    ends = np.empty((4, 2), dtype=np.int64)
    slack = np.array([0, 1, 2, 3], dtype=np.int32)
    find_ends(np.array([distances[:-4]] * 4), slack, ends)
    assert bin_words(
        np.array([distances[:-1]] * 4), 0, len(distances) - 1, np.minimum(slack, 1), found
    )
    assert not bin_words(np.array([distances] * 4), 0, len(distances), 0 * slack, found)
    lanes = found.reshape(-1, 4).astype(int)
    assert np.all(np.diff(lanes[:, 0]) >= 0) and np.all(lanes == lanes[:, :1])
    assert lanes.max() < 0x7FFF and (lanes[:128] == 0).all()
    assert len(np.unique(lanes[128:256, 0])) == 128  # each has a bin of its own
    assert ends[0].tolist() == [0, lanes[-5, 0]] and (np.diff(ends[:, 1]) >= 0).all()


@pytest.mark.parametrize("bits", [12, 61])
def test_a_bin_of_one_distance_is_recognised(bits):
    rng = np.random.default_rng(2)
    columns = wide_table(rng, 900, 1, bits, missing=0)
    columns.train[4] = columns.valid[4] = 0
    columns.train[0, :700] = columns.train[2, :700] = 8
    columns.valid[[0, 2]] = 0
    coalition = np.array([[True, False, True, False, True, False]])
    scratch, leading, _ = filled(columns, 0, coalition)
    code = int(scratch.bins[0])
    same = scratch.bins[::4] == code
    assert same[:700].all() and np.ptp(columns.distances(0, coalition[0])[same]) == 0
    for kernel in (all_tied, all_tied.py_func):
        assert kernel(of(columns), 0, coalition[0], leading[0], code, 0, scratch)
        assert kernel(of(columns), 0, coalition[0], leading[0], 77, 0, scratch)  # an empty one
    columns.train[4, 650] = 1  # farther by one column's least step, in the same bin
    scratch, leading, _ = filled(columns, 0, coalition)
    if scratch.bins[4 * 650] == code:
        for kernel in (all_tied, all_tied.py_func):
            assert not kernel(of(columns), 0, coalition[0], leading[0], code, 0, scratch)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("bits", [34, 61])
def test_fast_values_of_wide_tables_keep_their_bound(task, bits):
    rng = np.random.default_rng(bits)
    columns = wide_table(rng, 1500, 3, bits)
    y, y_valid = random_labels(rng, task, 1500, 3)
    exact, fast = (
        row_values(columns, y, y_valid, task=task, n_neighbors=4, form=form)
        for form in ("exact", "fast")
    )
    coalitions = np.concatenate([rng.random((13, 6)) < 0.5, np.eye(6, dtype=bool)])
    error = np.abs(exact.values(coalitions) - fast.values(coalitions)).max()
    assert 0 < error <= bin_bound(fast) + 1e-12
    weights = np.full(7, 1 / 32)
    assert np.abs(
        exact.walk(weights, weights) - fast.walk(weights, weights)
    ).max() <= 2 * bin_bound(fast)
