"""Text of a table on the terminal does nothing but stand there; streams that are closed or full are no bugs."""

import itertools
import json
import os
import re
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from command_line import errors, run
from shapley2d._base.words import printable
from shapley2d._valuation.valuation import Valuation
from shapley2d.cli import main
from shapley2d.cli.outputs import harmless

COMMAND = [sys.executable, "-m", "shapley2d"]
EVIL = "a\x1b]0;owned\x07\x1b[2J\x7f\x9b31m\u202eb\u2028\x00\r"
BAD = ("Cc", "Cf", "Cs", "Zl", "Zp")


def control(text):
    return [letter for letter in text if letter != "\n" and unicodedata.category(letter) in BAD]


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Files whose names, columns, entries and labels all carry escape sequences."""
    monkeypatch.chdir(tmp_path)
    name = "t\x1b[31m\u202e.csv"
    column = EVIL.replace("\r", "").replace("\0", "") + "z"
    header = f'"{column}","n{column}","key{column}","y{column}"'
    rows = [
        f"{column}{k % 3},{k % 5 if k else 'x' + column},{column}{k},u{column}{k % 2}"
        for k in range(30)
    ]
    (tmp_path / name).write_text("\n".join([header, *rows]), encoding="utf-8")
    return name, column


def cells(*options):
    """A command on the table above; C stands for the name of its column."""
    return lambda name, c: [
        "cells", name, "-t", f"y{c}", "-k", "3", *(one.replace("C", c) for one in options)
    ]  # fmt: skip


CALLS = [
    cells("--drop", "keyC"),
    cells("--drop", "keyC", "--json"),
    cells("--id", "keyC", "-o", "vC.csv"),
    cells("--id", "keyC", "--report", "vC.html"),
    cells(),  # looks like a key
    cells("-t", "keyC"),
    cells("-t", "Cz"),  # did you mean
    cells("--drop", "\x1b[1m"),
    cells("--encoding", "C"),
    cells("--separator", "\x1b[1m"),
    cells("-o", "nowhere\x1b[1m/C.csv"),
    cells("--semivalue", "C"),
    cells("--task", "C"),
    lambda name, c: [
        "cells", name, "-t", f"y{c}", "--drop", f"key{c}", "--row-groups", c, "-k", "3",
    ],
    lambda name, c: ["cells", "no" + name, "-t", c],
    lambda name, c: [f"cells{c}"],
    lambda name, c: ["report", f"no{c}.parquet"],
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_no_escape_sequence_reaches_the_terminal(evil, capsys, call):
    code = main(call(*evil))
    out, err = capsys.readouterr()
    assert code in (0, 2)
    assert not control(out)
    assert not control(err)


def test_json_is_still_json(evil, capsys):
    name, column = evil
    assert main(cells("--drop", "keyC", "--json")(name, column)) == 0
    out, _ = capsys.readouterr()
    assert json.loads(out)["target"] == f"y{column}"
    assert json.loads(out)["file"] == name


@pytest.mark.parametrize("letter", ["é", "日", "👩\u200d💻", "a\u200cb", " "])
def test_letters_of_all_languages_stay(letter):
    assert printable(letter) == letter


def test_representations_in_python_are_printable():
    values, zeros = np.array([[0.5, 0.25]]), np.zeros((1, 2))
    assert not control(repr(Valuation(values, zeros, np.array([EVIL]), [EVIL, "b"])))
    groups = {"players": ("group of rows", "column")}
    assert not control(repr(Valuation(values, zeros, np.array([EVIL]), [EVIL, "b"], info=groups)))


FORMULAS = [
    "=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\n\n=1", " =1", "\n", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM",
    "\ufeff=1", "\u3000\uff1d1", "\x0b=1", "\xa0=1", "\u200b=1", "\x00=1",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_spreadsheet_runs_nothing(text):
    assert harmless(pa.chunked_array([[text, "plain", "a=b", ""]])).to_pylist() == [
        f"'{text}",
        "plain",
        "a=b",
        "",
    ]


# streams


@pytest.fixture
def table(tmp_path):
    rows = [f"{k * k % 11},{k % 3},{'uv'[k % 2]}" for k in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]))
    return tmp_path


def shell(folder, line, **more):
    return subprocess.run(
        ["/bin/sh", "-c", line.replace("RUN", f"{sys.executable} -m shapley2d cells t.csv -t y")],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False, env=os.environ | more,
    )  # fmt: skip


posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@posix
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("RUN >&-", 2, "standard output is closed: send it to a file or to /dev/null"),
        ("RUN 2>&- >/dev/null", 0, ""),
        ("RUN 1</dev/null", 2, "Bad file descriptor"),
    ],
)
def test_closed_streams(table, line, code, message):
    done = shell(table, line)
    told = [f"shapley2d: error: {message}"] if message else []
    assert (done.returncode, errors(done.stderr)) == (code, told)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_stdout(table):
    done = shell(table, "RUN >/dev/full")
    assert done.returncode == 2
    (told,) = errors(done.stderr)
    assert "the disk is full" in told


@posix
def test_nobody_reads_stderr(table):
    assert shell(table, "{ RUN --drop z 2>&1 >/dev/null; echo $? >code; } | true").returncode == 0
    for _ in range(200):  # a shell need not wait for all of a pipeline
        if (table / "code").exists() and (table / "code").read_text():
            break
        time.sleep(0.1)
    assert (table / "code").read_text() == "2\n"


@posix
def test_closed_input(table):
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m shapley2d cells - -t y <&-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, errors(done.stderr)) == (
        2,
        ["shapley2d: error: standard input is closed: name a file instead of -"],
    )


@posix
def test_letters_that_the_encoding_does_not_have_are_escaped(table):
    (table / "t.csv").write_text(
        (table / "t.csv").read_text().replace("a,b,y", "größe,b,y"), encoding="utf-8"
    )
    done = shell(table, "RUN", PYTHONIOENCODING="ascii", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert r"gr\xf6\xdfe" in done.stdout


# long work without a terminal


def test_long_work_is_announced_without_a_terminal(capsys, monkeypatch):
    from shapley2d.cli import console

    clock = iter([0.0, 1.0, 12.0, 13.0, 30.0, 70.0, 71.0, 140.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    tell = console.ProgressNotes().report
    tell(0.01, "1 of 100", 90.0)
    tell(0.1, "10 of 100", 108.0)  # 12 s
    tell(0.11, "11 of 100", 100.0)
    tell(0.0, "2 permutations", None)  # 30 s
    tell(0.95, "95 of 100", 4.0)  # 70 s: nearly done
    tell(1.0, "100 of 100", 0.0)
    tell(0.2, "sample", 3600.0)
    assert capsys.readouterr().err.splitlines() == [
        "note: 10% done after 12 s, about 1 min 48 s left (10 of 100)",
        "note: after 30 s (2 permutations)",
        "note: 20% done after 2 min 20 s, about 1 h 0 min left (sample)",
    ]


@pytest.fixture
def slow(monkeypatch):
    """Some minutes pass between any two looks at the clock of a run."""
    from shapley2d._base import progress

    monkeypatch.setattr(progress, "_MINUTES", 1)  # how long it takes is not of interest
    clock = itertools.count(0.0, 300.0)
    monkeypatch.setattr(progress, "now", lambda: next(clock))


IN_TIME = "--max-time 1m gives the best answer within a minute"
SAMPLED = "--method mc --max-time 1m samples for a minute"
FOREST = "--method forest values the cells under a forest in about 1 s"


@pytest.mark.parametrize(
    ("command", "ways"),
    [
        ("cells -m mc --model gaussian_nb --max-draws 20", [IN_TIME, FOREST]),
        ("cells -m mc --model tree --max-draws 20 --scoring f1", [IN_TIME]),
        ("cells -m exact --model gaussian_nb --cv 2", [SAMPLED, FOREST]),
        ("cells -m knn", [IN_TIME, FOREST]),
        ("cells -m knn --max-time 9h", [FOREST]),
        ("cells -m forest --max-draws 80", [IN_TIME]),
        ("cells -m forest --model random_forest", []),
        ("inspect", [IN_TIME]),
    ],
)
def test_a_long_command_says_what_takes_less_time(command, ways, tmp_path, capsys, slow):
    """Once, and where standard error is no terminal too."""
    rows = [f"{k * k % 7},{k},{'st'[k % 3 > 0]},{int(k > 5)}" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *rows]))
    name, *options = command.split()
    target = [] if name == "inspect" else ["-t", "y"]
    assert main([name, str(tmp_path / "t.csv"), *target, *options]) == 0
    err = capsys.readouterr().err.splitlines()
    (said,) = (line for line in err if line.startswith("note: About "))
    assert re.sub(r"^note: About .+? left\. ?", "", said) == (f"{'; '.join(ways)}." if ways else "")


def test_cells_say_before_they_start_what_a_forest_would_take(tmp_path, capsys, monkeypatch):
    from shapley2d._forest import method as forest
    from shapley2d._knn import method as knn

    begun, solve = [], knn.KNN.solve
    monkeypatch.setattr(knn, "TRIPLES_PER_S", 1.0)  # 5 folds of 3 x 12 rows, under 4 subsets
    monkeypatch.setattr(forest, "CELLS_PER_S", 1.0)
    monkeypatch.setattr(
        knn.KNN, "solve", lambda *given: begun.append(capsys.readouterr().err) or solve(*given)
    )
    rows = [f"{k},{k * k % 7},{'uv'[k % 2]}" for k in range(15)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]))
    for options, words in (
        ("", ["note: Up to about 12 min. ", "under a forest in about 31 s."]),
        ("--max-time 9h", []),  # who names a time knows it
    ):
        out, _ = run(capsys, f"cells {tmp_path / 't.csv'} -t y --jobs 1 {options}")
        assert "method knn" in out
        heard = begun.pop()
        assert all(part in heard for part in words)
        assert words or "Up to" not in heard


def test_commands_announce_long_work(tmp_path, capsys, monkeypatch, slow):
    from shapley2d.cli import console

    monkeypatch.setattr(console, "_SILENT_S", 0.0)
    rows = [f"{k * k % 7},{k},{'uv'[k % 2]}" for k in range(8)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]))
    line = f"cells {tmp_path / 't.csv'} -t y -m exact --model gaussian_nb --cv 2"
    _, err = run(capsys, line)
    assert re.search(r"% done after [^,]+, about [^(]+ left \([\d,]+ of [\d,]+ utilities", err)
