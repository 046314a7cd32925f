"""``shapley2d cells --plan``: what it would take, and nothing else."""

import json
from pathlib import Path

import numpy as np
import pytest

from shapley2d import Plan
from shapley2d._api import cells
from shapley2d._methods.knn import cells as knn_cells
from shapley2d.cli import main
from shapley2d.cli.console import ProgressNotes, collect_notes
from shapley2d.cli.writing.plan import parse_within
from shapley2d.exceptions import InputError

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a width that parallel test runners set
    lines = [f"{RNG.normal():.2f},{RNG.normal():.2f},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "train.csv").write_text("\n".join(["size,<i>height</i>,kind", *lines]))


def test_it_says_what_it_would_take_and_does_nothing(capsys, monkeypatch):
    monkeypatch.setattr(knn_cells, "value_knn", None)  # would fail
    files = "-o values.parquet --report page.html --checkpoint state.npz"
    assert main(f"cells train.csv -t kind --plan --within 10m {files}".split()) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[:2] == [
        "plan: method knn, 30 rows x 2 columns, 30 validation rows",
        "  work      4 column subsets",
    ]
    assert "  workers   1 with a core each for 10 min 0 s" in out
    assert "Cells that hurt" not in out + err
    assert sorted(path.name for path in Path().iterdir()) == ["train.csv"]


def test_as_json(capsys):
    assert main(["cells", "train.csv", "-t", "kind", "--plan", "--within", "1h", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == "cells"
    assert (found["within"], found["workers"]) == (3600.0, 1)
    assert Plan.from_dict(found["plan"]).amounts == {"column subsets": (4, 4)}


def test_methods_without_a_price_say_so(capsys):
    assert main(["cells", "train.csv", "-t", "kind", "--plan", "--precedence", "size"]) == 0
    assert "cannot be predicted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--within 10m", "--within sets the time a plan should fit in: use it with --plan"),
        ("--plan --within soon", "--within soon is not a time: write it as 90s, 10m, 2h or 1h30m"),
        ("--plan --within 0", "--within 0 must be more than 0 seconds"),
        ("--plan --subsets all --n-neighbors 0", "--n-neighbors 0 must be"),
        ("--plan -o values.doc", "must end in .parquet or .csv"),
    ],
)
def test_mistakes(line, message, capsys):
    assert main(f"cells train.csv -t kind {line}".split()) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("1.5h", 5400),
        ("2 h", 7200),
        ("1h30m", 5400),
        ("1d", 86400),
        ("5 Min", 300),
    ],
)
def test_times(text, seconds):
    assert parse_within(text, planned=True) == seconds


@pytest.mark.parametrize("text", ["", "h", "1x", "-5m", "1h-3", "10 minutes and more"])
def test_no_times(text):
    with pytest.raises(InputError, match="is not a time"):
        parse_within(text, planned=True)


def test_long_runs_say_it_first_and_compare_it_afterwards(capsys, monkeypatch):
    monkeypatch.setattr(cells, "GUESSED_S", 0.0)
    monkeypatch.setattr(cells, "LONG_S", 0.0)
    assert main(["cells", "train.csv", "-t", "kind", "--report", "page.html", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "note: planned: " in err
    settings = json.loads(out)["settings"]
    assert len(settings["planned_s"]) == 2
    page = Path("page.html").read_text(encoding="utf-8")
    assert "0 s, planned less than a second" in page or " s, planned " in page
    assert "note: planned" not in page
    assert main(["cells", "train.csv", "-t", "kind"]) == 0


def test_plans_are_no_notes_of_the_result(capsys):
    notes = collect_notes()
    ProgressNotes().announce("planned: about 2 min")
    assert notes == []
    assert "planned: about 2 min" in capsys.readouterr().err
