"""Column dissimilarities: columns count alike, equal distances tie, and order does not matter."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_oracles import dissimilarities, fixed_point_distances, tie_groups

from shapley2d import KNN, InputError, value_cells
from shapley2d._knn.metric import measure
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import match_columns
from shapley2d.exceptions import InputWarning

RAW = KNN(metric="sqeuclidean")


def measured(train, valid, metric="auto"):
    table = as_table(train)
    return measure(table, match_columns(as_table(valid), table), metric)


def distances(train, valid, metric="auto"):
    """Dissimilarities by column: (m, T, n)."""
    return dissimilarities(measured(train, valid, metric))


def groups(train, valid, metric="auto"):
    """Tie groups by distance over all columns: (T, n)."""
    columns = measured(train, valid, metric)
    every = np.ones(columns.n_columns, dtype=bool)
    return np.array(
        [tie_groups(*fixed_point_distances(columns, every, t)) for t in range(columns.n_valid)]
    )


def test_columns_count_alike():
    """Two random rows are 1 apart on average in every column of numbers, whatever its scale and tail."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "small": rng.normal(size=2000) * 1e-6,
            "large": rng.normal(size=2000) * 1e6 + 1e9,
            "heavy": np.where(rng.random(2000) < 0.92, 0, rng.exponential(1e4, 2000)),
            "flag": rng.integers(0, 2, 2000),
            "date": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, 2000), unit="D"),
        }
    )
    d = distances(frame, frame.iloc[:500])
    np.testing.assert_allclose(d.mean(axis=(1, 2)), 1, rtol=0.15)


def test_a_heavy_tail_does_not_drown_the_rest():
    gains = np.zeros(1000)
    gains[:40], gains[0] = 5000.0, 1e9
    d = distances(pd.DataFrame({"gain": gains}), pd.DataFrame({"gain": [0.0]}))
    monster, typical, none = d[0, 0, [0, 1, 999]]
    assert none == 0 and typical > 1 and monster < 10 * typical


def test_categories_booleans_and_missing_entries():
    frame = pd.DataFrame({"town": ["a", "a", "b", None], "flag": [True, False, True, None]})
    valid = pd.DataFrame({"town": ["a", "new", None], "flag": [True, None, False]})
    d = distances(frame, valid)
    chance = 1 - (2 / 3) ** 2 - (1 / 3) ** 2
    np.testing.assert_allclose(d[0], [[0, 0, 1, chance], [1, 1, 1, chance], [chance] * 4])
    np.testing.assert_allclose(d[1], [[0, 1, 0, chance], [chance] * 4, [1, 0, 1, chance]])


def test_missing_numbers_are_an_average_distance_away():
    d = distances(pd.DataFrame({"a": [1.0, 2.0, None, 4.0]}), pd.DataFrame({"a": [1.0, None]}))
    assert (d[0, 1] == 1).all() and d[0, 0, 2] == 1


def test_constant_and_blank_columns_say_nothing():
    frame = pd.DataFrame(
        {"same": [3.0, 3.0, 3.0], "blank": [None, None, None], "x": [1.0, 2.0, 3.0]}
    )
    d = distances(frame, frame)
    assert (d[:2] == d[:2, :, :1]).all()
    gaps = pd.DataFrame({"a": [1.0, 1.0, None], "c": ["u", "u", None]})
    assert measured(gaps, gaps).missing.tolist() == [0, 0]


