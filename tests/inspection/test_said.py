"""What an inspection says as a whole: its headline, findings that stand out, rows that repeat."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from command_line import run
from inspected_table import people
from shapley2d import inspect_cells
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.said import headline, stands_out
from shapley2d.cli import main


def shop(n=300, seed=0):
    """A clean table; the seed makes other orders of the same shop."""
    random = np.random.default_rng(seed)
    days = random.integers(1, 30, n)
    return pd.DataFrame(
        {
            "days": days,
            "cost": (3.0 * days + random.normal(0, 0.5, n)).round(2),
            "city": random.choice(["Ulm", "Bonn", "Kiel", "Jena"], n),
        }
    )


@pytest.fixture(scope="module")
def trusted():
    return inspect_cells(shop(), progress=False)


CHANGES = {
    "other unit": (lambda X: X.assign(days=24 * X["days"], cost=X["cost"]), "new range"),
    "unknown cities": (lambda X: X.assign(city=[f"Town {k % 7}" for k in range(len(X))]), "new category"),
    "one column more": (lambda X: X.assign(extra=1), "new column"),
    "one column less": (lambda X: X.drop(columns="cost"), "missing column"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_finding_about_a_whole_column_stops_the_gate(change, trusted, tmp_path, capsys):
    make, kind = CHANGES[change]
    trusted.save(tmp_path / "known.parquet")
    make(shop(100, 1)).to_csv(tmp_path / "new.csv", index=False)
    call = (
        f"inspect {tmp_path}/new.csv --reference {tmp_path}/known.parquet "
        f"--report {tmp_path}/page.html --json"
    )
    said = json.loads(run(capsys, call).out)
    assert kind in {one["kind"] for one in said["findings"] if one["stands_out"]}
    assert "stand" in said["headline"] and "finding" in said["headline"]
    assert f"{said['headline'][1:]}</title>" in (tmp_path / "page.html").read_text("utf-8")
    told = run(capsys, f"{call} --fail-if findings", code=3).err
    assert "out (--fail-if findings)" in told
    assert main(f"{call} --fail-if 100000,findings".split()) == 3
    assert main(f"{call} --fail-if 100000".split()) == 0


def test_a_twin_of_the_reference_passes(trusted, tmp_path, capsys):
    trusted.save(tmp_path / "known.parquet")
    shop(100, 2).to_csv(tmp_path / "new.csv", index=False)
    call = f"inspect {tmp_path}/new.csv --reference {tmp_path}/known.parquet"
    out = run(capsys, f"{call} --fail-if 0 --fail-if findings").out
    assert "; nothing stands out\n" in out


@pytest.mark.parametrize("words", ["finding", "-1", "1.5", "3,4", "", "findings,x"])
def test_a_gate_that_is_not_known_is_refused(words, capsys):
    told = run(capsys, f"inspect nowhere.csv --fail-if '{words}'", code=2).err
    assert "--fail-if" in told and told.count("\n") == 1
    assert "give a number of entries, findings, or both as 0,findings" in told


def test_rows_that_are_there_twice_are_findings(trusted):
    X = shop(120)
    assert not [f for f in inspect_cells(X, progress=False).findings if f.kind == "repeated rows"]
    twice = pd.concat([X, X.iloc[10:60]], ignore_index=True)
    found = inspect_cells(twice, progress=False)
    (told,) = [one for one in found.findings if one.kind == "repeated rows"]
    assert told.rows.tolist() == [*range(120, 170)]
    assert told.text.startswith("50 of 170 rows repeat earlier ones, such as row 120: check")
    assert headline(found) == "1 finding stands out, but no entry does"
    again = inspect_cells(shop().iloc[:30], reference=trusted, progress=False)
    (told,) = [one for one in again.findings if one.kind == "known rows"]
    assert "30 of 30 rows are in the reference already" in told.text
    assert repr(again).startswith("Inspection of 30 rows x 3 columns: 1 finding stands out, but")


def test_rows_of_few_entries_repeat_by_chance():
    random = np.random.default_rng(0)
    X = pd.DataFrame({name: random.choice([*"abcde"], 1000) for name in "xyz"})
    assert not [f for f in inspect_cells(X, progress=False).findings if f.kind == "repeated rows"]


def test_few_entries_are_no_finding_about_the_table():
    def one(n, probability=0.9, kind="codes"):
        return ColumnFinding(("a",), kind, "so", np.arange(n), {}, probability)

    assert not stands_out(one(9), 12) and stands_out(one(10, 0.1), 12)
    assert not stands_out(one(10, 0.5), 100) and stands_out(one(10, 0.6), 100)
    assert not stands_out(one(0, 0.0, "key"), 100) and stands_out(one(0, 0.0, "moved"), 100)


@pytest.mark.parametrize("n", [5, 40])
def test_the_printed_list_fits_a_narrow_screen(n):
    table, label = people()
    found = inspect_cells(table, label, progress=False)
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        lines = str(found.rank(n)).splitlines()
    assert max(map(len, lines)) <= 80
    head = lines[0].split()
    assert head == ["row", "column", "entry", "expected", "probability", "sure", "why"]
    assert "far off for its row" in "".join(lines) and len(lines) == n + 1
