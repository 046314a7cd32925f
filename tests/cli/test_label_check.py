"""Labels that look wrong: those that were changed are found, and noisy tables raise no alarm."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from shapley2d._tables.convert import as_table
from shapley2d._tables.target import as_target
from shapley2d.cli.label_check import disagreeing_rows, rare_classes


def check(X, y):
    table = as_table(X)
    return disagreeing_rows(table, as_target(y, table))


def test_changed_labels_are_found():
    X, y = load_wine(return_X_y=True, as_frame=True)
    changed = np.array([3, 40, 80, 120, 150, 170])
    wrong = y.to_numpy().copy()
    wrong[changed] = (wrong[changed] + 1) % 3
    found = check(X, wrong)
    assert np.isin(changed, found).sum() >= 5
    assert np.isin(found, changed).mean() > 0.7
    assert check(X, y).size <= 2


def test_labels_that_nothing_predicts_are_not_suspected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    assert check(X, rng.integers(0, 2, 400)).size == 0
    assert (
        check(X, (rng.random(400) < 0.03).astype(int)).size == 0
    )  # a rare class that looks like the other


def test_tables_that_cannot_be_judged():
    rng = np.random.default_rng(1)
    assert check(rng.normal(size=(15, 2)), [0, 1, 0] * 5).size == 0
    assert check(rng.normal(size=(60, 2)), rng.normal(size=60)).size == 0
    assert check(pd.DataFrame({"same": ["a"] * 60}), ["x", "y"] * 30).size == 0


def test_large_tables_are_looked_at_in_part(monkeypatch):
    monkeypatch.setattr("shapley2d.cli.label_check.MAX_ROWS", 100)
    X = np.repeat([0.0, 9.0], 200)[:, None] + np.random.default_rng(2).normal(size=(400, 1))
    y = np.repeat(["a", "b"], 200)
    y[:200:20] = "b"
    found = check(X, y)
    assert found.size
    assert set(found) <= set(range(0, 200, 20))


def test_rare_classes_are_named_with_what_they_may_mean():
    labels = ["heart attack"] * 20 + ["stroke"] * 9 + ["heaxt attack", "heaxt attack", "gout"]
    table = as_table(np.arange(len(labels))[:, None])
    assert rare_classes(as_target(labels, table)) == [
        ("gout", 1, None),
        ("heaxt attack", 2, "heart attack"),
    ]
    few = as_table(np.arange(4)[:, None])
    assert rare_classes(as_target(["a", "b", "a", "b"], few)) == []
    assert rare_classes(as_target([1.5, 2.5, 3.5, 4.25], few)) == []


def test_rare_classes_alone_are_no_ground_for_suspicion():
    table = as_table(np.arange(24)[:, None])
    assert not disagreeing_rows(
        table, as_target([f"class {k // 2}" for k in range(24)], table)
    ).size