@pytest.mark.parametrize("scale", [1, 1e-11, 2.0**-480, 2.0**480])
def test_raw_distances_are_squared_differences(scale):
    rng = np.random.default_rng(1)
    X, V = rng.integers(-50, 50, (30, 3)), rng.integers(-50, 50, (7, 3))
    d = distances(X * scale, V * scale, "sqeuclidean").sum(axis=0)
    squares = ((V[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(d / d.max(), squares / squares.max(), rtol=1e-12)


@pytest.mark.parametrize("metric", ["auto", "sqeuclidean"])
@pytest.mark.parametrize("scale", [1, 1e-9, 1e7, 1e-155, 1e140])
def test_decimals_tie(scale, metric):
    """0.3 - 0.2 and 0.2 - 0.1 differ in floating point, but not here."""
    X, V = np.array([[0.1], [0.2], [0.3]]) * scale, np.array([[0.3], [0.0], [0.2], [0.25]]) * scale
    assert groups(X, V, metric).tolist() == [[2, 1, 0], [0, 1, 2], [1, 0, 1], [1, 0, 0]]


def test_raw_metric_refuses_text_by_name():
    town = as_table(pd.DataFrame({"town": ["a", "b"]}))
    with pytest.raises(InputError, match="column 'town' holds text"):
        measure(town, town, "sqeuclidean")
    with pytest.raises(InputError, match="metric='manhattan' is not known"):
        measure(as_table([[1]]), as_table([[1]]), "manhattan")


@pytest.mark.filterwarnings("ignore:differences in .* are too small to count")
@given(st.integers(0, 10**6), st.sampled_from(["auto", "sqeuclidean"]))
def test_order_of_rows_and_columns_changes_no_bit(seed, metric):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(17, 4)).round(int(rng.integers(0, 9))) * 10.0 ** rng.integers(-3, 4, 4)
    V = rng.permutation(X.ravel()).reshape(17, 4)[:5]
    rows, columns = rng.permutation(17), rng.permutation(4)
    plain = distances(X, V, metric)
    shuffled = distances(X[np.ix_(rows, columns)], V[:, columns], metric)
    np.testing.assert_array_equal(shuffled, plain[columns][:, :, rows])


def test_a_rare_event_does_not_coarsen_the_other_columns():
    rng = np.random.default_rng(4)
    rare = np.zeros(30_000)
    rare[0] = 1
    train = pd.DataFrame({"a": rare, "b": rng.normal(size=30_000)})
    found = groups(train, pd.DataFrame({"a": [0.0], "b": [0.0]}))
    assert found.max() > 0.99 * 30_000


def test_numbers_of_many_digits_are_told_apart():
    X = np.random.default_rng(6).normal(size=(20_000, 1))
    low, centre, high = np.percentile(X, [25, 50, 75])
    reach = 3 * (high - low) / 1.3489795003921634
    cut = np.clip(X[:, 0], centre - reach, centre + reach)
    expected = tie_groups((cut - cut[0]) ** 2)
    assert np.abs(groups(X, X[:1])[0] - expected).max() < 1e-3 * 20_000


@pytest.mark.parametrize("scale", [1.0, 1e-155, 1e130])
def test_small_columns_beside_large_ones_do_not_vanish(scale):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 2)) * [1e-6 * scale, 1e6 * scale]
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(
        InputWarning, match="differences in 'x0' are too small to count beside those in 'x1'"
    ):
        v = value_cells(X[:100], y[:100], X[100:], y[100:], method=replace(RAW, n_neighbors=5))
    # alone a column ranks as it does in floating point; together the large one decides
    with pytest.warns(InputWarning):
        together = groups(X[:100], X[100:], "sqeuclidean")
    large = groups(X[:100, 1:], X[100:, 1:], "sqeuclidean")
    np.testing.assert_array_equal(together, large)
    assert (large.max(axis=1) == 99).all() and v.values[:, 0].sum() > 0.2


def test_digits_that_are_lost_are_named():
    rng = np.random.default_rng(9)
    noisy = np.repeat([0.0, 1.0], 50) + rng.normal(size=100) * 1e-13
    with pytest.warns(InputWarning, match="column 'sensor' has numbers that differ by less than"):
        measured(pd.DataFrame({"sensor": noisy}), pd.DataFrame({"sensor": [0.5]}))


def test_columns_that_lose_digits_are_named_in_one_note():
    random = np.random.default_rng(0)
    noisy = np.repeat([0.0, 1.0], 50)[:, None] + random.normal(size=(100, 2)) * 1e-13
    with pytest.warns(InputWarning, match="columns 'x0' and 'x1' have numbers") as caught:
        value_cells(noisy, np.tile([0, 1], 50), cv=4)
    assert sum("differ by less than" in str(one.message) for one in caught) == 1  # of 4 folds


@pytest.mark.filterwarnings("ignore:X. column 'x1' is empty:shapley2d.exceptions.InputWarning")
@pytest.mark.parametrize("constant", [5.0, np.nan, 0.0005])
def test_constant_columns_beside_tiny_ones_count_nothing(constant):
    """A column that never differs has no scale of its own."""
    tiny = np.array([-2.0, -1.0, 0.0, 1.0, 3.0]) * 1e-160
    X, y = np.column_stack([np.arange(5.0), np.full(5, constant), tiny]), [0, 1, 0, 1, 1]
    asked = {"method": replace(RAW, n_neighbors=1), "baseline": "zero"}
    with pytest.warns(InputWarning, match="too small to count"):
        both = value_cells(X, y, X, y, **asked)
    with pytest.warns(InputWarning, match="too small to count"):
        alone = value_cells(X[:, [0, 2]], y, X[:, [0, 2]], y, **asked)
    assert both.total == pytest.approx(alone.total)


@pytest.mark.parametrize("metric", ["auto", "sqeuclidean"])
@pytest.mark.parametrize("absurd", [1e17, -1e17, 1e100, -1e100, 1e150])
@pytest.mark.parametrize(
    "numbers", [[1.0, 2, 3, 4, 4], [0.1, 0.25, 0.5, 2**0.5, 2], [0.0, -0.0, 5e-324, 0.0, 0.0]]
)
def test_one_absurd_number_does_not_coarsen_the_others(numbers, absurd, metric):
    X = np.array(numbers)[:, None]
    beside = groups(X, np.vstack([X, [[absurd]]]), metric)
    np.testing.assert_array_equal(beside[:-1], groups(X, X, metric))
    # and is itself at one end of the column
    expected = tie_groups(-np.sign(absurd) * X[:, 0])
    np.testing.assert_array_equal(beside[-1], expected)
