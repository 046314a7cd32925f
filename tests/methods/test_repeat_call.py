"""The call that a result keeps repeats the run, to the bit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from command_line import run
from shapley2d import (
    KNN,
    CellValuer,
    Forest,
    MonteCarlo,
    Valuation,
    value_cells,
    value_game,
)
from shapley2d._methods.repeat_call import value_code

pytestmark = pytest.mark.filterwarnings("ignore:.*both claim")

RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.normal(size=(24, 3)), columns=["a", "b", "c"])
NUMBERS = RNG.normal(size=24)
y = pd.Series(np.where(X["a"] + RNG.normal(size=24) > 0, "yes", "no"), name="kind")
X_valid, y_valid = X.iloc[::2] + 0.1, y.iloc[::2]
rows, columns = ["p", "q"] * 12, ["u", "u", "v"]


def h(S, F):
    return float(S.sum() ** 0.5 * F.sum())


NAMES = {
    "NUMBERS": NUMBERS,
    "X": X,
    "y": y,
    "X_valid": X_valid,
    "y_valid": y_valid,
    "row_groups": rows,
    "column_groups": columns,
    "groups": rows,
    "cv": [(range(12), range(12, 20)), (range(8, 24), range(8))],
    "ShuffleSplit": ShuffleSplit,
    "h": h,
    "KNN": KNN,
    "Forest": Forest,
    "MonteCarlo": MonteCarlo,
    "value_cells": value_cells,
    "value_game": value_game,
    "DecisionTreeClassifier": DecisionTreeClassifier,
    "model": DecisionTreeClassifier(max_depth=3).fit(X, y),
    "GaussianNB": GaussianNB,
    "accuracy": lambda model, X, y: float((model.predict(X) == y).mean()),
}
MC = MonteCarlo(max_draws=3, tolerance=0)
RUNS = {
    "knn": lambda: value_cells(X, y),
    "knn, label and folds": lambda: value_cells(
        X, y, method=KNN(n_neighbors=2), include_label=True, cv=3
    ),
    "splitter": lambda: value_cells(X, y, cv=ShuffleSplit(3), random_state=2),
    "splits": lambda: value_cells(X, y, cv=NAMES["cv"]),
    "groups": lambda: value_cells(X, y, groups=rows, cv=2),
    "semivalues": lambda: value_cells(
        X, y, X_valid, y_valid, semivalue=("banzhaf", ("beta", 4, 1))
    ),
    "random seed": lambda: value_cells(
        X, y, method=replace(MC, model="ridge"), cv=2, random_state=None
    ),
    "generator": lambda: value_cells(X, y, random_state=np.random.default_rng(1)),
    "regression": lambda: value_cells(
        X, NUMBERS, method=KNN(metric="sqeuclidean"), task="regression"
    ),
    "mc": lambda: value_cells(X, y, X_valid, y_valid, method=replace(MC, model=GaussianNB())),
    "mc, model with settings": lambda: value_cells(
        X,
        y,
        X_valid,
        y_valid,
        method=replace(MC, model=DecisionTreeClassifier(max_depth=2)),
        scoring="f1_macro",
    ),
    "mc, truncated": lambda: value_cells(
        X, y, X_valid, y_valid, method=replace(MC, truncation=0.1)
    ),
    "forest": lambda: value_cells(X, y, method=Forest(max_draws=12, tolerance=0)),
    "forest, fitted": lambda: value_cells(X, y, X_valid, y_valid, method=Forest(NAMES["model"])),
    "groups of rows": lambda: value_cells(
        X, y, X_valid, y_valid, method=replace(MC, model="ridge"), row_groups=rows
    ),
    "groups of both, knn": lambda: value_cells(
        X, y, row_groups=rows, column_groups=columns, include_label=True
    ),
    "game": lambda: value_game(h, 3, 2, method=MC, random_state=3),
}


def call_of(v):
    return v.info["call"].replace("(X, y, method=KNN(metric", "(X, NUMBERS, method=KNN(metric")


@pytest.mark.parametrize("name", RUNS)
def test_the_call_gives_the_same_values(name):
    v = RUNS[name]()
    again = eval(call_of(v), dict(NAMES))
    assert again == v
    assert again.values.tobytes() == v.values.tobytes()
    assert again.info["call"] == v.info["call"]


def test_the_call_of_a_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = X.assign(kind=y)
    table.to_csv("t.csv", index=False)
    run(capsys, "cells t.csv -t kind --method knn -k 3 -o v.parquet")
    saved = Valuation.load("v.parquet")
    assert saved.info["call"] == 'value_cells(X, "kind", method=KNN(n_neighbors=3), random_state=0)'
    again = eval(saved.info["call"], {**NAMES, "X": table})
    np.testing.assert_array_equal(again.values, saved.values)


def test_the_estimator_keeps_the_call_of_the_function():
    valuer = CellValuer(KNN(n_neighbors=3), include_label=True, cv=3).fit(X, y)
    call = valuer.valuation_.info["call"]
    assert (
        call
        == "value_cells(X, y, method=KNN(n_neighbors=3), include_label=True, cv=3, random_state=0)"
    )
    np.testing.assert_array_equal(eval(call, dict(NAMES)).values, valuer.values_)


def test_what_changes_no_value_is_left_out(tmp_path):
    run = {"n_jobs": 1, "checkpoint": tmp_path / "c.npz"}
    v = value_cells(X, y, X_valid, y_valid, method=replace(MC, model="ridge"), **run)
    assert not any(word in v.info["call"] for word in ("n_jobs", "progress", "checkpoint"))


def test_what_has_no_code_goes_by_the_name_of_its_option():
    v = value_cells(
        X, y, X_valid, y_valid, method=MC, scoring=lambda model, X, y: model.score(X, y)
    )
    assert "scoring=scoring" in v.info["call"]
    assert value_code(object(), "model") == "model"
    assert (
        value_code(DecisionTreeClassifier(class_weight=dict.fromkeys(range(60), 1.0)), "model")
        == "model"
    )
    weights = {f"a class of quite a long name {k}": 1.0 + k for k in range(20)}
    code = value_code(DecisionTreeClassifier(class_weight=weights))
    assert len(code) > 700 and eval(code, dict(NAMES)).class_weight == weights


def test_values_as_code():
    assert value_code('say "no"') == "'say \"no\"'"
    assert value_code(np.int64(3)) == "3"
    assert value_code(h) == "h"
    assert value_code(("beta", 4, 1)) == "('beta', 4, 1)"
