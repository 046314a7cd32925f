"""The demo: what is planted, how it is counted, what it finds."""

import json

import numpy as np
import pytest

from shapley2d import Valuation
from shapley2d._tables.reading.files import read_table
from shapley2d.cli import main
from shapley2d.cli.planting import plant_errors
from shapley2d.datasets import load_breast_cancer_original


@pytest.fixture(scope="module")
def table():
    X, y = load_breast_cancer_original("pyarrow")
    entries = np.array(
        [[np.nan if x is None else x for x in row.values()] for row in X.to_pylist()], dtype=float
    )
    return entries, y


@pytest.fixture(scope="module")
def planted(table):
    return plant_errors(*table)


def test_planted_errors_change_one_in_fifty_cells(table, planted):
    entries, _ = table
    different = ~((planted.entries == entries) | (np.isnan(planted.entries) & np.isnan(entries)))
    np.testing.assert_array_equal(different, planted.changed)
    kinds, counts = np.unique(planted.kinds[planted.changed], return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {
        "swapped": 42,
        "typo": 42,
        "unlikely": 42,
    }
    assert np.nanmin(planted.entries) >= 1 and np.nanmax(planted.entries) <= 10


def test_each_kind_is_what_it_says(table, planted):
    entries, labels = table
    for i, j in np.argwhere(planted.kinds == "typo"):
        assert {planted.entries[i, j], entries[i, j]} == {1, 10} or abs(
            planted.entries[i, j] - entries[i, j]
        ) == 3
    for i, j in np.argwhere(planted.kinds == "unlikely"):
        assert (entries[labels == labels[i], j] == planted.entries[i, j]).mean() < 0.02
    for j in range(entries.shape[1]):
        swapped = planted.kinds[:, j] == "swapped"
        assert sorted(planted.entries[swapped, j]) == sorted(entries[swapped, j])
        assert (labels[swapped] == "benign").sum() == (labels[swapped] == "malignant").sum()


def test_planting_repeats_itself(table, planted):
    np.testing.assert_array_equal(plant_errors(*table).entries, planted.entries)
    assert not np.array_equal(plant_errors(*table, seed=1).kinds, planted.kinds)


def test_demo_finds_more_than_rows_and_chance(tmp_path, capsys, planted, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["planted"] == 126
    folder = tmp_path / "shapley2d-demo"
    saved = Valuation.load(folder / "values.parquet")
    for line in summary["inspected"]:
        order = np.argsort(saved.values, axis=None)[: line["cells"]]
        assert line["found"] == pytest.approx(planted.changed.ravel()[order].sum(), abs=1)
        assert line["found"] > 2 * line["found_by_rows"]
        assert line["found"] > 5 * line["by_chance"]
    written = read_table(str(folder / "table.csv")).table
    assert written.shape == (699, 10)
    assert written["class"].to_pylist()[0] == "benign"
    assert (folder / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")

    monkeypatch.setattr("shapley2d._api.cells.value_cells", lambda *_, **__: saved)  # it is the same again
    assert main(["demo", "--out", "again"]) == 0
    out = capsys.readouterr().out
    assert "126 of its 6291 cells were spoiled" in out
    assert "10% = 629 cells" in out
    assert ", was " in out
    assert "The same by hand: shapley2d cells again/table.csv --target class" in out
