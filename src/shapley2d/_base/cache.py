"""Where compiled code is kept between processes.

numba keeps it beside the source or in the user's home. A service account may write to neither, and
numba then refuses to compile at all. Such a user gets a folder of their own among the temporary
files, or no cache where that fails too.

Loading compiled code is unpickling: a folder that anyone else could have made or can write to is
never used.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

import numba
from numba.core import event

from shapley2d._base.compiling import compiles_long

_LONG_S = 2.0  # of compiling, which is worth a note


class _Watch(event.Listener):
    """Counts the functions that are being compiled now, one inside the other, and the time."""

    depth = 0
    begun = spent = 0.0

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002
        if not self.depth:
            self.begun = monotonic()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002
        self.depth -= 1
        if not self.depth:
            self.spent += monotonic() - self.begun
        if compiled_for() > _LONG_S:
            compiles_long()


_watch = _Watch()  # numba compiles one function at a time, in whatever thread
event.register("numba:compile", _watch)  # type: ignore[no-untyped-call]


def compiling() -> bool:
    """Whether code is being compiled now, rather than loaded from the cache."""
    return _watch.depth > 0


def compiled_for() -> float:
    """Seconds that this process has spent on compiling so far."""
    return _watch.spent + (monotonic() - _watch.begun if compiling() else 0.0)


def _probe() -> None:
    """Nothing; numba looks for a place to keep it."""


def numba_finds_a_place() -> bool:
    """Whether numba's own places for compiled code work, ``NUMBA_CACHE_DIR`` included."""
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:  # no locator available
        return False
    return True


def private_folder() -> Path | None:
    """A temporary folder that only this user can write to; None where that is not possible."""
    try:
        parent = Path(tempfile.gettempdir())
        folder = parent / f"shapley2d-compiled-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
        if parent == Path.cwd():  # the last resort of tempfile, where the user has other things
            return None
        folder.mkdir(mode=0o700, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder if _is_ours(folder) and _keeps_others_out(parent) else None


def _is_ours(folder: Path) -> bool:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):  # a link that someone has laid
        return False
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)


def _keeps_others_out(parent: Path) -> bool:
    """Whether nobody but this user and root can replace a folder in there."""
    found = parent.stat()
    if not hasattr(os, "getuid") or found.st_mode & stat.S_ISVTX:
        return True
    return found.st_uid in (0, os.getuid()) and not found.st_mode & 0o022


def _choose() -> tuple[bool, str]:
    if numba_finds_a_place():
        return True, ""
    folder = private_folder()
    why = "neither the package's folder nor a home folder can be written to: "
    advice = "; set NUMBA_CACHE_DIR to a folder of your own to keep it there"
    if folder is None:
        return False, f"{why}compiled code is not kept, so every process compiles again{advice}"
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    return True, f"{why}compiled code is kept in {folder}{advice}"


CACHE, NOTE = _choose()
"""Whether compiled code is kept, and what to tell the user about it (empty where all is well)."""

INNER: Any = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that only compiled code calls: they compile in half the time."""
