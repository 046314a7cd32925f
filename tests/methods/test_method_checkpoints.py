"""Exact values, forests and blocks in pieces: killed and resumed, or on a cluster, the same bits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from shapley2d import value_blocks, value_cells, value_game
from shapley2d._estimation import checkpoint
from shapley2d._estimation.checkpoint import Saved
from shapley2d._estimation.exact import DesignBlocks, _Sums
from shapley2d._games.function import FunctionGame
from shapley2d._methods.forest.fixed import DeepDraws, TreePieces
from shapley2d._methods.forest.grow import TreeDraws
from shapley2d._theory.designs import AllSubsets
from shapley2d.exceptions import InputError

random = np.random.default_rng(3)
X, X_VALID = random.normal(size=(8, 3)).round(2), random.normal(size=(10, 3)).round(2)
Y, Y_VALID = np.array(["no", "yes"] * 4), (X_VALID[:, 0] > 0).astype(int).astype(str)
Y_VALID = np.where(Y_VALID == "1", "yes", "no")
MODEL = {"model": "gaussian_nb"}
FOREST = ExtraTreesClassifier(18, max_depth=3, random_state=0)


def game(S, F):
    """Cheap and not additive."""
    return float(np.sqrt(S.sum() * F[0] + S[0]) + 0.1 * F.sum())


def cells(*data, **options):
    return lambda **more: value_cells(*data, progress=False, **options, **more)


def blocks(*data, **options):
    groups = {"rows": [0, 0, 1, 1, 2, 2, 3, 3], "columns": [0, 1, 2], "players": "groups"}
    return lambda **more: value_blocks(*data, progress=False, **{**groups, **options, **more})


VALID, CROSSED = (X, Y, X_VALID, Y_VALID), (X, Y)
FEW, FEW_CROSSED = (X[:4], Y[:4], X_VALID, Y_VALID), (X[:6], Y[:6])
KINDS = {
    "exact": cells(*FEW, method="exact", **MODEL),
    "exact crossed": cells(*FEW_CROSSED, method="exact", cv=2, **MODEL),
    "exact label": cells(X[:6, :2], Y[:6], method="exact", cv=2, include_label=True, **MODEL),
    "game": lambda **more: value_game(game, 4, 3, progress=False, name="game", **more),
    "forest": cells(*VALID, method="forest", max_trees=12, tolerance=0),
    "forest crossed": cells(*CROSSED, method="forest", max_trees=12, tolerance=0, cv=2, n_jobs=1),
    "given forest": cells(*VALID, method="forest", model=FOREST),
    "given forest crossed": cells(*CROSSED, method="forest", model=FOREST, cv=2),
    "blocks": blocks(*VALID, method="exact", **MODEL),
    "blocks by themselves": blocks(*VALID, **MODEL),
    "blocks of neighbours": blocks(*VALID, model="knn", n_neighbors=2),
    "blocks of neighbours crossed": blocks(*CROSSED, model="knn", n_neighbors=2, cv=2),
}
OFTEN = ["exact crossed", "game", "forest crossed", "blocks of neighbours crossed"]
pytestmark = pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")


def slow(kind):
    return pytest.param(kind, marks=pytest.mark.slow)


class CrashError(Exception):
    """The power fails."""


@pytest.fixture
def small_pieces(monkeypatch):
    """A file after every piece, and many pieces even of small tables."""
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 1e9)
    monkeypatch.setattr("shapley2d._estimation.exact._MIN_UTILITIES", 2)
    monkeypatch.setattr("shapley2d._methods.exact._COLUMN_STEP", 2)


def crash_after(monkeypatch, calls):
    """Let some pieces be done, and count how many are."""
    done = []
    for kind in (DesignBlocks, TreePieces, TreeDraws):

        def limited(self, number, real=kind.__call__):
            if len(done) >= calls:
                raise CrashError
            done.append(number)
            return real(self, number)

        monkeypatch.setattr(kind, "__call__", limited)
    return done


def bits(found):
    names = ("values", "stderr", "row_stderr", "column_stderr")
    return [getattr(found, name).tobytes() for name in names]


@pytest.mark.parametrize("kind", [*OFTEN, *map(slow, [one for one in KINDS if one not in OFTEN])])
def test_a_run_that_crashed_goes_on_to_the_same_bits(kind, small_pieces, monkeypatch, tmp_path):
    value, path = KINDS[kind], tmp_path / "run.npz"
    plain = value()
    with monkeypatch.context() as patch:
        done = crash_after(patch, 3)
        with pytest.raises(CrashError):
            value(checkpoint=path)
    assert len(done) == 3
    resumed = value(checkpoint=path)
    # three trees are one draw and a half where each of two folds has its own
    assert resumed.info["resumed_at"] == (1 if kind == "forest crossed" else 3)
    assert bits(resumed) == bits(plain)
    crash_after(monkeypatch, 0)
    assert bits(value(checkpoint=path)) == bits(plain)  # nothing is done again


@pytest.mark.parametrize(
    "kind",
    [
        "forest",
        *map(
            slow,
            (
                "exact crossed",
                "given forest crossed",
                "blocks of neighbours crossed",
            ),
        ),
    ],
)
def test_many_places_to_crash_at(kind, small_pieces, monkeypatch, tmp_path):
    value = KINDS[kind]
    plain = value()
    calls, crashed = 0, True
    while crashed:
        calls += 7
        path = tmp_path / f"{calls}.npz"
        with monkeypatch.context() as patch:
            crash_after(patch, calls)
            try:
                value(checkpoint=path)
                crashed = False
            except CrashError:
                crashed = True
        assert bits(value(checkpoint=path)) == bits(plain)
    assert calls > 7


@pytest.mark.parametrize(
    "kind",
    [
        "exact",
        "forest",
        "blocks of neighbours",
        *map(slow, ("exact crossed", "given forest")),
    ],
)
def test_workers_and_pools_do_the_same_bits(kind, small_pieces, tmp_path):
    value = KINDS[kind]
    plain = bits(value())
    assert bits(value(n_jobs=2, checkpoint=tmp_path / "run.npz")) == plain
    with ThreadPoolExecutor(2) as pool:
        assert bits(value(cluster=pool)) == plain


@pytest.mark.parametrize("kind", ["forest", *map(slow, ("exact crossed", "blocks of neighbours"))])
def test_a_cluster_does_the_same_bits(kind, dask_client, small_pieces, tmp_path):
    value, path = KINDS[kind], tmp_path / "run.npz"
    plain = bits(value())
    assert bits(value(cluster=dask_client.scheduler.address, checkpoint=path)) == plain
    assert bits(value(checkpoint=path)) == plain


def test_control_c_keeps_what_is_done(small_pieces, monkeypatch, tmp_path):
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "EVERY_S", 60.0)  # written at the end alone
        real = DesignBlocks.__call__

        def pressed(self, number):
            if number == 5:
                raise KeyboardInterrupt
            return real(self, number)

        patch.setattr(DesignBlocks, "__call__", pressed)
        with pytest.raises(KeyboardInterrupt):
            KINDS["exact"](checkpoint=path)
    assert KINDS["exact"](checkpoint=path).info["resumed_at"] == 5


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (
            {"method": "exact", **MODEL},
            {"method": "mc", **MODEL},
            "method is exact there and mc here",
        ),
        ({"method": "exact", **MODEL}, {"method": "exact", "model": "tree"}, "model is"),
        (
            {"method": "exact", **MODEL},
            {"method": "exact", "baseline": "zero", **MODEL},
            "baseline is labels",
        ),
        (
            {"method": "exact", **MODEL},
            {"method": "exact", "random_state": 1, **MODEL},
            "random_state is 0 there and 1 here",
        ),
    ],
)
def test_another_run_is_refused(first, second, said, tmp_path):
    path = tmp_path / "run.npz"
    value_cells(*FEW_CROSSED, cv=2, progress=False, checkpoint=path, **first)
    with pytest.raises(InputError, match=f"is of another run: {said}"):
        value_cells(*FEW_CROSSED, cv=2, progress=False, checkpoint=path, **second)


def test_blocks_of_other_groups_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    KINDS["blocks of neighbours"](checkpoint=path)
    with pytest.raises(InputError, match=r"is of another run: .*columns differs"):
        KINDS["blocks of neighbours"](checkpoint=path, columns=[0, 0, 1])


@pytest.mark.parametrize(
    ("count", "arrays", "said"),
    [
        (9, {}, "it counts 9 blocks of 2"),
        (1, {"cells_mean": np.zeros((2, 1))}, "it has no game_sum"),
        (
            1,
            {"cells_mean": np.zeros((2, 1)), "game_sum": np.zeros((1, 2))},
            r"its game_sum has the shape \(1, 2\), which does not fit",
        ),
        (
            1,
            {"cells_mean": np.zeros((2, 1)), "game_sum": np.zeros((2, 1), dtype=np.float32)},
            "its game_sum has the shape .*, which does not fit",
        ),
        (
            1,
            {"cells_mean": np.zeros((2, 1)), "game_sum": np.full((2, 1), np.nan)},
            "its game_sum has entries that are not numbers",
        ),
        (
            1,
            {name: np.zeros((2, 1)) for name in ("cells_mean", "game_sum", "more")},
            "it has more arrays than it should",
        ),
    ],
)
def test_what_a_state_of_exact_values_must_hold(count, arrays, said):
    blocks = DesignBlocks(FunctionGame(game, 2, 1), AllSubsets(2), AllSubsets(1), step=2)
    with pytest.raises(ValueError, match=said):
        _Sums([blocks], [np.arange(2)], 2).restore(Saved(count, arrays, {}, {}, []))


@pytest.mark.parametrize("method", ["exact", "forest"])
def test_the_command_takes_a_checkpoint(method, tmp_path, capsys, monkeypatch):
    from shapley2d.cli import main

    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    lines = [",".join(map(str, [*line, label])) for line, label in zip(X, Y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *lines]))
    call = ["cells", str(tmp_path / "t.csv"), "-t", "y", "--cv", "2", "-m", method]
    call += ["--checkpoint", str(tmp_path / "run.npz")]
    assert main([*call, "-o", str(tmp_path / "v.csv")]) == 0
    assert main([*call, "-o", str(tmp_path / "w.csv")]) == 0
    assert (tmp_path / "v.csv").read_text() == (tmp_path / "w.csv").read_text()
    assert main([*call, "--seed", "5"]) == 2
    assert "is of another run: random_state is 0 there and 5 here" in capsys.readouterr().err


def test_the_command_takes_a_cluster(dask_client, tmp_path):
    from shapley2d.cli import main

    lines = [",".join(map(str, [*line, label])) for line, label in zip(X, Y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *lines]))
    call = ["cells", str(tmp_path / "t.csv"), "-t", "y", "--cv", "2", "-m", "forest", "-o"]
    assert main([*call, str(tmp_path / "here.csv")]) == 0
    assert (
        main([*call, str(tmp_path / "there.csv"), "--cluster", dask_client.scheduler.address]) == 0
    )
    assert (tmp_path / "here.csv").read_text() == (tmp_path / "there.csv").read_text()


def test_the_command_names_the_state_that_control_c_leaves(tmp_path, capsys, monkeypatch):
    from shapley2d.cli import main

    real = DesignBlocks.__call__

    def pressed(self, number):
        if number == 2:
            raise KeyboardInterrupt
        return real(self, number)

    monkeypatch.setattr(DesignBlocks, "__call__", pressed)
    (tmp_path / "t.csv").write_text(
        "a,y\n" + "".join(f"{k * k % 7},{'uv'[k % 2]}\n" for k in range(12))
    )
    path = str(tmp_path / "run.npz")
    assert (
        main(
            [
                "cells",
                str(tmp_path / "t.csv"),
                "-t",
                "y",
                "-m",
                "exact",
                "--cv",
                "2",
                "--checkpoint",
                path,
            ]
        )
        == 130
    )
    assert (
        f"before there were values; the same command goes on from {path}" in capsys.readouterr().err
    )


def test_rounds_of_deep_leaves_go_on_to_the_same_bits(small_pieces, monkeypatch, tmp_path):
    monkeypatch.setattr("shapley2d._forest.game.most_columns", lambda _: 1)
    options = {"method": "forest", "model": FOREST, "tolerance": 0, "max_rounds": 12}
    value, path = cells(*VALID, **options), tmp_path / "run.npz"
    plain, real = value(), DeepDraws.values

    def limited(self, exact, number):
        if number == 5:
            raise CrashError
        return real(self, exact, number)

    with monkeypatch.context() as patch:
        patch.setattr(DeepDraws, "values", limited)
        with pytest.raises(CrashError):
            value(checkpoint=path)
    resumed = value(checkpoint=path)
    assert resumed.info["resumed_at"] == 5
    assert bits(resumed) == bits(plain)
    with ThreadPoolExecutor(2) as pool:
        assert bits(value(cluster=pool)) == bits(plain)
