"""Checkpoints: a run that was killed, stopped or finished goes on, to the same bits; any other run is refused."""

import contextlib
import errno
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, make_scorer, zero_one_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shapley2d import CellValuer, MonteCarlo, value_cells, value_game
from shapley2d._estimation import checkpoint
from shapley2d._estimation.fingerprint import describe
from shapley2d.exceptions import CheckpointWarning, InputError, PrecisionWarning, UtilityError
from tests.comparing import same_bits

DATA = load_wine()
X, Y = DATA.data[::17, :2], DATA.target[::17]
X_VALID, Y_VALID = DATA.data[1::6, :2], DATA.target[1::6]
COUNT = 30
METHOD = MonteCarlo(GaussianNB(), max_draws=COUNT, tolerance=0)
GAME = {"method": MonteCarlo(max_draws=6, tolerance=0), "name": "h"}
PATIENCE_S = 180  # on a busy machine

SCRIPT = """
import sys, warnings
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from shapley2d import MonteCarlo, value_cells
from shapley2d._estimation import checkpoint
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    checkpoint.EVERY_S = 0.0
    path, n_jobs = sys.argv[1], int(sys.argv[2])
    data = load_wine()
    v = value_cells(
        data.data[::17, :2], data.target[::17], data.data[1::6, :2], data.target[1::6],
        method=MonteCarlo(GaussianNB(), max_draws=100_000, tolerance=0),
        n_jobs=n_jobs, progress=False, checkpoint=path,
    )
    print(v.info["n_permutations"], v.info["interrupted"])
"""


def half(model, X, y):
    return 0.5


class Own(GaussianNB):
    pass


def value(path=None, method=METHOD, progress=False, **options):
    """The values by the checkpoint at this path."""
    tables = X, Y, X_VALID, Y_VALID
    return value_cells(*tables, method=method, progress=progress, checkpoint=path, **options)


def draws(count, **options):
    """The same method with another number of draws."""
    return replace(METHOD, max_draws=count, **options)


@pytest.fixture(scope="module")
def plain():
    return value()


