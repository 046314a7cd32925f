"""Sealed files: a table, one JSON record, and one checksum of all other bytes.

A table is a Parquet file with the record in its metadata and the checksum before its footer. Any
reader of Parquet opens it, and one flipped bit is noticed. Files appear whole or not at all. They
may come from anyone: nothing is unpickled, and memory is bounded whatever a file claims.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shapley2d._base.arrow import pq
from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.json_record import parse_record, whole_number
from shapley2d._base.limits import Limits, read_parquet
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

FORMAT = 1
"""Raise it when older versions could not read what is written."""

_PARQUET = b"PAR1"
_CHECKSUM = 64  # hex digits
_PART = 2**20  # bytes that are read at a time


def write_table(
    path: str | os.PathLike[str], key: bytes, record: Mapping[str, Any], table: Any
) -> None:
    """Write a pyarrow table, with a record of plain JSON values under ``key`` in its metadata."""
    # half a character of a name, which UTF-8 does not have, becomes JSON's own escape of it
    text = json.dumps({"format": FORMAT, **record}, ensure_ascii=False)
    table = table.replace_schema_metadata({key: text.encode(errors="backslashreplace")})
    with atomic_write(path, ".parquet", ".pq") as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
        try:
            limits = Limits(str(path), temporary.stat().st_size)
            limits.check(n_bytes=table.nbytes, cells=table.num_rows * table.num_columns)
        except InputError:  # so uniform that nobody would read it again
            pq.write_table(
                table, temporary, compression="none", use_dictionary=False, write_page_checksum=True
            )
        seal(temporary)


def read_table(
    path: str | os.PathLike[str], key: bytes, what: str, make: Callable[[dict[str, Any], Any], Any]
) -> Any:
    """Read a file of :func:`write_table`, and return what ``make`` makes of its record and table.

    A ValueError of ``make`` says in a phrase what does not fit; ``what`` is what the file should
    hold.
    """
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not place.is_file():
        raise InputError(f"there is no file {path}")
    with place.open("rb") as file:
        try:
            metadata = pq.ParquetFile(file).schema_arrow.metadata or {}
        except Exception:  # noqa: BLE001  (whatever a file provokes is the file's fault)
            raise InputError(f"{path} is not a readable Parquet file") from None
        if key not in metadata:
            raise InputError(f"{path} is a Parquet file, but not {what} saved by shapley2d")
        if not is_whole(file):
            raise InputError(
                f"{path} is damaged, or another program has changed it: its checksum does not "
                "match; use a copy, or compute it again"
            )
        try:
            record = _record(metadata[key], path)
            return make(record, read_parquet(file, str(path)))
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{path} is damaged: {error}") from None
        except MemoryError:
            raise InputError(f"{path} needs more memory than there is") from None
        except Exception as error:  # noqa: BLE001
            raise InputError(
                f"{path} is damaged: its record cannot be read ({type(error).__name__})"
            ) from None


def _record(data: bytes, path: str | os.PathLike[str]) -> dict[str, Any]:
    record = parse_record(data)
    if whole_number(record.get("format"), "its format", 1) > FORMAT:
        raise InputError(f"{path} was saved by a newer shapley2d: update the package to read it")
    return record


def seal(path: Path) -> None:
    """Insert the checksum of a file."""
    with path.open("rb+") as file:
        place = _end(file)
        file.seek(place)
        rest = file.read()
        digest = _digest(file, place, place)
        file.seek(place)
        file.write(digest + rest)


def is_whole(file: BinaryIO) -> bool:
    """Whether the checksum of a file is there and right."""
    place = _end(file) - _CHECKSUM
    if place < 0:
        return False
    file.seek(place)
    return file.read(_CHECKSUM) == _digest(file, place, place + _CHECKSUM)


def _end(file: BinaryIO) -> int:
    """Where the content of a file ends: that of a Parquet file before its footer."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 8, 0))
    length, mark = file.read(4), file.read(4)
    return size - 8 - int.from_bytes(length, "little") if mark == _PARQUET else size


def _digest(file: BinaryIO, stop: int, start: int) -> bytes:
    """The checksum of a file's bytes before ``stop`` and from ``start`` on."""
    digest = hashlib.sha256()
    file.seek(0)
    while part := file.read(min(_PART, stop - file.tell())):
        digest.update(part)
    file.seek(start)
    while part := file.read(_PART):
        digest.update(part)
    return digest.hexdigest().encode()
