"""``shapley2d blocks``: parties, copies, intervals, negative values and the audit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from command_line import errors, run
from shapley2d import Valuation

BY_KNOWN = "blocks t.csv -t default --owners owners.csv --trusted"
COMMAND = f"{BY_KNOWN} --parties anonymous"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(60, 3)).round(2), columns=["limit", "used", "dice"])
    table["default"] = np.where(table["limit"] + table["used"] > 0, "yes", "no")
    pd.concat([table, table[:10]]).to_csv("t.csv", index=False)
    (tmp_path / "owners.csv").write_text(
        "owner,row,column\nNorth,0-29,\nSouth,30-59,\nThief,60-69,\n"
    )
    return tmp_path


def test_owners_are_paid_for_cells_and_copies_count_once_by_default(capsys, folder):
    out, err = run(capsys, f"{COMMAND} --pay 1000 --json -o v.parquet")
    summary, saved = json.loads(out), Valuation.load("v.parquet")
    assert saved.info["parties"] == "anonymous" and saved.info["copies"]["rule"] == "one"
    assert saved.info["valid_parts"] == 10 and summary["audit"] is None
    assert "note: 'North' and 'Thief' have copies of the same 10 rows" in err
    assert sum(round(100 * line["amount"]) for line in summary["owners"]) == 100_000
    assert all(line["low"] <= line["amount"] <= line["high"] for line in summary["owners"])
    out, _ = run(capsys, COMMAND)
    assert "The parties are anonymous: every cell is valued by itself" in out
    assert "10 rows that repeat others count once, shared by their owners." in out


def test_the_options_of_payments_reach_the_library(capsys, folder):
    given = "--parties known --method knn --copies each --valid-parts 3 --negative owe"
    out, _ = run(capsys, f"{BY_KNOWN} {given} --pay 10 --json")
    info = json.loads(out)["settings"]
    assert (info["parties"], info["valid_parts"]) == ("known", 3)
    assert info["copies"]["rule"] == "each"
    trained = "--model tree --scoring balanced_accuracy --valid-parts 0"
    out, _ = run(capsys, f"{BY_KNOWN} {trained} --json")
    info = json.loads(out)["settings"]
    assert info["settings"] == {"scoring": "balanced_accuracy", "tolerance": 0.1}
    assert (info["parties"], info["method"]) == ("known", "exact")


def test_a_line_without_rows_and_columns_is_noted(capsys, folder):
    with (folder / "owners.csv").open("a") as file:
        file.write("Nobody,,\n")
    _, err = run(capsys, COMMAND)
    assert "Nobody both claim" in err and "100 % of what North claims" in err


def test_an_audit_is_printed_and_kept(capsys, folder):
    out, _ = run(capsys, f"{COMMAND} --pay 1000 --audit -o v.parquet --report r.html")
    assert "If South poses as two, it is paid the same" in out
    assert "Owners with copies of the same rows: North and Thief, 10." in out
    audit = Valuation.load("v.parquet").audit()
    assert (
        audit.total == 1000
        and set(audit.payments) == {"North", "South", "Thief"}
        and audit.complete
    )
    page = (folder / "r.html").read_text()
    assert "What would change it" in page and "poses as two" in page
    assert "- The sellers' rows were not looked at: that needs a validation table" in out
    assert "What was looked at" in page
    out, _ = run(capsys, f"{COMMAND} --audit --no-look")
    assert "sellers" not in out
    out, _ = run(capsys, f"{COMMAND} --pay 1000 --report r.html")
    assert "The sellers' rows were not looked at: that needs a validation table" in out
    assert "The sellers&#39; rows were not looked at" in (folder / "r.html").read_text()
    out, _ = run(capsys, f"{COMMAND} --pay 1000 --no-look")
    assert "looked at" not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--no-look", "--no-look goes with --pay or --audit: leave it out"),
        ("--audit --valid-parts 3", "--valid-parts does not go with --audit: leave one of them out"),
        ("--parties rows", "'rows' is not one of 'known', 'anonymous'"),
        ("--copies two", "'two' is not one of 'one', 'each'"),
        ("--pay 10.000", "10.000 may mean 10000 or 10.000: write 10000, or 10.00"),
        ("--pay 1e4", "1e4 is not an amount: write digits, such as 10000.50"),
        ("--pay 0.125", "--pay 0.125 has more than 2 decimals"),
        ("--negative pay", "'pay' is not one of 'zero', 'owe'"),
        ("--method knn --max-permutations 5", "--max-permutations goes with --method mc, not with knn"),
        ("--parties known --method forest", "--method forest values cells, not parties that join as wholes: use --parties anonymous"),
        ("--parties known -m knn --subsets sampled", "--subsets sampled does not go with --parties known: leave it out"),
        ("--parties anonymous --method exact", "use --method mc or --method knn"),
        ("--valid-parts 1", "--valid-parts 1 must be a whole number from 2 to"),
    ],
)  # fmt: skip
def test_wrong_combinations_are_named_in_one_line(capsys, folder, options, message):
    _, err = run(capsys, f"{COMMAND} {options}", code=2)
    assert message in " ".join(err.replace("│", " ").split())


def test_copies_are_spoken_of_in_flags(capsys, folder):
    told = run(capsys, "blocks t.csv -t default --rows clusters=3 --copies one", 2).err
    assert "--copies one is about owners" in told


@pytest.mark.parametrize("method", ["mc", "exact"])
def test_a_model_that_fails_is_told_in_one_line(method, capsys, folder, monkeypatch):
    def fail(*_, **__):
        raise ValueError("no luck\nat all")

    monkeypatch.setattr("sklearn.linear_model.LogisticRegression.fit", fail)
    command = f"{BY_KNOWN} --model logistic -m {method} --jobs 1"
    told = errors(run(capsys, command, 2).err)
    assert len(told) == 1
    assert told[0].startswith("shapley2d: error: the model cannot be trained: ")
    assert told[0].endswith("no luck at all")


def test_values_that_cannot_be_divided_are_shown_and_written(capsys, folder):
    """The nearest row is always of the other class: the columns do harm, and the run is not lost."""
    pd.DataFrame({"a": range(16), "default": ["no", "yes"] * 8}).to_csv("t.csv", index=False)
    (folder / "owners.csv").write_text("owner,row,column\nNorth,0-7,\nSouth,8-15,\n")
    command = f"{COMMAND} -k 1"
    out, err = run(capsys, f"{command} -o v.parquet --json")
    owners = json.loads(out)["owners"]
    assert sum(line["value"] for line in owners) < 0
    assert {line["owner"]: line["amount"] for line in owners} == {"North": None, "South": None}
    assert "note: no shares: no value is above 0" in err
    assert Valuation.load("v.parquet").total < 0
    out, _ = run(capsys, command)
    assert "North" in out and "%" not in out.split("Owners")[1].split("The parties")[0]
    (folder / "v.parquet").unlink()
    out, err = run(capsys, f"{command} --pay 100 -o v.parquet --report r.html", code=2)
    assert "error: no value is above 0, so the total cannot be divided" in err
    assert Valuation.load("v.parquet").total < 0 and (folder / "r.html").exists()
