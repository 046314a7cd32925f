import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knn.row_oracles import (
    SEMIVALUES,
    TASKS,
    bin_bound,
    brute_force,
    random_labels,
    random_table,
    table_distances,
    tie_averaged_utility,
    twin,
)
from shapley2d._knn.distances import IntegerColumns
from shapley2d._knn.row_values import row_values
from shapley2d._theory.semivalues import marginal_weights

CASES = [
    (task, k, semivalue)
    for task in ("classification", "regression")
    for k in (1, 2, 3, 5, 10)
    for semivalue in SEMIVALUES
]


@pytest.mark.parametrize(("task", "k", "semivalue"), CASES)
def test_values_match_brute_force_over_all_row_subsets(task, k, semivalue):
    rng = np.random.default_rng(CASES.index((task, k, semivalue)))
    for n, n_classes in ((6, 2), (5, 4), (1, 2)):
        columns = random_table(rng, n, 3, 2)
        y, y_valid = random_labels(rng, task, n, 2, n_classes)
        rows = row_values(columns, y, y_valid, task=task, n_neighbors=k, semivalue=semivalue)
        coalitions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=bool)
        values = rows.values(coalitions)
        for coalition, line in zip(coalitions, values, strict=True):
            expected = brute_force(
                columns, y, y_valid, coalition, task=task, k=k, semivalue=semivalue
            )
            np.testing.assert_allclose(line, expected, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("levels", [2, 4, 1000])
@pytest.mark.parametrize("semivalue", ["shapley", ("beta", 1.5, 2.5)])
def test_values_match_the_twin(task, levels, semivalue):
    rng = np.random.default_rng(levels)
    columns = random_table(rng, 40, 4, 2, levels=levels)
    y, y_valid = random_labels(rng, task, 40, 2)
    rows = row_values(columns, y, y_valid, task=task, n_neighbors=5, semivalue=semivalue)
    coalition = np.array([True, True, False, True])
    expected = twin(columns, y, y_valid, coalition, task=task, k=5, semivalue=semivalue)
    np.testing.assert_allclose(rows.values(coalition[None])[0], expected, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_efficiency_on_a_larger_table(task):
    """Shapley values sum to the utility of all rows."""
    rng = np.random.default_rng(5)
    columns = random_table(rng, 3000, 4, 3, levels=200)
    y, y_valid = random_labels(rng, task, 3000, 3)
    values = row_values(columns, y, y_valid, task=task, n_neighbors=4).values(
        np.ones((1, 4), dtype=bool)
    )
    utilities = []
    for t in range(3):
        distances = table_distances(columns, np.ones(4, dtype=bool), t)
        if task == "classification":

            def score(chosen, t=t):
                return np.mean(y[chosen] == y_valid[t])
        else:

            def score(chosen, t=t):
                return -((y[chosen].mean() - y_valid[t]) ** 2)

        utilities.append(tie_averaged_utility(range(3000), distances, 4, score))
    assert values.sum() == pytest.approx(np.mean(utilities), rel=2e-11)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    task=st.sampled_from(["classification", "regression"]),
    form=st.sampled_from(["exact", "fast"]),
    levels=st.sampled_from([1, 2, 5, 100]),
)
def test_values_do_not_depend_on_the_order_of_rows_and_columns(seed, task, form, levels):
    rng = np.random.default_rng(seed)
    n = 30 if form == "exact" else 1100
    columns = random_table(rng, n, 4, 2, levels=levels)
    y, y_valid = random_labels(rng, task, n, 2)
    coalitions = rng.random((5, 4)) < 0.5
    by_row, by_column = rng.permutation(n), rng.permutation(4)
    shuffled = IntegerColumns(
        columns.train[by_column][:, by_row],
        columns.valid[by_column],
        columns.nominal[by_column],
        columns.weight[by_column],
        columns.missing[by_column],
    )
    options = {"task": task, "n_neighbors": 3, "form": form}
    values = row_values(columns, y, y_valid, **options).values(coalitions)
    other = row_values(shuffled, y[by_row], y_valid, **options).values(coalitions[:, by_column])
    np.testing.assert_allclose(other, values[:, by_row], atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    task=st.sampled_from(["classification", "regression"]),
    form=st.sampled_from(["exact", "fast"]),
)
def test_identical_rows_have_identical_values(seed, task, form):
    rng = np.random.default_rng(seed)
    n = 20 if form == "exact" else 1100
    columns = random_table(rng, n, 3, 2, levels=4)
    y, y_valid = random_labels(rng, task, n, 2)
    columns.train[:, 7] = columns.train[:, 13]
    y[7] = y[13]
    rows = row_values(columns, y, y_valid, task=task, n_neighbors=3, form=form)
    values = rows.values(rng.random((6, 3)) < 0.5)
    np.testing.assert_array_equal(values[:, 7], values[:, 13])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("form", ["exact", "fast"])
@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_walk_is_the_weighted_sum_over_all_coalitions(task, form, m):
    rng = np.random.default_rng(m)
    n = 50 if form == "exact" else 1100
    columns = random_table(rng, n, m, 5, levels=30)
    y, y_valid = random_labels(rng, task, n, 5)
    rows = row_values(columns, y, y_valid, task=task, n_neighbors=4, form=form)
    coalitions = np.array(list(itertools.product([False, True], repeat=m)))
    sizes = coalitions.sum(1)
    for semivalue in (None, "shapley", "banzhaf", ("beta", 3.0, 2.0)):
        if semivalue is None:
            weights_in, weights_out = rng.random(m + 1), rng.random(m + 1)
        else:
            p = marginal_weights(semivalue, m)
            weights_in, weights_out = np.append(0.0, p), np.append(p, 0.0)
        weights = np.where(coalitions, weights_in[sizes][:, None], -weights_out[sizes][:, None])
        for valid in (None, slice(1, 4), np.array([4, 0])):
            expected = rows.values(coalitions, valid=valid).T @ weights
            np.testing.assert_allclose(
                rows.walk(weights_in, weights_out, valid=valid), expected, atol=1e-11
            )


def test_walk_without_columns_is_empty():
    rng = np.random.default_rng(0)
    columns = random_table(rng, 7, 0, 2)
    rows = row_values(
        columns, *random_labels(rng, "classification", 7, 2), task="classification", n_neighbors=2
    )
    assert rows.walk(np.ones(1), np.ones(1)).shape == (7, 0)


FAST_TABLES = {
    "numbers": {"levels": 3000, "missing": 0.0},
    "heavy ties": {"levels": 3},
    "some ties": {"levels": 60},
    "wide": {"levels": 100_000},
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", FAST_TABLES)
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 1.5, 2.5)])
def test_fast_form_keeps_its_bound(task, semivalue, name):
    rng = np.random.default_rng(8)
    columns = random_table(rng, 4000, 5, 6, **FAST_TABLES[name])
    # A validation row far away from all others: all distances fall into few bins.
    columns.valid[0, 5] = 20_000
    y, y_valid = random_labels(rng, task, 4000, 6)
    coalitions = rng.random((7, 5)) < 0.5
    for k in (1, 5):
        exact, fast = (
            row_values(
                columns, y, y_valid, task=task, n_neighbors=k, semivalue=semivalue, form=form
            )
            for form in ("exact", "fast")
        )
        assert fast.is_binned and not exact.is_binned
        for t in range(6):
            valid = slice(t, t + 1)
            error = np.abs(
                exact.values(coalitions, valid=valid) - fast.values(coalitions, valid=valid)
            ).max()
            assert error <= bin_bound(fast) + 1e-12
    assert bin_bound(fast) > 0


