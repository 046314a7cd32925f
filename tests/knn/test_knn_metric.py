"""Column dissimilarities: columns count alike, equal distances tie, and order does not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapley2d import InputError
from shapley2d._knn.metric import integer_columns
from shapley2d._tables.convert import as_table
from shapley2d._tables.match import match_columns


def distances(train, valid, metric="auto"):
    """Distances per column, (m, T, n), from the codes by the rule that IntegerColumns documents."""
    table = as_table(train)
    coded = integer_columns(table, match_columns(as_table(valid), table), metric)
    t, v = coded.train[:, None, :].astype(np.int64), coded.valid[:, :, None].astype(np.int64)
    gone = (t == coded.missing_code) | (v == coded.missing_code)
    squares = (np.where(gone, 0, t) - np.where(gone, 0, v)) ** 2
    nominal = coded.mismatch[:, None, None]
    result = np.where(nominal > 0, nominal * (t != v), squares)
    return np.where(gone, coded.missing[:, None, None], result), coded


def test_columns_count_alike():
    """Two random rows are 1 apart on average in every column of numbers, whatever its scale and tail."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "small": rng.normal(size=2000) * 1e-6,
            "large": rng.normal(size=2000) * 1e6 + 1e9,
            "heavy": np.where(rng.random(2000) < 0.92, 0, rng.exponential(1e4, 2000)),
            "flag": rng.integers(0, 2, 2000),
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 2000), unit="D"),
        }
    )
    d, coded = distances(frame, frame.iloc[:500])
    np.testing.assert_allclose(d.mean(axis=(1, 2)) / coded.unit, 1, rtol=0.15)
    assert coded.train.dtype == np.int32


def test_a_heavy_tail_does_not_drown_the_rest():
    gains = np.zeros(1000)
    gains[:40], gains[0] = 5000.0, 1e9
    d, coded = distances(pd.DataFrame({"gain": gains}), pd.DataFrame({"gain": [0.0]}))
    monster, typical, none = d[0, 0, [0, 1, 999]] / coded.unit
    assert none == 0
    assert typical > 1
    assert monster < 10 * typical


def test_categories_booleans_and_missing_entries():
    frame = pd.DataFrame({"town": ["a", "a", "b", None], "flag": [True, False, True, None]})
    valid = pd.DataFrame({"town": ["a", "new", None], "flag": [True, None, False]})
    d, coded = distances(frame, valid)
    d = d / coded.unit
    chance = 1 - (2 / 3) ** 2 - (1 / 3) ** 2
    np.testing.assert_allclose(d[0], [[0, 0, 1, chance], [1, 1, 1, chance], [chance] * 4], atol=1e-6)
    np.testing.assert_allclose(d[1], [[0, 1, 0, chance], [chance] * 4, [1, 0, 1, chance]], atol=1e-6)


def test_missing_numbers_are_an_average_distance_away():
    d, coded = distances(pd.DataFrame({"a": [1.0, 2.0, None, 4.0]}), pd.DataFrame({"a": [1.0, None]}))
    assert (d[0, 1] == coded.unit).all()
    assert d[0, 0, 2] == coded.unit


def test_constant_and_blank_columns_say_nothing():
    frame = pd.DataFrame({"same": [3.0, 3.0, 3.0], "blank": [None, None, None], "x": [1.0, 2.0, 3.0]})
    d, _ = distances(frame, frame)
    assert (d[0] == d[0, :, :1]).all()
    assert (d[1] == d[1, :, :1]).all()


def test_raw_distances_are_squared_differences():
    rng = np.random.default_rng(1)
    X, V = rng.integers(-50, 50, (30, 3)), rng.integers(-50, 50, (7, 3))
    d, coded = distances(X, V, "sqeuclidean")
    np.testing.assert_array_equal(d.sum(axis=0), ((V[:, None] - X[None]) ** 2).sum(axis=2))
    assert coded.unit == 1
    assert coded.train.dtype == np.int32


def test_decimals_tie_exactly():
    """0.3 - 0.1 and 0.2 - 0.0 differ in floating point, but not here."""
    X = np.array([[0.1], [0.2], [0.3]])
    d, coded = distances(X, [[0.3], [0.0]], "sqeuclidean")
    assert coded.unit == 100
    assert d[0].tolist() == [[4, 1, 0], [1, 4, 9]]


def test_wide_ranges_take_64_bits_and_keep_their_resolution():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=40), rng.normal(size=40) * 1e5])
    d, coded = distances(X, X[:5], "sqeuclidean")
    assert coded.train.dtype == np.int64
    expected = ((X[:5, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(d.sum(axis=0) / coded.unit, expected, rtol=1e-6, atol=1e-6)
    assert d.sum(axis=0).max() < 2**63 - 1


def test_raw_metric_refuses_text_by_name():
    with pytest.raises(InputError, match="column 'town' holds text"):
        integer_columns(
            as_table(pd.DataFrame({"town": ["a", "b"]})),
            as_table(pd.DataFrame({"town": ["a"]})),
            "sqeuclidean",
        )
    with pytest.raises(InputError, match="metric='manhattan' is not known"):
        integer_columns(as_table([[1]]), as_table([[1]]), "manhattan")


@given(st.integers(0, 10**6), st.sampled_from(["auto", "sqeuclidean"]))
def test_order_of_rows_and_columns_changes_no_bit(seed, metric):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(17, 4)).round(int(rng.integers(0, 9))) * 10.0 ** rng.integers(-3, 4, 4)
    V = rng.permutation(X.ravel()).reshape(17, 4)[:5]
    rows, columns = rng.permutation(17), rng.permutation(4)
    plain, one = distances(X, V, metric)
    shuffled, two = distances(X[np.ix_(rows, columns)], V[:, columns], metric)
    assert one.unit == two.unit
    np.testing.assert_array_equal(shuffled, plain[columns][:, :, rows])


def test_many_columns_fit_32_bits():
    rng = np.random.default_rng(3)
    X = rng.standard_t(2, size=(50, 3000))
    d, coded = distances(X, X[:2])
    assert coded.unit >= 2**14
    assert d.sum(axis=0).max() < 2**31


def test_a_rare_event_does_not_coarsen_the_other_columns():
    rng = np.random.default_rng(4)
    rare = np.zeros(30000)
    rare[0] = 1
    _, coded = distances(
        pd.DataFrame({"a": rare, "b": rng.normal(size=30000)}), pd.DataFrame({"a": [0.0], "b": [0.0]})
    )
    assert coded.unit >= 2**16
    assert len(np.unique(coded.train[1])) > 1000


def test_tiny_raw_numbers_are_not_rounded_away():
    X = np.arange(20)[:, None] * 1e-11
    d, coded = distances(X, X[:1], "sqeuclidean")
    np.testing.assert_allclose(d[0, 0] / coded.unit, (X[:, 0]) ** 2, rtol=1e-6)


def test_constant_columns_are_no_distance_from_missing_entries():
    frame = pd.DataFrame({"a": [1.0, 1.0, None], "c": ["u", "u", None]})
    _, coded = distances(frame, frame)
    assert coded.missing.tolist() == [0, 0]
