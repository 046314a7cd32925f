"""Sealed files of arrays: a numpy archive with a JSON record and a checksum of all other bytes.

The record is one more array, the checksum stands at the end. Files appear whole or not at all. They
may come from anyone: nothing is unpickled, and memory is bounded whatever a file claims.
"""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.json_record import parse_record
from shapley2d._base.sealed_file import FORMAT, is_whole, seal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_RECORD = "record"
_TYPES = (np.float64, np.float32, np.uint8)


def write_arrays(path: Path, record: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and a record.

    Nothing is copied in memory: the sums of a million rows are more than a gigabyte. There may be
    up to 1,023 arrays of at most two dimensions; what is not float32 or uint8 becomes float64.
    """
    text = json.dumps({"format": FORMAT, **record}).encode()
    plain = {
        name: np.ascontiguousarray(array, array.dtype if array.dtype.type in _TYPES else np.float64)
        for name, array in arrays.items()
    }
    with atomic_write(path) as temporary:
        with temporary.open("wb") as file:
            np.savez(file, **{_RECORD: np.frombuffer(text, np.uint8), **plain})  # type: ignore[arg-type]
        seal(temporary)


def read_arrays(path: Path, max_bytes: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The record and the arrays of a file; a ValueError says in a phrase what is wrong with it."""
    if not path.is_file():
        raise ValueError("it is not a file")
    size = path.stat().st_size
    if size > max_bytes:
        raise ValueError(f"it has {size:,} bytes, more than this run could need")
    with path.open("rb") as file:
        if not is_whole(file):
            raise ValueError("its checksum is wrong")
        arrays = _load(file, size)
    text = arrays.pop(_RECORD, None)
    if text is None or text.dtype != np.uint8:
        raise ValueError("it has no record")
    record = parse_record(text.tobytes())
    if record.pop("format", None) != FORMAT:
        raise ValueError("it is of another version of shapley2d")
    return record, arrays


def _load(file: BinaryIO, size: int) -> dict[str, NDArray[Any]]:
    """The arrays of an archive; ours are never compressed."""
    listed = _tried(lambda: zipfile.ZipFile(file).infolist())
    if any(one.compress_type != zipfile.ZIP_STORED for one in listed):
        raise ValueError("its arrays are compressed, which those of shapley2d are not")
    names = {one.filename for one in listed}
    if len(names) < len(listed) or len(names) > 1024:
        raise ValueError("its arrays share names, or are too many")
    if sum(one.file_size for one in listed) > size:
        raise ValueError("its arrays share bytes")
    file.seek(0)
    arrays: dict[str, Any] = _tried(lambda: dict(np.load(file, allow_pickle=False)))
    for array in arrays.values():
        if not isinstance(array, np.ndarray) or array.dtype.type not in _TYPES or array.ndim > 2:
            raise ValueError("an array is of an unknown kind")
    return arrays


def _tried(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:  # noqa: BLE001  (whatever a file provokes is the file's fault)
        raise ValueError(f"it is not an archive of arrays: {type(error).__name__}") from None
