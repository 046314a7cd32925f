"""The digest of what a contributor gave, by which a receipt knows it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from shapley2d._tables.convert import as_table
from shapley2d._tables.digest import column_digest
from shapley2d._tables.intake import is_path
from shapley2d._tables.reading.files import Source


def content_digest(data: Any, name: str) -> tuple[str, str]:
    """The name of a file and SHA-256 of its bytes; no name for a frame, and that of its content."""
    if isinstance(data, Source) or is_path(data):
        path = Path(data.path if isinstance(data, Source) else data)
        with path.open("rb") as file:
            return path.name, hashlib.file_digest(file, "sha256").hexdigest()
    series = nw.from_native(data, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        data = series.alias(name).to_frame().to_native()  # with its index
    elif getattr(data, "ndim", 2 - isinstance(data, list)) == 1:
        data = {name: data}
    table = as_table(data, name)
    parts = [str(one) for one in table.row_names.tolist()]
    parts += sorted(column_digest(column) for column in table.columns)
    return "", hashlib.sha256("\n".join(parts).encode()).hexdigest()
