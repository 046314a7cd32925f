"""What a long run has reached, in a file from which it can go on.

The file is a numpy archive of plain arrays, never a pickle: the moments of the draws, a JSON record of the history and
of everything that determines the draws, and a checksum of it all. A new file replaces the old one in one step, and the
old one stays beside it as ``<name>.previous``: whenever the process is killed, and whatever happens to one of the
files, there is a good one to go on from.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.warnings import warn
from shapley2d._estimation.fingerprint import differences
from shapley2d.exceptions import CheckpointWarning, InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

EVERY_S = 3.0
"""Seconds between two files, unless writing takes long."""

_SHARE = 0.02  # of the time, at most, goes into writing
_FORMAT = 1
_CHECKSUM = 64  # characters


@dataclass(frozen=True)
class Saved:
    """The state in a checkpoint."""

    count: int
    arrays: dict[str, NDArray[np.float64]]
    history: list[tuple[int, float]]
    identity: dict[str, Any]


class Checkpoint:
    """A file that a run keeps its state in.

    Parameters
    ----------
    path : path-like
        The file; it need not exist.
    identity : dict
        Everything that determines the draws, as JSON can hold it. A file with another one is refused.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.npz"
    >>> Checkpoint(path, {"random_state": 0}).save(2, {"mean": np.array([0.5])}, [(2, 0.1)])
    >>> Checkpoint(path, {"random_state": 0}).load().arrays
    {'mean': array([0.5])}
    >>> Checkpoint(path, {"random_state": 1}).load()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    shapley2d.exceptions.InputError: checkpoint ... is of another run: random_state is 0 there and 1 here; ...
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = _checked(path)
        self.previous = self.path.with_name(f"{self.path.name}.previous")
        self._identity = json.loads(json.dumps(dict(identity)))  # lists for tuples, as the file will have it
        self._next = time.monotonic() + EVERY_S
        self._good = False  # whether the file at the path is one to keep

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() >= self._next

    def save(
        self, count: int, arrays: Mapping[str, NDArray[np.float64]], history: list[tuple[int, float]]
    ) -> None:
        """Write the state; the file that was there becomes the previous one."""
        begin = time.monotonic()
        record = {"format": _FORMAT, "count": count, "history": history, "identity": self._identity}
        content = _packed(record, arrays)
        with atomic_write(self.path) as temporary:
            temporary.write_bytes(content)
            if self._good and self.path.exists():
                self.path.replace(self.previous)
        self._good = True
        end = time.monotonic()
        self._next = end + max(EVERY_S, (end - begin) / _SHARE)

    def load(self) -> Saved | None:
        """The last good state of the same run, or None where there is no file yet."""
        present = [path for path in (self.path, self.previous) if path.exists()]
        for stale in self.path.parent.glob(f".{self.path.name}.*.part"):  # of a process that was killed
            stale.unlink(missing_ok=True)
        broken: list[str] = []
        for path in present:
            try:
                saved = _read(path)
            except ValueError as error:
                broken.append(f"{path} is damaged or not a checkpoint ({error})")
                continue
            self._check(path, saved)
            self._good = path == self.path
            if broken:
                warn(
                    CheckpointWarning(
                        f"{broken[0]}; going on from the one before it, {path}, at {saved.count} permutations"
                    )
                )
            return saved
        if broken:
            raise InputError(
                f"checkpoint {'; '.join(broken)}: delete it to start again, or name another file"
            )
        return None

    def _check(self, path: Path, saved: Saved) -> None:
        unlike = differences(saved.identity, self._identity)
        if unlike:
            raise InputError(
                f"checkpoint {path} is of another run: {', '.join(unlike)}; use the same data and options, or "
                "another file"
            )


def _checked(path: str | os.PathLike[str]) -> Path:
    """The path, if a file can be written there: better to know before hours of work than after."""
    try:
        target = Path(path)
    except TypeError as error:
        raise InputError(Setting("checkpoint", path), " must be the path of a file") from error
    if target.is_dir():
        raise InputError(Setting("checkpoint", str(target)), " is a folder: name a file in it")
    if not target.parent.is_dir():
        raise InputError(
            "cannot write ",
            Setting("checkpoint", str(target)),
            f": the folder {target.parent} does not exist, make it first",
        )
    if not os.access(target.parent, os.W_OK):
        raise InputError(
            "cannot write ",
            Setting("checkpoint", str(target)),
            f": the folder {target.parent} is not writeable",
        )
    return target


def _packed(record: dict[str, Any], arrays: Mapping[str, NDArray[np.float64]]) -> bytes:
    """The file: a numpy archive whose last bytes, the archive's comment, are the checksum of all before them."""
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, record=text, **arrays)  # type: ignore[arg-type]
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = bytes(_CHECKSUM)
    content = buffer.getvalue()[:-_CHECKSUM]
    return content + hashlib.sha256(content).hexdigest().encode()


def _read(path: Path) -> Saved:
    content = path.read_bytes()
    if hashlib.sha256(content[:-_CHECKSUM]).hexdigest().encode() != content[-_CHECKSUM:]:
        raise ValueError("its checksum is wrong")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    record = json.loads(arrays.pop("record").tobytes())
    if record["format"] != _FORMAT:
        raise ValueError("it is of another version of shapley2d")
    history = [(int(count), float(ratio)) for count, ratio in record["history"]]
    return Saved(int(record["count"]), arrays, history, record["identity"])
