"""Explaining a row's value by its cells."""

import numpy as np
import pandas as pd
import pytest

from made_valuations import made
from shapley2d import InputError, value_cells


def test_a_row_is_explained_by_its_cells_largest_first():
    v = made([[1.0, -3.0, 0.5], [0.0, 0.0, 0.0]], names=["r0", "r1"])
    v.stderr[:] = 0.1 * np.abs(v.values)
    frame = v.explain_row("r0")
    assert frame["column"].tolist() == ["x1", "x0", "x2"]
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


def test_wrong_questions():
    v = made([[1.0, 2.0], [5.0, 6.0]], names=["r0", "r1"])
    with pytest.raises(InputError, match="there is no row 'r9': rows are named 'r0', 'r1'"):
        v.explain_row("r9")
    with pytest.raises(InputError, match="n=-1 must be a whole number of at least 0"):
        v.lowest(-1)
