"""What the score gains by suggested entries: one by one, against what-ifs and new runs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from shapley2d import Forest, Inspection, inspect_cells, value_cells
from shapley2d._inspection.ranking import rank_cells
from shapley2d.exceptions import InputError


def table(n=70, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "height": random.normal(170, 10, n).round(),
            "town": pd.Categorical(random.choice(["Rome", "Oslo", "Bonn"], n)),
        },
        index=[f"p{k}" for k in range(n)],
    )
    frame["weight"] = (frame["height"] - 100 + random.normal(0, 3, n)).round(1)
    y = np.where((frame["weight"] > 70) ^ (frame["town"] == "Rome"), "big", "small")
    frame.loc["p3", "weight"] = 700.0
    frame.loc["p9", "height"] = np.nan
    return frame, y


@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.filterwarnings("ignore:model is fitted")
def test_gains_are_those_of_one_change_each(crossed):
    frame, y = table()
    model = HistGradientBoostingClassifier(
        max_iter=6, min_samples_leaf=4, categorical_features="from_dtype"
    ).fit(frame, y)
    given = {"cv": 3} if crossed else {"X_valid": frame[40:], "y_valid": y[40:]}
    n = 70 if crossed else 40
    v = value_cells(frame[:n], y[:n], method=Forest(model), **given)
    inspection = inspect_cells(frame[:n], y[:n], valuation=v, progress=False)
    gains = inspection._score_gains
    np.testing.assert_array_equal(gains, inspection.gains(v))  # a small table is told whole
    labels = 0
    for i, j in rank_cells(inspection, 60):
        name = "(label)" if j == 3 else inspection._cells.names[j]
        entry = inspection._cells.expected_text(i, j)
        after = v.what_if({(inspection.row_names[i], name): entry})
        assert gains[i, j] == pytest.approx(after.change, abs=1e-12)
        labels += j == 3
    assert labels and np.abs(gains).max() > 0
    few = inspection.gains(v, n=3)
    assert np.isfinite(few).sum() <= 9 and np.isfinite(few[rank_cells(inspection, 1)[0]])


@pytest.mark.parametrize(
    "method",
    [
        Forest(max_trees=8, tolerance=0),
        Forest(RandomForestRegressor(4, max_depth=4, random_state=0)),
        Forest(HistGradientBoostingRegressor(max_iter=6, min_samples_leaf=4)),
    ],
    ids=["grown", "forest", "boosted"],
)
def test_regression_and_the_list(method, tmp_path):
    frame, _ = table()
    y = frame.pop("height").fillna(170)
    v = value_cells(frame, y, method=method, cv=2, task="regression")
    inspection = inspect_cells(frame, y, valuation=v, progress=False)
    for i, j in rank_cells(inspection, 30):
        name = "(label)" if j == 2 else inspection._cells.names[j]
        entry = inspection._cells.expected_text(i, j)
        change = v.what_if({(inspection.row_names[i], name): entry}).change
        assert inspection._score_gains[i, j] == pytest.approx(change, abs=1e-10)
    frame = inspection.rank(4)
    assert list(frame.columns[-2:]) == ["gain_if_changed", "reasons"]
    i, j = rank_cells(inspection, 1)[0]
    assert frame["gain_if_changed"][0] == inspection._score_gains[i, j]
    assert "gain_if_changed" in inspection.to_frame()
    inspection.save(tmp_path / "i.parquet")
    loaded = Inspection.load(tmp_path / "i.parquet")
    np.testing.assert_array_equal(loaded._score_gains, inspection._score_gains)
    inspection.to_html(tmp_path / "page.html")
    assert "gain if changed" in (tmp_path / "page.html").read_text()


def test_a_suggestion_that_cannot_be_read_has_no_gain():
    X = np.arange(40.0).reshape(20, 2)
    y = ["a", "b"] * 10
    v = value_cells(X, y, method=Forest(max_trees=3, tolerance=0), cv=2)
    found = v._held.gains(
        [{(0, 0): "7"}, {(1, 0): "tall"}, {(2, 2): "c"}, {(3, 2): "a"}, {(4, 1): None}]
    )
    assert np.isnan(found).tolist() == [False, True, True, False, False]
    assert found[0] == pytest.approx(v.what_if({(0, "x0"): 7}).change, abs=1e-15)
    assert found[3] == pytest.approx(v.what_if({(3, "(label)"): "a"}).change, abs=1e-15)


def test_without_a_forest():
    frame, y = table()
    near = value_cells(frame, y, cv=2)
    inspection = inspect_cells(frame, y, valuation=near, progress=False)
    assert inspection._score_gains is None and "gain_if_changed" not in inspection.rank(3)
    with pytest.raises(InputError, match="gains needs the trees of a forest"):
        inspection.gains(near)
    other = RandomForestClassifier(3, random_state=0).fit([[0.0], [1]], [0, 1])
    v = value_cells([[0.0], [1], [2]], [0, 1, 1], [[0.0]], [0], method=Forest(other))
    with pytest.raises(InputError, match="valuation is of another table: value the inspected one"):
        inspection.gains(v)
