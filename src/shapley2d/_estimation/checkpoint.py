"""What a long run has reached, in a file from which it can go on.

The file is a numpy archive of plain arrays, never a pickle: the moments of the draws, a JSON record
of the history and of everything that determines the draws, and a checksum of it all. A new file
replaces the old one in one step, and the old one stays beside it as ``<name>.previous``: whenever
the process is killed, and whatever happens to one of the files, there is a good one to go on from.
A file that cannot be written, on a full disk for instance, does not end the run.
"""

from __future__ import annotations

import json
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import (
    atomic_write,
    is_stream,
    obstacle,
    real_path,
    remove_stale,
    why_unwritable,
)
from shapley2d._base.json_record import history_pairs, whole_number
from shapley2d._base.warnings import warn
from shapley2d._estimation.archive import looks_like_one, pack_archive, read_archive
from shapley2d._estimation.fingerprint import differences, hash_parts
from shapley2d.exceptions import CheckpointWarning, InputError, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._estimation.drawn import DrawnUtilities

EVERY_S = 3.0
"""Seconds between two files, unless writing takes long."""

_SHARE = 0.02  # of the time, at most, goes into writing
_FORMAT = 2
_MAX_ENTRY = 10_000  # characters of one entry of the identity; of a longer one, a digest is kept
_FREE_BYTES = (
    2**24
)  # that a file may have beyond what the values need: names, history, errors of owners
_ANY_BYTES = 2**30  # where nothing is known of the values


@dataclass(frozen=True)
class Saved:
    """The state in a checkpoint."""

    count: int
    arrays: dict[str, NDArray[np.float64]]
    history: list[tuple[int, float]]
    identity: dict[str, Any]
    drawn: list[Any] = field(default_factory=list)


