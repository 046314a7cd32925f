"""What moved between two valuations: rows found again, changes, certainty, messages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shapley2d import KNN, InputError, Valuation, value_cells, value_game
from shapley2d._tables.convert import as_table


def of_table(X, names=None, error=0.0):
    table = as_table(X)
    n, m = len(X), X.shape[1]
    values = np.arange(float(n * m)).reshape(n, m)
    rows = np.arange(n) if names is None else np.array(names, dtype=object)
    errors = np.full((n, m), error)
    return Valuation(
        values, errors, rows, list(X), errors.sum(1), errors.sum(0), dof=9.0 if error else np.inf,
        _table=table,
    )  # fmt: skip


def partners(before, after):
    (old, _), (new, _) = after.compare(before)._both
    return dict(zip(new.tolist(), old.tolist(), strict=True))


def test_rows_are_found_again_by_their_entries_after_edits_and_moves():
    X = pd.DataFrame({"a": range(8), "b": [*"ppqqrrss"], "c": range(10, 18)})
    edited = X.drop(index=2).reset_index(drop=True)  # old rows 3 to 7 are 2 to 6 now
    edited.loc[4, "c"] = 99  # old row 5, and right behind it a new row
    new = pd.DataFrame({"a": [70], "b": ["z"], "c": [80]})
    edited = pd.concat([edited[:5], new, edited[5:]], ignore_index=True)
    assert partners(of_table(X), of_table(edited)) == {0: 0, 1: 1, 2: 3, 3: 4, 4: 5, 6: 6, 7: 7}
    shuffled = X.sample(frac=1, random_state=0)
    found = partners(of_table(X), of_table(shuffled.reset_index(drop=True)))
    assert [found[k] for k in range(8)] == shuffled.index.tolist()


def test_rows_with_names_go_by_these_alone():
    X = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
    before, after = of_table(X, ["x", "y", "z"]), of_table(X, ["z", "x", "new"])
    assert partners(before, after) == {0: 2, 1: 0}


def test_changes_are_differences_of_the_shared_part():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    before = of_table(X)
    after = of_table(X[["b", "a"]].assign(c=7.0))
    moved = after.compare(before)
    columns = moved.columns.set_index("column")
    assert list(columns.index) == ["a", "b"]
    assert columns.before.to_dict() == {"a": 0.0 + 2 + 4, "b": 1.0 + 3 + 5}
    assert columns.after.to_dict() == {"a": 1.0 + 4 + 7, "b": 0.0 + 3 + 6}
    assert columns.certain.to_dict() == {"a": True, "b": False}
    assert moved.rows(1).change.tolist() == [(6 + 7) - (4 + 5)]
    first = moved.cells(1).iloc[0]
    assert (first.row, first.column, first.entry, first.change) == (2, "a", "3", 7 - 4.0)
    assert "Columns new: c." in repr(moved)
    assert "3 rows and 2 columns are in both tables; 0 entries differ." in repr(moved)


def test_a_change_within_the_errors_of_both_runs_is_not_certain():
    X = pd.DataFrame({"a": [1.0, 2.0]})
    before = of_table(X, error=0.5)
    reach = before._interval_factor * 0.5 * 2**0.5
    for change, certain in ((0.99 * reach, False), (1.01 * reach, True)):
        after = replace(before, values=before.values + np.array([[change], [0.0]]))
        assert after.compare(before).cells(1).certain.tolist() == [certain]
    same = before.compare(before)
    assert "No column's sum changed by more than its error." in repr(same)


def test_a_corrected_entry_moves_its_column_and_settings_that_differ_are_told():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    y = np.where(X.a > 0, "up", "down")
    wrong = X.copy()
    wrong.loc[3, "a"] = 50.0
    before = value_cells(wrong, y, method=KNN(n_neighbors=3), progress=False)
    after = value_cells(X, y, progress=False)
    moved = after.compare(before)
    assert moved.differences["n_neighbors"] == ("3", "10")
    edited = moved.cells(None).query("entry != entry_before")
    assert edited[["row", "column", "entry_before"]].values.tolist() == [[3, "a", "50"]]
    html = moved._repr_html_()
    assert "1 entry differs" in html
    assert "change, points" in html


def test_what_cannot_be_compared_is_refused():
    game = value_game(lambda S, F: S.sum() * F.sum(), 3, 2)
    X, y = [[0, 5], [1, 5], [9, 5], [8, 5]], ["low", "low", "high", "high"]
    scored = value_cells(X, y, X, y, method="exact", progress=False)
    with pytest.raises(InputError, match="the scores differ, a game before and accuracy after"):
        scored.compare(game)
    with pytest.raises(InputError, match="compare needs another valuation of cells"):
        game.compare("old.parquet")