@pytest.fixture(scope="module")
def third(tmp_path_factory):
    """A folder with a checkpoint of a third of the run."""
    folder = tmp_path_factory.mktemp("third")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "EVERY_S", 1e9)  # one file per run, however slow the machine
        value(folder / "run.npz", draws(COUNT // 3))
    return folder


@pytest.fixture
def path(third, tmp_path, monkeypatch):
    """A copy of that checkpoint."""
    monkeypatch.setattr(checkpoint, "EVERY_S", 1e9)
    shutil.copytree(third, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run.npz"


def count(path):
    with np.load(path, allow_pickle=False) as archive:
        return json.loads(archive["record"].tobytes())["count"]


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_going_on_gives_the_same_bits(path, plain, n_jobs):
    notes = []
    v = value(path, n_jobs=n_jobs, progress=lambda _, note: notes.append(note))
    assert notes[0] == "resumed at 10 of 30 permutations"
    assert v.info["resumed_at"] == 10
    assert sum("of 30 permutations" in note for note in notes[1:]) == 20
    assert same_bits(v, plain) and v.history == plain.history
    assert count(path) == COUNT


def test_a_finished_run_returns_at_once(path, plain, monkeypatch):
    value(path)
    before = path.read_bytes()
    monkeypatch.setattr("shapley2d._models.game_draws.Orders.__call__", None)  # no draw is made
    assert same_bits(value(path), plain)
    # more than asked for is no harm
    assert value(path, draws(5)).info["n_permutations"] == COUNT
    assert path.read_bytes() == before


def test_another_tolerance_may_go_on(path):
    rough = value(path, draws(1000, tolerance=0.3))
    fine = value(path, draws(1000, tolerance=0.15))
    assert rough.info["converged"] and fine.info["converged"]
    assert fine.info["resumed_at"] == rough.info["n_permutations"] < fine.info["n_permutations"]
    assert same_bits(fine, value(method=draws(fine.info["n_permutations"])))


@pytest.mark.parametrize("stops", [(3,), (12, 17), (30, 31, 70)])
def test_a_run_that_was_stopped_ends_where_any_other_does(tmp_path, stops):
    path, until = tmp_path / "run.npz", {"tolerance": 0.08, "model": "gaussian_nb"}
    for stop in stops:
        with pytest.warns(PrecisionWarning, match="stopped at max_draws"):
            value(path, draws(stop, **until))
    further, at_once = value(path, draws(1000, **until)), value(method=draws(1000, **until))
    assert at_once.info["n_permutations"] > max(stops)
    assert same_bits(further, at_once) and further.history == at_once.history


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
    assert same_bits(value(path, draws(final)), value(method=draws(final)))
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.slow
def test_control_c_with_workers(tmp_path):
    """The whole process group gets the signal, as from a terminal."""
    path, script = tmp_path / "run.npz", tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(path), "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not (path.exists() and count(path) > 5):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(
                process.pid, signal.SIGKILL
            )  # should it hang, neither it nor its workers stay behind
        process.communicate()
    assert process.returncode == 0, err
    done, interrupted = out.split()
    assert interrupted == "True"
    assert count(path) == int(done)
    final = int(done) + 5
    assert same_bits(value(path, draws(final)), value(method=draws(final)))


def test_control_c_and_errors_leave_a_checkpoint(tmp_path):
    calls, stops = [], []

    def h(S, F):
        calls.append(1)
        if len(calls) == 200 and stops:
            raise stops[0]
        return float(np.sqrt(S.sum() * F[0] + S[0]))

    method = MonteCarlo(max_draws=40, tolerance=0)
    plain = value_game(h, 5, 2, method=method)
    for stop, expected in ((KeyboardInterrupt, None), (MemoryError("full"), UtilityError)):
        path = tmp_path / f"{expected}.npz"
        options = {"method": method, "name": "h", "checkpoint": path}
        calls.clear()
        stops[:] = [stop]
        if expected is None:
            with pytest.warns(PrecisionWarning, match="interrupted"):
                v = value_game(h, 5, 2, **options)
            assert v.info["n_permutations"] == count(path)
        else:
            with pytest.raises(expected):
                value_game(h, 5, 2, **options)
        assert 10 < count(path) < 30
        stops.clear()
        v = value_game(h, 5, 2, **options)
        assert v.info["resumed_at"] > 10
        assert same_bits(v, plain)


def damaged_versions(good):
    middle = len(good) // 2
    flipped = bytearray(good)
    flipped[middle] ^= 0xFF
    return {"cut": good[:middle], "empty": b"", "flipped": bytes(flipped), "other": b"a,b\n1,2\n"}


def test_an_altered_number_is_found_by_the_checksum(path):
    with np.load(path) as archive:
        members = dict(archive)
    members["0 total"][0, 0] += 1e-12
    with path.open("wb") as file:
        np.savez(file, **members)
    with pytest.raises(InputError, match="its checksum is wrong"):
        value(path)


@pytest.mark.parametrize("kind", ["cut", "empty", "flipped", "other"])
def test_a_damaged_file_is_told_and_not_overwritten(path, kind):
    content = damaged_versions(path.read_bytes())[kind]
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"is damaged or not a checkpoint .* delete it to start again"
    ):
        value(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"random_state": 1}, "random_state is 0 there and 1 here"),
        ({"semivalue": "banzhaf"}, "semivalue is .*shapley.* there and .*banzhaf.* here"),
        (
            {"method": replace(METHOD, model=GaussianNB(var_smoothing=0.1))},
            r"model is sklearn.naive_bayes.GaussianNB\(priors=None, var_smoothing=1e-09\) there",
        ),
        (
            {"method": replace(METHOD, model=DecisionTreeClassifier())},
            "model is .*GaussianNB.* here",
        ),
        ({"scoring": "neg_log_loss"}, "scoring is None there and neg_log_loss here"),
        ({"method": replace(METHOD, preprocess="none")}, "preprocess is auto there and none here"),
        ({"include_label": True}, r"the label is none there and \(label\) here"),
        ({"scoring": half}, rf"scoring is None there and {__name__}.half here"),
        (
            {"method": replace(METHOD, model=Own())},
            rf"model is .*GaussianNB.* there and {__name__}.Own\(",
        ),
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
            value_cells(X, Y, X_valid, Y_valid, method=METHOD, checkpoint=path)
        return str(caught.value).split("another run: ")[1].split(";")[0]

    other = X.copy()
    other[3, 1] += 1e-9
    assert differs(X=other) == "X differs"
    assert differs(X_valid=X_VALID + 1) == "X_valid differs"
    assert differs(Y_valid=np.roll(Y_VALID, 1)) == "y_valid differs"
    assert differs(Y=np.roll(Y, 1)) == "y differs"
    assert "the training rows differs" in differs(X_valid=None, Y_valid=None)


def test_folds(tmp_path):
    def crossed(count, cv=2, **options):
        return value_cells(X, Y, method=draws(count), cv=cv, **options)

    plain, path = crossed(12), tmp_path / "run.npz"
    crossed(5, checkpoint=path)
    assert same_bits(crossed(12, checkpoint=path), plain)
    with pytest.raises(InputError, match="the training rows differs"):
        crossed(12, cv=3, checkpoint=path)


@pytest.mark.parametrize(
    ("n_rows", "name", "message"),
    [
        (3, "product", r"shape is \[4, 2\] there and \[3, 2\] here"),
        (4, "sum", "name is product there and sum here"),
        (4, None, "cannot tell one game .* say which it is by name"),
    ],
)
def test_another_game_is_refused(tmp_path, n_rows, name, message):
    """Games are known by their names and sizes: what else they depend on, none can know."""
    known = {**GAME, "checkpoint": tmp_path / "run.npz"}
    value_game(sizes, 4, 2, **{**known, "name": "product"})
    with pytest.raises(InputError, match=message):
        value_game(sizes, n_rows, 2, **{**known, "name": name})