class Checkpoint:
    """A file that a run keeps its state in.

    Parameters
    ----------
    path : path-like
        The file; it need not exist.
    identity : dict
        Everything that determines the draws, as JSON can hold it. A file with another one is
        refused.
    shape : (int, int), optional
        Of the values: no file is read that is larger than they could need.
    drawn : DrawnUtilities, optional
        The games: utilities of some coalitions that were drawn are kept, and computed again before
        a run goes on.
    max_bytes : int, optional
        What the arrays can have, where the shape of the values does not say it.
    unit : str
        What is counted.
    single : tuple of str
        Names of the arrays that are kept in single precision, which they have from the start.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "run.npz"
    >>> Checkpoint(path, {"random_state": 0}).save(2, {"mean": np.array([0.5])}, [(2, 0.1)])
    >>> Checkpoint(path, {"random_state": 0}).load().arrays
    {'mean': array([0.5])}
    >>> Checkpoint(path, {"random_state": 1}).load()  # doctest: +ELLIPSIS
    Traceback (most recent call last): shapley2d.exceptions.InputError: checkpoint ... is of another
    run: random_state is 0 there and 1 here; ...
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: Mapping[str, Any],
        shape: tuple[int, int] | None = None,
        drawn: DrawnUtilities | None = None,
        *,
        max_bytes: int | None = None,
        unit: str = "permutations",
        single: tuple[str, ...] = (),
    ) -> None:
        self.path = check_place(path)
        self.previous = previous_path(self.path)
        self._identity = {name: _kept(value) for name, value in identity.items()}
        self._drawn = drawn
        self._shape = shape
        self._max_bytes = _ANY_BYTES
        if shape is not None:
            n, m = shape
            self._max_bytes = 16 * (n * m + n + m) + _FREE_BYTES
        if max_bytes is not None:
            self._max_bytes = max_bytes + _FREE_BYTES
        self._unit = unit
        self._single = single
        self._next = time.monotonic() + EVERY_S
        self._good = False  # whether the file at the path is one to keep
        self._keeps_previous = True
        self._warned = False

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() >= self._next

    def save(
        self, count: int, arrays: Mapping[str, NDArray[Any]], history: list[tuple[int, float]]
    ) -> None:
        """Write the state; the file that was there becomes the previous one. Where it cannot be, warn once."""
        begin = time.monotonic()
        record = {"format": _FORMAT, "count": count, "history": history, "identity": self._identity}
        if self._drawn is not None:
            record["drawn"] = self._drawn.up_to(count)
        content = pack_archive(json.dumps(record).encode(), arrays)
        try:
            with atomic_write(self.path) as temporary:
                temporary.write_bytes(content)
                if self._good and self._keeps_previous and self.path.exists():
                    self.path.replace(self.previous)
            self._good = True
        except (OSError, InputError) as error:
            self._warn_once(error)
        end = time.monotonic()
        self._next = end + max(EVERY_S, (end - begin) / _SHARE)

    def _warn_once(self, error: Exception) -> None:
        if self._warned:
            return
        self._warned = True
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        warn(
            CheckpointWarning(
                f"the checkpoint {self.path} cannot be written ({why}): the run goes on without it, and tries again "
                "now and then"
            )
        )

    def load(self, take: Callable[[Saved], None] | None = None) -> Saved | None:
        """The last good state of the same run, or None where there is no file yet.

        Parameters
        ----------
        take : callable, optional
            Is given a state that was read, and raises a ValueError if it cannot be one: then the
            one before it is tried.
        """
        remove_stale(self.path)
        broken: list[str] = []
        found: Saved | None = None
        for path in (self.path, self.previous):
            if not path.exists():
                continue
            try:
                saved = self._read(path)
                if found is None:
                    self._check(path, saved)
                    self._check_shape(saved)
                    if take is not None:
                        take(saved)
            except ValueError as error:
                if isinstance(error, InputError):
                    raise
                if found is None:
                    broken.append(f"{path} is damaged or not a checkpoint ({error})")
                elif not looks_like_one(path):
                    self._leave_alone()
                continue
            if found is not None:
                if differences(saved.identity, self._identity):
                    self._leave_alone()
                break
            found = saved
            self._good = path == self.path
            if broken:
                warn(
                    CheckpointWarning(
                        f"{broken[0]}; going on from the one before it, {path}, at {saved.count} {self._unit}"
                    )
                )
        if found is None and broken:
            raise InputError(
                f"checkpoint {'; '.join(broken)}: delete it to start again, or name another file"
            )
        return found

    def _read(self, path: Path) -> Saved:
        record, arrays = read_archive(path, self._max_bytes, self._single)
        if record.get("format") != _FORMAT:
            raise ValueError("it is of another version of shapley2d")
        count = whole_number(record.get("count"), "its count", 1)
        history = history_pairs(record.get("history"))
        counts = [done for done, _ in history]
        if counts != sorted(set(counts)) or (counts and not 1 <= counts[0] <= counts[-1] <= count):
            raise ValueError("its history does not fit its count")
        identity, drawn = record.get("identity"), record.get("drawn", [])
        if not isinstance(identity, dict) or not isinstance(drawn, list):
            raise ValueError("its record is not complete")  # noqa: TRY004  (one kind of error for one cause)
        return Saved(count, arrays, history, identity, drawn)

    def _check(self, path: Path, saved: Saved) -> None:
        unlike = differences(saved.identity, self._identity)
        if not unlike and self._drawn is not None:
            unlike = self._drawn.differences(saved.drawn, saved.count)
        if unlike:
            raise InputError(
                f"checkpoint {path} is of another run: {', '.join(unlike)}; use the same data and options, or "
                "another file"
            )

    def _check_shape(self, saved: Saved) -> None:
        cells = saved.arrays.get("cells_mean")
        if self._shape is not None and (cells is None or cells.shape != self._shape):
            raise ValueError(f"its values do not have the shape {self._shape}")

    def _leave_alone(self) -> None:
        """Keep a file that has the name of an earlier checkpoint and is none of this run."""
        self._keeps_previous = False
        warn(
            CheckpointWarning(
                f"{self.previous} is not a checkpoint of this run: it is left alone, and no earlier state is kept"
            )
        )


def check_place(path: str | os.PathLike[str]) -> Path:
    """The path, if a checkpoint can be kept there: better to know before hours of work than after."""
    try:
        named = Path(path)
    except TypeError as error:
        raise InputError(Setting("checkpoint", path), " must be the path of a file") from error
    told = Setting("checkpoint", str(named))
    try:
        is_folder = named.is_dir()
    except OSError:
        is_folder = False  # a name that is too long, for one
    if is_folder:
        raise InputError(told, " is a folder: name a file in it")
    target = real_path(named)
    reason = why_unwritable(named)
    if not reason and is_stream(target):
        reason = "it is a pipe or a device, which keeps nothing: name a file"
    reason = reason or obstacle(previous_path(target))
    if reason:
        raise InputError("cannot write ", told, f": {reason}")
    _check_previous(target, told)
    return target


def previous_path(target: Path) -> Path:
    """Where the file before the last one is kept."""
    return target.with_name(f"{target.name}.previous")


def _check_previous(target: Path, told: Setting) -> None:
    """Refuse to start where the file before the last one would overwrite a file of the user's."""
    previous = previous_path(target)
    try:
        mode = previous.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISREG(mode) and (target.exists() or looks_like_one(previous)):
        return
    raise InputError(
        told,
        f" would overwrite {previous}, which is not a checkpoint: move it, or choose another name",
    )


def _kept(value: Any) -> Any:
    """An entry of the identity as the file will have it: lists for tuples, a digest of what is long."""
    text = json.dumps(value)
    return json.loads(text) if len(text) <= _MAX_ENTRY else hash_parts([text.encode()])
