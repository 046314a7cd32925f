"""The short form of the campaign's parts on files: kills, damage, crafted files with bounded memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shapley2d.exceptions import InputError

from .common import run_short
from .crafted import (
    Crafted,
    bomb_checkpoint,
    checkpoint_bytes,
    named_checkpoints,
    named_valuations,
    opened,
    use_checkpoint,
)
from .damage import Damage
from .hostile import Hostile
from .samples import PIECES, write_samples

ROOT = Path(__file__).parents[2]
MAX_GROWTH = 400  # MB


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("campaign")


@pytest.fixture(scope="module")
def samples(folder):
    return write_samples(folder)


def test_damaged_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcomes = run_short("damage", Damage(tmp_path), range(100), seed=1)
    assert outcomes["valuations refused"] > 20
    assert outcomes["checkpoints refused"] and outcomes["checkpoints identical"]


def test_crafted_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcomes = run_short("crafted", Crafted(tmp_path), range(150), seed=1)
    assert outcomes["valuations refused"] > 20
    assert outcomes["checkpoints refused"] > 20


def test_hostile_tables(tmp_path):
    outcomes = run_short("hostile", Hostile(tmp_path), range(20), seed=1)
    assert outcomes["tables refused"] > 3 and outcomes["tables read"] > 3


@pytest.mark.parametrize("kind", ["game", "cells"])
def test_crafted_checkpoints_are_refused(folder, samples, kind):
    target = folder / "crafted.npz"
    accepted = []
    for name, data in named_checkpoints(folder / f"{kind}.npz").items():
        target.write_bytes(data)
        if use_checkpoint(kind, target) != "refused":
            accepted.append(name)
        assert target.read_bytes() == data or name in accepted
        target.unlink()
    assert accepted == []


@pytest.mark.parametrize(
    "kind",
    [
        "knn sampled",
        "exact",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("knn exact", "knn streamed")),
    ],
)
def test_crafted_checkpoints_of_pieces_are_refused(kind, tmp_path):
    PIECES[kind](tmp_path / "good.npz")
    record, arrays = opened(tmp_path / "good.npz")
    crafted = [
        ({**record, "count": count}, arrays) for count in (-5, 0, 2.5, 10**30, record["count"] + 1)
    ]
    for name, array in arrays.items():
        if not array.size:
            continue
        infinite = array.copy()
        infinite.flat[0] = np.inf if array.dtype.kind == "f" else 255
        crafted += [(record, {**arrays, name: infinite}), (record, {**arrays, name: array[:-1]})]
        crafted.append((record, {key: part for key, part in arrays.items() if key != name}))
    if kind == "knn exact":
        seen = np.append(1e300, arrays["counts"][1:])  # validation rows
        crafted.append((record, {**arrays, "counts": seen}))
    for number, (written, parts) in enumerate(crafted):
        path = tmp_path / f"{number}.npz"
        path.write_bytes(checkpoint_bytes(written, parts))
        with pytest.raises(InputError):
            PIECES[kind](path)


CHILD = """
import json, sys
from pathlib import Path
from campaign.crafted import named_checkpoints, named_valuations, use_checkpoint, use_valuation
folder = Path(sys.argv[1])
use_valuation(folder / "cells.parquet"), use_checkpoint("cells", folder / "cells.npz")  # everything is imported
outcomes = {}
def peak():  # of this program alone: what getrusage tells may be of the one that started it
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
for path in sorted(folder.glob("bad-*")):
    outcomes[path.name] = use_checkpoint("cells", path) if path.suffix == ".npz" else use_valuation(path)
print(json.dumps([outcomes, (peak() - before) / 1024]))
"""


@pytest.mark.slow
def test_crafted_valuations_and_bombs_are_refused_with_bounded_memory(folder, samples):
    """Files of a few kilobytes that claim or unpack to gigabytes, read in a process whose memory is measured."""
    target = folder / "crafted.parquet"
    names = {}
    for k, name in enumerate(named_valuations(folder / "cells.parquet", target)):
        target.rename(folder / f"bad-{k}.parquet")
        names[f"bad-{k}.parquet"] = name
    wide = named_checkpoints(folder / "cells.npz")["8 TB header"]
    for name, data in {"bad-bomb.npz": bomb_checkpoint(), "bad-wide.npz": wide}.items():
        (folder / name).write_bytes(data)
        names[name] = name
    with (folder / "bad-huge.npz").open("wb") as huge:
        huge.truncate(2**40)  # a hole: no disk holds it
    names["bad-huge.npz"] = "a terabyte of nothing"
    assert all(path.stat().st_blocks < 2**13 for path in folder.glob("bad-*"))
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder)],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": _path()},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    outcomes, growth = json.loads(ended.stdout)
    for path in folder.glob("bad-*"):
        path.unlink()
    assert {names[file] for file, outcome in outcomes.items() if outcome != "refused"} == set()
    assert len(outcomes) == len(names) > 30
    assert growth < MAX_GROWTH


@pytest.mark.slow
def test_kills():
    kinds = "cells,game,knn sampled,knn exact,knn streamed,exact"
    ended = subprocess.run(
        [sys.executable, "-m", "tests.campaign.kills", "--count", "10", "--seed", "2", "--modes", "forked", "--kinds", kinds],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {"PYTHONPATH": _path()},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr[-2000:]
    assert "runs=10" in ended.stdout and "failures=0" in ended.stdout
    assert "killed with a state" in ended.stdout


def _path():
    return os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
