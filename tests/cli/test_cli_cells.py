"""``shapley2d cells`` and ``report`` on good input."""

import json
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pytest

from command_line import run
from shapley2d import KNN, MonteCarlo, Valuation, value_cells
from shapley2d._tables.reading.files import read_table
from shapley2d.cli.console import shown
from shapley2d.exceptions import InputWarning

RNG = np.random.default_rng(0)
N = 30
SIZE = RNG.normal(size=N).round(3)
COLOUR = RNG.choice(["red", "blue"], N)
KIND = np.where(SIZE + (COLOUR == "red") > 0.5, "yes", "no")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a width that parallel test runners set
    lines = [f"n{i},{SIZE[i]},{COLOUR[i]},{KIND[i]}" for i in range(N)]
    (tmp_path / "train.csv").write_text("\n".join(["name,size,colour,kind", *lines]))
    return tmp_path


def expected(**options):
    table = read_table("train.csv").table
    return value_cells(table.select(["size", "colour"]), KIND, **options)


def test_values_are_those_of_the_library(capsys):
    run(capsys, "cells train.csv -t kind --drop name -k 3 --cv 3 --seed 7 -o values.parquet")
    saved = Valuation.load("values.parquet")
    twin = expected(method=KNN(n_neighbors=3), cv=3, random_state=7)
    np.testing.assert_array_equal(saved.values, twin.values)
    assert saved.column_names == ["size", "colour"]


def test_groups_and_time_are_columns_that_are_no_features(capsys):
    lines = [f"{SIZE[i]},{COLOUR[i]},{KIND[i]},p{i % 7},{31 - i:02d}.03.2024" for i in range(N)]
    Path("visits.csv").write_text("\n".join(["size,colour,kind,patient,day", *lines]))
    run(
        capsys, "cells visits.csv -t kind --groups patient --drop day -k 3 --cv 3 -o values.parquet"
    )
    twin = expected(method=KNN(n_neighbors=3), cv=3, groups=[f"p{i % 7}" for i in range(N)])
    np.testing.assert_array_equal(Valuation.load("values.parquet").values, twin.values)
    _, err = run(
        capsys,
        "cells visits.csv -t kind --drop patient --time-order day -k 3 --cv 3 -o values.parquet",
    )
    with pytest.warns(InputWarning, match="7 of 30 rows train in no fold"):
        twin = expected(method=KNN(n_neighbors=3), cv=3, time_order=np.arange(N)[::-1])
    saved = Valuation.load("values.parquet")
    np.testing.assert_array_equal(saved.values, twin.values)
    assert "7 of 30 rows train in no fold" in err
    assert saved.info["splits"] == "earlier rows train, later ones validate"


def test_weights_and_scores_of_validation_rows(capsys):
    lines = [f"{SIZE[i]},{COLOUR[i]},{KIND[i]},{1 + i % 3}" for i in range(N)]
    Path("weighed.csv").write_text("\n".join(["size,colour,kind,w", *lines]))
    weights = [1 + i % 3 for i in range(N)]
    run(
        capsys,
        "cells weighed.csv -t kind --valid-weight w --scoring balanced_accuracy -k 3 -o values.parquet",
    )
    twin = expected(method=KNN(n_neighbors=3), valid_weight=weights, scoring="balanced_accuracy")
    np.testing.assert_array_equal(Valuation.load("values.parquet").values, twin.values)
    more = "--valid weighed.csv --valid-weight w -k 3 -o values.parquet"
    out = run(capsys, f"cells train.csv -t kind --drop name {more}").out
    assert "evaluated on weighed.csv (30 rows)" in out
    table = read_table("weighed.csv").table.select(["size", "colour"])
    twin = value_cells(table, KIND, table, KIND, method=KNN(n_neighbors=3), valid_weight=weights)
    np.testing.assert_array_equal(Valuation.load("values.parquet").values, twin.values)


