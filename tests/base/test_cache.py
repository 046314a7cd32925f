"""Where compiled code is kept: it runs for a user who can write to neither the package nor a home, and safely."""

import json
import os
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import shapley2d
from service_account import NOBODY, installed_read_only, reason_to_skip, run_as_nobody
from shapley2d import KNN, MonteCarlo, value_cells
from shapley2d._base import cache
from shapley2d._methods import run
from shapley2d.exceptions import CacheWarning
from shapley2d_paper.baselines import kernels

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX owners and permissions")

SERVICE = """
import importlib, json, pkgutil, warnings
import shapley2d
for module in pkgutil.walk_packages(shapley2d.__path__, "shapley2d."):
    if ".kernels." in module.name:
        importlib.import_module(module.name)  # numba looks for its place here
X = [[0, 5], [1, 5], [9, 5], [8, 5]]
y = ["low", "low", "high", "high"]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        nearest = shapley2d.KNN(n_neighbors=1)
        method = shapley2d.MonteCarlo(nearest, max_draws=10, tolerance=0)
        v = shapley2d.value_cells(X, y, X, y, method=method)
said = [str(w.message) for w in caught if w.category.__name__ == "CacheWarning"]
print(json.dumps([v.values.tolist(), said]))
"""


@pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip() or "-")
@pytest.mark.parametrize("has_temporary", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_service_account_values_cells_and_is_told_once(has_temporary):
    X, y = [[0, 5], [1, 5], [9, 5], [8, 5]], ["low", "low", "high", "high"]
    expected = value_cells(
        X, y, X, y, method=MonteCarlo(KNN(n_neighbors=1), max_draws=10, tolerance=0)
    ).values
    with installed_read_only() as package, tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        script = SERVICE
        if has_temporary:
            os.chown(temporary, NOBODY, NOBODY)
        else:  # nowhere at all
            script = f"import tempfile; tempfile.gettempdir = lambda: {temporary!r}\n" + SERVICE
            Path(temporary).chmod(0o755)
        done = run_as_nobody(["-c", script], package, Path(temporary), NUMBA_OPT="0")
        assert done.returncode == 0, done.stderr
        values, said = json.loads(done.stdout)
        kept = sorted(Path(temporary).rglob("*.nbi"))
        folders = [path.name for path in Path(temporary).iterdir()]
        assert not list(package.rglob("*.nbi"))
    assert np.array_equal(values, expected)
    assert len(said) == 1
    assert "NUMBA_CACHE_DIR" in said[0]
    if has_temporary:
        assert kept
        assert folders == [f"shapley2d-compiled-{NOBODY}"]
        assert f"shapley2d-compiled-{NOBODY}" in said[0]
    else:
        assert not folders
        assert "every process compiles again" in said[0]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o1777)
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@posix
def test_a_folder_of_ones_own(temporary):
    folder = cache.private_folder()
    assert folder is not None
    assert folder.parent == temporary
    assert folder.stat().st_mode & 0o777 == 0o700
    assert cache.private_folder() == folder  # and again


@posix
def test_a_folder_that_others_can_write_to_is_not_used(temporary):
    cache.private_folder().chmod(0o770)
    assert cache.private_folder() is None


@posix
def test_a_link_that_someone_has_laid_is_not_followed(temporary, tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o700)
    (temporary / f"shapley2d-compiled-{os.getuid()}").symlink_to(tmp_path / "theirs")
    assert cache.private_folder() is None


@pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip() or "-")
def test_a_folder_of_another_user_is_not_used(temporary):
    os.chown(cache.private_folder(), NOBODY, NOBODY)
    assert cache.private_folder() is None


@posix
def test_a_place_where_others_could_exchange_the_folder_is_not_used(temporary):
    temporary.chmod(0o777)  # everyone may rename, without the sticky bit
    assert cache.private_folder() is None


def test_temporary_files_in_the_working_folder_are_not_added_to(temporary, monkeypatch):
    monkeypatch.chdir(temporary)
    assert cache.private_folder() is None
    assert not list(temporary.iterdir())


def test_where_numba_finds_a_place_nothing_is_said():
    assert cache.numba_finds_a_place()
    assert (cache.CACHE, cache.NOTE) == (True, "")


def test_said_once(monkeypatch):
    monkeypatch.setattr(cache, "NOTE", "kept elsewhere")
    monkeypatch.setattr(run, "_said", set())
    X, y = [[0], [1], [9], [8]], [0, 0, 1, 1]
    with pytest.warns(CacheWarning, match="kept elsewhere"):
        value_cells(X, y, X, y, method=KNN(n_neighbors=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value_cells(X, y, X, y, method=KNN(n_neighbors=2))


def test_every_kernel_asks_whether_there_is_a_cache():
    """Except inner ones, which are kept with those that call them."""
    paths = [*Path(shapley2d.__file__).parent.glob("*/kernels/*.py")]
    paths += Path(kernels.__file__).parent.glob("*.py")
    sources = [path.read_text(encoding="utf-8") for path in paths]
    decorators = [
        line
        for source in sources
        for line in re.findall(r"^@numba\.njit\(.*\)$", source, re.MULTILINE)
    ]
    assert len(decorators) > 50
    assert all("cache=CACHE" in line or "**INNER" in line for line in decorators)


def test_compiling_is_seen_while_it_lasts_and_stops_the_clock_of_work(monkeypatch):
    import numba

    from shapley2d._base import compiling, progress

    wall, seen, notes = [1000.0], [], []
    monkeypatch.setattr(compiling, "_notes", [])
    compiling.note_compiling(lambda: notes.append(1))
    for module in (cache, progress):
        monkeypatch.setattr(module, "monotonic", lambda: wall[0])
    before = cache.compiled_for(), progress.now()

    @numba.extending.overload(_asked)
    def _of_compiler():
        wall[0] += 7.0
        seen.append((cache.compiling(), cache.compiled_for() - before[0], progress.now()))
        return lambda: 1

    assert not cache.compiling()
    assert numba.njit(lambda: _asked())() == 1  # noqa: PLW0108
    assert seen[0] == (True, 7.0, before[1])
    assert not cache.compiling()
    wall[0] += 2.0
    assert progress.now() == before[1] + 2.0
    cache.compiles_long()
    compiling.note_compiling(lambda: notes.append(2))
    cache.compiles_long()
    assert notes == [1]  # once in a process


def _asked() -> int:
    return 1
