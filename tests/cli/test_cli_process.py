"""The command as a process: exit codes, streams, pipes, terminals, Ctrl-C."""

import json
import os
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from command_line import errors
from command_line import run as in_process
from shapley2d import Valuation

COMMAND = [sys.executable, "-m", "shapley2d"]
PATIENCE_S = 120


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    n = 400
    X = rng.normal(size=(n, 3)).round(3)
    y = np.where(X[:, 0] > 0, "up", "down")
    lines = [",".join(map(str, X[i])) + f",{y[i]}" for i in range(n)]
    (tmp_path / "big.csv").write_text("\n".join(["a,b,c,y", *lines]))
    (tmp_path / "small.csv").write_text("\n".join(["a,b,c,y", *lines[:30]]))
    return tmp_path


def run(folder, *arguments, **options):
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        **options,
    )


def test_success_is_quiet_in_a_pipe(folder):
    done = run(folder, "cells", "small.csv", "-t", "y")
    assert done.returncode == 0
    assert not errors(done.stderr)
    assert "\x1b" not in done.stdout
    assert "small.csv: 30 rows x 3 columns" in done.stdout


def test_a_reader_that_has_seen_enough_is_no_error(folder):
    process = subprocess.Popen(
        [*COMMAND, "cells", "big.csv", "-t", "y", "--json", "--top", "1200"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline() == b"{\n"
    process.stdout.close()
    assert process.wait(PATIENCE_S) == 0
    assert not errors(process.stderr.read().decode())
    process.stderr.close()


def test_shell_completion(folder):
    words = {
        "_SHAPLEY2D_COMPLETE": "complete_bash",
        "COMP_WORDS": "shapley2d cells --method ",
        "COMP_CWORD": "3",
    }
    done = run(folder, env=os.environ | words)
    assert done.stdout.split() == ["knn", "mc", "exact", "forest", "loo", "flat", "oob", "random"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
def test_ctrl_c_shows_progress_first_and_keeps_what_there_is(folder):
    import pty

    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "cells", "small.csv", "-t", "y", "--method", "mc", "--tolerance", "0",
         "--max-draws", "1000000", "--cv", "2", "-j", "1", "-o", "v.parquet", "--json", "--top", "1"],
        cwd=folder, stdout=subprocess.PIPE, stderr=end, start_new_session=True, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    os.close(end)
    assert "of the spread" in read_until(terminal, "of the spread")
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: to the whole group
    out, _ = process.communicate(timeout=PATIENCE_S)
    os.close(terminal)
    assert process.returncode == 130
    assert json.loads(out)["partial"] is True
    saved = Valuation.load(folder / "v.parquet")
    assert saved.info["interrupted"] is True
    assert saved.info["n_permutations"] >= 2
    assert not list(folder.glob(".*"))


def test_ctrl_c_before_there_are_values_leaves_nothing(folder, monkeypatch, capsys):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr("shapley2d._valuation.cells.value_cells", pressed)
    told = in_process(capsys, "cells small.csv -t y -o v.parquet", 130).err
    assert told == "shapley2d: interrupted before there were values; nothing was written\n"
    assert sorted(path.name for path in folder.iterdir()) == ["big.csv", "small.csv"]


def read_until(terminal, words):
    seen, start = "", time.monotonic()
    while words not in seen and time.monotonic() - start < PATIENCE_S:
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    return seen


@pytest.mark.parametrize("module", ["typer", "numpy", "rich.table", "numba"])
def test_ctrl_c_while_code_loads_is_no_crash(folder, module):
    """Whatever is being imported, also what turns an interrupt into an error of its own."""
    code = f"""
import os, signal, sys, time

class Press:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                raise ImportError("the C-extensions failed")

sys.meta_path.insert(0, Press())
sys.argv = ["shapley2d", "cells", "small.csv", "-t", "y"]
from shapley2d.cli import main
sys.exit(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr and "bug" not in done.stderr


def test_long_work_without_a_terminal_says_when_it_ends(folder):
    code = """
import sys
from shapley2d.cli import main, streams
streams.PATIENCE_S = 0.01
sys.exit(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "cells", "small.csv", "-t", "y"], cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    first, *_, last = done.stderr.splitlines()
    assert first == "note: still at work" and last.startswith("note: ended after ")
    assert [line for line in done.stdout.splitlines() if line != line.rstrip()] == []
