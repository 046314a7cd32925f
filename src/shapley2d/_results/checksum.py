"""A checksum of a whole file, kept inside it: in the metadata at the end of a Parquet file."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

KEY = b"shapley2d.sha256"
"""The metadata's name for it."""

_LENGTH = 64
_ENTRY = re.compile(
    re.escape(KEY) + rb"\x18\x40([0-9a-f]{64})"
)  # name, a field of 64 bytes, the digits
_MAX_FOUND = 8
_BLOCK = 2**20


def placeholder() -> bytes:
    """What to write as the checksum at first: digits that occur nowhere else."""
    return secrets.token_hex(_LENGTH // 2).encode()


def seal(path: Path, mark: bytes) -> None:
    """Put the checksum of a file in the place of its placeholder."""
    with path.open("rb+") as file:
        start, footer = _footer(file)
        place = start + footer.index(mark)
        digest = _digest(file, place)
        file.seek(place)
        file.write(digest)


def verify(file: BinaryIO) -> bool | None:
    """Whether a file is as it was sealed; None where it has no checksum."""
    start, footer = _footer(file)
    found = [match for _, match in zip(range(_MAX_FOUND), _ENTRY.finditer(footer), strict=False)]
    if not found:
        return None
    return any(_digest(file, start + match.start(1)) == match[1] for match in found)


def _footer(file: BinaryIO) -> tuple[int, bytes]:
    """Where the metadata begins, and all from there on."""
    size = file.seek(0, 2)
    file.seek(size - 8)
    start = max(0, size - 8 - int.from_bytes(file.read(4), "little"))
    file.seek(start)
    return start, file.read(size - start)


def _digest(file: BinaryIO, place: int) -> bytes:
    """The digits of a file's checksum, those at a place left out."""
    digest = hashlib.sha256()
    file.seek(0)
    left = place
    while left:
        block = file.read(min(_BLOCK, left))
        digest.update(block)
        left -= len(block)
    file.seek(place + _LENGTH)
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest().encode()
