"""Explaining a row's value: its cells, and rows of the same value."""

import numpy as np
import pandas as pd
import pytest

from shapley2d import InputError, Valuation, value_cells
from shapley2d.exceptions import InputWarning


def valuation(values, **fields):
    values = np.asarray(values, dtype=float)
    n, m = values.shape
    return Valuation(
        values,
        0.1 * np.abs(values),
        np.array([f"r{i}" for i in range(n)]),
        [f"c{j}" for j in range(m)],
        **fields,
    )


def test_a_row_is_explained_by_its_cells_largest_first():
    v = valuation([[1.0, -3.0, 0.5], [0.0, 0.0, 0.0]])
    frame = v.explain_row("r0")
    assert frame["column"].tolist() == ["c1", "c0", "c2"]
    assert frame["value"].tolist() == [-3.0, 1.0, 0.5]
    assert frame["sum"].tolist() == [-3.0, -2.0, -1.5] and frame["sum"].iloc[-1] == v.row_values[0]
    assert frame["stderr"].tolist() == pytest.approx([0.3, 0.1, 0.05])
    assert frame["content"].isna().all()


def test_the_explanation_shows_what_the_cells_hold():
    X = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", None, "b", "b"]}, index=list("wxyz"))
    v = value_cells(X, [0, 0, 1, 1], X, [0, 0, 1, 1], method="exact")
    frame = v.explain_row("x").set_index("column")
    assert frame["content"]["age"] == "30" and pd.isna(frame["content"]["job"])
    assert frame["value"].sum() == pytest.approx(v.row_values[1])


def test_rows_of_the_same_value_that_agree_and_that_do_not():
    v = valuation(
        [
            [3.0, 1.0, 0.0, 0.0],
            [3.1, 0.9, 0.0, 0.0],  # the same profile
            [0.0, 0.0, 1.0, 3.0],  # the opposite one
            [1.0, 1.0, 1.0, 1.0],  # none at all
            [30.0, 10.0, 0.0, 0.0],  # the same profile, but worth ten times as much
        ]
    )
    frame = v.similar_rows("r0", n=1, within=0.5)
    assert frame["row"].tolist() == ["r1", "r2"] and frame["kind"].tolist() == ["most", "least"]
    assert frame["agreement"][0] > 0.99 and frame["agreement"][1] < -0.5
    assert "r4" not in v.similar_rows("r0", n=3, within=0.5)["row"].tolist()
    every = v.similar_rows("r0", n=2, within=100)
    assert every["row"].tolist() == ["r4", "r1", "r3", "r2"]
    assert every["agreement"][2] == 0


def test_candidates_are_the_closest_rows_by_default():
    random = np.random.default_rng(0)
    v = valuation(random.normal(size=(200, 4)))
    typical = int(np.argsort(v.row_values)[100])
    frame = v.similar_rows(f"r{typical}", n=3)
    assert len(frame) == 6 and f"r{typical}" not in frame["row"].tolist()
    assert frame["agreement"].is_monotonic_decreasing
    closest = np.sort(np.abs(v.row_values - v.row_values[typical]))[20]
    assert (np.abs(frame["value"] - v.row_values[typical]) <= closest).all()


def test_an_extreme_row_has_no_rows_of_nearly_the_same_value():
    """A row worth -0.0106 has no match among rows worth -0.0014 to +0.0010."""
    random = np.random.default_rng(1)
    values = random.normal(size=(100, 3)) * 2e-4
    values[4] = [-0.01, -0.0003, -0.0003]
    v = valuation(values)
    with pytest.warns(
        InputWarning,
        match=r"no row is worth nearly the same as row r4 \(-0.0106\): the closest, row r",
    ):
        assert len(v.similar_rows("r4")) == 0
    values[7] = [-0.0003, -0.01, -0.0003]
    assert valuation(values).similar_rows("r4")["row"].tolist() == ["r7"]


def test_rows_of_exactly_the_same_value_are_found():
    v = valuation([[0.3, 0.0], [0.0, 0.3], [0.1, 0.2]])
    assert sorted(v.similar_rows("r0", n=1)["row"]) == ["r1", "r2"]


def test_no_other_row_is_close_enough():
    v = valuation([[1.0, 2.0], [5.0, 6.0]])
    with pytest.warns(
        InputWarning,
        match=r"the closest, row r1 \(\+11\), is not within 0.1; for more distant ones raise",
    ):
        assert len(v.similar_rows("r0", within=0.1)) == 0
    with pytest.warns(InputWarning, match="no row is worth nearly the same as row r0"):
        assert len(v.similar_rows("r0")) == 0
    with pytest.warns(InputWarning, match="it is the only one"):
        assert len(valuation([[1.0, 2.0]]).similar_rows("r0")) == 0


def test_wrong_questions():
    v = valuation([[1.0, 2.0], [5.0, 6.0]])
    with pytest.raises(InputError, match="there is no row 'r9': rows are named 'r0', 'r1'"):
        v.explain_row("r9")
    with pytest.raises(InputError, match="n=-1 must be a whole number of at least 0"):
        v.lowest(-1)
    with pytest.raises(InputError, match="n=0"):
        v.similar_rows("r0", n=0)
    with pytest.raises(InputError, match="within=-1"):
        v.similar_rows("r0", within=-1)
