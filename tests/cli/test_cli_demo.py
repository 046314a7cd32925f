"""The demo: what is injected, how it is counted, what it finds."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import shapley2d
from command_line import run
from shapley2d import Valuation
from shapley2d._tables.convert import as_table
from shapley2d.cli import main
from shapley2d.cli.demo import KINDS
from shapley2d.datasets import load_breast_cancer_original


def as_array(table):
    return np.array(
        [[np.nan if x is None else x for x in row.values()] for row in table.to_pylist()],
        dtype=float,
    )


def once(real):
    """A function that answers as it did the first time."""
    kept = []

    def answer(*given, **named):
        if not kept:
            kept.append(real(*given, **named))
        return kept[0]

    return answer


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The summary of one run, and its folder; another run takes its values and its inspection."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("value_cells", "inspect_cells", "measure_repair"):
            patch.setattr(shapley2d, name, once(getattr(shapley2d, name)))
        with pytest.MonkeyPatch.context() as first:
            first.chdir(folder)
            printed = []
            first.setattr("shapley2d.cli.demo.print_json", printed.append)
            assert main(["demo", "--json"]) == 0
        yield json.loads(json.dumps(printed[0])), folder / "shapley2d-demo"


def test_one_in_fifty_cells_is_changed_to_an_entry_that_the_table_could_hold(demo):
    X, y = load_breast_cancer_original("pyarrow")
    entries = as_array(X)
    summary, folder = demo
    written = as_table(folder / "table.csv").native
    assert written["class"].to_pylist() == y.tolist()
    corrupted = as_array(written.drop_columns(["class"]))
    np.testing.assert_array_equal(np.isnan(corrupted), np.isnan(entries))
    present = ~np.isnan(entries)
    assert (corrupted != entries)[present].sum() == summary["injected"] == 126
    assert set(corrupted[present]) == set(range(1, 11))


def test_it_finds_more_than_rows_and_chance(demo):
    summary, folder = demo
    saved = Valuation.load(folder / "values.parquet")
    original = as_array(load_breast_cancer_original("pyarrow")[0])
    corrupted = as_array(as_table(folder / "table.csv").native.drop_columns(["class"]))
    changed = ~np.isnan(original) & (original != corrupted)
    for part in summary["inspected"]:
        order = np.argsort(saved.values, axis=None)[: part["cells"]]
        assert part["found"] == pytest.approx(changed.ravel()[order].sum(), abs=1)
        assert part["found"] > 2 * part["found_by_rows"]
        assert part["found"] > 5 * part["by_chance"]
        assert part["found_by_inspection"] > part["found"]
    assert summary["gain"]["interval"][0] < summary["gain"]["gain"] < summary["gain"]["interval"][1]
    assert "decided of the" in (folder / "page.html").read_text()
    assert (folder / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_the_evidence_quotes_the_demo(demo):
    page = (Path(__file__).parents[2] / "docs" / "evidence" / "inspection.md").read_text()
    quoted = re.findall(r"^ *\d+% = (\d+) cells +(\d+) +(\d+) +(\d+)", page, re.MULTILINE)
    names = ("cells", "found_by_inspection", "found", "found_by_rows")
    found = [[part[name] for name in names] for part in demo[0]["inspected"]]
    np.testing.assert_allclose(np.array(quoted, dtype=float), found, atol=1)


def test_the_transcript(demo, tmp_path, capsys, monkeypatch):
    saved = Valuation.load(demo[1] / "values.parquet")
    monkeypatch.setattr("shapley2d.cli.demo._SHOWN", 126)
    monkeypatch.chdir(tmp_path)
    out = run(capsys, "demo --out again").out
    assert "126 of its 6,291 cells were corrupted" in out
    assert saved.lines.tolist() == list(range(2, 701))
    assert out.count("\nline  column ") == 1
    assert "place  line  column" in out and "points  error" in out
    assert "e-0" not in out
    assert "10% = 629 cells" in out
    likely, harmful = out.split("Most harmful to a model first")
    for kind in KINDS:
        assert harmful.count(f"{kind}, was ") == 42
    assert 40 < likely.count(", was ") < 126  # the likeliest, right and wrong ones
    assert "shapley2d cells again/table.csv --target class" in out
    last = out.strip().splitlines()[-1]
    assert last.startswith(
        "Replacing the first 2%, 126 entries, by the expected ones: share of right neighbours"
    )
