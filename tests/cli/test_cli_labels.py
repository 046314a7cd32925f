"""Labels are suspects too: the command tells of those that look wrong, and values them when asked."""

from __future__ import annotations

import json
import shlex

import pytest
from sklearn.datasets import load_wine

from shapley2d.cli import main

CHANGED = {
    3: "barbera",
    40: "grignolino",
    80: "barbera",
    120: "barolo",
    150: "barolo",
    170: "grignolino",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, y = load_wine(return_X_y=True, as_frame=True)
    table = X.assign(kind=y.map({0: "barolo", 1: "grignolino", 2: "barbera"}))
    table.to_csv(tmp_path / "clean.csv", index=False)
    table.loc[list(CHANGED), "kind"] = list(CHANGED.values())
    table.loc[10, "kind"] = "baroIo"
    table.to_csv(tmp_path / "wine.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, command):
    assert main(shlex.split(command)) == 0
    return capsys.readouterr()


def test_labels_that_look_wrong_are_told(folder, capsys):
    said = run(capsys, "cells wine.csv -t kind --method random").err
    assert "labels in 'kind' look wrong" in said
    assert "see which with --include-label" in said
    assert "classes of 'kind' that hardly occur: 'baroIo' once, perhaps 'barolo'" in said
    assert "kind" not in run(capsys, "cells clean.csv -t kind --method random").err


def test_labels_are_valued_when_asked(folder, capsys):
    done = run(
        capsys, "cells wine.csv -t kind --include-label --cv 3 --n-subsets 40 --top 8 --json"
    )
    cells = json.loads(done.out)["lowest"]
    found = {cell["row"] for cell in cells if cell["column"] == "(label)"}
    assert 10 in found
    assert len(found & set(CHANGED)) >= 3
    assert "see which with" not in done.err


def test_the_report_says_where_it_comes_from(folder, capsys):
    run(capsys, "cells wine.csv -t kind --method random --report r.html")
    page = (folder / "r.html").read_text()
    for fact in (
        "wine.csv",
        "<bdi>kind</bdi>",
        "classification",
        "What the run noted",
        "perhaps &#39;barolo&#39;",
    ):
        assert fact in page
