"""Writing files atomically, and checking beforehand whether they can be written.

A file is written under a temporary name in the same folder and renamed when it is complete. A
symbolic link stays and the file it points to is replaced; a pipe or a terminal is written to, never
replaced.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_locks: Any  # fcntl; None on Windows, where an open file cannot be deleted anyway
try:
    import fcntl as _locks
except ImportError:
    _locks = None


@contextmanager
def atomic_write(path: str | os.PathLike[str], *endings: str) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` when the block ends without an error.

    A name must have one of the ``endings``, or none: what is in ``x.docx`` should be a document.
    """
    if endings and Path(path).suffix.lower() not in ("", *endings):
        raise InputError(f"cannot write {path}: the name must end in {' or '.join(endings)}")
    reason = obstacle(Path(path))
    if reason:
        raise InputError(f"cannot write {path}: {reason}")
    target = real_path(path)
    if is_stream(target):
        with _copied(target) as temporary:
            yield temporary
        return
    remove_stale(target)
    temporary, lock = _new_file(target)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        with suppress(OSError):  # who may read the file that was there may read the new one
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def why_unwritable(path: str | os.PathLike[str]) -> str:
    """Why a file cannot be written at a path, as the end of a sentence; empty if it can.

    Creates and deletes a temporary file: better to know before hours of work than after.
    """
    reason = obstacle(Path(path))
    target = real_path(path)
    if reason or is_stream(target):
        return reason
    try:
        temporary, lock = _new_file(target)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return f"the folder {_folder(Path(path))} cannot be written to, choose another"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return "the disk is full, free some space or choose another place"
        return f"{error.strerror or error}, choose another name or place"
    temporary.unlink(missing_ok=True)
    if lock is not None:
        os.close(lock)
    return ""


def real_path(path: str | os.PathLike[str]) -> Path:
    """The path with all symbolic links resolved."""
    return Path(os.path.realpath(path))


def is_stream(target: Path) -> bool:
    """Whether a path is a pipe, a terminal or the like, which is written to directly."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def remove_stale(target: Path) -> None:
    """Delete temporary files of this target that killed processes left behind."""
    pattern = re.compile(rf"\.{re.escape(_label(target))}\.[0-9a-f]{{8}}\.part")
    try:
        names = [entry.name for entry in os.scandir(target.parent) if pattern.fullmatch(entry.name)]
    except OSError:
        return
    for name in names:
        with suppress(OSError):
            _remove_abandoned(target.with_name(name))


def obstacle(path: Path) -> str:
    """Why a path cannot be written, as far as can be seen without trying; empty if it can."""
    try:
        mode: int | None = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return "the name is too long, choose a shorter one"
        if error.errno == errno.ELOOP:
            return "it is a link that leads to itself, choose another name"
        mode = None
    target = real_path(path)
    if mode is None and not target.parent.is_dir():
        return f"the folder {_folder(path)} does not exist, make it first"
    if mode is None:
        return ""
    if stat.S_ISDIR(mode):
        return "it is a folder, name a file in it"
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        return "it is neither a file nor a pipe, choose another name"
    if not os.access(target, os.W_OK):
        return "the file is there and may not be written to, choose another name"
    return ""


def _folder(path: Path) -> Path:
    """The folder of a file, as the user named it."""
    return real_path(path).parent if path.is_symlink() else path.parent


def _label(target: Path) -> str:
    """The part of a temporary name that identifies its target; most systems allow 255 bytes."""
    name = os.fsencode(target.name)
    return target.name if len(name) <= 200 else hashlib.sha256(name).hexdigest()[:32]


def _new_file(target: Path) -> tuple[Path, int | None]:
    """Create an empty file beside the target, with default permissions, and lock it.

    The lock ends with the process, however that ends, so a file without a lock is abandoned.
    """
    while True:
        temporary = target.with_name(f".{_label(target)}.{secrets.token_hex(4)}.part")
        try:
            handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            continue
        if _locks is None:
            os.close(handle)
            return temporary, None
        try:
            _locks.flock(handle, _locks.LOCK_EX | _locks.LOCK_NB)
            taken = temporary.stat().st_ino != os.fstat(handle).st_ino
        except (BlockingIOError, FileNotFoundError):
            taken = True  # another writer saw the file before its lock and removed it
        except OSError:  # some network folders have no locks
            taken = False
        if not taken:
            return temporary, handle
        os.close(handle)


def _remove_abandoned(temporary: Path) -> None:
    """Delete a temporary file whose process has ended, under its lock."""
    if _locks is None:
        if time.time() - temporary.stat().st_mtime > 3600:
            temporary.unlink(missing_ok=True)
        return
    handle = os.open(
        temporary, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    try:
        _locks.flock(handle, _locks.LOCK_EX | _locks.LOCK_NB)
        temporary.unlink(missing_ok=True)
    finally:
        os.close(handle)


@contextmanager
def _copied(target: Path) -> Iterator[Path]:
    """A temporary file whose content is copied to a pipe or the like when the block succeeds."""
    handle, name = tempfile.mkstemp(suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as whole, target.open("wb") as stream:
            shutil.copyfileobj(whole, stream)
    finally:
        temporary.unlink(missing_ok=True)
