"""Outputs are checked before the work, never overwrite each other, and one that fails does not cost the others."""

import errno
import os
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import run
from shapley2d import Valuation
from shapley2d.cli import main
from shapley2d.exceptions import InputError

QUICK = ["cells", "t.csv", "-t", "y", "-k", "3"]
SAMPLED = ["cells", "t.csv", "-t", "y", "-m", "mc", "--model", "gaussian_nb", "--cv", "2"]
SAMPLED += ["--max-draws", "3", "--tolerance", "0"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(
        "a,b,y\n" + "".join(f"{k},{k * k % 7},{'uv'[k % 2]}\n" for k in range(12))
    )
    return tmp_path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-o run.csv --checkpoint run.csv", "--output and --checkpoint both name run.csv"),
        ("-o run.csv --checkpoint RUN.csv", "--output and --checkpoint both name RUN.csv"),
        ("-o run.csv --checkpoint ./sub/../run.csv", "--output and --checkpoint both name"),
        ("--report r.html --checkpoint link.html", "--report and --checkpoint both name link.html"),
        ("-o v.csv --checkpoint link.html --report r.htm", None),
        ("--report x.html --checkpoint t.csv", "--checkpoint t.csv would overwrite an input"),
        ("-o " + "v" * 300 + ".csv", "the name is too long: choose a shorter one"),
        ("--report " + "v" * 300 + ".html", "the name is too long: choose a shorter one"),
        ("--checkpoint " + "v" * 300, "the name is too long"),
        ("--checkpoint sub", "--checkpoint sub is a folder: name a file in it"),
        ("--checkpoint no/run.npz", "--checkpoint no/run.npz: the folder no does not exist: make it first"),
        ("--checkpoint pipe.csv", "it is a pipe or a device, which keeps nothing"),
        ("-o loop.csv", "--output loop.csv is a link that leads to itself: choose another name"),
    ],
)  # fmt: skip
def test_impossible_outputs_are_told_before_the_work(folder, capsys, monkeypatch, options, message):
    (folder / "sub").mkdir()
    (folder / "link.html").symlink_to("r.html")
    (folder / "loop.csv").symlink_to("loop.csv")
    os.mkfifo(folder / "pipe.csv")
    before = sorted(folder.iterdir())

    def read(*_, **__):
        raise InputError("the work began")

    monkeypatch.setattr("shapley2d.cli.cells.read_inputs", read)
    assert main([*SAMPLED, *options.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and (message or "the work began").format(folder) in err
    assert sorted(folder.iterdir()) == before


def test_demo_and_report_check_their_files(folder, capsys):
    (folder / "out").mkdir()
    (folder / "out" / "report.html").mkdir()
    assert (
        "--out out/report.html is a folder: name a file in it"
        in run(capsys, "demo --out out", 2).err
    )
    assert main(["report", "t.csv", "-o", "v" * 300 + ".html"]) == 2
    assert "the name is too long: choose a shorter one" in capsys.readouterr().err


def test_links_stay_and_pipes_are_written_to(folder, capsys):
    (folder / "sub").mkdir()
    (folder / "v.parquet").symlink_to("sub/real.parquet")
    os.mkfifo(folder / "r.html")
    read = []
    reader = threading.Thread(
        target=lambda: read.append((folder / "r.html").read_text(encoding="utf-8"))
    )
    reader.start()
    assert main([*QUICK, "-o", "v.parquet", "--report", "r.html"]) == 0
    reader.join()
    assert (folder / "v.parquet").is_symlink() and (folder / "r.html").is_fifo()
    assert (
        Valuation.load("v.parquet").shape == (12, 2)
        and pq.read_table("sub/real.parquet").num_rows == 24
    )
    assert read[0].rstrip().endswith("</html>")


def test_a_file_that_is_written_again_keeps_who_may_read_it(folder, capsys):
    (folder / "v.csv").write_text("")
    (folder / "v.csv").chmod(0o600)
    run(capsys, " ".join([*QUICK, "-o", "v.csv", "--report", "r.html"]))
    assert (folder / "v.csv").stat().st_mode & 0o777 == 0o600
    assert (folder / "r.html").stat().st_mode & 0o444 == 0o444


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_one_output_that_fails_does_not_cost_the_others(folder, capsys):
    (folder / "v.csv").symlink_to("/dev/full")
    assert main([*QUICK, "-o", "v.csv", "--report", "r.html"]) == 2
    out, err = capsys.readouterr()
    assert "report: r.html" in out and "values:" not in out
    assert (folder / "r.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert err.splitlines()[-1].startswith("shapley2d: error: v.csv: the disk is full")
    assert Path("/dev/full").is_char_device()


def test_a_reader_that_goes_away_is_an_error(folder, capsys, monkeypatch):
    def gone(*_, **__):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    monkeypatch.setattr("shapley2d._base.atomic_write.shutil.copyfileobj", gone)
    (folder / "v.csv").symlink_to("/dev/null")
    assert main([*QUICK, "-o", "v.csv"]) == 2
    assert "v.csv: its reader went away before all was written" in capsys.readouterr().err
