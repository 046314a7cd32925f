"""Nearest neighbours in pieces: killed and resumed, or on a cluster, a run has the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shapley2d import KNN, value_blocks, value_cells
from shapley2d._estimation import checkpoint
from shapley2d._knn.pieces import Pieces
from shapley2d._knn.run import _check
from shapley2d.exceptions import InputError
from tests.comparing import same_bits

PATIENCE_S = 60


def table(n=60, m=5, n_valid=24, task="classification"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + n_valid, m)).round(2)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n + n_valid)
    y = (score > 0).astype(int) if task == "classification" else score
    return X[:n], y[:n], X[n:], y[n:]


SAMPLED = KNN(n_neighbors=3, subsets="sampled", n_subsets=30)
ALL = KNN(n_neighbors=3, subsets="all")
KINDS = {
    "sampled": (table(), {"method": SAMPLED}),
    "exact": (table(), {"method": ALL}),
    "sampled regression": (table(task="regression"), {"method": SAMPLED}),
    "exact regression": (table(task="regression"), {"method": ALL}),
    "crossed label": (table()[:2], {"method": SAMPLED, "include_label": True, "cv": 3}),
    "exact crossed": (table()[:2], {"method": ALL, "cv": 3}),
    "binned": (table(1100, 4, 12), {"method": SAMPLED.but(n_subsets=12)}),
    "exact binned": (table(1100, 3, 12), {"method": ALL}),
}
pytestmark = pytest.mark.filterwarnings("ignore::shapley2d.exceptions.PrecisionWarning")


class CrashError(Exception):
    """The power fails."""


@pytest.fixture
def small_pieces(monkeypatch):
    """A file after every piece."""
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 1e9)


def crash_after(monkeypatch, calls):
    """Let a few pieces be computed."""
    done, real = [], Pieces.under

    def limited(self, *arguments):
        done.append(1)
        if len(done) > calls:
            raise CrashError
        return real(self, *arguments)

    monkeypatch.setattr(Pieces, "under", limited)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_crashed_goes_on_to_the_same_bits(kind, small_pieces, monkeypatch, tmp_path):
    data, options = KINDS[kind]
    plain = value_cells(*data, progress=False, **options)
    path = tmp_path / "run.npz"
    options = {"checkpoint": path, "progress": False, **options}
    with monkeypatch.context() as patch:
        crash_after(patch, 2)
        with pytest.raises(CrashError):
            value_cells(*data, **options)
    assert path.exists()
    resumed = value_cells(*data, n_jobs=1, **options)
    assert resumed.info["resumed_at"] > 0
    assert same_bits(resumed, plain)
    crash_after(monkeypatch, 0)  # nothing is done again
    assert same_bits(value_cells(*data, **options), plain)


def test_sampling_in_vain_goes_on_with_all_columns(small_pieces, monkeypatch, tmp_path):
    data, path = table(40, 11, 16), tmp_path / "run.npz"
    options = {"method": KNN(n_neighbors=3, tolerance=1e-6), "progress": False}
    plain = value_cells(*data, **options)
    assert plain.info["subsets"] == "all"
    with monkeypatch.context() as patch:
        real, calls = Pieces.under, []

        def limited(self, *arguments):
            calls.append(self.takes_all)
            if sum(calls) > 3:
                raise CrashError
            return real(self, *arguments)

        patch.setattr(Pieces, "under", limited)
        with pytest.raises(CrashError):
            value_cells(*data, checkpoint=path, **options)
    resumed = value_cells(*data, checkpoint=path, **options)
    assert resumed.info["resumed_at"] == 3
    assert same_bits(resumed, plain)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": SAMPLED.but(n_neighbors=4)}, "n_neighbors is 3 there and 4 here"),
        ({"random_state": 1}, "random_state is 0 there and 1 here"),
    ],
)
def test_another_run_is_refused(change, said, tmp_path):
    asked = {"method": SAMPLED, "checkpoint": tmp_path / "run.npz", "progress": False}
    value_cells(*table(), **asked)
    with pytest.raises(InputError, match=f"is of another run: {said}"):
        value_cells(*table(), **asked | change)


def test_other_data_are_refused(tmp_path):
    asked = {"method": ALL, "checkpoint": tmp_path / "run.npz", "progress": False}
    X, y, X_valid, y_valid = table()
    value_cells(X, y, X_valid, y_valid, **asked)
    with pytest.raises(InputError, match="is of another run: X differs"):
        value_cells(X + 1, y, X_valid, y_valid, **asked)


@pytest.mark.parametrize(
    ("parties", "method"),
    [
        ("anonymous", KNN(n_neighbors=3)),
        ("anonymous", KNN(n_neighbors=3, n_subsets=30)),
        ("known", KNN(n_neighbors=3)),
    ],
)
def test_blocks_are_kept_and_those_of_other_rows_refused(parties, method, tmp_path):
    columns, rows = [0, 0, 0, 1, 1, 1], np.arange(60) // 20
    asked = {"columns": columns, "parties": parties, "method": method, "progress": False}
    plain = value_blocks(*table(m=6), rows=rows, **{"parties": "anonymous", **asked})
    asked["checkpoint"] = tmp_path / "run.npz"
    for _ in range(2):
        found = value_blocks(*table(m=6), rows=rows, **{"parties": "anonymous", **asked})
        assert same_bits(found, plain)
    assert found.info["resumed_at"] >= 1
    # the errors of its sums would differ too
    with pytest.raises(InputError, match="is of another run: rows differs"):
        value_blocks(*table(m=6), rows=np.arange(60) % 3, **{"parties": "anonymous", **asked})


SCRIPT = """
import sys, warnings
sys.path.insert(0, sys.argv[3])
from test_knn_checkpoint import KILLED, table
from shapley2d import value_cells
from shapley2d._estimation import checkpoint
warnings.simplefilter("ignore")
checkpoint.EVERY_S, checkpoint._SHARE = 0.0, 1e9
value_cells(*table(120, 10, 40), method=KILLED[sys.argv[2]], checkpoint=sys.argv[1], progress=False)
"""
KILLED = {"sampled": SAMPLED.but(n_subsets=240), "exact": ALL}


@pytest.mark.parametrize("kind", KILLED)
def test_killed_by_the_system_and_resumed(kind, small_pieces, tmp_path):
    path = tmp_path / "run.npz"
    here = str(Path(__file__).parent)
    child = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path), kind, here])
    try:
        begin = time.monotonic()
        while not path.exists():
            assert time.monotonic() - begin < PATIENCE_S and child.poll() is None
            time.sleep(0.005)
    finally:
        child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    data = table(120, 10, 40)
    resumed = value_cells(*data, method=KILLED[kind], checkpoint=path, progress=False)
    assert resumed.info["resumed_at"] > 0
    assert same_bits(resumed, value_cells(*data, method=KILLED[kind], progress=False))


def test_a_cluster_is_of_processors():
    with pytest.raises(InputError, match="cluster works on processors: leave device='cuda' out"):
        value_cells(*table(), method=KNN(device="cuda"), cluster="tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    "kind",
    [
        "sampled",
        pytest.param("exact crossed", marks=pytest.mark.slow),
        pytest.param("binned", marks=pytest.mark.slow),
    ],
)
def test_a_cluster_does_the_same_bits(kind, dask_client, small_pieces, tmp_path):
    data, options = KINDS[kind]
    options, path = {"progress": False, **options}, tmp_path / "run.npz"
    plain = value_cells(*data, **options)
    assert same_bits(value_cells(*data, cluster=dask_client, **options), plain)
    kept = value_cells(*data, cluster=dask_client, checkpoint=path, **options)
    assert same_bits(kept, plain)
    assert same_bits(value_cells(*data, checkpoint=path, **options), plain)


@contextmanager
def lethal(client, flag, after):
    """One worker of the cluster dies by SIGKILL in the midst of its work, whichever comes to it first."""

    def arm(flag, after):  # inside a function, so that workers get it by value
        from shapley2d._knn.pieces import Pieces

        calls, real = [], Pieces.under

        def dying(self, *arguments):
            calls.append(1)
            if len(calls) > after and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return real(self, *arguments)

        dying.real = real
        Pieces.under = dying

    def disarm():
        from shapley2d._knn.pieces import Pieces

        Pieces.under = getattr(Pieces.under, "real", Pieces.under)

    client.run(arm, flag, after)
    try:
        yield
    finally:
        client.run(disarm)  # whoever survived; one that was started again knows nothing of it


STREAMED = KNN(n_neighbors=3, subsets="sampled", valid_rows="auto", tolerance=0.3)


@pytest.mark.parametrize(
    "method",
    [
        SAMPLED,
        pytest.param(ALL, marks=pytest.mark.slow),
        pytest.param(STREAMED, marks=pytest.mark.slow),
    ],
    ids=["sampled", "exact", "streamed"],
)
def test_a_worker_of_the_cluster_is_killed(method, dask_client, small_pieces, tmp_path):
    data = table()
    flag = tmp_path / "killed"
    with lethal(dask_client, flag, after=1):
        found = value_cells(*data, method=method, cluster=dask_client, progress=False)
    assert flag.exists()
    assert same_bits(found, value_cells(*data, method=method, progress=False))


FACTS = {"n_subsets": 8, "asked": {}, "history": [], "round_end": 4}


@pytest.mark.parametrize(
    ("facts", "arrays", "words"),
    [
        ({}, {"values": np.array([np.nan])}, "not all of its numbers are finite"),
        ({"n_subsets": None}, {}, "its number of subsets is not a whole number from 1 on"),
        ({"asked": 0}, {}, "it does not say what it was asked"),
        ({"history": 1}, {}, "history"),
        ({"round_end": 2}, {}, "the end of its round"),
    ],
)
def test_what_a_checkpoint_must_hold(facts, arrays, words):
    _check(SimpleNamespace(facts=FACTS, arrays={}, count=3))
    with pytest.raises(ValueError, match=words):
        _check(SimpleNamespace(facts={**FACTS, **facts}, arrays=arrays, count=3))
