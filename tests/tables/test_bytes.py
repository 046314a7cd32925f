"""Labels, entries and names that are bytes are text, whatever holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import KNN, inspect_cells, value_cells

X = pd.DataFrame({"a": np.linspace(0, 1, 12), "b": [0, 1, 2] * 4})
LABELS = [b"no", b"yes"] * 6
MAKERS = {
    "array": np.array,
    "objects": lambda labels: np.array(labels, dtype=object),
    "list": list,
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_labels_as_bytes_are_valued_as_text(make):
    rows, text = X[:6], [label.decode() for label in LABELS]
    options = {"method": KNN(n_neighbors=3)}
    found = value_cells(rows, make(LABELS[:6]), X, make(LABELS), **options)
    wanted = value_cells(rows, text[:6], X, text, **options)
    np.testing.assert_array_equal(found.values, wanted.values)
    assert set(found._labels) == {"no", "yes"}


def test_entries_and_labels_are_shown_as_text():
    table = X.assign(c=pd.Series(LABELS, dtype=object))
    found = inspect_cells(table, LABELS)
    assert set(found._cells.entries[2]) == set(found._cells.entries[3]) == {"no", "yes"}
