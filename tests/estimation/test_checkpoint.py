"""Checkpoints: a run that was killed, stopped or finished goes on, to the same bits; any other run is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shapley2d import CellValuer, value_blocks, value_cells, value_game
from shapley2d._estimation import checkpoint
from shapley2d._estimation.fingerprint import describe
from shapley2d.exceptions import CheckpointWarning, InputError, PrecisionWarning, UtilityError

DATA = load_wine()
X, Y = DATA.data[::17, :2], DATA.target[::17]
X_VALID, Y_VALID = DATA.data[1::6, :2], DATA.target[1::6]
COUNT = 30
OPTIONS = {
    "method": "mc",
    "model": GaussianNB(),
    "max_permutations": COUNT,
    "tolerance": 0,
    "progress": False,
}
PATIENCE_S = 60

SCRIPT = """
import sys, warnings
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from shapley2d import value_cells
from shapley2d._estimation import checkpoint
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    checkpoint.EVERY_S = 0.0
    path, n_jobs = sys.argv[1], int(sys.argv[2])
    data = load_wine()
    v = value_cells(
        data.data[::17, :2], data.target[::17], data.data[1::6, :2], data.target[1::6], method="mc", n_jobs=n_jobs,
        model=GaussianNB(), max_permutations=100_000, tolerance=0, progress=False, checkpoint=path,
    )
    print(v.info["n_permutations"], v.info["interrupted"])
