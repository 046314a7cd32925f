"""Intervals of blocks and of sets include all that the summary and the payments include."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shapley2d import KNN, BlockValuation, value_blocks

N, N_VALID = 60, 80
OWNERS = [
    {"owner": "A", "row": "0-29", "column": "x;y"},
    {"owner": "B", "row": "30-59", "column": "x;y"},
    {"owner": "C", "row": "", "column": "z"},
]


def tables():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(N + N_VALID, 3)), columns=list("xyz"))
    y = (X["x"] + X["z"] + random.normal(size=len(X)) > 0).astype(int)
    return X[:N], y[:N], X[N:].reset_index(drop=True), y[N:].reset_index(drop=True)


def valued(**options):
    return value_blocks(
        *tables(), method=KNN(n_neighbors=5), progress=False, **{"parties": "anonymous", **options}
    )


@pytest.mark.parametrize("parties", ["anonymous", "known"])
@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_sets_of_one_axis_have_the_errors_of_their_owners(axis, parties):
    labels = np.repeat(["A", "B"], N // 2) if axis == "rows" else ["A", "B", "B"]
    found = valued(**{axis: labels}, parties=parties, valid_parts=10)
    errors = found.owners["stderr"].to_numpy()
    assert (errors > 0).all()
    of_axis = found.row_stderr if axis == "rows" else found.column_stderr
    np.testing.assert_allclose(of_axis, errors)
    low, high = found.interval()
    np.testing.assert_allclose((high - low).ravel() / 2, found._payee_errors.reach)


def test_blocks_that_owners_share_have_errors_of_their_own(tmp_path):
    found = valued(owners=OWNERS)
    low, high = found.interval()
    assert (high > low).all()
    assert (found.row_stderr > 0).all()
    assert (found.column_stderr > 0).all()
    of_c = found.owners["stderr"].to_numpy()[found.owners["owner"].tolist().index("C")]
    z = found.column_names.index(next(name for name in found.column_names if "z" in name))
    np.testing.assert_allclose(found.column_stderr[z], of_c)
    found.save(tmp_path / "blocks.parquet")
    again = BlockValuation.load(tmp_path / "blocks.parquet")
    assert again == found
    np.testing.assert_array_equal(again.interval(), found.interval())


def test_sampling_alone_where_other_validation_rows_are_left_out():
    found = valued(owners=OWNERS, valid_parts=0)
    low, high = found.interval()
    np.testing.assert_array_equal(low, high)
    assert not found.row_stderr.any()
