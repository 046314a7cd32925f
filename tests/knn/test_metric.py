"""Column dissimilarities: columns count alike, equal distances tie, and order does not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from shapley2d import InputError, value_cells
from shapley2d._knn.grid import find_grid
from shapley2d._knn.metric import integer_columns
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import match_columns
from shapley2d.exceptions import InputWarning


def distances(train, valid, metric="auto"):
    """Distances per column, (m, T, n), from the codes by the rule that IntegerColumns documents."""
    table = as_table(train)
    coded = integer_columns(table, match_columns(as_table(valid), table), metric)
    t, v = coded.train[:, None, :].astype(np.int64), coded.valid[:, :, None].astype(np.int64)
    gone = (t == coded.missing_code) | (v == coded.missing_code)
    squares = (np.where(gone, 0, t) - np.where(gone, 0, v)) ** 2
    result = coded.weight[:, None, None] * np.where(coded.nominal[:, None, None], t != v, squares)
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
            "date": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, 2000), unit="D"),
        }
    )
    d, coded = distances(frame, frame.iloc[:500])
    np.testing.assert_allclose(d.mean(axis=(1, 2)) / coded.unit, 1, rtol=0.15)


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
    np.testing.assert_allclose(
        d[0], [[0, 0, 1, chance], [1, 1, 1, chance], [chance] * 4], atol=1e-6
    )
    np.testing.assert_allclose(
        d[1], [[0, 1, 0, chance], [chance] * 4, [1, 0, 1, chance]], atol=1e-6
    )


def test_missing_numbers_are_an_average_distance_away():
    d, coded = distances(
        pd.DataFrame({"a": [1.0, 2.0, None, 4.0]}), pd.DataFrame({"a": [1.0, None]})
    )
    assert (d[0, 1] == coded.unit).all()
    assert d[0, 0, 2] == coded.unit


def test_constant_and_blank_columns_say_nothing():
    frame = pd.DataFrame(
        {"same": [3.0, 3.0, 3.0], "blank": [None, None, None], "x": [1.0, 2.0, 3.0]}
    )
    d, _ = distances(frame, frame)
    assert (d[0] == d[0, :, :1]).all()
    assert (d[1] == d[1, :, :1]).all()


def test_raw_distances_are_squared_differences():
    rng = np.random.default_rng(1)
    X, V = rng.integers(-50, 50, (30, 3)), rng.integers(-50, 50, (7, 3))
    d, coded = distances(X, V, "sqeuclidean")
    squares = ((V[:, None] - X[None]) ** 2).sum(axis=2)
    assert coded.unit.is_integer()
    np.testing.assert_array_equal(d.sum(axis=0), squares * int(coded.unit))


def test_decimals_tie_exactly():
    """0.3 - 0.1 and 0.2 - 0.0 differ in floating point, but not here."""
    X = np.array([[0.1], [0.2], [0.3]])
    for scale in (1, 1e-9, 1e7, 1e-155, 1e140):
        for metric in ("sqeuclidean", "auto"):
            d, coded = distances(X * scale, np.array([[0.3], [0.0]]) * scale, metric)
            assert (d[0] / d[0, 0, 1]).tolist() == [[4, 1, 0], [1, 4, 9]]
            assert not coded.unrounded
    d, coded = distances(X, [[0.3], [0.0]], "sqeuclidean")
    assert d[0, 0, 1] / coded.unit == pytest.approx(0.01)


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


@pytest.mark.filterwarnings("ignore:differences in .* are too small to count")
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


def test_many_columns_fit():
    rng = np.random.default_rng(3)
    X = rng.standard_t(2, size=(50, 3000))
    d, coded = distances(X, X[:2])
    assert coded.unit >= 2**45
    assert d.astype(float).sum(axis=0).max() <= 2.0**62


def test_a_rare_event_does_not_coarsen_the_other_columns():
    rng = np.random.default_rng(4)
    rare = np.zeros(30000)
    rare[0] = 1
    train = pd.DataFrame({"a": rare, "b": rng.normal(size=30000)})
    _, coded = distances(train, pd.DataFrame({"a": [0.0], "b": [0.0]}))
    assert coded.unit >= 2**32
    assert len(np.unique(coded.train[1])) > 0.999 * len(np.unique(coded.unrounded[1].train))


def test_tiny_raw_numbers_are_not_rounded_away():
    X = np.arange(20)[:, None] * 1e-11
    d, coded = distances(X, X[:1], "sqeuclidean")
    np.testing.assert_allclose(d[0, 0] / coded.unit, (X[:, 0]) ** 2, rtol=1e-6)


def test_constant_columns_are_no_distance_from_missing_entries():
    frame = pd.DataFrame({"a": [1.0, 1.0, None], "c": ["u", "u", None]})
    _, coded = distances(frame, frame)
    assert coded.missing.tolist() == [0, 0]


def test_equal_steps_are_equal_in_every_metric():
    """Rows 0 and 1 are equally far from the validation row and have the same label."""
    v = value_cells([[0.0], [2.0], [1.0], [0.0]], [1, 1, 0, 0], [[1.0]], [1], n_neighbors=1)
    assert v.values[0, 0] == v.values[1, 0]


def test_standardised_counts_keep_their_ties():
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 30, 200).astype(float)
    scaled = (counts - counts.mean()) / counts.std()
    plain, _ = distances(counts[:, None], counts[:5, None])
    d, coded = distances(scaled[:, None], scaled[:5, None])
    assert not coded.unrounded
    for t in range(5):
        np.testing.assert_array_equal(rankdata(d[0, t]), rankdata(plain[0, t]))


def test_numbers_on_no_grid_are_told_apart():
    X = np.random.default_rng(6).normal(size=(20000, 1))
    d, coded = distances(X, X[:1])
    low, centre, high = np.percentile(X, [25, 50, 75])
    reach = 3 * (high - low) / 1.3489795003921634
    cut = np.clip(X[:, 0], centre - reach, centre + reach)
    wrong = rankdata(d[0, 0]) != rankdata((cut - cut[0]) ** 2)
    assert wrong.mean() < 1e-3
    assert list(coded.unrounded) == [0]


def test_each_raw_column_has_its_own_step():
    """A column of many digits breaks no ties of whole numbers, where it is not in the coalition."""
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.integers(0, 9, 60), rng.random(60), rng.integers(0, 90, 60) / 4])
    d, coded = distances(X, X[:6], "sqeuclidean")
    assert list(coded.unrounded) == [1]
    for j in (0, 2):
        expected = (X[:6, None, j] - X[None, :, j]) ** 2
        np.testing.assert_array_equal(rankdata(d[j].ravel()), rankdata(expected.ravel()))
    # and equal differences in different columns are equal
    np.testing.assert_allclose(d[0] / coded.unit, (X[:6, None, 0] - X[None, :, 0]) ** 2, rtol=1e-12)
    np.testing.assert_allclose(
        d.sum(axis=0) / coded.unit, ((X[:6, None] - X[None]) ** 2).sum(axis=2), rtol=1e-6
    )


@pytest.mark.parametrize("scale", [1.0, 1e-155, 1e130])
def test_small_columns_beside_large_ones_do_not_vanish(scale):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 2)) * [1e-6 * scale, 1e6 * scale]
    y = (X[:, 0] > 0).astype(int)
    options = {"n_neighbors": 5, "metric": "sqeuclidean", "progress": False}
    with pytest.warns(
        InputWarning, match="differences in 'x0' are too small to count beside those in 'x1'"
    ):
        v = value_cells(X[:100], y[:100], X[100:], y[100:], **options)
    # alone a column ranks as it does in floating point; together the large one decides
    alone, _ = distances(X[:100, :1], X[100:, :1], "sqeuclidean")
    with pytest.warns(InputWarning):
        d, _ = distances(X[:100], X[100:], "sqeuclidean")
    for t in range(50):
        assert spearmanr(d[0, t], alone[0, t])[0] > 1 - 1e-4
        assert spearmanr(d.sum(axis=0)[t], (X[100 + t, 1] - X[:100, 1]) ** 2)[0] > 1 - 1e-4
    assert v.values[:, 0].sum() > 0.2


def test_digits_that_are_lost_are_named():
    rng = np.random.default_rng(9)
    noisy = np.repeat([0.0, 1.0], 50) + rng.normal(size=100) * 1e-13
    with pytest.warns(InputWarning, match="column 'sensor' has numbers that differ by less than"):
        distances(pd.DataFrame({"sensor": noisy}), pd.DataFrame({"sensor": [0.5]}))


@given(st.integers(0, 10**6))
def test_grids(seed):
    """A grid is found whatever its step and origin, and never takes two numbers for one."""
    rng = np.random.default_rng(seed)
    steps = np.unique(rng.integers(0, 10 ** int(rng.integers(1, 6)), 40))
    assume(steps.size > 1)
    step, origin = float(rng.lognormal(0, 5)), float(rng.normal() * 100)
    for entries in (steps * step, origin + steps * step, np.round(steps * 0.01, 2)):
        entries = np.unique(entries)  # noqa: PLW2901
        found = find_grid(entries, 2.0**30)
        if entries[-1] - entries[0] < 1e-6 * np.abs(entries).max() or entries.size < 8:
            continue  # too little is known of the step
        assert found is not None
        codes = np.rint((entries - entries[0]) / found.step)
        np.testing.assert_array_equal(codes, found.places(entries))
        assert np.unique(codes).size == entries.size
        np.testing.assert_array_equal(codes, (steps - steps[0]) // np.gcd.reduce(np.diff(steps)))
    assert find_grid(np.sort(rng.normal(size=50)), 2.0**30) is None


@pytest.mark.parametrize("constant", [5.0, np.nan, 0.0005])
def test_constant_columns_beside_tiny_ones_count_nothing(constant):
    """A column that never differs has no scale of its own; beside numbers of 1e-160 its weight was beyond 64 bits."""
    tiny = np.array([-2.0, -1.0, 0.0, 1.0, 3.0]) * 1e-160
    X, y = np.column_stack([np.arange(5.0), np.full(5, constant), tiny]), [0, 1, 0, 1, 1]
    options = {"n_neighbors": 1, "metric": "sqeuclidean", "baseline": "zero", "progress": False}
    with pytest.warns(InputWarning, match="too small to count"):
        both = value_cells(X, y, X, y, **options)
    with pytest.warns(InputWarning, match="too small to count"):
        alone = value_cells(X[:, [0, 2]], y, X[:, [0, 2]], y, **options)
    assert both.total == pytest.approx(alone.total)


@pytest.mark.parametrize("absurd", [1e17, -1e17, 1e100, -1e100, 1e150])
@pytest.mark.parametrize(
    "numbers", [[1.0, 2, 3, 4, 4], [0.1, 0.25, 0.5, 2**0.5, 2], [0.0, -0.0, 5e-324, 0.0, 0.0]]
)
def test_one_absurd_number_does_not_coarsen_the_others(numbers, absurd):
    X = np.array(numbers)[:, None]
    plain = distances(X, X, "auto")[0][0]
    beside = distances(X, np.vstack([X, [[absurd]]]), "auto")[0][0]
    for t, row in enumerate(plain):
        assert np.array_equal(rankdata(beside[t]), rankdata(row))
    assert beside[-1].max() > beside[-1].min()
