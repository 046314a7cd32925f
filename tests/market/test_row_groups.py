"""Sets of rows by name: clusters of similar rows, and the entries of a column."""

from __future__ import annotations

import json
import warnings
from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shapley2d import MonteCarlo, value_blocks, value_cells
from shapley2d._base import progress
from shapley2d._base.time_limit import TimeLimit
from shapley2d._market import block_game as blocks
from shapley2d._models import training_time
from shapley2d._models.training_time import check_draws
from shapley2d._tables.convert import as_table
from shapley2d._tables.row_clusters import cluster_rows
from shapley2d.cli import main
from shapley2d.exceptions import InputError, InputWarning, OutOfTimeError
from tests.time_limits import CountedLimit

MODEL = DecisionTreeClassifier(max_depth=3, random_state=0)
JOBS = np.array(["none", "it", "law"])


def people(n=90, seed=0):
    """Three kinds of people, a text column, numbers with gaps, and a class."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 3, n)
    X = pd.DataFrame(
        {
            "age": 20.0 + 20 * kind + random.integers(0, 5, n),
            "job": JOBS[kind],
            "pay": random.normal(size=n).round(2),
        }
    )
    X.loc[random.random(n) < 0.1, "pay"] = np.nan
    X.loc[random.random(n) < 0.1, "job"] = None
    score = X["pay"].fillna(0) + 0.5 * (kind == 1)
    return X, np.where(score + 0.3 * random.normal(size=n) > 0.2, "yes", "no"), kind


def halves(n=90, seed=0):
    X, y, _ = people(2 * n, seed)
    return X[:n], y[:n], X[n:].reset_index(drop=True), y[n:]


def labels_of(X, count, seed=0):
    labels, names = cluster_rows(as_table(X), count, seed)
    return [names[k] for k in labels]


@pytest.mark.parametrize("model", [MODEL, "knn"])
def test_clusters_are_the_groups_that_they_stand_for(model):
    given = halves()
    columns = list("abc")
    found = value_blocks(*given, method=MonteCarlo(model), rows="clusters=3", columns=columns)
    labels = labels_of(given[0], 3)
    named = value_blocks(*given, method=MonteCarlo(model), rows=labels, columns=columns)
    order = [list(named.row_names).index(name) for name in found.row_names]
    np.testing.assert_allclose(found.values, named.values[order], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found.row_sizes, named.row_sizes[order])
    assert found.info["method"] == named.info["method"] == "exact"
    # largest first, and every row in one of them
    assert found.row_sizes.tolist() == sorted(found.row_sizes, reverse=True)
    assert found.row_sizes.sum() == 90
    assert found.info["settings"] == named.info["settings"]


def test_the_order_of_the_rows_changes_only_who_is_where():
    X, y, X_valid, y_valid = halves()
    random = np.random.default_rng(5).permutation(len(X))
    names = labels_of(X.iloc[random].reset_index(drop=True), 3)
    back = np.empty(len(X), dtype=object)
    back[random] = names
    pairs = set(zip(labels_of(X, 3), back, strict=True))
    assert len(pairs) == 3 and all(a == b for a, b in pairs)  # the same rows, by the same names
    one = value_blocks(X, y, X_valid, y_valid, method=MonteCarlo("gaussian_nb"), rows="clusters=3")
    other = value_blocks(X.iloc[random].reset_index(drop=True), y[random], X_valid, y_valid, method=MonteCarlo("gaussian_nb"), rows="clusters=3")  # fmt: skip
    for name, renamed in pairs:
        a, b = list(one.row_names).index(name), list(other.row_names).index(renamed)
        assert one.values[a] == pytest.approx(other.values[b], abs=1e-12)


def test_how_many_clusters_there_can_be():
    X, y, X_valid, y_valid = halves(30)
    for wrong in (0, 1, 31):
        with pytest.raises(InputError, match=rf"clusters={wrong}' must have from 2 to 30 clusters"):
            value_blocks(X, y, X_valid, y_valid, method=MonteCarlo(MODEL), rows=f"clusters={wrong}")
    with pytest.raises(InputError, match="rows='clusters' makes sets that nobody owns, but there"):
        value_blocks(X, y, X_valid, y_valid, rows="clusters", owners=[{"owner": "A"}])
    # as many as there are rows, which are then single; equal rows stay together
    table = as_table({"a": [1.0, 2.0, 4.0, 4.0], "b": ["x", "y", "z", "z"]})
    labels, names = cluster_rows(table, 4, 0)
    assert labels[2] == labels[3] and len(set(labels.tolist())) == len(names) == 3
    # some, where no number is given: ten rows in each, 40 at most
    found = value_blocks(X, y, X_valid, y_valid, method=MonteCarlo("gaussian_nb"), rows="clusters")
    assert found.shape == (3, 1)


def test_missing_entries_text_and_a_numeric_target():
    X, _, kind = people()
    y = (10.0 * kind + X["pay"].fillna(0)).to_numpy()
    model = DecisionTreeRegressor(max_depth=3, random_state=0)
    found = value_blocks(
        X, y, X, y, method=MonteCarlo(model), rows="clusters=3", columns=list("abc")
    )
    # R squared of a model on all rows, from 0 by the mean
    words = "".join(found.row_names)
    assert len(found.row_names) == 3 and all(f"job {job}" in words for job in JOBS)
    encoded = pd.get_dummies(X.assign(pay=X["pay"].fillna(X["pay"].mean())), dtype=float)
    score = DecisionTreeRegressor(max_depth=3, random_state=0).fit(encoded, y).score(encoded, y)
    assert found.total == pytest.approx(score, abs=1e-6)
    empty = X.assign(nothing=np.nan)
    with pytest.warns(InputWarning, match="column 'nothing' is empty throughout"):
        more = value_blocks(empty, y, empty, y, method=MonteCarlo(model), rows="clusters=3")
    assert more.row_sizes.tolist() == found.row_sizes.tolist()


def test_a_column_of_that_name_is_meant_before_clusters_are():
    X, y, kind = people()
    named = X.assign(clusters=np.array(["p", "q", "r"])[kind])
    found = value_blocks(named, y, X, y, method=MonteCarlo("gaussian_nb"), rows="clusters")
    assert sorted(found.row_names) == ["p", "q", "r"]


def test_a_column_gives_what_its_entries_as_labels_give():
    X, y, X_valid, y_valid = halves()
    where = np.array(["Ulm", "Bonn", "Jena"])[np.arange(90) % 3]
    options = {"columns": ["a", "a", "b"], "method": MonteCarlo(MODEL)}
    labels = value_blocks(X, y, X_valid, y_valid, rows=where, **options)
    column = value_blocks(
        X.assign(town=where), y, X_valid.assign(town="?"), y_valid, rows="town", **options
    )
    np.testing.assert_array_equal(labels.values, column.values)
    assert list(labels.row_names) == list(column.row_names)
    with pytest.raises(InputError, match=r"no column 'twon' for rows \(did you mean 'town'"):
        value_blocks(X.assign(town=where), y, X_valid, y_valid, rows="twon", **options)


def test_clusters_and_columns_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y, X_valid, y_valid = halves()
    X, X_valid = (part.assign(town=np.resize(["Ulm", "Bonn"], len(part))) for part in (X, X_valid))
    X.assign(y=y).to_csv("train.csv", index=False)
    X_valid.assign(y=y_valid).to_csv("valid.csv", index=False)
    command = (
        "blocks train.csv -t y --valid valid.csv --method mc --model gaussian_nb --json --rows"
    )
    assert main([*command.split(), "clusters=3"]) == 0
    found = json.loads(capsys.readouterr().out)
    same = value_blocks(X, y, X_valid, y_valid, method=MonteCarlo("gaussian_nb"), rows="clusters=3")
    assert {line["owner"]: line["value"] for line in found["owners"]} == pytest.approx(
        dict(zip(same.row_names, same.row_values, strict=True)), abs=1e-12
    )
    assert main([*command.split(), "clusters=99"]) == 2
    assert "--rows clusters=99 must have from 2 to 90 clusters" in capsys.readouterr().err
    assert main([*command.split(), "job"]) == 2
    assert "--rows job is empty in 7 of 90 rows, first in line 22" in capsys.readouterr().err
    assert main([*command.split(), "town"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {line["owner"] for line in found["owners"]} == {"Ulm", "Bonn"}


def test_a_short_time_is_spent_on_draws_in_one_fold_rather_than_on_all_folds(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "training_seconds", lambda _game: 0.3)
    X, y, _ = people()
    asked = {"rows": "clusters=20", "method": MonteCarlo(MODEL), "progress": False}
    found = value_blocks(X, y, max_time=CountedLimit(8, left=60.0), **asked)
    assert found.info["method"] == "mc" and found.info["time_up"]
    assert (found.info["folds"], found.info["folds_made"], found.info["n_valid"]) == (1, 5, 18)
    found.to_html(tmp_path / "r.html")
    assert "on 1 of 5 folds" in (tmp_path / "r.html").read_text()
    assert 18 * found.total == pytest.approx(round(18 * found.total), abs=1e-9)  # of 18 rows
    longer = value_blocks(X, y, max_time=CountedLimit(8), **asked)
    assert longer.info["folds"] == 5 and "folds_made" not in longer.info


def test_few_groups_are_sampled_where_there_is_no_time_for_all_subsets(monkeypatch):
    monkeypatch.setattr(blocks, "training_seconds", lambda _game: 1.0)
    X, y, X_valid, y_valid = halves()
    asked = {"rows": "clusters=6", "method": MonteCarlo(MODEL), "progress": False}
    found = value_blocks(X, y, X_valid, y_valid, max_time=CountedLimit(8, left=100.0), **asked)
    assert found.info["method"] == "mc" and found.info["time_up"]
    assert np.isfinite(found.interval()).all() and found.stderr.max() > 0
    longer = CountedLimit(1000, left=200.0)
    enough = value_blocks(X, y, X_valid, y_valid, max_time=longer, **asked)
    assert enough.info["method"] == "exact"  # 2^7 utilities


def test_a_model_that_is_too_slow_for_the_time_names_the_groups_that_fit(monkeypatch):
    for module in (training_time, blocks):
        monkeypatch.setattr(module, "training_seconds", lambda _game: 1.0)
    X, y, X_valid, y_valid = halves()
    with pytest.raises(
        OutOfTimeError,
        match=r"90 x 3 players are 270 trainings .* rows='clusters=40'.* method='forest'$",
    ):
        value_cells(
            X, y, X_valid, y_valid, method=MonteCarlo(MODEL), max_time=CountedLimit(6, left=400.0)
        )
    asked = {"rows": "clusters=20", "columns": list("abc"), "method": MonteCarlo(MODEL)}
    with pytest.raises(
        OutOfTimeError,
        match=r"20 x 3 players are 60 trainings .* together: rows='clusters=10'; with the columns: "
        r"rows='clusters=3'$",
    ):
        value_blocks(X, y, X_valid, y_valid, max_time=CountedLimit(6, left=100.0), **asked)
    with pytest.raises(OutOfTimeError, match=r"60 trainings .* takes 8 draws. Give it more time$"):
        value_blocks(X, y, X_valid, y_valid, max_time=CountedLimit(6, left=1.0), **asked)
    # the number of clusters is one for which ten draws fit
    game = SimpleNamespace(n_rows=100, n_columns=5)
    with pytest.raises(OutOfTimeError, match=r"with the columns: rows='clusters=8'$"):
        check_draws(TimeLimit.of("1m"), 500.0, game, 400.0)  # a training takes a second


def test_progress_within_a_time_limit_tells_the_time_to_its_end(monkeypatch):
    monkeypatch.setattr(blocks, "training_seconds", lambda _game: 0.01)
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    heard, clock = [], count(0.0, 11.0)  # nothing is told of the first ten seconds alone
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    limit = CountedLimit(8, left=7.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value_blocks(X, y, X, y, method=MonteCarlo(MODEL, tolerance=0), rows=np.arange(40) % 14, valid_parts=0, max_time=limit, n_jobs=1, progress=lambda *report: heard.append(report[1]))  # fmt: skip
    assert any(note.endswith(" 7 s left") for note in heard)
    assert not any(" h " in note or "day" in note for note in heard)
