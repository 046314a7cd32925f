"""Dirty tables run at the first try, or get one message with the command that will."""

import io
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv as pa_csv
import pytest

from command_line import run
from shapley2d import Valuation, value_cells
from shapley2d.cli import main

RNG = np.random.default_rng(3)
N = 60
AMOUNT = RNG.uniform(500, 5000, N).round(2)
KIND = np.where(AMOUNT + RNG.normal(0, 900, N) > 2500, "yes", "no")


def dirty_csv():
    """Strays, words for nothing, thousands separators, percent signs, dates, decimal commas, codes, text."""
    frame = pd.DataFrame(
        {
            "amount": [f"{x:,.2f}" for x in AMOUNT],
            "share": [f"{x:.1f}%" for x in RNG.uniform(0, 100, N)],
            "size": RNG.normal(size=N).round(3).astype(str),
            "weight": [f"{x:.1f}".replace(".", ",") for x in RNG.uniform(1, 9, N)],
            "day": [f"{k % 28 + 1}.{k % 12 + 1}.2023" for k in range(N)],
            "code": RNG.choice(["1", "2", "K"], N),
            "kind": KIND,
        }
    )
    frame.loc[4, "amount"], frame.loc[9, "amount"], frame.loc[11, "share"] = "see note", "-", "N/A"
    frame.loc[7, "size"], frame.loc[8, "size"], frame.loc[5, "day"] = "??", "?", "soon"
    return frame.to_csv(index=False)


DIRTY = dirty_csv()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "dirty.csv").write_text(DIRTY)
    return tmp_path


READERS = {
    "pandas": lambda text: pd.read_csv(io.StringIO(text)),
    "pandas texts": lambda text: pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False),
    "pandas objects": lambda text: pd.read_csv(io.StringIO(text)).astype(object),
    "polars": lambda text: pl.read_csv(io.StringIO(text)),
    "pyarrow": lambda text: pa_csv.read_csv(io.BytesIO(text.encode())),
}


def test_the_command_line_and_frames_agree_to_the_bit(capsys):
    run(capsys, "cells dirty.csv -t kind -o values.parquet")
    saved = Valuation.load("values.parquet")
    strays = [(4, 0, "see note", "number"), (7, 2, "??", "number"), (5, 4, "soon", "date")]
    for name, read in READERS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            v = value_cells(read(DIRTY), "kind")
        np.testing.assert_array_equal(saved.values, v.values, err_msg=name)
        assert saved._table.strays == v._table.strays == strays, name


def test_strays_are_noted_and_listed_first(capsys):
    out, err = run(capsys, "cells dirty.csv -t kind --top 2")
    assert (
        "note: dirty.csv: 3 entries do not match their column's type and are treated as missing: "
        "column 'amount' has 1 that is not a number" in err
    )
    assert "read the column as text with --text amount --text size --text day" in err
    assert "column 'weight': read with decimal commas" in err
    lines = out.splitlines()
    start = next(
        k for k, line in enumerate(lines) if line.startswith("Entries to check first (2 of 3)")
    )
    assert lines[start + 2].split() == ["6", "amount", "see", "note", "number"]
    assert lines[start + 3].split()[:3] == ["9", "size", "??"]
    assert any(line.startswith("Cells that hurt most") for line in lines[start + 4 :])


def test_strays_for_machines_and_in_the_result(capsys):
    out, _ = run(capsys, "cells dirty.csv -t kind --json -o v.parquet --report report.html")
    strays = json.loads(out)["strays"]
    assert strays[0] == {
        "row": 4, "line": 6, "column": "amount", "content": "see note", "kind": "number"}  # fmt: skip
    v = Valuation.load("v.parquet")
    assert v.strays.to_pylist()[1] == {
        "row": 7,
        "line": 9,
        "column": "size",
        "content": "??",
        "kind": "number",
    }
    assert "3 entries to check first" in repr(v)
    assert v.row_names.tolist() == list(range(N))
    page = Path("report.html").read_text()
    assert '<span class="muted">line</span> <bdi>6</bdi>, <b><bdi>amount</bdi></b>' in page
    assert "3 entries do not match their column's type and are treated as missing." in page
    assert page.index('<bdi class="entry">see note</bdi>') < page.index("Look at these first")
    assert v._contents[0][0] == f"{AMOUNT[0]:,.2f}"  # as it stands in the file
    np.testing.assert_array_equal(
        v._table.columns[0].entries, np.where(np.isin(range(N), [4, 9]), np.nan, AMOUNT)
    )
    assert v._table.columns[3].entries[0] < 10  # decimal commas survive the file


def test_kinds_are_as_the_user_says(capsys):
    options = "--number code --text size --date day --text share"
    assert main(["cells", "dirty.csv", "-t", "kind", "--json", *options.split()]) == 0
    out, _ = capsys.readouterr()
    summary = json.loads(out)
    assert {stray["column"] for stray in summary["strays"]} == {"amount", "code", "day"}
    kinds = {"code": "number", "size": "text", "day": "date", "share": "text"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twin = value_cells(READERS["pandas"](DIRTY), "kind", kinds=kinds)
    assert summary["total"] == twin.total
    assert "kinds={" in summary["settings"]["call"]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("hospital", "score"), ("flights", "sched_dep_time"), ("beers", "abv"), ("rayyan", "article_jissue"),
        *(pytest.param(*one.split(), marks=pytest.mark.slow) for one in (
            "hospital condition", "hospital provider_number", "flights flight", "beers style", "beers ounces",
            "rayyan article_language",
        )),
    ],
)  # fmt: skip
def test_real_tables_need_one_message_at_most(capsys, paper_data, name, target):
    table = str(paper_data / "dirty" / f"{name}-dirty.csv.gz")
    quick = ["--subsets", "sampled", "--n-subsets", "8", "--valid-rows", "auto", "--tolerance", "9"]
    code = main(["cells", table, "-t", target, *quick])
    err = capsys.readouterr().err
    if code:
        assert err.splitlines()[-1].count("(--drop-missing-target)") == 1
        assert main(["cells", table, "-t", target, *quick, "--drop-missing-target"]) == 0


def test_real_columns_have_the_kinds_that_a_person_would_give_them(paper_data):
    from shapley2d._tables.convert import as_table

    def kinds(name):
        table = as_table(paper_data / "dirty" / f"{name}-dirty.csv.gz")
        return {
            column.name: (column.kind, len(column.from_text.strays)) for column in table.columns
        }

    hospital, beers, rayyan, flights = map(kinds, ("hospital", "beers", "rayyan", "flights"))
    assert hospital["zip"] == ("number", 30) and hospital["score"] == ("number", 23)
    assert hospital["state"] == hospital["measure_code"] == hospital["address_2"] == ("category", 0)
    assert beers["abv"] == beers["ibu"] == ("number", 0) and beers["ounces"] == ("category", 0)
    assert rayyan["article_jcreated_at"] == ("date", 0) and rayyan["article_pagination"] == (
        "category",
        0,
    )
    assert rayyan["journal_issn"] == ("category", 0) and flights["sched_dep_time"] == (
        "category",
        0,
    )
