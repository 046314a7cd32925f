"""Digests of what values were computed from: SHA-256 of a file's bytes, or of a frame's content."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from shapley2d._fragments.facts import FileDigest
from shapley2d._tables.convert import as_table
from shapley2d._tables.digest import column_digest
from shapley2d._tables.intake import as_frame, is_path
from shapley2d._tables.reading.files import Source

_PART = 2**20


def digest_of(role: str, data: Any) -> FileDigest:
    """The digest of a file or of a frame, under the role that it has."""
    if is_path(data):
        return FileDigest(role, Path(os.fspath(data)).name, file_digest(data))
    if isinstance(data, Source):
        return FileDigest(role, Path(data.path).name, file_digest(data.path))
    table = as_table({role: data} if _is_vector(data) else data, role)
    digest = hashlib.sha256("\n".join(map(str, table.row_names.tolist())).encode())
    for column in sorted(table.columns, key=lambda one: one.name):
        digest.update(column_digest(column).encode())
    return FileDigest(role, "", digest.hexdigest())


def _is_vector(data: Any) -> bool:
    frame = nw.from_native(as_frame(data), eager_only=True, pass_through=True)
    return not isinstance(frame, nw.DataFrame) and getattr(data, "ndim", 1) == 1


def file_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the bytes of a file."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while part := file.read(_PART):
            digest.update(part)
    return digest.hexdigest()