def test_fast_form_keeps_its_bound_where_bins_are_sorted_by_label():
    """The worst case: within every bin the rows with the label are nearest. It makes use of the bound."""
    n = 20_000
    distances = np.sort(np.random.default_rng(0).integers(1 << 20, 1 << 25, n))
    numbers = np.sqrt(distances).astype(np.int64)
    octave = np.floor(np.log2(numbers.astype(float) ** 2) * 64)
    y = np.zeros(n, dtype=np.int64)
    for one in np.unique(octave):
        members = np.flatnonzero(octave == one)
        y[members[: len(members) // 2]] = 1
    none = np.zeros(1, dtype=np.int64)
    columns = IntegerColumns(
        numbers[None], np.zeros((1, 1), dtype=np.int64), none > 0, none + 1, none
    )
    exact, fast = (
        row_values(columns, y, np.array([1]), task="classification", n_neighbors=5, form=form)
        for form in ("exact", "fast")
    )
    everything = np.ones((1, 1), dtype=bool)
    error = np.abs(exact.values(everything) - fast.values(everything)).max()
    assert 0.05 * bin_bound(fast) < error <= bin_bound(fast)


@pytest.mark.parametrize("task", TASKS)
def test_fast_form_is_exact_where_every_bin_holds_one_distance(task):
    """Distances below 128 have bins of their own."""
    rng = np.random.default_rng(9)
    columns = random_table(rng, 3000, 5, 3, levels=5)
    y, y_valid = random_labels(rng, task, 3000, 3)
    coalitions = rng.random((9, 5)) < 0.5
    exact, fast = (
        row_values(columns, y, y_valid, task=task, n_neighbors=4, form=form)
        for form in ("exact", "fast")
    )
    np.testing.assert_allclose(fast.values(coalitions), exact.values(coalitions), atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("form", ["exact", "fast"])
def test_threads_never_change_a_bit(task, form):
    rng = np.random.default_rng(2)
    n = 300 if form == "exact" else 1100
    columns = random_table(rng, n, 5, 150, levels=50)
    y, y_valid = random_labels(rng, task, n, 150)
    one, two = (
        row_values(columns, y, y_valid, task=task, n_neighbors=4, form=form, n_jobs=jobs)
        for jobs in (1, 2)
    )
    coalitions = rng.random((37, 5)) < 0.5
    np.testing.assert_array_equal(one.values(coalitions), two.values(coalitions))
    weights = rng.random((2, 6))
    np.testing.assert_array_equal(one.walk(*weights), two.walk(*weights))


def test_lines_are_put_back_in_threads(monkeypatch):
    rng = np.random.default_rng(2)
    columns = random_table(rng, 300, 5, 20, levels=50)
    y, y_valid = random_labels(rng, "classification", 300, 20)
    coalitions = rng.random((7, 5)) < 0.5
    rows = row_values(columns, y, y_valid, task="classification", n_neighbors=4, n_jobs=2)
    alone = rows.values(coalitions)
    monkeypatch.setattr("shapley2d._base.in_threads.LONG", 1)
    np.testing.assert_array_equal(rows.values(coalitions), alone)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("form", ["exact", "fast"])
def test_validation_rows_count_as_they_weigh(task, form):
    """A row of weight 2 counts as two copies of it, one of weight 0 not at all, and equal weights change no bit."""
    rng = np.random.default_rng(6)
    n = 60 if form == "exact" else 1100
    columns = random_table(rng, n, 3, 4, levels=30)
    y, y_valid = random_labels(rng, task, n, 4)
    copies = np.array([2, 0, 1, 3])
    options = {"task": task, "n_neighbors": 4, "form": form}
    again = np.repeat(np.arange(4), copies)
    repeated = row_values(
        replace(columns, valid=columns.valid[:, again]), y, y_valid[again], **options
    )
    weighted = row_values(columns, y, y_valid, valid_weights=0.5 * copies, **options)
    coalitions, weights = rng.random((7, 3)) < 0.5, rng.random((2, 4))
    np.testing.assert_allclose(weighted.values(coalitions), repeated.values(coalitions), atol=1e-12)
    np.testing.assert_allclose(weighted.walk(*weights), repeated.walk(*weights), atol=1e-12)
    parts = [weighted.values(coalitions, valid=part) for part in (slice(0, 3), slice(3, 4))]
    np.testing.assert_allclose(
        (3 * parts[0] + parts[1]) / 4, weighted.values(coalitions), atol=1e-12
    )
    plain, alike = (
        row_values(columns, y, y_valid, valid_weights=w, **options) for w in (None, np.full(4, 8.0))
    )
    np.testing.assert_array_equal(plain.values(coalitions), alike.values(coalitions))
    np.testing.assert_array_equal(plain.walk(*weights), alike.walk(*weights))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_progress_stops_the_work_and_comes_out(jobs):
    rng = np.random.default_rng(3)
    columns = random_table(rng, 10, 3, 2)
    y, y_valid = random_labels(rng, "classification", 10, 2)
    rows = row_values(columns, y, y_valid, task="classification", n_neighbors=2, n_jobs=jobs)

    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rows.values(np.ones((100, 3), dtype=bool), progress=interrupt)


def test_wrong_arguments_are_named():
    rng = np.random.default_rng(4)
    columns = random_table(rng, 5, 3, 2)
    y, y_valid = random_labels(rng, "classification", 5, 2)
    good = {"task": "classification", "n_neighbors": 2}
    with pytest.raises(ValueError, match="task='rank'"):
        row_values(columns, y, y_valid, task="rank", n_neighbors=2)
    with pytest.raises(ValueError, match="form='slow'"):
        row_values(columns, y, y_valid, form="slow", **good)
    with pytest.raises(ValueError, match="5 training and 2 validation"):
        row_values(columns, y[:4], y_valid, **good)
    with pytest.raises(ValueError, match="at least one neighbour"):
        row_values(columns, y, y_valid, task="classification", n_neighbors=0)
    for weights in ([1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match=r"valid_weights of shape .* must be 2 finite numbers"):
            row_values(columns, y, y_valid, valid_weights=np.array(weights), **good)
    rows = row_values(columns, y, y_valid, **good)
    with pytest.raises(ValueError, match="do not have 3 columns"):
        rows.values(np.ones((2, 4), dtype=bool))
    with pytest.raises(ValueError, match="one weight per size"):
        rows.walk(np.ones(3), np.ones(4))