"""


def value(path=None, **changes):
    options = {**OPTIONS, "checkpoint": path, **changes}
    return value_cells(X, Y, X_VALID, Y_VALID, **options)


def same_bits(one, other):
    return all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in ("values", "stderr", "row_stderr", "column_stderr")
    ) and (one.history == other.history)


@pytest.fixture(scope="module")
def plain():
    return value()


@pytest.fixture
def path(tmp_path):
    """A checkpoint of a third of the run, with one of fewer draws before it."""
    path = tmp_path / "run.npz"
    value(path, max_permutations=7)
    value(path, max_permutations=COUNT // 3)
    return path


def count(path):
    with np.load(path, allow_pickle=False) as archive:
        return json.loads(archive["record"].tobytes())["count"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_going_on_gives_the_same_bits(path, plain, n_jobs):
    notes = []
    v = value(path, n_jobs=n_jobs, progress=lambda _, note: notes.append(note))
    assert notes[0] == "resumed at 10 permutations"
    assert v.info["resumed_at"] == 10
    assert v.info["settings"]["checkpoint"] == str(path)
    assert len(notes) == 1 + 20
    assert same_bits(v, plain)
    assert count(path) == COUNT


def test_a_finished_run_returns_at_once(path, plain, monkeypatch):
    value(path)
    before = path.read_bytes()
    monkeypatch.setattr("shapley2d._estimation.draws.PermutationDraws.__call__", None)  # no draw is made
    assert same_bits(value(path), plain)
    assert value(path, max_permutations=5).info["n_permutations"] == COUNT  # more than asked for is no harm
    assert path.read_bytes() == before


def test_another_tolerance_may_go_on(path):
    rough = value(path, tolerance=0.3, max_permutations=1000)
    fine = value(path, tolerance=0.25, max_permutations=1000)
    fresh = value(tolerance=0.25, max_permutations=1000)
    assert rough.info["converged"]
    assert same_bits(fine, fresh)


def test_kill_9_at_any_moment(tmp_path):
    path, script = tmp_path / "run.npz", tmp_path / "script.py"
    script.write_text(SCRIPT)
    reached = 0
    for wait in (0.05, 0.31):
        process = subprocess.Popen([sys.executable, str(script), str(path), "1"])
        deadline = time.monotonic() + PATIENCE_S
        while not (path.exists() and count(path) > reached):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        reached = count(path)
    final = reached + 5
    assert same_bits(value(path, max_permutations=final), value(max_permutations=final))
    assert not list(tmp_path.glob(".*.part"))


def test_control_c_with_workers(tmp_path):
    """The whole process group gets the signal, as from a terminal."""
    path, script = tmp_path / "run.npz", tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(path), "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE_S
    while not (path.exists() and count(path) > 5):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    done, interrupted = out.split()
    assert interrupted == "True"
    assert count(path) == int(done)
    final = int(done) + 5
    assert same_bits(value(path, max_permutations=final), value(max_permutations=final))


def test_control_c_and_errors_leave_a_checkpoint(tmp_path):
    calls, stops = [], []

    def h(S, F):
        calls.append(1)
        if len(calls) == 200 and stops:
            raise stops[0]
        return float(np.sqrt(S.sum() * F[0] + S[0]))

    plain = value_game(h, 5, 2, "mc", max_permutations=40, tolerance=0, progress=False)
    for stop, expected in ((KeyboardInterrupt, None), (MemoryError("full"), UtilityError)):
        path = tmp_path / f"{expected}.npz"
        options = {"tolerance": 0, "max_permutations": 40, "progress": False, "checkpoint": path}
        calls.clear()
        stops[:] = [stop]
        if expected is None:
            with pytest.warns(PrecisionWarning, match="interrupted"):
                v = value_game(h, 5, 2, "mc", **options)
            assert v.info["n_permutations"] == count(path)
        else:
            with pytest.raises(expected):
                value_game(h, 5, 2, "mc", **options)
        assert 10 < count(path) < 30
        stops.clear()
        v = value_game(h, 5, 2, "mc", **options)
        assert v.info["resumed_at"] > 10
        assert same_bits(v, plain)


def damaged_versions(good):
    middle = len(good) // 2
    flipped = bytearray(good)
    flipped[middle] ^= 0xFF
    return {"cut": good[:middle], "empty": b"", "flipped": bytes(flipped), "other": b"a,b\n1,2\n"}


@pytest.mark.parametrize("kind", ["cut", "empty", "flipped", "other"])
def test_a_damaged_file_is_said_so_and_the_last_good_one_is_used(path, plain, kind, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_S", 1e9)  # one file per run, however slow the machine
    assert count(path.with_name("run.npz.previous")) == 7
    path.write_bytes(damaged_versions(path.read_bytes())[kind])
    with pytest.warns(CheckpointWarning, match=r"run.npz is damaged .* going on from .*previous, at 7 perm"):
        v = value(path)
    assert v.info["resumed_at"] == 7
    assert same_bits(v, plain)
    assert count(path) == COUNT
    assert count(path.with_name("run.npz.previous")) == 7  # the damaged one did not take its place


def test_an_altered_number_is_found_by_the_checksum(path):
    with np.load(path) as archive:
        members = dict(archive)
    members["cells_mean"][0, 0] += 1e-12
    with path.open("wb") as file:
        np.savez(file, **members)
    with pytest.warns(CheckpointWarning, match="its checksum is wrong"):
        assert value(path).info["resumed_at"] == 7


@pytest.mark.parametrize("kind", ["cut", "empty", "flipped", "other"])
def test_without_a_good_one_nothing_is_overwritten(path, kind):
    path.with_name("run.npz.previous").unlink()
    content = damaged_versions(path.read_bytes())[kind]
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged or not a checkpoint .* delete it to start again"):
        value(path)
    assert path.read_bytes() == content


def test_killed_between_the_old_file_and_the_new_one(path, plain):
    path.unlink()
    v = value(path)
    assert v.info["resumed_at"] == 7
    assert same_bits(v, plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"random_state": 1}, "random_state is 0 there and 1 here"),
        ({"semivalue": "banzhaf"}, "semivalue is .*shapley.* there and .*banzhaf.* here"),
        (
            {"model": GaussianNB(var_smoothing=0.1)},
            r"model is GaussianNB\(priors=None, var_smoothing=1e-09\) there",
        ),
        ({"model": DecisionTreeClassifier()}, "model is GaussianNB.* here"),
        ({"scoring": "neg_log_loss"}, "scoring is None there and neg_log_loss here"),
        ({"preprocess": "none"}, "preprocess is auto there and none here"),
        ({"include_label": True}, r"the label is none there and \(label\) here"),
    ],
)
def test_other_settings_are_refused(path, changes, message):
    before = path.read_bytes()
    with pytest.raises(InputError, match=rf"checkpoint .*run.npz is of another run: .*{message}"):
        value(path, **changes)
    assert path.read_bytes() == before


def test_other_data_are_refused(path):
    def differs(X=X, Y=Y, X_valid=X_VALID, Y_valid=Y_VALID):
        with pytest.raises(InputError, match="is of another run") as caught:
            value_cells(X, Y, X_valid, Y_valid, checkpoint=path, **OPTIONS)
        return str(caught.value).split("another run: ")[1].split(";")[0]

    other = X.copy()
    other[3, 1] += 1e-9
    assert differs(X=other) == "X differs"
    assert differs(X_valid=X_VALID + 1) == "X_valid differs"
    assert differs(Y_valid=np.roll(Y_VALID, 1)) == "y_valid differs"
    assert differs(Y=np.roll(Y, 1)) == "y differs"
    assert "the training rows differs" in differs(X_valid=None, Y_valid=None)


def test_folds(tmp_path):
    options = {**OPTIONS, "folds": 2, "max_permutations": 12}
    plain = value_cells(X, Y, **options)
    path = tmp_path / "run.npz"
    value_cells(X, Y, checkpoint=path, **{**options, "max_permutations": 5})
    assert same_bits(value_cells(X, Y, checkpoint=path, **options), plain)
    with pytest.raises(InputError, match="the training rows differs"):
        value_cells(X, Y, checkpoint=path, **{**options, "folds": 3})


def test_another_game_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    options = {"method": "mc", "max_permutations": 5, "tolerance": 0, "progress": False, "checkpoint": path}
    value_game(lambda S, F: S.sum() * F.sum(), 4, 2, **options)
    with pytest.raises(InputError, match=r"shape is \[\[4, 2\]\] there and \[\[3, 2\]\] here"):
        value_game(lambda S, F: S.sum() * F.sum(), 3, 2, **options)
    with pytest.raises(InputError, match="is of another run: the code of h differs; use"):
        value_game(lambda S, F: S.sum() * F.sum() + 0.01, 4, 2, **options)


def test_blocks(tmp_path):
    options = {**OPTIONS, "rows": np.arange(len(Y)) % 6, "max_permutations": 12, "validation_groups": 2}
    plain = value_blocks(X, Y, X_VALID, Y_VALID, **options)
    path = tmp_path / "run.npz"
    value_blocks(
        X, Y, X_VALID, Y_VALID, checkpoint=path, **{**options, "max_permutations": 5, "validation_groups": 0}
    )
    v = value_blocks(X, Y, X_VALID, Y_VALID, checkpoint=path, **options)
    assert v.info["resumed_at"] == 5
    assert same_bits(v, plain)
    assert v.covariance.tobytes() == plain.covariance.tobytes()
    with pytest.raises(InputError, match="rows differs"):
        value_blocks(X, Y, X_VALID, Y_VALID, checkpoint=path, **{**options, "rows": np.arange(len(Y)) % 5})


def test_the_estimator_takes_it(path, plain):
    valuer = CellValuer(**{**OPTIONS, "checkpoint": path}).fit(X, Y, X_VALID, Y_VALID)
    assert valuer.valuation_.info["resumed_at"] == 10
    assert same_bits(valuer.valuation_, plain)


def test_the_command_takes_it(tmp_path, capsys):
    from shapley2d.cli import main

    table = tmp_path / "t.csv"
    lines = [",".join(map(str, [*line, f"c{label}"])) for line, label in zip(X, Y, strict=True)]
    table.write_text("\n".join(["a,b,y", *lines]))
    path = tmp_path / "run.npz"
    command = [
        "cells",
        str(table),
        "-t",
        "y",
        "-m",
        "mc",
        "--model",
        "gaussian_nb",
        "--max-permutations",
        "3",
    ]
    command += ["--folds", "2", "--checkpoint", str(path), "--json"]
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["lowest"] == first["lowest"]
    assert count(path) == 3
    assert main([*command, "--seed", "5"]) == 2
    assert "is of another run: random_state is 0 there and 5 here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (".", "is a folder: name a file in it"),
        ("nowhere/run.npz", "the folder .*nowhere does not exist, make it first"),
        (5, "checkpoint=5 must be the path of a file"),
    ],
)
def test_impossible_places_are_told_before_the_work(tmp_path, place, message):
    with pytest.raises(InputError, match=message):
        value(tmp_path / place if isinstance(place, str) else place)


def test_files_are_written_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    kept = checkpoint.Checkpoint(tmp_path / "a.npz", {})
    assert kept.due()
    kept.save(1, {}, [])
    assert kept.path.exists()
    assert not kept.due()  # writing takes a small share of the time even where it is slow
    monkeypatch.setattr(checkpoint, "EVERY_S", 3600.0)
    assert not checkpoint.Checkpoint(tmp_path / "b.npz", {}).due()


def test_never_a_pickle(path):
    for name in (path, path.with_name("run.npz.previous")):
        with np.load(name, allow_pickle=False) as archive:
            members = {key: archive[key] for key in archive.files}
        assert {array.dtype.kind for array in members.values()} == {"f", "u"}
    record = json.loads(members["record"].tobytes())
    assert set(record) == {"format", "count", "history", "identity", "drawn"}


def test_descriptions_do_not_depend_on_the_process():
    def score(model, X, y):
        return 0.5

    assert describe(score).endswith("score")
    assert "0x" not in describe(object())
    assert describe(np.arange(3)) != describe(np.arange(4))
    nested = CellValuer(model=GaussianNB(), scoring=[score, 1])
    assert describe(nested) == describe(CellValuer(model=GaussianNB(), scoring=[score, 1]))
