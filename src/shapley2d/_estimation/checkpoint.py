"""What a long run has reached, in one file from which it goes on.

The file is a sealed numpy archive. It holds named arrays of numbers and a JSON record:

- ``count``: the pieces of work that are done;
- ``facts``: what else the method has to remember, by name;
- ``identity``: everything that determines the work. Another run's file is refused by it.

A new file replaces the old one in one step: whenever the process is killed, there is a whole one to
go on from. A file that cannot be written, on a full disk for instance, does not end the run.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.atomic_write import is_stream, real_path, remove_stale, why_unwritable
from shapley2d._base.json_record import check_form
from shapley2d._base.limits import FREE_BYTES
from shapley2d._base.warnings import warn
from shapley2d._base.words import shown
from shapley2d._estimation.fingerprint import differences, hash_parts
from shapley2d._estimation.sealed_arrays import read_arrays, write_arrays
from shapley2d.exceptions import CheckpointWarning, InputError

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

    ``facts`` may be anything that JSON can hold: they come from a file, so the run checks them.
    """

    count: int
    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]

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

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.npz"
    >>> Checkpoint(path, {"random_state": 0}).save(2, {"mean": np.array([0.5])}, {"step": "last"})
    >>> Checkpoint(path, {"random_state": 0}).load(print, 8)
    Saved(count=2, arrays={'mean': array([0.5])}, facts={'step': 'last'})
    >>> Checkpoint(path, {"random_state": 1}).load(print, 8)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    shapley2d.exceptions.InputError: checkpoint ... is of another run: random_state is...
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = check_place(path)
        self._identity = {name: _kept(value) for name, value in identity.items()}
        self._next, self.write_s, self._warned = time.monotonic() + EVERY_S, 0.0, False

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() >= self._next

    def save(self, count: int, arrays: Mapping[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """Write the state; where that fails, warn once and go on.

        There may be up to 1,023 arrays of at most two dimensions; float32 and uint8 stay what they
        are, all else becomes float64. ``facts`` are what else a run needs, as JSON can hold it.
        """
        begin = time.monotonic()
        try:
            record = {"count": count, "facts": facts, "identity": self._identity}
            write_arrays(self.path, record, arrays)
        except (OSError, InputError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            if not self._warned:
                warn(
                    CheckpointWarning(
                        f"the checkpoint {self.path} cannot be written ({why}): the run goes on "
                        "without it, and tries again now and then"
                    )
                )
            self._warned = True
        end = time.monotonic()
        self.write_s = end - begin
        self._next = end + max(EVERY_S, self.write_s / _SHARE)

    def load(self, take: Callable[[Saved], object], n_bytes: int) -> None:
        """Hand over the state of the same run, where there is a file.

        ``take``: takes it over, or raises a ValueError if it is not sound.
        ``n_bytes``: the most that the arrays can take. A larger file is not read.
        """
        remove_stale(self.path)
        if not self.path.exists():
            return
        try:
            record, arrays = read_arrays(self.path, n_bytes + FREE_BYTES)
            self._check(record)
            take(Saved(record["count"], arrays, record["facts"]))
        except InputError:
            raise
        except ValueError as error:
            raise InputError(
                f"checkpoint {self.path} is damaged or not a checkpoint ({error}): delete it to "
                "start again, or name another file"
            ) from None

    def _check(self, record: dict[str, Any]) -> None:
        check_form(record, {"count": int, "facts": dict, "identity": dict})
        if len(record) > 3 or record["count"] < 1:
            raise ValueError("its record has entries that it should not have")
        if unlike := differences(record["identity"], self._identity):
            raise InputError(
                f"checkpoint {self.path} is of another run: {', '.join(unlike)}; use the same "
                "data and options, or another file"
            )


def check_place(path: str | os.PathLike[str]) -> Path:
    """The path, if a checkpoint can be kept there: better known before hours of work than after."""
    try:
        named = Path(path)
    except TypeError as error:
        raise InputError(f"checkpoint={shown(path)} must be the path of a file") from error
    target = real_path(named)
    reason = why_unwritable(named)
    if not reason and is_stream(target):
        reason = "it is a pipe or a device, which keeps nothing: name a file"
    if reason:
        raise InputError(f"cannot write checkpoint={shown(str(named))}: {reason}")
    return target


def _kept(value: Any) -> Any:
    """An entry of the identity as the file has it: lists for tuples, a digest if it is long."""
    text = json.dumps(value)
    return json.loads(text) if len(text) <= _MAX_ENTRY else hash_parts([text.encode()])
