"""Runs that are killed at random moments, with SIGKILL, and then go on: the same bits, and nothing left lying about.

Every method that has checkpoints. Most runs are forked from this process, which has imported and compiled everything; some
are commands, some have worker processes, some draw on a Dask cluster.

    python -m tests.campaign.kills --count 1000
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

from shapley2d import Valuation
from shapley2d._estimation import checkpoint

from .common import main
from .damage import plain_result
from .samples import RUNS, X, Y

COUNT = 1000
SHARES = {"forked": 0.95, "command": 0.03, "workers": 0.012, "dask": 0.008}
DRAWS = {"cells": 12, "blocks": 10, "flat": 10, "game": 14}
COMMAND_DRAWS = 150
PATIENCE_S = 120.0

COMMAND = """
import sys
from shapley2d._estimation import checkpoint
from shapley2d.cli import main
checkpoint.EVERY_S, checkpoint._SHARE = 0.0, 1e9
sys.exit(main(sys.argv[1:]))
"""
CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


def work(kind, folder, **options):
    """A run with a state after nearly every draw, and its results in two files."""
    checkpoint.EVERY_S, checkpoint._SHARE = 0.0, 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        valuation = RUNS[kind](folder / "run.npz", max_permutations=DRAWS[kind], **options)
    valuation.save(folder / "values.parquet")
    if kind == "game":
        valuation.to_html(folder / "report.html")


class Forked:
    """A child of this process that does the work."""

    def __init__(self, kind, folder, **options):
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.setpgid(0, 0)
                work(kind, folder, **options)
                code = 0
            except BaseException:  # noqa: BLE001  (a child must never come back into the parent's code)
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # its workers

    def wait(self):
        """The exit code, None if it has not ended by then."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        self.kill()
        return None


class Command:
    """A process of its own: the command line, or a script."""

    def __init__(self, code, *arguments, folder):
        self._log = (folder.parent / "log.txt").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=self._log, stderr=self._log, start_new_session=True,
        )  # fmt: skip

    def kill(self):
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._log.close()

    def wait(self):
        try:
            code = self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        if code:
            self._log.seek(0)
            sys.stderr.write(self._log.read()[-2000:])
        self._log.close()
        return code


class Kills:
    """Cases by number: one run, killed once or twice, then left to end."""

    def __init__(self, folder, modes):
        self.base = Path(folder)
        self.modes = modes
        self.folder = self.base / "case"
        self.plain = {}
        self.seconds = {}
        self.cluster = None
        self.kills = 0
        (self.base / "warm").mkdir()
        for kind in RUNS:  # imports and compiled code, which children then have
            shutil.rmtree(self.base / "warm")
            (self.base / "warm").mkdir()
            work(kind, self.base / "warm")
        self.table = self.base / "table.csv"
        lines = [",".join(map(str, [*line, label])) for line, label in zip(X, Y, strict=True)]
        self.table.write_text("\n".join(["a,b,c,y", *lines]) + "\n")

    def start(self, mode, kind):
        folder = self.folder
        if mode == "forked":
            return Forked(kind, folder)
        if mode == "workers":
            return Forked(kind, folder, n_jobs=2)
        if mode == "dask":
            return Forked(kind, folder, cluster=self._cluster())
        method = ["-m", "flat"] if kind == "flat" else ["-m", "mc"]
        return Command(
            COMMAND, "cells", self.table, "-t", "y", *method, "--model", "gaussian_nb", "--folds", "2",
            "--max-permutations", COMMAND_DRAWS, "--tolerance", 0, "--checkpoint", folder / "run.npz",
            "-o", folder / "values.parquet", "--report", folder / "report.html", folder=folder,
        )  # fmt: skip

    def _cluster(self):
        if self.cluster is None:
            self.cluster = subprocess.Popen(
                [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        if isinstance(self.cluster, subprocess.Popen) and not hasattr(self, "address"):
            self.address = self.cluster.stdout.readline().strip()
        return self.address

    def close(self):
        if self.cluster is not None:
            self.cluster.kill()
            self.cluster.wait()

    def reference(self, mode, kind):
        """What an uninterrupted run gives, and how long it takes."""
        key = (mode if mode == "command" else "any", kind)
        if (mode, kind) not in self.seconds:
            self._clear()
            begin = time.monotonic()
            assert self.start(mode, kind).wait() == 0, "an uninterrupted run failed"
            self.seconds[mode, kind] = time.monotonic() - begin
            found = self._result()
            assert self.plain.setdefault(key, found) == found, f"{mode} gave other values"
        return self.plain[key], self.seconds[mode, kind]

    def _result(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain_result(Valuation.load(self.folder / "values.parquet"))

    def _clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def __call__(self, number, random):
        mode = str(
            random.choice(list(self.modes), p=np.array(list(self.modes.values())) / sum(self.modes.values()))
        )
        kinds = (
            ("cells", "flat") if mode == "command" else ("cells", "game") if mode == "dask" else sorted(RUNS)
        )
        kind = kinds[random.integers(len(kinds))]
        wanted, seconds = self.reference(mode, kind)
        self._clear()
        state = "no state yet"
        for _ in range(1 + int(random.random() < 0.3)):
            started = self.start(mode, kind)
            time.sleep(random.uniform(0 if mode == "forked" else 0.4, 1.05) * seconds)
            started.kill()
            self.kills += 1
            state = self._look(wanted, state)
        assert self.start(mode, kind).wait() == 0, "the run that went on failed"
        assert self._result() == wanted, "the run that went on gave other values"
        names = sorted(path.name for path in self.folder.iterdir())
        left = [name for name in names if name not in KNOWN]
        assert not left, f"files were left: {left}"
        return f"{mode} killed with {state}"

    def _look(self, wanted, before):
        """What a kill has left: a whole state or none, whole results or none."""
        files = {path.name for path in self.folder.iterdir()}
        if "values.parquet" in files:
            assert self._result() == wanted, "half a result"
        if "report.html" in files:
            text = (self.folder / "report.html").read_text(encoding="utf-8")
            assert text.rstrip().endswith("</html>"), "half a report"
        states = [name for name in ("run.npz", "run.npz.previous") if name in files]
        for name in states:
            with np.load(self.folder / name, allow_pickle=False) as archive:
                assert json.loads(archive["record"].tobytes())["count"] >= 1
        if before != "no state yet":
            assert states, "the state is gone"
        return "results" if "values.parquet" in files else "a state" if states else "no state yet"


KNOWN = ("run.npz", "run.npz.previous", "values.parquet", "report.html")


def chosen_modes(arguments):
    """Where runs are done: all, or those that ``--modes`` names."""
    modes = dict(SHARES)
    if "--modes" in arguments:
        at = arguments.index("--modes")
        modes = {name: SHARES[name] for name in arguments[at + 1].split(",")}
        del arguments[at : at + 2]
    if "dask" in modes and importlib.util.find_spec("distributed") is None:
        print("kills: no runs on a cluster: distributed is not installed")
        del modes["dask"]
    return modes


def alone():
    """Start again with one thread in this process: one that has threads cannot be forked safely."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    if any(os.environ.get(name) != count for name, count in one.items()):
        os.execve(
            sys.executable, [sys.executable, "-m", "tests.campaign.kills", *sys.argv[1:]], os.environ | one
        )


if __name__ == "__main__":
    alone()
    wanted_modes = chosen_modes(sys.argv)
    with tempfile.TemporaryDirectory() as place:
        kills = Kills(place, wanted_modes)
        try:
            sys.exit(main("kills", __doc__, kills, COUNT))
        finally:
            print(f"kills: {kills.kills} kills in all")
            kills.close()
