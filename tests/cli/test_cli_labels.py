"""Labels are suspects too: the command tells of those that look wrong, and values them when asked."""

import json

import narwhals.stable.v2 as nw
import pyarrow as pa
import pytest
from sklearn.datasets import load_wine

from command_line import run
from shapley2d._tables.frames import entries_of

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


def test_labels_that_look_wrong_are_told(folder, capsys):
    said = run(capsys, "cells wine.csv -t kind --report r.html").err
    assert "labels in 'kind' are not those of nearly all similar rows (" in said
    assert "see which with --include-label" in said
    assert "classes of 'kind' that hardly occur: 'baroIo' once, perhaps 'barolo'" in said
    page = (folder / "r.html").read_text()
    facts = ("wine.csv", "<bdi>kind</bdi>", "classification", "What the run noted")
    assert all(fact in page for fact in (*facts, "perhaps &#39;barolo&#39;"))
    assert "kind" not in run(capsys, "cells clean.csv -t kind").err


def test_labels_are_valued_when_asked(folder, capsys):
    command = "cells wine.csv -t kind --include-label --cv 3 --n-subsets 40 --top 8 --json"
    done = run(capsys, command)
    cells = json.loads(done.out)["lowest"]
    found = {cell["row"] for cell in cells if cell["column"] == "kind"}
    assert 10 in found
    assert len(found & set(CHANGED)) >= 3
    assert "see which with" not in done.err


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.uint32()])
def test_labels_that_a_file_keeps_as_categories(index):
    words = pa.array(["b", None, "a"])
    first, second = (
        pa.DictionaryArray.from_arrays(pa.array(codes, index), words)
        for codes in ([0, 2, None, 1], [2, 2])
    )
    series = nw.from_native(pa.chunked_array([first, second]), series_only=True)
    assert entries_of(series) == ["b", "a", None, None, "a", "a"]
