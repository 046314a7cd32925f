"""Workers: whoever does the work, and however often it dies, the values are the same to the bit."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from shapley2d import MonteCarlo, value_cells, value_game
from shapley2d._base.progress import Pace
from shapley2d._estimation import workers
from shapley2d._estimation.run import run_draws
from shapley2d.exceptions import InputError, UtilityError
from tests.comparing import same_bits
from tests.listed_draws import Listed, drawn, normal

METHOD = MonteCarlo(max_draws=24, tolerance=0)
OPTIONS = {"method": METHOD}


def make_game(before=None, wait=0.01):
    """A game with a large array; ``before`` is called with the first row of each permutation."""

    class LocalGame:  # inside a function, so that workers get it by value
        n_rows, n_columns = 30, 4

        def __init__(self):
            self.data = np.random.default_rng(0).random(2**20)  # large: the workers share it

        def utilities(self, rows, columns):
            time.sleep(wait)
            if before is not None:
                before(int(rows[1].argmax()))
            weight = rows @ self.data[:30], columns @ self.data[-4:]
            return np.sqrt(np.outer(*weight))

    return LocalGame()


def kill_once(flag):
    def before(first):
        if first % 5 == 2 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    return before


@pytest.fixture(scope="module")
def plain():
    return value_game(make_game(wait=0), 30, 4, **OPTIONS)


def test_two_workers(plain):
    v = value_game(make_game(), 30, 4, n_jobs=2, **OPTIONS)
    assert same_bits(v, plain) and v.history == plain.history


@pytest.mark.parametrize("kind", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_any_pool_that_takes_work_is_a_cluster(plain, kind):
    submitted = []

    class Pool(kind):
        def submit(self, *arguments):
            submitted.append(arguments[1])
            return super().submit(*arguments)

    with Pool(2) as pool:
        assert same_bits(value_game(make_game(wait=0), 30, 4, cluster=pool, **OPTIONS), plain)
    assert submitted == list(range(METHOD.max_draws))


class TakesNoFunction:
    def submit(self, work, value):
        raise AssertionError("it must not be asked")


class ReturnsNothing:
    def submit(self, *arguments):
        return None


@pytest.mark.parametrize("pool", [TakesNoFunction(), ReturnsNothing()])
def test_other_things_that_can_submit_are_refused(pool):
    with pytest.raises(
        InputError, match="has a submit, but not one that takes a function with its arguments"
    ):
        value_game(make_game(wait=0), 30, 4, cluster=pool, **OPTIONS)


def pids_of(h, monkeypatch, tmp_path, alone_s):
    """Values of a game by default workers, and the processes that computed them."""
    monkeypatch.setattr(workers, "ALONE_S", alone_s)
    monkeypatch.setattr(workers, "count_threads", lambda n_jobs: 2)  # on one core too

    def game(S, F):
        (tmp_path / str(os.getpid())).touch()
        return h(S, F)

    v = value_game(game, 5, 2, method=MonteCarlo(max_draws=16, tolerance=0))
    return v, {int(path.name) for path in tmp_path.iterdir()}


@pytest.mark.parametrize("alone_s", [0.0, 1e9])
def test_by_default_processes_help_once_a_run_is_long(monkeypatch, tmp_path, alone_s):
    v, pids = pids_of(lambda S, F: float(S[0] * F.sum()), monkeypatch, tmp_path, alone_s)
    assert (os.getpid() in pids) == (alone_s > 0) and (len(pids) == 1 or not alone_s)
    alone = value_game(lambda S, F: float(S[0] * F.sum()), 5, 2, n_jobs=1,
                       method=MonteCarlo(max_draws=16, tolerance=0))  # fmt: skip
    assert same_bits(v, alone)


def test_what_cannot_be_sent_is_computed_here(monkeypatch, tmp_path):
    lock = threading.Lock()  # as of a connection

    def h(S, F):
        with lock:
            return float(S[0] * F.sum())

    v, pids = pids_of(h, monkeypatch, tmp_path, 0.0)
    assert pids == {os.getpid()} and v.total == pytest.approx(2.0)
    with pytest.raises((TypeError, UtilityError), match="pickle"):  # where processes are asked for
        value_game(h, 5, 2, n_jobs=2, method=MonteCarlo(max_draws=16, tolerance=0))


def test_a_killed_worker_does_not_kill_the_run(plain, tmp_path):
    flag = tmp_path / "killed"
    v = value_game(make_game(kill_once(flag)), 30, 4, n_jobs=2, **OPTIONS)
    assert flag.exists()
    assert same_bits(v, plain)


def test_work_that_always_kills_is_given_up():
    main = os.getpid()

    def before(first):
        if os.getpid() != main:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(UtilityError, match=r"workers died 3 times in a row .* from number 0 on"):
        value_game(make_game(before), 30, 4, n_jobs=2, **OPTIONS)


def test_an_error_of_the_game_is_no_death():
    def h(S, F):
        raise ValueError("no such luck")

    with pytest.raises(UtilityError, match="no such luck"):
        value_game(h, 5, 2, n_jobs=2, **OPTIONS)


def test_stopping_early_is_quiet(plain):
    """Work ahead is dropped when the tolerance is reached; warnings are errors here."""
    method = MonteCarlo(max_draws=2000, tolerance=0.3)
    v = value_game(make_game(), 30, 4, method=method, n_jobs=2)
    assert v.info["converged"]
    assert v.info["n_permutations"] < 100


def test_models_and_folds_with_workers():
    data = load_wine()
    X, y = data.data[::20, :2], data.target[::20]
    method = MonteCarlo(GaussianNB(), max_draws=8, tolerance=0)
    one, two = (value_cells(X, y, method=method, cv=2, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert same_bits(one, two)


def test_time_left_is_of_this_run(monkeypatch):
    """The first step, which starts workers and compiles, does not count once there are others."""
    clock = [0.0]
    monkeypatch.setattr("shapley2d._base.progress.now", lambda: clock[0])
    pace = Pace()
    assert pace.seconds() is None
    clock[0] = 30.0
    pace.tick()
    assert pace.seconds() == 30
    for _ in range(5):
        clock[0] += 2
        pace.tick()
    assert pace.seconds() == 2
    for _ in range(100):  # it got slower: only the recent steps count
        clock[0] += 4
        pace.tick()
    assert pace.seconds() == 4


def test_progress_tells_the_time_left(monkeypatch):
    clock, told = [0.0], []  # every draw takes four seconds

    def tick(_):
        clock[0] += 4

    monkeypatch.setattr("shapley2d._base.progress.monotonic", lambda: clock[0])
    game, method = make_game(tick, wait=0), replace(METHOD, max_draws=20)
    value_game(game, 30, 4, method=method, progress=lambda *report: told.append(report))
    assert [words.startswith("About 1 min 12 s left") for _, words in told] == [
        number == 2 for number in range(21)
    ]  # it says once that it takes over a minute
    told.pop(2)
    assert [told[k][1] for k in (0, 1)] == [
        "1 of 20 permutations",
        "2 of 20 permutations; 1 min 12 s left",
    ]
    assert told[14][1].startswith("error 0.") and told[14][1].endswith(
        "of the spread; 15 of 20 permutations; 20 s left"
    )
    np.testing.assert_allclose([share for share, _ in told], np.arange(1, 21) / 20, atol=0.06)
    assert told[-1][0] == 1


class Compiled(Listed):
    """Draws that threads share, and how many were computed at the same time."""

    compiled = True

    def __init__(self, at_once=None):
        super().__init__(None, (1, 1), count=12, first=12, at_once=at_once)
        self.here, self.most, self._lock = 0, 0, threading.Lock()

    def __call__(self, number):
        with self._lock:
            self.here += 1
            self.most = max(self.here, self.most)
        time.sleep(0.02)
        with self._lock:
            self.here -= 1
        return drawn(normal(number, (1, 1)))


def test_compiled_draws_are_shared_by_threads():
    alone, shared, few = Compiled(), Compiled(), Compiled(at_once=1)
    one, two, three = (
        run_draws(draws, n_jobs=n_jobs)[0] for draws, n_jobs in ((alone, 1), (shared, 2), (few, 4))
    )
    assert (alone.most, shared.most, few.most) == (1, 2, 1)
    assert same_bits(one, two) and same_bits(one, three)


def test_compiled_draws_under_way_are_told_to_stop():
    """Those that were begun ahead; and the next run may begin."""
    seen = []

    class Ahead(Compiled):
        def __call__(self, number):
            while number > 7 and not self.stop[0]:
                time.sleep(0.001)
            seen.append(bool(self.stop[0]))
            return drawn(np.zeros((1, 1)))

    draws = Ahead()
    draws.first = 8
    assert run_draws(draws, tolerance=0.5, n_jobs=2)[0].info["n_draws"] == 8
    assert seen[:8] == [False] * 8 and set(seen[8:]) == {True}
    assert not draws.stop[0]


ORPHANS = """
import os, sys, time
from shapley2d import MonteCarlo, value_game
def h(S, F):
    time.sleep(0.05)
    return float(S.sum() * F.sum())
print("started", flush=True)
method = MonteCarlo(max_draws=10**6, tolerance=0)
value_game(h, 9, 4, method=method, n_jobs=2, progress=lambda *_: print("drawn", flush=True))
"""


def children_of(parent):
    """Processes that a process has started, by the kernel's own list."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found


def is_running(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("moment", ["while they work", "while they start"])
def test_workers_go_when_their_parent_is_killed(moment):
    process = subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    if moment == "while they work":
        assert process.stdout.readline() == "drawn\n"
    deadline = time.monotonic() + 60
    while len(workers := children_of(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 60  # they look every second; the rest is for a slow machine
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [pid for pid in workers if is_running(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left
