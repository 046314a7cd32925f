"""Explaining a row's value by its cells."""

import numpy as np
import pandas as pd
import pytest

from shapley2d import InputError, Valuation, value_cells


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


def test_wrong_questions():
    v = valuation([[1.0, 2.0], [5.0, 6.0]])
    with pytest.raises(InputError, match="there is no row 'r9': rows are named 'r0', 'r1'"):
        v.explain_row("r9")
    with pytest.raises(InputError, match="n=-1 must be a whole number of at least 0"):
        v.lowest(-1)
