"""``--max-time``: an answer within the time, and what it is certain of."""

import json
import re

import numpy as np
import pytest

from command_line import run
from shapley2d import value_cells
from shapley2d._base.time_limit import parse_time
from shapley2d._valuation.facts import Facts
from shapley2d.cli import cells as cells_command
from shapley2d.exceptions import InputError
from tests.time_limits import CountedLimit


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a width that parallel test runners set
    random = np.random.default_rng(0)
    numbers = random.normal(size=(90, 3))
    lines = [f"{a:.2f},{b:.2f},{c:.2f},{'ab'[int(a > 0)]}" for a, b, c in numbers]
    (tmp_path / "train.csv").write_text("\n".join(["size,weight,noise,kind", *lines]))


def test_it_says_how_precise_it_got_and_what_twice_the_time_would_give(capsys, monkeypatch):
    monkeypatch.setattr(cells_command, "start_clock", lambda run: CountedLimit(14, 1e-6))
    out = " ".join(run(capsys, "cells train.csv -t kind --max-time 1m").out.split())
    assert re.search(r"\(a random \d+ of 90 rows\)", out)
    assert ", stopped by the time limit of 1 min 0 s." in out
    assert "The sign is certain (95 %) of " in out
    assert re.search(r"\d+ of 270 cells, \d+ of 90 rows and \d of 3 columns", out)
    assert "twice the time would shrink the errors by about 30 %" in out


def test_the_counts_are_those_of_the_intervals():
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    v = value_cells(X, y, max_time=CountedLimit(14, 1e-6))
    low, high = v.interval()
    certain = int(((low > 0) | (high < 0)).sum())
    assert f"of {certain} of 240 cells, " in Facts.of(v).precision[-1]
    assert not [line for line in Facts.of(value_cells(X, y)).precision if "time" in line]


def test_as_json_and_with_files(capsys):
    line = "cells train.csv -t kind --max-time 1h --json -o values.parquet"
    settings = json.loads(run(capsys, line).out)["settings"]
    assert settings["max_time"] == 3600
    assert settings["time_up"] is False


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cells train.csv -t kind --max-time soon", "--max-time soon is not a time: write it as"),
        ("cells train.csv -t kind --max-time 0s", "--max-time 0s must be more than 0 seconds"),
        ("inspect train.csv --max-time 5x", "--max-time 5x is not a time: write it as"),
        ("cells train.csv -t kind --timeout 5", "--timeout (did you mean --max-time?)"),
        ("cells train.csv -t kind --time-limit 5m", "--time-limit (did you mean --max-time?)"),
        ("inspect train.csv --timeout 5", "--timeout (did you mean --max-time?)"),
        ("cells train.csv -t kind --time 5m", "No such option: --time (Possible options: --max-time,"),
    ],
)  # fmt: skip
def test_mistakes(capsys, line, message):
    assert message in run(capsys, line, 2).err


def test_times():
    times = ("90", "90s", "1.5h", "2 h", "1h30m", "1d", "5 Min")
    assert [*map(parse_time, times)] == [90, 90, 5400, 7200, 5400, 86400, 300]


@pytest.mark.parametrize("text", ["", "h", "1x", "-5m", "1h-3", "10 minutes and more"])
def test_no_times(text):
    with pytest.raises(InputError, match="is not a time"):
        parse_time(text)