def test_groups_are_valued(capsys):
    lines = [f"{SIZE[i]},{COLOUR[i]},{KIND[i]},p{i % 4}" for i in range(N)]
    Path("visits.csv").write_text("\n".join(["size,colour,kind,patient", *lines]))
    line = "cells visits.csv -t kind --row-groups patient -k 3 --cv 3 -o v.parquet --report r.html"
    out, _ = run(capsys, line)
    labels = [f"p{i % 4}" for i in range(N)]
    twin = expected(method=KNN(n_neighbors=3), cv=3, row_groups=labels)
    saved = Valuation.load("v.parquet")
    np.testing.assert_array_equal(saved.values, twin.values)
    assert saved.row_names.tolist() == ["p0", "p1", "p2", "p3"]
    assert "What the groups of rows add" in out and "What the columns add" in out
    assert "block is below 0" in out and "cell" not in out
    assert "<title>What every block is worth</title>" in Path("r.html").read_text()
    run(capsys, "report v.parquet -o again.html")
    summary = json.loads(run(capsys, line + " --column-groups both=size,colour --json").out)
    assert (summary["rows"], summary["columns"]) == (4, 1)
    twin = expected(method=KNN(n_neighbors=3), cv=3, row_groups=labels, column_groups=["both"] * 2)
    sums = {one["row"]: one["value"] for one in summary["row_values"]}
    assert sums == dict(zip(twin.row_names, twin.row_values.tolist(), strict=True))
    assert [*sums.values()] == sorted(sums.values())


def test_table_for_people(capsys):
    out, err = run(capsys, "cells train.csv -t kind --drop name --top 3")
    assert (
        "train.csv: 30 rows x 2 columns, predicting 'kind' (classification), evaluated on each of 5 folds"
        in out
    )
    lowest = expected().lowest(3)
    lines = out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Cells that hurt most")) + 2
    first = lines[start].split()
    assert first[:2] == [  # rows without names go by their lines
        str(lowest["row"][0].as_py() + 2),
        lowest["column"][0].as_py(),
    ]
    assert len(lines) == start + 3
    twin = expected()
    # every number against the result: the score, the columns and the cells in points
    baseline, gain = twin.info["baseline_utility"], 100 * twin.total
    assert f"Score {100 * baseline + gain:.1f} % (mean probability of the right label); " in out
    assert f"the labels alone give {100 * baseline:.1f} %. The columns add {gain:.1f} points" in out
    columns = [line.split() for line in lines[start - 5 : start - 3]]
    assert [name for name, *_ in columns] == [
        twin.column_names[j] for j in np.argsort(-twin.column_values)
    ]
    np.testing.assert_allclose(
        [float(points) for _, points, *_ in columns],
        100 * np.sort(twin.column_values)[::-1],
        atol=0.05,
    )
    np.testing.assert_allclose(
        [float(line.split()[-1]) for line in lines[start:]],
        100 * np.sort(twin.values, axis=None)[:3],
        atol=0.006,
    )
    assert "below 0" not in out  # of fewer than half of the cells that says nothing
    assert err == ""


def test_json_for_machines(capsys):
    out, err = run(
        capsys, "cells train.csv -t kind --drop name --json --top 4 -o v.csv --semivalue beta:4,1"
    )
    summary = json.loads(out)
    twin = expected(semivalue=("beta", 4, 1))
    assert summary["total"] == pytest.approx(twin.total)
    assert summary["unit"] == "mean probability of the right label; 1 is 100 points of the score"
    assert [cell["value"] for cell in summary["lowest"]] == pytest.approx(
        np.sort(twin.values, axis=None)[:4]
    )
    cell = summary["lowest"][0]
    assert cell["content"] == str({"size": SIZE, "colour": COLOUR}[cell["column"]][cell["row"]])
    assert cell["label"] == KIND[cell["row"]]
    assert cell["line"] == cell["row"] + 2
    assert summary["files"] == {"values": "v.csv"}
    assert summary["settings"]["method"] == "knn"
    assert err == ""


def test_tidy_csv_runs_no_formula(capsys, folder):
    text = (folder / "train.csv").read_text().replace("size", "=1+1")
    (folder / "train.csv").write_text(text)
    run(capsys, "cells train.csv -t kind --drop name -o values.csv")
    table = pa_csv.read_csv("values.csv")
    assert table.column_names == ["row", "line", "column", "value", "stderr"]
    assert table["column"].to_pylist()[:2] == ["'=1+1", "colour"]
    assert table.num_rows == 2 * N


def test_rows_left_out_do_not_shift_the_others(capsys, folder):
    lines = (folder / "train.csv").read_text().splitlines()
    lines[3] = lines[3].rsplit(",", 1)[0] + ","
    (folder / "train.csv").write_text("\n".join(lines))
    out, _ = run(
        capsys, "cells train.csv -t kind --drop name --drop-missing-target --json --top 1000"
    )
    cells = json.loads(out)["lowest"]
    assert {cell["row"] for cell in cells} == set(range(N)) - {2}
    assert all(cell["line"] == cell["row"] + 2 for cell in cells)


