"""A process of a user who owns nothing: no home, and nothing of the installation can be written to."""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import shapley2d

NOBODY = 65534
_KEEP_CAPABILITIES, _AMBIENT, _RAISE, _READ_ANYTHING = 8, 47, 2, 2  # see capabilities(7)


def reason_to_skip() -> str:
    """Why there can be no such process here; empty where there can."""
    if sys.platform != "linux":
        return "needs Linux"
    return "" if os.geteuid() == 0 else "needs root, to become another user"


def become_nobody(user: int = NOBODY) -> None:
    """Give up root before the program starts, except that an interpreter in root's home may still be read."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    only = 1 << _READ_ANYTHING
    libc.capset(header, (ctypes.c_uint32 * 6)(only, only, only, 0, 0, 0))
    libc.prctl(_AMBIENT, _RAISE, _READ_ANYTHING, 0, 0)


@contextmanager
def installed_read_only():
    """A copy of the package, without compiled code, that only root can write to."""
    folder = Path(tempfile.mkdtemp(prefix="shapley2d-install-", dir="/tmp"))
    try:
        source = Path(shapley2d.__file__).parents[1]
        shutil.copytree(
            source / "shapley2d", folder / "shapley2d", ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield folder
    finally:
        for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            path.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def run_as_nobody(arguments, package: Path, temporary: Path | None = None, **more: str):
    """Run Python as nobody, without a home; ``temporary`` is where temporary files go, and theirs to write to."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }
    if temporary is not None:
        environment["TMPDIR"] = str(temporary)
    return subprocess.run(
        [sys.executable, *arguments],
        preexec_fn=become_nobody,
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
