"""A machine that allows little: commands run, or say in one line what is short; none hangs or aborts."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import shapley2d
from service_account import become_nobody, reason_to_skip
from shapley2d.cli import limits, main
from shapley2d.cli.limits import ADDRESS_SPACE, THREADS, fit_limits

SOMEBODY = 54_322  # a user id that nobody has: limits of threads count all that a user runs
PATIENCE_S = 120


@pytest.fixture
def folder(tmp_path):
    lines = [f"{k * k % 11},n{k % 3},{'uv'[k % 2]}" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    return tmp_path


def limited(folder, command, start_as, **more):
    package = str(Path(shapley2d.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "shapley2d", *command],
        cwd=folder, env={"PATH": os.environ["PATH"], "PYTHONPATH": package, **more}, preexec_fn=start_as,
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def with_address_space(size):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def with_threads(count):
    def start_as():
        become_nobody(SOMEBODY)
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))

    return start_as


INSPECT = ["inspect", "t.csv", "-t", "y", "-j", "1", "--json"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
@pytest.mark.parametrize(
    "share",
    [1.0, pytest.param(1.6, marks=pytest.mark.slow)],  # of 1.6, Arrow took 1 and left too little
)
def test_small_tables_do_with_little_address_space(folder, share):
    """Where OpenBLAS got no memory for its threads, it asked again for ever."""
    done = limited(folder, INSPECT, with_address_space(int(share * ADDRESS_SPACE)))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
def test_too_little_address_space_is_one_line(folder):
    done = limited(folder, INSPECT, with_address_space(7 * ADDRESS_SPACE // 10))
    assert done.returncode == 2
    assert done.stderr == (
        "shapley2d: error: the address space is limited to 700 MB: raise the limit (ulimit -v, or "
        "that of the container); 1.0 GB is enough for small tables\n"
    )


@pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip() or "-")
@pytest.mark.parametrize("allowed", [1, 3, THREADS])  # the first is the process itself
def test_too_few_threads_are_one_line(folder, allowed):
    """OpenBLAS interrupted the process, Arrow aborted it."""
    folder.chmod(0o755)
    done = limited(folder, INSPECT, with_threads(allowed))
    assert done.returncode == 2
    assert done.stderr == (
        f"shapley2d: error: the system allows {allowed - 1} more threads or processes, and "
        f"{THREADS} are needed: raise the limit (ulimit -u, or that of the container)\n"
    )


@pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip() or "-")
def test_few_threads_do_for_one_job(folder):
    folder.chmod(0o755)
    command = ["cells", "t.csv", "-t", "y", "-k", "3", "--cv", "2", "-j", "1", "--json"]
    assert limited(folder, command, with_threads(THREADS + 1)).returncode == 0


def test_libraries_take_little_only_where_little_is_allowed(monkeypatch):
    for name in limits._FRUGAL:
        monkeypatch.delenv(name, raising=False)
    assert fit_limits() == "" and not set(limits._FRUGAL) & set(os.environ)
    monkeypatch.setattr(limits, "_address_space", lambda: 2 * ADDRESS_SPACE)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert fit_limits() == ""
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1" and os.environ["OMP_NUM_THREADS"] == "3"


def test_a_shortage_that_nobody_reads_of(monkeypatch):
    monkeypatch.setattr("shapley2d.cli.limits.fit_limits", lambda: "short")
    monkeypatch.setattr("sys.stderr", None)
    assert main(["--version"]) == 2
