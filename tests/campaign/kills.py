"""Runs that are killed at random moments, with SIGKILL, and then go on: the same bits, and nothing left lying about.

Every method that has checkpoints. Most runs are forked from this process, which has imported and
compiled everything; some have worker processes.

    python -m tests.campaign.kills --count 1000
    python -m tests.campaign.kills --count 100 --kinds "knn sampled,knn exact" --modes forked,workers
"""

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from shapley2d import Valuation
from shapley2d._base.atomic_write import remove_stale
from shapley2d._estimation import checkpoint
from shapley2d._models import game_draws

from .common import main
from .damage import plain_result
from .samples import DRAWS, PIECES, RUNS

COUNT = 1000
SHARES = {"forked": 0.985, "workers": 0.015}
N_DRAWS = {"cells": 12, "groups": 10, "game": 14}
PATIENCE_S = 120.0


def small_pieces():
    """A state after nearly every draw, and many draws even of small tables."""
    checkpoint.EVERY_S, checkpoint._SHARE = 0.0, 1e9
    game_draws._LEAST = 4


def work(kind, folder, **options):
    """A run with a state after nearly every draw, and its results in two files."""
    small_pieces()
    value = RUNS.get(kind) or PIECES[kind]
    if kind in RUNS:
        options["method"] = replace(DRAWS, max_draws=N_DRAWS[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        valuation = value(folder / "run.npz", **options)
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


def ended_well(started, what):
    """Wait for a run, and tell one that failed from one that did not end."""
    code = started.wait()
    assert code is not None, f"{what} did not end within {PATIENCE_S:g} s"
    assert code == 0, f"{what} failed with {code}"


class Kills:
    """Cases by number: one run, killed once or twice, then left to end."""

    def __init__(self, folder, modes, kinds):
        self.base = Path(folder)
        self.modes, self.kinds = modes, kinds
        self.folder = self.base / "case"
        self.plain = {}
        self.seconds = {}
        self.kills = 0
        (self.base / "warm").mkdir()
        for kind in kinds:  # imports and compiled code, which children then have
            shutil.rmtree(self.base / "warm")
            (self.base / "warm").mkdir()
            work(kind, self.base / "warm", n_jobs=1)

    def start(self, mode, kind):
        return Forked(kind, self.folder, **({"n_jobs": 2} if mode == "workers" else {}))

    def reference(self, mode, kind):
        """What an uninterrupted run gives, and how long it takes to its first state and to its end."""
        if (mode, kind) not in self.seconds:
            self._clear()
            begin = time.monotonic()
            started = self.start(mode, kind)
            until_state = self._until_a_state(begin)
            ended_well(started, "an uninterrupted run")
            self.seconds[mode, kind] = until_state, time.monotonic() - begin
            found = self._result()
            assert self.plain.setdefault(kind, found) == found, f"{mode} gave other values"
        return self.plain[kind], self.seconds[mode, kind]

    def _until_a_state(self, begin):
        """Wait for the first state, or for results, and say how long it took."""
        while time.monotonic() - begin < PATIENCE_S:
            if any((self.folder / name).exists() for name in ("run.npz", "values.parquet")):
                break
            time.sleep(0.002)
        return time.monotonic() - begin

    def _result(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain_result(Valuation.load(self.folder / "values.parquet"))

    def _clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def __call__(self, number, random):
        mode = str(
            random.choice(
                list(self.modes), p=np.array(list(self.modes.values())) / sum(self.modes.values())
            )
        )
        kind = self.kinds[random.integers(len(self.kinds))]
        wanted, (until_state, seconds) = self.reference(mode, kind)
        self._clear()
        state = "no state yet"
        for _ in range(1 + int(random.random() < 0.3)):
            begin, started = time.monotonic(), self.start(mode, kind)
            if mode == "forked" and random.random() < 0.2:
                time.sleep(random.uniform(0, 1.2) * until_state)
            else:  # on a busy machine a moment of its own would mostly be before there is anything to go on from
                self._until_a_state(begin)
                time.sleep(random.uniform(0, 1.05) * (seconds - until_state))
            started.kill()
            self.kills += 1
            state = self._look(wanted, state)
        ended_well(self.start(mode, kind), "the run that went on")
        assert self._result() == wanted, "the run that went on gave other values"
        for name in KNOWN:  # what a killed process was writing goes with a run an hour later
            for path in self.folder.glob(f".{name}.*.part"):
                os.utime(path, (0, 0))
            remove_stale(self.folder / name)
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
        states = [name for name in ("run.npz",) if name in files]
        for name in states:
            with np.load(self.folder / name, allow_pickle=False) as archive:
                assert json.loads(archive["record"].tobytes())["count"] >= 1
        if before != "no state yet":
            assert states, "the state is gone"
        return "results" if "values.parquet" in files else "a state" if states else "no state yet"


KNOWN = ("run.npz", "values.parquet", "report.html")


def chosen(arguments, option, known):
    """What an option of this script names, separated by commas, of all that is known; all without it."""
    if option not in arguments:
        return list(known)
    at = arguments.index(option)
    named = arguments[at + 1].split(",")
    del arguments[at : at + 2]
    return [name for name in known if name in named]


def alone():
    """Start again with one thread in this process: one that has threads cannot be forked safely."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    if any(os.environ.get(name) != count for name, count in one.items()):
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.campaign.kills", *sys.argv[1:]],
            os.environ | one,
        )


if __name__ == "__main__":
    alone()
    wanted_modes = {name: SHARES[name] for name in chosen(sys.argv, "--modes", SHARES)}
    with tempfile.TemporaryDirectory() as place:
        kills = Kills(place, wanted_modes, chosen(sys.argv, "--kinds", [*RUNS, *PIECES]))
        try:
            sys.exit(main("kills", __doc__, kills, COUNT))
        finally:
            print(f"kills: {kills.kills} kills in all")
