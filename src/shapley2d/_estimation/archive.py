"""The archive behind a checkpoint: a JSON record and arrays of floating-point numbers, as ``numpy.load`` reads them.

Files may come from anyone. Nothing here is unpacked, evaluated or allocated that the file does not
hold byte for byte: members are stored as they are, their headers have one form alone, and what they
claim must be what they have.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import parse_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_RECORD = "record"
_CHECKSUM = 64  # characters
_MAX_RECORD = 2**20  # bytes
_MAX_MEMBERS = 32
_START = b"PK\x03\x04"
_NAME_AT = 30  # bytes of a member's header before its name
_END = b"PK\x05\x06"
_END_BYTES = 22
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '(<f8|<f4|\|u1)', 'fortran_order': False, 'shape': \(((?:\d{1,12}(?:, \d{1,12})*,?)?)\), \} *\n"
)


def pack_archive(record: bytes, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The file: a numpy archive whose last bytes, the archive's comment, are the checksum of all before them.

    Arrays of float32 take half the bytes; whatever is read again is float64, which holds them
    exactly.
    """
    plain = {
        name: np.ascontiguousarray(array, dtype="<f4" if array.dtype == np.float32 else "<f8")
        for name, array in arrays.items()
    }
    buffer = io.BytesIO()
    np.savez(buffer, **{_RECORD: np.frombuffer(record, dtype=np.uint8), **plain})  # type: ignore[arg-type]
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = bytes(_CHECKSUM)
    content = buffer.getvalue()[:-_CHECKSUM]
    return content + hashlib.sha256(content).hexdigest().encode()


def looks_like_one(path: Path) -> bool:
    """Whether a file begins as the archives here do, damaged or not."""
    name = f"{_RECORD}.npy".encode()
    try:
        with path.open("rb") as file:
            start = file.read(_NAME_AT + len(name))
    except OSError:
        return False
    return start.startswith(_START) and start[_NAME_AT:] == name


def read_archive(
    path: Path, max_bytes: int, single: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """The record and the arrays, or a ValueError that says in a phrase what is wrong.

    Parameters
    ----------
    path : Path
    max_bytes : int
        A larger file is not read.
    single : tuple of str
        Names of the arrays that are float32 in the file.
    """
    if not path.is_file():
        raise ValueError("it is not a file")
    if path.stat().st_size > max_bytes:
        raise ValueError(f"it has {path.stat().st_size:,} bytes, more than this run could need")
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)
    if hashlib.sha256(content[:-_CHECKSUM]).hexdigest().encode() != content[-_CHECKSUM:]:
        raise ValueError("its checksum is wrong")
    end = content[-_END_BYTES - _CHECKSUM : -_CHECKSUM]
    if not end.startswith(_END) or int.from_bytes(end[10:12], "little") > _MAX_MEMBERS:
        raise ValueError("it is not an archive of arrays")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _members(archive, len(content))
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        KeyError,
        IndexError,
    ) as error:
        raise ValueError(f"it is not an archive of arrays: {type(error).__name__}") from None
    packed = members.pop(f"{_RECORD}.npy", None)
    if packed is None:
        raise ValueError("it has no record")
    dtype, _, data = _parse(packed)
    if dtype != "|u1" or len(data) > _MAX_RECORD:
        raise ValueError("its record is not text, or too long")
    record = parse_record(data)
    arrays = {}
    for name, member in members.items():
        dtype, shape, data = _parse(member)
        plain = name.removesuffix(".npy")
        if dtype != ("<f4" if plain in single else "<f8") or plain == name:
            raise ValueError("it holds something else than numbers")
        arrays[plain] = np.frombuffer(data, dtype=dtype).reshape(shape).astype(np.float64)
    return record, arrays


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, bytes]:
    """The members, all stored as they are; one that would have to be unpacked is none of ours."""
    listed = archive.infolist()
    if any(
        one.compress_type != zipfile.ZIP_STORED or one.file_size != one.compress_size
        for one in listed
    ):
        raise ValueError("its arrays are compressed, which those of shapley2d are not")
    if sum(one.file_size for one in listed) > size or len({one.filename for one in listed}) != len(
        listed
    ):
        raise ValueError("its arrays share names or bytes")
    return {one.filename: archive.read(one) for one in listed}


def _parse(member: bytes) -> tuple[str, tuple[int, ...], bytes]:
    """An array's kind, shape and bytes, if its header says what it holds."""
    start = len(_MAGIC) + 2
    stop = start + int.from_bytes(member[len(_MAGIC) : start], "little")
    header = _HEADER.fullmatch(member[start:stop])
    if not member.startswith(_MAGIC) or header is None:
        raise ValueError("an array has an unknown header")
    dtype = header[1].decode()
    shape = tuple(int(part) for part in header[2].decode().split(",") if part.strip())
    count = 1
    for part in shape:
        count *= part
    if len(shape) > 2 or count * int(dtype[2:]) != len(member) - stop:
        raise ValueError("an array is not as long as its header says")
    return dtype, shape, member[stop:]