def test_groups(tmp_path):
    def groups(count=12, n_groups=6, **options):
        asked = {"row_groups": np.arange(len(Y)) % n_groups, **options}
        return value_cells(X, Y, X_VALID, Y_VALID, method=draws(count), **asked)

    plain, path = groups(), tmp_path / "run.npz"
    groups(5, checkpoint=path)
    v = groups(checkpoint=path)
    assert v.info["resumed_at"] == 5
    assert same_bits(v, plain)
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
    with pytest.raises(InputError, match="the groups of rows differs"):
        groups(n_groups=5, checkpoint=path)


def test_the_estimator_takes_it(path, plain):
    valuer = CellValuer(METHOD, checkpoint=path).fit(X, Y, X_VALID, Y_VALID)
    assert valuer.valuation_.info["resumed_at"] == 10
    assert same_bits(valuer.valuation_, plain)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (".", "cannot write checkpoint=.*: it is a folder, name a file in it"),
        ("nowhere/run.npz", "the folder .*nowhere does not exist, make it first"),
        (5, "checkpoint=5 must be the path of a file"),
    ],
)
def test_impossible_places_are_told_before_the_work(tmp_path, place, message):
    with pytest.raises(InputError, match=message):
        value(tmp_path / place if isinstance(place, str) else place)


def test_never_a_pickle(path):
    with np.load(path, allow_pickle=False) as archive:
        members = {key: archive[key] for key in archive.files}
    assert {array.dtype.kind for array in members.values()} == {"f", "u"}


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, model, X, y):
        return self.factor * model.score(X, y)

    def scaled(self, model, X, y):
        return self(model, X, y)


class Told(Scale):
    def __repr__(self):
        return f"Told({self.factor})"


def test_descriptions_do_not_depend_on_the_process():
    assert describe(half) == f"{__name__}.half"
    assert describe(Own()).startswith(f"{__name__}.Own(priors=None")
    assert describe(make_scorer(accuracy_score)) != describe(make_scorer(zero_one_loss))
    assert describe(functools.partial(half, None)) != describe(half)
    assert describe(Told(2.0)) != describe(Told(3.0)) != describe(Told(3.0).scaled)
    assert "0x" not in describe(object())
    assert describe(np.arange(3)) != describe(np.arange(4))
    nested = CellValuer(MonteCarlo(GaussianNB()), scoring=[half, 1])
    assert describe(nested) == describe(CellValuer(MonteCarlo(GaussianNB()), scoring=[half, 1]))


def sizes(S, F):
    return float(S.sum())


@pytest.mark.parametrize("wrap", [lambda f: f, make_scorer, functools.partial])
def test_what_has_no_name_of_its_own_is_refused(tmp_path, wrap):
    def local(*_):
        return 0.5

    class Local(GaussianNB):
        pass

    for function in (lambda *_: 0.5, local):
        with pytest.raises(
            InputError, match=r"scoring is or uses .*<\w+>.*define it by name at the top level"
        ):
            value(tmp_path / "run.npz", scoring=wrap(function))
    with pytest.raises(
        InputError, match=r"model is or uses .*<locals>\.Local, which no checkpoint"
    ):
        value(tmp_path / "run.npz", MonteCarlo(Local()))
    for holder in (Scale(2.0), Scale(2.0).scaled):
        with pytest.raises(
            InputError, match="scoring is an object that does not say what it holds"
        ):
            value(tmp_path / "run.npz", scoring=holder)
    assert not any(tmp_path.iterdir())


# the disk


def game_run(path, count=6, **options):
    method = MonteCarlo(max_draws=count, tolerance=0)
    return value_game(sizes, 4, 2, checkpoint=path, **{**GAME, "method": method, **options})


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_full_disk_does_not_end_the_run(tmp_path, monkeypatch, error):
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)

    def full(*_):
        raise OSError(error, os.strerror(error))

    plain = value_game(sizes, 4, 2, **GAME)
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.warns(CheckpointWarning) as caught:
            v = game_run(path)
    (message,) = [str(one.message) for one in caught]  # one warning, however often it fails
    assert message.startswith(
        f"the checkpoint {path} cannot be written ({os.strerror(error)}): the run goes on"
    )
    assert same_bits(v, plain) and not any(tmp_path.iterdir())
    game_run(path)
    assert count(path) == 6


def test_a_folder_that_goes_away_does_not_end_the_run(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()

    calls = []

    def h(S, F):
        calls.append(1)
        if len(calls) == 20:
            folder.rmdir()
        return float(S.sum())

    with pytest.warns(CheckpointWarning, match="the folder .*folder does not exist"):
        v = value_game(h, 4, 2, checkpoint=folder / "run.npz", **GAME)
    assert v.info["n_permutations"] == 6


def test_loading_leaves_the_files_of_other_checkpoints_alone(tmp_path):
    own = tmp_path / ".run.npz.01234567.part"
    others = [tmp_path / name for name in (".run.npz.x.01234567.part", ".other.npz.01234567.part")]
    for path in (own, *others):
        path.write_text("half")
    game_run(tmp_path / "run.npz")
    assert not own.exists() and all(path.read_text() == "half" for path in others)


def test_a_link_to_another_disk_stays(tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "run.npz"
    link.symlink_to(tmp_path / "disk" / "state.npz")
    game_run(link, 3)
    game_run(link)
    assert link.is_symlink()
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["state.npz"]
