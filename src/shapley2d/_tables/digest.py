"""A digest that identifies a typed column."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from shapley2d._tables.table import Column

DIGEST_BYTES = 8


def column_digest(column: Column) -> str:
    """Digest of a column's name, kind and entries, equal for a frame and its file."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    digest.update(
        f"{column.name}\0{column.kind}\0{column.entries.size}\0".encode("utf-8", "surrogatepass")
    )
    if column.kind == "category":
        add_texts(digest, column.text())
    else:
        # one NaN and one zero, whatever their bits were
        entries = np.where(np.isnan(column.entries), np.nan, column.entries + 0.0)
        digest.update(entries.astype("<f8").tobytes())
        for row, text in sorted(column.from_text.strays.items()):
            digest.update(f"{row}\0{text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def add_texts(digest: Any, texts: list[str | None]) -> None:
    """Add texts to a digest: each different one, then the order."""
    place: dict[str | None, int] = {}
    codes = np.array([place.setdefault(text, len(place)) for text in texts], dtype="<i8")
    for text in place:
        data = b"\xff" if text is None else text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    digest.update(codes.tobytes())
