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


SAMPLED = {"subsets": "sampled", "n_subsets": 30}
EXACT = {"subsets": "all"}
KINDS = {
    "sampled": (table(), SAMPLED),
    "exact": (table(), EXACT),
    "sampled regression": (table(task="regression"), SAMPLED),
    "exact regression": (table(task="regression"), EXACT),
    "crossed label": (table()[:2], {**SAMPLED, "include_label": True, "cv": 3}),
    "exact crossed": (table()[:2], {**EXACT, "cv": 3}),
    "binned": (table(1100, 4, 12), {**SAMPLED, "n_subsets": 12}),
    "exact binned": (table(1100, 3, 12), EXACT),
}
OPTIONS = {"n_neighbors": 3, "progress": False}
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
    plain = value_cells(*data, **options, **OPTIONS)
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        crash_after(patch, 2)
        with pytest.raises(CrashError):
            value_cells(*data, checkpoint=path, **options, **OPTIONS)
    assert path.exists()
    resumed = value_cells(*data, checkpoint=path, n_jobs=1, **options, **OPTIONS)
    assert resumed.info["resumed_at"] > 0
    assert same_bits(resumed, plain)
    crash_after(monkeypatch, 0)  # nothing is done again
    assert same_bits(value_cells(*data, checkpoint=path, **options, **OPTIONS), plain)


def test_sampling_in_vain_goes_on_with_all_columns(small_pieces, monkeypatch, tmp_path):
    data, path = table(40, 11, 16), tmp_path / "run.npz"
    options = {"tolerance": 1e-6, **OPTIONS}
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
        ({"n_neighbors": 4}, "n_neighbors is 3 there and 4 here"),
        ({"random_state": 1}, "random_state is 0 there and 1 here"),
    ],
)
def test_another_run_is_refused(change, said, tmp_path):
    path = tmp_path / "run.npz"
    value_cells(*table(), checkpoint=path, **SAMPLED, **OPTIONS)
    with pytest.raises(InputError, match=f"is of another run: {said}"):
        value_cells(*table(), checkpoint=path, **SAMPLED, **{**OPTIONS, **change})


def test_other_data_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    X, y, X_valid, y_valid = table()
    value_cells(X, y, X_valid, y_valid, checkpoint=path, **EXACT, **OPTIONS)
    with pytest.raises(InputError, match="is of another run: X differs"):
        value_cells(X + 1, y, X_valid, y_valid, checkpoint=path, **EXACT, **OPTIONS)


def blocks(groups, path=None, **options):
    data = table(n=60, m=6)
    given = {
        "columns": [0, 0, 0, 1, 1, 1],
        "players": "cells",
        "checkpoint": path,
        **OPTIONS,
        **options,
    }
    return value_blocks(*data, rows=groups, **given)


@pytest.mark.parametrize("options", [{}, {"n_subsets": 30}, {"players": "groups", "model": "knn"}])
def test_blocks_are_kept_and_those_of_other_groups_refused(options, tmp_path):
    path, groups = tmp_path / "run.npz", np.arange(60) // 20
    plain = blocks(groups, **options)
    for found in (blocks(groups, path, **options), blocks(groups, path, **options)):
        assert same_bits(found, plain)
    assert found.info["resumed_at"] >= 1
    with pytest.raises(
        InputError, match="is of another run: rows differs"
    ):  # so would the errors of its sums
        blocks(np.arange(60) % 3, path, **options)


SCRIPT = """
import sys, warnings
sys.path.insert(0, sys.argv[3])
from test_knn_checkpoint import OPTIONS, table, KILLED
from shapley2d import value_cells
from shapley2d._estimation import checkpoint
warnings.simplefilter("ignore")
checkpoint.EVERY_S, checkpoint._SHARE = 0.0, 1e9
value_cells(*table(120, 10, 40), checkpoint=sys.argv[1], **KILLED[sys.argv[2]], **OPTIONS)
"""
KILLED = {"sampled": {"subsets": "sampled", "n_subsets": 240}, "exact": {"subsets": "all"}}


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
    resumed = value_cells(*data, checkpoint=path, **KILLED[kind], **OPTIONS)
    assert resumed.info["resumed_at"] > 0
    assert same_bits(resumed, value_cells(*data, **KILLED[kind], **OPTIONS))


def test_a_cluster_is_of_processors():
    with pytest.raises(InputError, match="cluster works on processors: leave backend='cuda' out"):
        value_cells(*table(), method=KNN(device="cuda"), cluster="tcp://127.0.0.1:1", **OPTIONS)


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
    plain = value_cells(*data, **options, **OPTIONS)
    assert same_bits(value_cells(*data, cluster=dask_client, **options, **OPTIONS), plain)
    kept = value_cells(
        *data, cluster=dask_client, checkpoint=tmp_path / "run.npz", **options, **OPTIONS
    )
    assert same_bits(kept, plain)
    assert same_bits(
        value_cells(*data, checkpoint=tmp_path / "run.npz", **options, **OPTIONS), plain
    )


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


STREAMED = {"subsets": "sampled", "valid_rows": "auto", "tolerance": 0.3}


@pytest.mark.parametrize(
    "options",
    [
        SAMPLED,
        pytest.param(EXACT, marks=pytest.mark.slow),
        pytest.param(STREAMED, marks=pytest.mark.slow),
    ],
    ids=["sampled", "exact", "streamed"],
)
def test_a_worker_of_the_cluster_is_killed(options, dask_client, small_pieces, tmp_path):
    data = table()
    flag = tmp_path / "killed"
    with lethal(dask_client, flag, after=1):
        found = value_cells(*data, cluster=dask_client, **options, **OPTIONS)
    assert flag.exists()
    assert same_bits(found, value_cells(*data, **options, **OPTIONS))


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
