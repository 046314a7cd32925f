"""Files written whole, and random streams that never meet."""

from __future__ import annotations

import os
import re
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

import shapley2d
from shapley2d._base import streams
from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.streams import STREAMS, fold_seeds, generator, seed_sequence


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_file_has_the_permissions_of_any_new_file(tmp_path, mask):
    old = os.umask(mask)
    try:
        with atomic_write(tmp_path / "a.txt") as temporary:
            temporary.write_text("done")
        (tmp_path / "b.txt").write_text("done")
    finally:
        os.umask(old)
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.txt", "b.txt")}
    assert modes == {0o666 & ~mask}


def test_the_process_keeps_its_umask_while_files_are_written(tmp_path, monkeypatch):
    """A file that another thread makes meanwhile must not be open to everyone."""
    changed = []
    monkeypatch.setattr(os, "umask", lambda mask: changed.append(mask) or 0)
    with atomic_write(tmp_path / "a.txt") as temporary:
        temporary.write_text("done")
    assert changed == []


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path):
    path = tmp_path / "a.txt"

    def write(k):
        with atomic_write(path) as temporary:
            temporary.write_text(str(k) * 10_000)

    threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = path.read_text()
    assert len(text) == 10_000 and len(set(text)) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_no_two_streams_of_a_run_share_a_key():
    """Draws are numbered from 0, and so they may share keys with streams of KNN, which draws none."""
    of_knn = ["validation chunks", "column pairs", "label coalitions", "pilot pairs", "form sample"]
    keys = [seed_sequence(0, name).spawn_key for name in of_knn]
    keys += [seed_sequence(0, "validation groups", split).spawn_key for split in range(3)]
    keys += [seed_sequence(0, "random values").spawn_key]
    assert len(set(keys)) == len(keys)
    assert set(of_knn) <= set(STREAMS)


def test_streams_are_named_and_not_numbered_by_hand():
    """Only one module makes seed sequences from keys."""
    package = Path(shapley2d.__file__).parent
    rest = [path for path in package.rglob("*.py") if path != Path(streams.__file__)]
    by_hand = [path.name for path in rest if re.search(r"spawn_key=\((\d|number)", path.read_text())]
    assert by_hand == []


def test_a_seed_means_the_same_numbers_as_ever():
    assert generator(7, "draw", 3).integers(1000, size=3).tolist() == (
        np.random.default_rng(np.random.SeedSequence(7, spawn_key=(3,))).integers(1000, size=3).tolist()
    )
    assert fold_seeds(1, 2) == [
        int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(1).spawn(2)
    ]
