"""What a long run has reached, in one file from which it goes on.

The file is a sealed numpy archive. It holds named arrays of numbers and a JSON record:

- ``count``: the pieces of work that are done;
- ``facts``: what else the method has to remember, by name;
- ``identity``: everything that determines the work. Another run's file is refused by it.

A new file replaces the old one in one step, and the old one stays beside it as
``<name>.previous``: whenever the process is killed, and whatever happens to one of the files, there
is a good one to go on from. A file that cannot be written, on a full disk for instance, does not
end the run.
"""

from __future__ import annotations

import json
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.atomic_write import (
    is_stream,
    obstacle,
    real_path,
    remove_stale,
    why_unwritable,
)
from shapley2d._base.json_record import check_form
from shapley2d._base.limits import FREE_BYTES
from shapley2d._base.sealed_file import looks_like_arrays, read_arrays, write_arrays
from shapley2d._base.warnings import warn
from shapley2d._estimation.fingerprint import differences, hash_parts
from shapley2d.exceptions import CheckpointWarning, InputError, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

EVERY_S = 3.0
"""Seconds between two files, unless writing takes long."""

_SHARE = 0.02  # of the time, at most, goes into writing
_MAX_ENTRY = 10_000  # characters of one entry of the identity; of a longer one, a digest is kept


@dataclass(frozen=True)
class Saved:
    """The state in a checkpoint.

    ``count``: pieces of work that are done.
    ``arrays``: arrays by name, of float64, float32 or uint8, as they were saved.
    ``facts``: what else the method has saved, by name: anything that JSON can hold. It comes from a
        file, so the method checks it.
    ``identity``: what determines the work.
    """

    count: int
    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]
    identity: dict[str, Any]

    def check_arrays(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Raise a ValueError unless these are the arrays: finite, of float64, and no others."""
        for name, shape in shapes.items():
            array = self.arrays.get(name)
            if array is None:
                raise ValueError(f"it has no {name}")
            if array.shape != shape or array.dtype != np.float64:
                raise ValueError(f"its {name} has the shape {array.shape}, which does not fit")
            if not np.isfinite(array).all():
                raise ValueError(f"its {name} has entries that are not numbers")
        if len(self.arrays) > len(shapes):
            raise ValueError("it has more arrays than it should")


class Checkpoint:
    """A file that a run keeps its state in.

    ``path``: the file; it need not exist.
    ``identity``: everything that determines the work, as JSON can hold it. A file with another one
        is refused.
    ``shape``: of the values, which bounds the size of the file unless ``max_bytes`` does.
    ``max_bytes``: the most that the arrays can take. A larger file is not read.
    ``unit``: what is counted, for messages.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.npz"
    >>> Checkpoint(path, {"random_state": 0}).save(2, {"mean": np.array([0.5])}, {"step": "last"})
    >>> saved = Checkpoint(path, {"random_state": 0}).load()
    >>> saved.count, saved.arrays, saved.facts
    (2, {'mean': array([0.5])}, {'step': 'last'})
    >>> Checkpoint(path, {"random_state": 1}).load()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    shapley2d.exceptions.InputError: checkpoint ... is of another run: random_state is...
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: Mapping[str, Any],
        *,
        shape: tuple[int, int] | None = None,
        max_bytes: int | None = None,
        unit: str = "permutations",
    ) -> None:
        self.path = check_place(path)
        self.previous = previous_path(self.path)
        self.shape = shape
        self._identity = {name: _kept(value) for name, value in identity.items()}
        if max_bytes is None:
            n, m = shape or (0, 0)
            max_bytes = 16 * (n * m + n + m)  # a mean and a variance
        self._max_bytes = max_bytes + FREE_BYTES  # the record, names, joint errors of owners
        self._unit = unit
        self._next = time.monotonic() + EVERY_S
        self.write_s = 0.0
        self._good = False  # whether the file at the path is one to keep
        self._keeps_previous = True
        self._warned = False

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() >= self._next

    def save(
        self,
        count: int,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the state, and keep the file before it; where that fails, warn once and go on.

        ``count``: pieces of work that are done.
        ``arrays``: arrays by name, of at most two dimensions and up to 1,023 of them; float32 and
            uint8 stay what they are, all else becomes float64.
        ``facts``: what else a run needs to go on, as JSON can hold it.
        """
        begin = time.monotonic()
        record = {"count": count, "facts": dict(facts or {}), "identity": self._identity}
        keeps = self._good and self._keeps_previous
        try:
            write_arrays(self.path, record, arrays, self.previous if keeps else None)
            self._good = True
        except (OSError, InputError) as error:
            self._warn_once(error)
        end = time.monotonic()
        self.write_s = end - begin
        self._next = end + max(EVERY_S, self.write_s / _SHARE)

    def _warn_once(self, error: Exception) -> None:
        if self._warned:
            return
        self._warned = True
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        warn(
            CheckpointWarning(
                f"the checkpoint {self.path} cannot be written ({why}): the run goes on without "
                "it, and tries again now and then"
            )
        )

    def load(self, take: Callable[[Saved], None] | None = None) -> Saved | None:
        """The last good state of the same run, or None where there is no file yet.

        ``take``: takes over a state, or raises a ValueError if it is not sound: then the file
            before it is tried.
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
                    self._check_run(path, saved)
                    if take is not None:
                        take(saved)
            except ValueError as error:
                if isinstance(error, InputError):
                    raise
                if found is None:
                    broken.append(f"{path} is damaged or not a checkpoint ({error})")
                elif not looks_like_arrays(path):
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
                        f"{broken[0]}; going on from the one before it, {path}, at {saved.count} "
                        f"{self._unit}"
                    )
                )
        if found is None and broken:
            raise InputError(
                f"checkpoint {'; '.join(broken)}: delete it to start again, or name another file"
            )
        return found

    def _read(self, path: Path) -> Saved:
        record, arrays = read_arrays(path, self._max_bytes)
        check_form(record, {"count": int, "facts": dict, "identity": dict})
        if len(record) > 3 or record["count"] < 1:
            raise ValueError("its record has entries that it should not have")
        return Saved(arrays=arrays, **record)

    def _check_run(self, path: Path, saved: Saved) -> None:
        unlike = differences(saved.identity, self._identity)
        if unlike:
            raise InputError(
                f"checkpoint {path} is of another run: {', '.join(unlike)}; use the same data and "
                "options, or another file"
            )

    def _leave_alone(self) -> None:
        """Keep a file that has the name of an earlier checkpoint but is not one of this run."""
        self._keeps_previous = False
        warn(
            CheckpointWarning(
                f"{self.previous} is not a checkpoint of this run: it is left alone, and no "
                "earlier state is kept"
            )
        )


def check_place(path: str | os.PathLike[str]) -> Path:
    """The path, if a checkpoint can be kept there: better known before hours of work than after."""
    try:
        named = Path(path)
    except TypeError as error:
        raise InputError(Setting("checkpoint", path), " must be the path of a file") from error
    told = Setting("checkpoint", str(named))
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
    """Refuse to start where the previous state would overwrite a file of the user's."""
    previous = previous_path(target)
    try:
        mode = previous.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISREG(mode) and (target.exists() or looks_like_arrays(previous)):
        return
    raise InputError(
        told,
        f" would overwrite {previous}, which is not a checkpoint: move it, or choose another name",
    )


def _kept(value: Any) -> Any:
    """An entry of the identity as the file has it: lists for tuples, a digest if it is long."""
    text = json.dumps(value)
    return json.loads(text) if len(text) <= _MAX_ENTRY else hash_parts([text.encode()])
