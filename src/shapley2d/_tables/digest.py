"""Digests that identify a table: of its typed columns, and of a file's text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._tables.frames import readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d._tables.table import Column

_BYTES = 8


def column_digest(column: Column) -> str:
    """Digest of a column's name, kind and entries, equal for a frame and its file."""
    digest = hashlib.blake2b(digest_size=_BYTES)
    digest.update(
        f"{column.name}\0{column.kind}\0{column.entries.size}\0".encode("utf-8", "surrogatepass")
    )
    if column.kind == "category":
        _add_texts(digest, column.text())
    else:
        # one NaN and one zero, whatever their bits were
        entries = np.where(np.isnan(column.entries), np.nan, column.entries + 0.0)
        digest.update(entries.astype("<f8").tobytes())
        for row, text in sorted(column.from_text.strays.items()):
            digest.update(f"{row}\0{text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def table_digest(columns: Mapping[str, str]) -> str:
    """Digest of a table, from those of its columns in any order."""
    digest = hashlib.blake2b(digest_size=_BYTES)
    for name, part in sorted(columns.items()):
        digest.update(f"{name}\0{part}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def file_digest(table: Any) -> str:
    """Digest of a pyarrow table as read from a file, before its text is typed."""
    parts = {}
    for name in table.column_names:
        digest = hashlib.blake2b(digest_size=_BYTES)
        _add_texts(digest, _texts(table[name], name))
        parts[name] = digest.hexdigest()
    return table_digest(parts)


def _texts(column: Any, name: str) -> list[str | None]:
    types = pa.types
    if (
        types.is_timestamp(column.type)
        or types.is_date(column.type)
        or types.is_duration(column.type)
    ):
        return list(column.to_numpy().astype(str).tolist())  # of all years and zones
    with readable(f"column {name!r}", column.type):
        return [None if item is None else str(item) for item in column.to_pylist()]


def _add_texts(digest: Any, texts: list[str | None]) -> None:
    place: dict[str | None, int] = {}
    codes = np.array([place.setdefault(text, len(place)) for text in texts], dtype="<i8")
    for text in place:
        data = b"\xff" if text is None else text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    digest.update(codes.tobytes())
