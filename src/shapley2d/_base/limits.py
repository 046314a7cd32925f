"""Limits of files that may come from anyone: bytes unpacked, columns, cells and depth.

A file of a few kilobytes may unpack to gigabytes, and what it declares cannot be trusted. So
readers count what they have read, and stop where it is too much for the size of the file.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shapley2d._base.arrow import pa, pc, pq
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os

FREE_BYTES = 2**28
"""Bytes that any file may unpack to."""

MAX_COLUMNS = 100_000
"""Columns of a table."""

MAX_DEPTH = 100
"""Levels of lists and objects in JSON: deeper ones exhaust the stack of the reader."""

# its end is optional: a search for it from every quote of a broken file would take forever
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def allowed_bytes(size: int) -> int:
    """Bytes that a file of some size may unpack to: 200 times its own, if it is large."""
    return max(FREE_BYTES, 200 * size)


@dataclass(frozen=True)
class Limits:
    """The most that may be read of a file of some size."""

    name: str  # of the file, for messages
    size: int  # in bytes

    def check(self, *, n_bytes: int = 0, columns: int = 0, cells: int = 0) -> None:
        """Refuse a file that holds more; a cell takes 8 bytes at least, as a number."""
        most = allowed_bytes(self.size)
        for count, limit, what in (
            (n_bytes, most, "bytes when unpacked"),
            (columns, MAX_COLUMNS, "columns"),
            (cells, most // 8, "cells"),
        ):
            if count > limit:
                raise InputError(
                    f"{self.name} has more than {limit:,} {what}, the most that is read of a file "
                    f"of {self.size:,} bytes: keep fewer rows or columns, or do not compress it"
                )


def is_too_deep(text: str, levels: int = MAX_DEPTH) -> bool:
    r"""Whether JSON is nested beyond some levels, seen before any reader sees it.

    >>> is_too_deep('[{"a": "[["}]'), is_too_deep("[" * 101)
    (False, True)
    """
    if text.count("[") + text.count("{") <= levels:
        return False
    depth = 0
    for mark in re.sub(r"[^][{}]+", "", _STRING.sub("", text)):
        depth += 1 if mark in "[{" else -1
        if depth > levels:
            return True
    return False


def read_record_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file that holds a record, not a table."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(FREE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not the name of a file"
        raise InputError(f"{path} cannot be read: {why}") from None
    if len(data) > FREE_BYTES:
        raise InputError(f"{path} has more than {FREE_BYTES:,} bytes, the most that is read of it")
    return data


def read_parquet(file: BinaryIO, name: str) -> Any:
    """Read a file as a pyarrow table; a ValueError says in a phrase why it cannot be read.

    What the metadata declare is checked first, what was read after every batch of rows. Text stays
    in dictionaries until its length is known, since a long one may occur in every row.
    """
    try:
        return _read_batches(file, Limits(name, file.seek(0, io.SEEK_END)))
    except InputError:
        raise
    except MemoryError:
        raise ValueError("it needs more memory than there is") from None
    except Exception as error:  # noqa: BLE001  (whatever a file provokes is the file's fault)
        text = " ".join(str(error).split())[:200]
        line = "".join(letter if letter.isprintable() else "?" for letter in text)
        raise ValueError(line) from None


def _read_batches(file: BinaryIO, limits: Limits) -> Any:
    schema = pq.ParquetFile(file).schema_arrow
    kinds = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
    texts = [field.name for field in schema if field.type in kinds]
    parquet = pq.ParquetFile(file, read_dictionary=texts, page_checksum_verification=True)
    about = parquet.metadata
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    limits.check(
        n_bytes=sum(group.total_byte_size for group in groups),
        columns=about.num_columns,
        cells=about.num_rows * about.num_columns,
    )
    # a batch is a part of what a file that lies can hold, but not of few rows: columns cost time
    each = max(1, 2**18 // max(1, about.num_columns))
    rows = max(100, about.num_rows // min(256, each))
    n_bytes = n_cells = 0
    parts: list[list[Any]] = [[] for _ in schema]
    for batch in parquet.iter_batches(rows):
        columns = batch.columns
        coded = [k for k, kind in enumerate(batch.schema.types) if pa.types.is_dictionary(kind)]
        n_bytes += batch.select(sorted(set(range(len(columns))) - set(coded))).nbytes
        for column in (columns[k] for k in coded):
            n_bytes += column.indices.nbytes
            if column.type.value_type in kinds:
                lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
                n_bytes += pc.sum(lengths).as_py() or 0
        n_cells += batch.num_rows * batch.num_columns
        limits.check(n_bytes=n_bytes, cells=n_cells)
        for k in coded:
            columns[k] = columns[k].cast(schema.field(k).type)
        for part, column in zip(parts, columns, strict=True):
            part.append(column)
    parts.reverse()
    columns = [  # one chunk each, and no second copy of them all
        pa.chunked_array(parts.pop(), field.type).combine_chunks() for field in schema
    ]
    return pa.table(columns, schema=schema)
