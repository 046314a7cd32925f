"""Equal rows count once, unless rows are equal by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from shapley2d import value_blocks
from shapley2d._market.copies import find_copies
from shapley2d._tables.problem import make_problem
from shapley2d.datasets import load_census
from shapley2d.exceptions import InputWarning

HONEST = {"A": range(22), "B": range(22, 44), "C": range(44, 66)}


def wine(n=66):
    X, y = load_wine(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order, :6].reset_index(drop=True), y.to_numpy()[order]
    return X[:n], y[:n], X[n : 2 * n].reset_index(drop=True), y[n : 2 * n]


def census(n=400):
    X, y = load_census("train", "pandas")
    order = np.random.default_rng(0).permutation(len(y))[: 2 * n]
    X = X[["age", "workclass", "race", "sex"]].iloc[order].reset_index(drop=True)
    X["age"] = X["age"] // 5 * 5
    return X[:n], y[order][:n], X[n:].reset_index(drop=True), y[order][n:]


def paid(X, y, X_valid, y_valid, parts):
    """Of 100,000, what every owner is paid."""
    owners = [{"owner": name, "row": list(rows)} for name, rows in parts.items()]
    v = value_blocks(X, y, X_valid, y_valid, owners=owners, progress=False, parties="anonymous")
    return dict(zip(v._owner_names, v._payee_values / v._payee_values.sum() * 1e5, strict=True))


def clusters(X, y, X_valid=None, y_valid=None):
    problem = make_problem(X, y, X_valid, y_valid)
    return find_copies(
        problem.table, problem.target, None if X_valid is None else problem.splits[0]
    )


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")
def test_own_rows_listed_again_gain_nothing_and_blank_rows_are_no_data():
    X, y, *valid = wine()
    honest = paid(X, y, *valid, HONEST)
    more = pd.concat([X, X[:22]], ignore_index=True), np.append(y, y[:22])
    own = paid(*more, *valid, {**HONEST, "A": [*range(22), *range(66, 88)]})
    shell = paid(*more, *valid, {**HONEST, "A2": range(66, 88)})
    assert own == pytest.approx(honest, abs=0.02)
    assert shell["A"] + shell["A2"] == pytest.approx(honest["A"], abs=0.02)
    blank = pd.DataFrame(np.nan, index=range(30), columns=X.columns)
    more = pd.concat([X, blank], ignore_index=True), np.append(y, np.arange(30) % 3)
    after = paid(*more, *valid, {**HONEST, "Z": range(66, 96)})
    assert after.pop("Z") == 0 and after == honest


def test_owners_with_each_others_rows_are_named():
    X, y, *valid = wine()
    more = pd.concat([X, X], ignore_index=True), np.append(y, y)
    owners = [
        {"owner": name, "row": list(rows)}
        for name, rows in {**HONEST, "Thief": range(66, 132)}.items()
    ]
    with pytest.warns(
        InputWarning, match=r"'A' and 'Thief' have copies of the same 22 rows, and 2"
    ):
        v = value_blocks(*more, *valid, owners=owners, progress=False, parties="anonymous")
    assert v.info["copies"]["n_rows"] == 66


def test_rows_that_are_equal_by_chance_are_no_copies():
    X, y, X_valid, y_valid = census()
    assert clusters(X, y).max() < 200  # most rows repeat another
    assert clusters(X, y, X_valid, y_valid).tolist() == list(range(400))
    # so that A is paid the same under one name and under twenty
    alone = {"A": range(133), "B": range(133, 266), "C": range(266, 400)}
    split = {f"A{k}": range(k, 133, 20) for k in range(20)} | {k: alone[k] for k in "BC"}
    one, many = (paid(X, y, X_valid, y_valid, parts) for parts in (alone, split))
    assert sum(many[f"A{k}"] for k in range(20)) == pytest.approx(one["A"], abs=0.3)
    assert many["B"] == pytest.approx(one["B"], abs=0.02)
    # but a row that is listed very often is a copy
    again = pd.concat([X, *[X[:20]] * 60], ignore_index=True)
    found = clusters(again, np.append(y, np.tile(y[:20], 60)), X_valid, y_valid)
    assert np.unique(found[400:]).size <= 20


def test_another_label_is_no_copy_and_one_validation_row_tells_nothing_else():
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3))
    X[5] = X[2]
    valid = random.normal(size=(1, 3)), [0]
    assert np.unique(clusters(X, [0, 1] * 6, *valid)).size == 12
    assert np.unique(clusters(X, [0] * 11 + [1], *valid)).size == 11
