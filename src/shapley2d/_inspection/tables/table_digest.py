"""Digests that identify a table: by its typed columns, and by a file's text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from shapley2d._base.arrow import pa
from shapley2d._tables.digest import DIGEST_BYTES, add_texts
from shapley2d._tables.frames import readable

if TYPE_CHECKING:
    from collections.abc import Mapping


def table_digest(columns: Mapping[str, str]) -> str:
    """Digest of a table, from those of its columns in any order."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for name, part in sorted(columns.items()):
        digest.update(f"{name}\0{part}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def file_digest(table: Any) -> str:
    """Digest of a pyarrow table as read from a file, before its text is typed."""
    parts = {}
    for name in table.column_names:
        digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        add_texts(digest, _texts(table[name], name))
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
