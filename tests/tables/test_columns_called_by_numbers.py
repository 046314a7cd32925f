"""Columns whose names are whole numbers, as those of a pandas frame without names."""

import numpy as np
import pandas as pd
import pytest

from shapley2d import InputError, inspect_cells, value_cells

X = pd.DataFrame({0: np.linspace(0, 1, 40), 1: [0, 1] * 20})
Y = np.array([0, 1] * 20)


@pytest.mark.parametrize(
    "call",
    [
        lambda: value_cells(X, "zz"),
        lambda: inspect_cells(X, "zz"),
        lambda: value_cells(X, Y, groups="zz"),
        lambda: value_cells(X, Y, time_order="zz"),
        lambda: value_cells(X, Y, X, Y, row_groups="zz"),
    ],
    ids=["y", "inspected", "groups", "time_order", "row_groups"],
)
def test_a_name_that_is_not_there_is_one_line(call):
    with pytest.raises(InputError, match="has no column 'zz'"):
        call()


def test_a_number_as_text_names_its_column():
    assert value_cells(X, "1").column_names == ["0"]
