"""Draws of every method: killed and resumed, or on a cluster, the same bits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from shapley2d import KNN, Exact, Forest, MonteCarlo, value_cells, value_game
from shapley2d._estimation import checkpoint
from shapley2d._forest.draws import GivenTrees, GrownTrees
from shapley2d._models.game_draws import AllSets
from shapley2d.cli import main
from shapley2d.exceptions import InputError, UtilityError
from tests.comparing import CrashError, same_bits

random = np.random.default_rng(3)
X, X_VALID = random.normal(size=(8, 3)).round(2), random.normal(size=(10, 3)).round(2)
Y, Y_VALID = np.array(["no", "yes"] * 4), (X_VALID[:, 0] > 0).astype(int).astype(str)
Y_VALID = np.where(Y_VALID == "1", "yes", "no")
EXACT = Exact("gaussian_nb")
GROWN = Forest(max_draws=20, tolerance=0)  # five draws
GIVEN = Forest(ExtraTreesClassifier(18, max_depth=3, random_state=0))


def game(S, F):
    """Cheap and not additive."""
    return float(np.sqrt(S.sum() * F[0] + S[0]) + 0.1 * F.sum())


def cells(*data, **options):
    return lambda **more: value_cells(*data, **options, **more)


def groups(*data, **options):
    options |= {"row_groups": [0, 0, 1, 1, 2, 2, 3, 3], "column_groups": [0, 1, 2]}
    return lambda **more: value_cells(*data, **options, **more)


VALID, CROSSED = (X, Y, X_VALID, Y_VALID), (X, Y)
FEW, FEW_CROSSED = (X[:4], Y[:4], X_VALID, Y_VALID), (X[:6], Y[:6])
KINDS = {
    "exact": cells(*FEW, method=EXACT),
    "exact crossed": cells(*FEW_CROSSED, method=EXACT, cv=2),
    "exact label": cells(X[:6, :2], Y[:6], method=EXACT, cv=2, include_label=True),
    "game": lambda **more: value_game(game, 4, 3, name="game", **more),
    "forest": cells(*VALID, method=GROWN),
    "forest crossed": cells(*CROSSED, method=GROWN, cv=2, n_jobs=1),
    "given forest": cells(*VALID, method=GIVEN),
    "given forest crossed": cells(*CROSSED, method=GIVEN, cv=2),
    "groups": groups(*VALID, method=EXACT),
    "groups of neighbours": groups(*VALID, method=KNN(n_neighbors=2)),
    "groups of neighbours crossed": groups(*CROSSED, method=KNN(n_neighbors=2), cv=2),
}
OFTEN = ["exact crossed", "game", "forest crossed", "groups of neighbours crossed"]
pytestmark = pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")


def slow(kind):
    return pytest.param(kind, marks=pytest.mark.slow)


def crash_after(monkeypatch, calls):
    """Let some draws be made, and count how many are."""
    done = []
    for kind in (AllSets, GivenTrees, GrownTrees):

        def limited(self, number, real=kind.__call__):
            if len(done) >= calls:
                raise CrashError
            done.append(number)
            return real(self, number)

        monkeypatch.setattr(kind, "__call__", limited)
    return done


@pytest.mark.parametrize("kind", [*OFTEN, *map(slow, [one for one in KINDS if one not in OFTEN])])
def test_a_run_that_crashed_goes_on_to_the_same_bits(kind, small_pieces, monkeypatch, tmp_path):
    value, path = KINDS[kind], tmp_path / "run.npz"
    plain = value()
    with monkeypatch.context() as patch:
        done = crash_after(patch, 3)
        with pytest.raises((CrashError, UtilityError), match=r"CrashError|^$"):
            value(checkpoint=path)
    assert len(done) == 3
    resumed = value(checkpoint=path)
    assert resumed.info["resumed_at"] == 3
    assert same_bits(resumed, plain)
    crash_after(monkeypatch, 0)
    assert same_bits(value(checkpoint=path), plain)  # nothing is done again


@pytest.mark.parametrize(
    "kind",
    ["exact", "forest", "groups of neighbours", *map(slow, ("exact crossed", "given forest"))],
)
def test_workers_and_pools_do_the_same_bits(kind, small_pieces, tmp_path):
    value = KINDS[kind]
    plain = value()
    assert same_bits(value(n_jobs=2, checkpoint=tmp_path / "run.npz"), plain)
    with ThreadPoolExecutor(2) as pool:
        assert same_bits(value(cluster=pool), plain)


@pytest.mark.parametrize("kind", ["forest", *map(slow, ("exact crossed", "groups of neighbours"))])
def test_a_cluster_does_the_same_bits(kind, dask_client, small_pieces, tmp_path):
    value, path = KINDS[kind], tmp_path / "run.npz"
    plain = value()
    assert same_bits(value(cluster=dask_client.scheduler.address, checkpoint=path), plain)
    assert same_bits(value(checkpoint=path), plain)


def test_control_c_keeps_what_is_done(small_pieces, monkeypatch, tmp_path):
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "EVERY_S", 60.0)  # written at the end alone
        real = AllSets.__call__

        def pressed(self, number):
            if number == 5:
                raise KeyboardInterrupt
            return real(self, number)

        patch.setattr(AllSets, "__call__", pressed)
        with pytest.raises(KeyboardInterrupt):
            KINDS["exact"](checkpoint=path)
    assert KINDS["exact"](checkpoint=path).info["resumed_at"] == 5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": MonteCarlo("gaussian_nb")}, "method is exact there and mc here"),
        ({"method": Exact("tree")}, "model is"),
        ({"baseline": "zero"}, "baseline is labels"),
    ],
)
def test_another_run_is_refused(change, said, tmp_path):
    asked = {"method": EXACT, "cv": 2, "checkpoint": tmp_path / "run.npz"}
    cells(*FEW_CROSSED, **asked)()
    with pytest.raises(InputError, match=f"is of another run: {said}"):
        cells(*FEW_CROSSED, **asked | change)()


@pytest.fixture
def command(tmp_path):
    """The command line on a small table, without the method."""
    lines = [",".join(map(str, [*line, label])) for line, label in zip(X, Y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *lines]))
    return lambda *more: main(
        ["cells", str(tmp_path / "t.csv"), "-t", "y", "--cv", "2", *map(str, more)]
    )


def test_the_command_takes_a_checkpoint(command, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    call = ["-m", "mc", "--max-draws", 3, "--checkpoint", tmp_path / "run.npz"]
    assert command(*call, "-o", tmp_path / "v.csv") == 0
    assert command(*call, "-o", tmp_path / "w.csv") == 0
    assert (tmp_path / "v.csv").read_text() == (tmp_path / "w.csv").read_text()
    assert command(*call, "--seed", 5) == 2
    assert "is of another run: --seed is 0 there and 5 here" in capsys.readouterr().err


def test_the_command_takes_a_cluster(dask_client, command, tmp_path):
    address = dask_client.scheduler.address
    assert command("-m", "forest", "-o", tmp_path / "here.csv") == 0
    assert command("-m", "forest", "-o", tmp_path / "there.csv", "--cluster", address) == 0
    assert (tmp_path / "here.csv").read_text() == (tmp_path / "there.csv").read_text()


def test_the_command_names_the_state_that_control_c_leaves(
    command, small_pieces, tmp_path, capsys, monkeypatch
):
    real = AllSets.__call__

    def pressed(self, number):
        if number == 2:
            raise KeyboardInterrupt
        return real(self, number)

    monkeypatch.setattr(AllSets, "__call__", pressed)
    path = tmp_path / "run.npz"
    assert command("-m", "exact", "--checkpoint", path) == 130
    assert f"there were values; the same command goes on from {path}" in capsys.readouterr().err


def test_rounds_of_deep_leaves_go_on_to_the_same_bits(small_pieces, monkeypatch, tmp_path):
    monkeypatch.setattr("shapley2d._forest.leaves.most_columns", lambda _: 1)
    method, path = replace(GIVEN, tolerance=0, max_draws=12), tmp_path / "run.npz"
    value = cells(*VALID, method=method)
    plain, real = value(), GivenTrees.__call__

    def limited(self, number):
        if number == self.sure + 5:
            raise CrashError
        return real(self, number)

    with monkeypatch.context() as patch:
        patch.setattr(GivenTrees, "__call__", limited)
        with pytest.raises((CrashError, UtilityError), match=r"CrashError|^$"):
            value(checkpoint=path)
    resumed = value(checkpoint=path)
    assert resumed.info["resumed_at"] == 10  # after 5 batches of trees
    assert same_bits(resumed, plain)
    with ThreadPoolExecutor(2) as pool:
        assert same_bits(value(cluster=pool), plain)