def test_validation_rows_as_a_sample(capsys):
    random = np.random.default_rng(1)
    size, colour = random.normal(size=300).round(3), random.choice(["red", "blue"], 300)
    kind = np.where(size + (colour == "red") > 0.5, "yes", "no")
    lines = [f"{one},{two},{three}" for one, two, three in zip(size, colour, kind, strict=True)]
    Path("valid.csv").write_text("\n".join(["size,colour,kind", *lines]))
    command = "cells train.csv -t kind --drop name --valid valid.csv --valid-rows auto --tolerance 0.2 -o v.parquet"
    out, _ = run(capsys, command)
    info = Valuation.load("v.parquet").info
    assert 0 < info["n_valid_used"] < info["n_valid"] == 300
    assert f"evaluated on valid.csv (a random {info['n_valid_used']} of 300 rows)" in out
    other = command.replace(" --tolerance 0.2", " --method forest")
    assert (
        "--valid-rows goes with --method knn, not with --method forest" in run(capsys, other, 2).err
    )


@pytest.mark.parametrize("model", ["tree", "logistic_regression"])
def test_a_model_means_the_same_here_and_in_python(capsys, model):
    command = "cells train.csv -t kind --drop name --method mc --max-draws 3 --tolerance 0 --cv 2"
    out, _ = run(capsys, f"{command} --model {model} --json -o values.parquet")
    twin = expected(method=MonteCarlo(model, max_draws=3, tolerance=0), cv=2)
    np.testing.assert_array_equal(Valuation.load("values.parquet").values, twin.values)
    assert json.loads(out)["settings"]["model"] == twin.info["model"]


def test_options_of_a_model_reach_it(capsys):
    command = "cells train.csv -t kind --drop name --method mc --max-draws 3 --tolerance 0 --cv 2"
    run(capsys, f"{command} --model knn -k 2 -o values.parquet")
    saved = Valuation.load("values.parquet").values
    two, ten = (
        expected(method=MonteCarlo(knn, max_draws=3, tolerance=0), cv=2).values
        for knn in (KNN(n_neighbors=2), "knn")
    )
    np.testing.assert_array_equal(saved, two)
    assert not np.array_equal(saved, ten)


def test_precision_is_noted_in_the_words_of_the_command_line(capsys):
    _, err = run(
        capsys,
        "cells train.csv -t kind --drop name --method mc --max-draws 3 --cv 2 --model ridge",
    )
    assert err.count("note: stopped at --max-draws 3: ") == 1


def test_report_with_the_values_and_from_them(capsys, folder):
    run(capsys, "cells train.csv -t kind --drop name -o values.parquet --report report.html")
    out, _ = run(capsys, "report values.parquet")
    assert out == "report: values.html\n"
    run(capsys, "report values.parquet -o other.html --title Kinds")
    for name in ("report.html", "values.html", "other.html"):
        assert (folder / name).read_text().lstrip().lower().startswith("<!doctype html>")
    assert "<title>Kinds</title>" in (folder / "other.html").read_text()
    out, _ = run(capsys, "report values.parquet --against values.parquet -o moved.html")
    assert "report: moved.html" in out
    assert "0 entries differ" in Path("moved.html").read_text(encoding="utf-8")


def test_text_from_the_table_cannot_steer_the_terminal():
    assert "\x1b" not in shown("\x1b[2J[bold]x").plain
    assert shown("[bold]x").plain == "[bold]x"
    assert len(shown("x" * 1000)) == 40
    assert "\u202e" not in shown("\u202egpj").plain


@pytest.mark.parametrize(("n", "options"), [(4, ""), (16, "-k 3"), (16, "--method forest")])
def test_the_smallest_tables(capsys, n, options):
    """Nothing crashes; no cell is called harmful that is not."""
    lines = [f"{(7 * i) % 16},{'ab'[i % 2]}" for i in range(n)]
    Path("tiny.csv").write_text("\n".join(["x,y", *lines]))
    out, _ = run(capsys, f"cells tiny.csv -t y --cv 2 --report page.html -o v.parquet {options}")
    assert out.startswith(f"tiny.csv: {n} rows x 1 column, predicting")
    v = Valuation.load("v.parquet")
    assert ("Cells that hurt most" in out) == bool((v.values < 0).any())
    assert ("No cell is below 0" in out) <= (v.values >= 0).all()
