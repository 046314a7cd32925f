"""Row values under column subsets: those of the definition, whatever the order, the threads and the size."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knn.row_oracles import (
    SEMIVALUES,
    TASKS,
    all_subsets,
    binned_groups,
    brute_force,
    fixed_point_distances,
    random_labels,
    random_table,
    score_of,
    table_distances,
    tie_averaged_utility,
    tie_groups,
    twin,
)
from shapley2d._knn.kernels.rows import NEAR
from shapley2d._knn.metric import Columns
from shapley2d._knn.neighbours import Neighbours

SIZES = [40, 2 * NEAR + 90]  # all rows are ranked, or most of them


def values_of(columns, y, y_valid, subsets, **options):
    return Neighbours(columns, y, y_valid, **options).values(subsets)


def twins_of(columns, y, y_valid, subsets, **options):
    return np.array([twin(columns, y, y_valid, subset, **options) for subset in subsets])


# ---- all rows ranked ----


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("k", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("task", TASKS)
def test_values_match_brute_force_over_all_row_subsets(task, k, semivalue):
    rng = np.random.default_rng(k)
    subsets = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=bool)
    for n, n_classes in ((6, 2), (5, 4), (1, 2)):
        columns = random_table(rng, n, 3, 2)
        y, y_valid = random_labels(rng, task, n, 2, n_classes)
        found = values_of(
            columns, y, y_valid, subsets, task=task, n_neighbors=k, semivalue=semivalue
        )
        for subset, line in zip(subsets, found, strict=True):
            expected = brute_force(columns, y, y_valid, subset, task=task, k=k, semivalue=semivalue)
            np.testing.assert_allclose(line, expected, atol=1e-12)


@pytest.mark.parametrize("semivalue", ["shapley", ("beta", 1.5, 2.5)])
@pytest.mark.parametrize("levels", [2, 4, 1000])
@pytest.mark.parametrize("task", TASKS)
def test_values_match_the_twin(task, levels, semivalue):
    rng = np.random.default_rng(levels)
    columns = random_table(rng, NEAR if levels == 4 else 40, 6, 2, levels=levels)
    y, y_valid = random_labels(rng, task, columns.n_rows, 2)
    subsets = rng.random((5, 6)) < 0.6
    found = values_of(columns, y, y_valid, subsets, task=task, n_neighbors=5, semivalue=semivalue)
    expected = twins_of(columns, y, y_valid, subsets, task=task, k=5, semivalue=semivalue)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    task=st.sampled_from(TASKS),
    m=st.integers(1, 20),  # five groups of columns in the kernels, and subsets without some of them
    levels=st.sampled_from([1, 2, 5, 100]),
)
def test_any_subset_of_the_columns(seed, task, m, levels):
    rng = np.random.default_rng(seed)
    columns = random_table(rng, 15, m, 2, levels=levels)
    y, y_valid = random_labels(rng, task, 15, 2)
    subsets = rng.random((4, m)) < rng.random()
    found = values_of(columns, y, y_valid, subsets, task=task, n_neighbors=3)
    expected = twins_of(columns, y, y_valid, subsets, task=task, k=3)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_efficiency_on_a_larger_table(task):
    """Shapley values sum to the utility of all rows."""
    rng = np.random.default_rng(5)
    columns, every = random_table(rng, 3000, 4, 3, levels=200), np.ones(4, dtype=bool)
    y, y_valid = random_labels(rng, task, 3000, 3)
    values = values_of(columns, y, y_valid, every[None], task=task, n_neighbors=4)
    utilities = [
        tie_averaged_utility(
            range(3000), table_distances(columns, every, t), 4, score_of(y, y_valid[t], 4, task)
        )
        for t in range(3)
    ]
    assert values.sum() == pytest.approx(np.mean(utilities), rel=2e-11)


@pytest.mark.parametrize("task", TASKS)
def test_rounding_moves_no_tie_apart(task):
    """Entries equally far below and above: a few pairs are rounded to different units, and still tie."""
    steps = np.arange(1, 100_001) / 1e5
    below, above = (0.3 - steps).round(5), (0.3 + steps).round(5)
    none, every = np.zeros(1), np.ones((1, 1), dtype=bool)

    def table(pairs):
        train = np.concatenate([below[pairs], above[pairs]])[None]
        return Columns(train, np.array([[0.3]]), none > 0, none + 1, none)

    lower, upper = fixed_point_distances(table(slice(None)), every[0], 0)[0].reshape(2, -1)
    odd = np.flatnonzero(lower != upper)
    pairs = np.concatenate([[0], odd, [len(steps) - 1]])  # with the ends, on which units depend
    lower, upper = fixed_point_distances(table(pairs), every[0], 0)[0].reshape(2, -1)
    assert np.count_nonzero(lower != upper) == len(odd) > 3
    y, _ = random_labels(np.random.default_rng(0), task, 2 * len(pairs), 1)
    y_valid = y[:1]
    found = values_of(table(pairs), y, y_valid, every, task=task, n_neighbors=3)
    expected = twin(
        table(pairs), y, y_valid, every[0], task=task, k=3,
        groups_of=lambda *_: np.tile(np.arange(len(pairs)), 2),
    )  # fmt: skip
    np.testing.assert_allclose(found[0], expected, atol=1e-12)


# ---- beyond the near rows ----


def far_table(name, rng, n):
    """Tables with two validation rows whose distances crowd, tie, or lie far out."""
    levels = {"numbers": 100_000, "heavy ties": 3, "some ties": 60}.get(name, 3000)
    missing = 0.0 if name in ("numbers", "far") else 0.1
    columns = random_table(rng, n, 5, 2, levels=levels, missing=missing)
    if name == "categories":
        columns = replace(columns, nominal=np.ones(5, dtype=bool))
        columns.train[:] = rng.integers(0, 4, columns.train.shape)
        columns.valid[:] = rng.integers(0, 4, columns.valid.shape)
    if name == "gaps":
        columns.train[rng.random(columns.train.shape) < 0.5] = np.nan
        columns = replace(columns, missing=columns.missing * 1e5)
    if name.startswith("far"):  # in one bin, were distances not measured from the nearest entry
        columns.valid[::2] = [[1e5, 1e7], [-1e9, 0], [1e17, -1e6]]
    return columns


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "name", ["numbers", "heavy ties", "some ties", "categories", "gaps", "far", "far gaps"]
)
def test_far_rows_share_ranks_by_bin(task, name):
    """Values are those of the definition, near those of full ranks, and sum to the same."""
    rng = np.random.default_rng(8)
    columns = far_table(name, rng, 1100)
    y, y_valid = random_labels(rng, task, 1100, 2)
    subsets = np.array([[1, 1, 1, 1, 1], [0, 1, 1, 1, 0], [1, 0, 0, 0, 0]], dtype=bool)
    for k, semivalue in ((1, "shapley"), (5, ("beta", 1.5, 2.5))):
        found = values_of(
            columns, y, y_valid, subsets, task=task, n_neighbors=k, semivalue=semivalue
        )
        options = {"task": task, "k": k, "semivalue": semivalue}
        binned = twins_of(columns, y, y_valid, subsets, groups_of=binned_groups, **options)
        np.testing.assert_allclose(found, binned, rtol=0, atol=1e-12)
        ranked = twins_of(
            columns, y, y_valid, subsets, groups_of=lambda *a: tie_groups(*fixed_point_distances(*a)), **options
        )  # fmt: skip
        # seen from far away, rows without gaps are as good as equally far beside those with gaps
        share = 1e-2 if name == "far gaps" else 1e-3
        assert np.abs(found - ranked).max() <= share * np.ptp(ranked)
        assert name != "numbers" or np.abs(found - ranked).max() > 1e-8 * np.ptp(ranked)
        if semivalue == "shapley":
            np.testing.assert_allclose(found.sum(axis=1), ranked.sum(axis=1), rtol=0, atol=1e-12)


def one_column(distances):
    """A table of one column with one validation row, from which the rows are that far."""
    none = np.zeros(1)
    return Columns(np.sqrt(distances)[None], np.zeros((1, 1)), none > 0, none + 1, none)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "distances",
    [
        np.repeat([1.0, 4.0, 9.0], [100, 2000, 400]),  # a crowd that is ranked as a whole
        np.repeat([1.0, 4.0, 9.0], [NEAR, 2000, 400]),  # a crowd behind the near rows
        np.append(np.ones(NEAR), np.linspace(4.0002, 4.0015, 900)),  # a bin behind them
        np.append(np.ones(NEAR - 1), np.linspace(4.0002, 4.0015, 900)),  # the last one ranked
        np.zeros(2 * NEAR + 200),
        np.arange(2 * NEAR + 1.0) ** 2,
        np.append(np.arange(1400.0) ** 2, 1e12),  # all but one row share the first bin
        np.linspace(1, 1.0005, 3000) ** 2,  # and so they do here, measured from the nearest row
    ],
    ids=["near", "far", "behind", "last", "zeros", "one", "first", "narrow"],
)
@pytest.mark.parametrize("k", [1, 7, 5000])
def test_crowded_bins(task, distances, k):
    rng = np.random.default_rng(1)
    order = rng.permutation(len(distances))
    columns = one_column(distances[order])
    y, y_valid = random_labels(rng, task, len(distances), 1)
    subsets = np.array([[True], [False]])
    found = values_of(columns, y, y_valid, subsets, task=task, n_neighbors=k)
    expected = twins_of(columns, y, y_valid, subsets, task=task, k=k, groups_of=binned_groups)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_all_who_vote_are_ranked(task):
    """Whatever K is, the values sum to what all rows are worth."""
    rng, n, k = np.random.default_rng(2), 3 * NEAR, NEAR + 200
    columns = random_table(rng, n, 2, 1, levels=100_000, missing=0.0)
    y, y_valid = random_labels(rng, task, n, 1)
    subsets = np.array([[True, True], [True, False]])
    found = values_of(columns, y, y_valid, subsets, task=task, n_neighbors=k)
    ranked = twins_of(columns, y, y_valid, subsets, task=task, k=k)
    np.testing.assert_allclose(found.sum(axis=1), ranked.sum(axis=1), rtol=0, atol=1e-12)


# ---- sums over subsets ----


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", [1, 2, 3, 11])  # of eleven, in several blocks
def test_weighted_sums_are_those_of_the_values(task, n, m):
    rng = np.random.default_rng(m)
    columns = random_table(rng, n, m, 3, levels=30)
    y, y_valid = random_labels(rng, task, n, 3)
    rows, subsets = Neighbours(columns, y, y_valid, task=task, n_neighbors=4), all_subsets(m)
    assert m < 11 or len(subsets) > rows.block_size
    weights = np.cos(rng.normal(size=(2, m)) @ subsets.T) / 2**m
    for chunk in (np.arange(3), np.array([2, 0])):
        found = rows(subsets, weights, chunk)
        values = rows.values(subsets, chunk)[:, rows.order]
        np.testing.assert_allclose(weights @ values, found, rtol=0, atol=1e-12)


def test_a_table_without_columns_has_one_subset():
    rng = np.random.default_rng(0)
    columns, (y, y_valid) = random_table(rng, 7, 0, 2), random_labels(rng, "regression", 7, 2)
    rows = Neighbours(columns, y, y_valid, task="regression", n_neighbors=2)
    found = rows.values(np.zeros((1, 0), dtype=bool))
    expected = twin(columns, y, y_valid, np.zeros(0, dtype=bool), task="regression", k=2)
    np.testing.assert_allclose(found[0], expected, atol=1e-12)


# ---- what changes nothing ----


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    task=st.sampled_from(TASKS),
    n=st.sampled_from(SIZES),
    levels=st.sampled_from([1, 2, 5, 100]),
)
def test_values_do_not_depend_on_the_order_of_rows_and_columns(seed, task, n, levels):
    rng = np.random.default_rng(seed)
    columns = random_table(rng, n, 6, 2, levels=levels)
    y, y_valid = random_labels(rng, task, n, 2)
    subsets, by_row, by_column = (rng.random((5, 6)) < 0.5, rng.permutation(n), rng.permutation(6))
    shuffled = Columns(
        columns.train[by_column][:, by_row],
        columns.valid[by_column],
        *(part[by_column] for part in (columns.nominal, columns.weight, columns.missing)),
    )
    options = {"task": task, "n_neighbors": 3}
    values = values_of(columns, y, y_valid, subsets, **options)
    other = values_of(shuffled, y[by_row], y_valid, subsets[:, by_column], **options)
    np.testing.assert_allclose(other, values[:, by_row], atol=1e-12)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), task=st.sampled_from(TASKS), n=st.sampled_from(SIZES))
def test_identical_rows_have_identical_values(seed, task, n):
    rng = np.random.default_rng(seed)
    columns = random_table(rng, n, 3, 2, levels=4)
    y, y_valid = random_labels(rng, task, n, 2)
    columns.train[:, 7], y[7] = columns.train[:, 13], y[13]
    values = values_of(columns, y, y_valid, rng.random((6, 3)) < 0.5, task=task, n_neighbors=3)
    np.testing.assert_array_equal(values[:, 7], values[:, 13])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n", SIZES)
def test_threads_never_change_a_bit(task, n):
    rng = np.random.default_rng(2)
    columns = random_table(rng, n, 5, 50, levels=50)
    y, y_valid = random_labels(rng, task, n, 50)
    subsets, weights = rng.random((37, 5)) < 0.5, rng.random((3, 37))
    rows = Neighbours(columns, y, y_valid, task=task, n_neighbors=4)
    one, *others = (
        rows(subsets, weights, np.arange(50), n_threads=threads) for threads in (1, 2, 3)
    )
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n", SIZES)
def test_validation_rows_count_as_they_weigh(task, n):
    """A row of weight 2 counts as two copies of it, one of weight 0 not at all, and equal weights change no bit."""
    rng = np.random.default_rng(6)
    columns = random_table(rng, n, 3, 4, levels=30)
    y, y_valid = random_labels(rng, task, n, 4)
    copies, subsets, options = (
        np.array([2, 0, 1, 3]),
        all_subsets(3),
        {"task": task, "n_neighbors": 4},
    )
    again = np.repeat(np.arange(4), copies)
    repeated = replace(columns, valid=columns.valid[:, again])
    weighted = Neighbours(columns, y, y_valid, valid_weights=0.5 * copies, **options)
    values = weighted.values(subsets)
    np.testing.assert_allclose(
        values, values_of(repeated, y, y_valid[again], subsets, **options), atol=1e-12
    )
    parts = [weighted.values(subsets, np.array(part)) for part in ([0, 1, 2], [3])]
    np.testing.assert_allclose((3 * parts[0] + parts[1]) / 4, values, atol=1e-12)
    plain, alike = (
        Neighbours(columns, y, y_valid, valid_weights=w, **options) for w in (None, np.full(4, 8.0))
    )
    np.testing.assert_array_equal(plain.values(subsets), alike.values(subsets))


@pytest.mark.parametrize("task", TASKS)
def test_values_without_the_label_of_any_row(task):
    """A validation label that no training row has: distances decide nothing in classification."""
    rng = np.random.default_rng(3)
    columns = random_table(rng, 2 * NEAR + 90, 3, 1, levels=30)
    y, _ = random_labels(rng, task, 2 * NEAR + 90, 1)
    y_valid = np.array([-1 if task == "classification" else 1e3])
    subsets = all_subsets(3)
    found = values_of(columns, y, y_valid, subsets, task=task, n_neighbors=3)
    expected = twins_of(columns, y, y_valid, subsets, task=task, k=3, groups_of=binned_groups)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
