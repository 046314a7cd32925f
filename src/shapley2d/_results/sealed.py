"""Parquet files with one line per cell, and a record and a checksum in their metadata.

Any Parquet reader opens them, and one flipped bit is noticed. Files may come from anyone: they are
read within bounds, and whatever does not fit is refused in one line.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.json_record import parse_record, whole_number
from shapley2d._tables.reading.parquet_bounds import (
    allowed_bytes,
    check_bounds,
    check_ends,
    read_bounded,
    unpacked_bytes,
)
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from shapley2d._results.row_words import RowWords

CHECKSUM_KEY = b"shapley2d.sha256"
"""Name of the checksum in the metadata."""

_FORMAT = 1  # raise it when older versions could not read what is written
_LENGTH = 64
# name, a field of 64 bytes, the digits
_CHECKSUM = re.compile(re.escape(CHECKSUM_KEY) + rb"\x18\x40([0-9a-f]{64})")
_MAX_FOUND = 8
_BLOCK = 2**20


@dataclass(frozen=True)
class SealedCells:
    """The cells of a file, row after row, with the names of their rows and columns."""

    table: Any
    row_names: NDArray[Any]
    column_names: list[str]

    @property
    def lines(self) -> NDArray[np.int64] | None:
        """The line of every row, from 1 on; None where the file has none."""
        if not self.has("line"):
            return None
        n, m = self.shape
        lines = self.table["line"].combine_chunks()
        if str(lines.type) != "int64" or lines.null_count:
            raise ValueError("its lines are not whole numbers")
        found = np.asarray(lines).reshape(n, m)
        if (found < 1).any() or (found != found[:, :1]).any():
            raise ValueError("its lines do not fit its rows")
        return np.ascontiguousarray(found[:, 0])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.row_names), len(self.column_names)

    def has(self, key: str) -> bool:
        """Whether the file holds this."""
        return key in self.table.column_names

    def numbers(self, key: str) -> NDArray[np.float64]:
        """One number per cell, as a matrix."""
        import pyarrow as pa

        kinds = (pa.float64(), pa.float32())
        if not self.has(key) or self.table[key].type not in kinds or self.table[key].null_count:
            raise ValueError(f"its column {key} does not hold numbers")
        return np.array(self.table[key].to_numpy(), dtype=np.float64).reshape(self.shape)

    def texts(self, key: str) -> NDArray[Any]:
        """One text per cell, None where there is none; equal texts are one object."""
        import pyarrow as pa

        column = self.table[key].combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if column.type != pa.string():
            raise ValueError(f"its column {key} does not hold text")
        column = column.dictionary_encode()
        texts = np.array([*column.dictionary.to_pylist(), None], dtype=object)
        codes = column.indices.fill_null(len(texts) - 1)
        return np.asarray(texts[np.asarray(codes)]).reshape(self.shape)


def write_sealed(
    path: str | os.PathLike[str],
    key: bytes,
    record: Mapping[str, Any],
    rows: RowWords,
    column_names: Sequence[str],
    columns: Mapping[str, Any],
) -> None:
    """Write cells and a record to a Parquet file, whole or not at all.

    Parameters
    ----------
    path : path-like
    key : bytes
        Name of the record in the metadata.
    record : dict
        Plain JSON values.
    rows : RowWords
        Names of the n rows, and their lines where they have some.
    column_names : sequence
        Names of the m columns.
    columns : dict of str to array of shape (n * m,)
        What the file says of each cell, row after row.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, m = len(rows.row_names), len(column_names)
    names = _name_array(rows.row_names.tolist())
    row_codes = pa.DictionaryArray.from_arrays(np.repeat(np.arange(n, dtype=np.int32), m), names)
    lined = {} if rows.lines is None else {"line": np.repeat(rows.lines, m)}
    named = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(m, dtype=np.int32), n), pa.array(column_names, pa.string())
    )
    cells = {"row": row_codes.cast(names.type), **lined, "column": named, **columns}
    text = json.dumps({"format": _FORMAT, "shape": [n, m], **record}, ensure_ascii=False)
    mark = placeholder()
    table = pa.table(cells).replace_schema_metadata({key: text.encode(), CHECKSUM_KEY: mark})
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
        if _too_dense(temporary):  # read_sealed would take it for a zip bomb
            pq.write_table(
                table,
                temporary,
                compression="none",
                use_dictionary=["column"],
                write_page_checksum=True,
            )
        seal(temporary, mark)


def read_sealed(
    path: str | os.PathLike[str],
    key: bytes,
    what: str,
    make: Callable[[dict[str, Any], SealedCells], Any],
    columns: Sequence[str] | None = None,
) -> Any:
    """Read a file that :func:`write_sealed` wrote, and return what ``make`` makes of it.

    Parameters
    ----------
    path : path-like
    key : bytes
        Name of the record in the metadata.
    what : str
        What the file should hold, in words.
    make : callable
        Takes the record and the cells; its ValueErrors say in a phrase what does not fit.
    columns : sequence of str, optional
        The columns to read; all by default.
    """
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not place.is_file():
        raise InputError(f"there is no file {path}")
    with place.open("rb") as file:
        try:
            check_ends(file)
            whole = verify(file)
            metadata = {} if whole is False else _metadata(file, key)
        except ValueError as error:
            raise InputError(f"{path} is not a readable Parquet file: {error}") from None
        if whole is False:
            raise InputError(
                f"{path} is damaged, or another program has changed it: its checksum does not "
                "match; use a copy, or compute it again"
            )
        if key not in metadata:
            raise InputError(f"{path} is a Parquet file, but not {what} saved by shapley2d")
        try:
            record = parse_record(metadata[key])
            _check_format(record, path, sealed=whole is not None)
            return make(record, _cells(record, read_bounded(file, columns)))
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{path} is damaged: {error}") from None
        except MemoryError:
            raise InputError(f"{path} needs more memory than there is") from None
        except Exception as error:  # noqa: BLE001  (whatever a file provokes is the file's fault)
            raise InputError(
                f"{path} is damaged: its record cannot be read ({type(error).__name__})"
            ) from None


def _check_format(record: dict[str, Any], path: str | os.PathLike[str], *, sealed: bool) -> None:
    if whole_number(record.get("format"), "its format", 1) > _FORMAT:
        raise InputError(f"{path} was saved by a newer shapley2d: update the package to read it")
    if not sealed:
        raise ValueError("its checksum is missing")


def _cells(record: dict[str, Any], table: Any) -> SealedCells:
    shape = record.get("shape")
    if not isinstance(shape, list) or len(shape) != 2:
        raise ValueError("its shape is not known")
    n, m = (whole_number(size, "a size of its shape", 1) for size in shape)
    if table.num_rows != n * m:
        raise ValueError(f"{table.num_rows} cells for {n} rows x {m} columns")
    row_names, column_names = (_axis_names(table, key, n, m) for key in ("row", "column"))
    if not all(isinstance(name, str) for name in column_names):
        raise ValueError("its columns have no names")
    whole = all(isinstance(name, int) for name in row_names)
    return SealedCells(table, np.array(row_names, np.int64 if whole else object), column_names)


def _axis_names(table: Any, key: str, n: int, m: int) -> list[Any]:
    """Names of the rows or columns, if the cells are in their order."""
    import pyarrow as pa

    column = table[key].combine_chunks()
    if pa.types.is_nested(column.type):
        raise ValueError(f"its column {key} holds no names")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if column.null_count or column.dictionary.null_count:
        raise ValueError(f"names are missing in its column {key}")
    codes = np.asarray(column.indices).reshape(n, m)
    first = codes[:, :1] if key == "row" else codes[:1]
    if (codes != first).any():
        raise ValueError(f"its cells are not in order: column {key} is not what it should be")
    names: list[Any] = column.dictionary.take(pa.array(first.ravel())).to_pylist()
    return names


def _name_array(names: list[Any]) -> Any:
    """Row names of any type, as text where Parquet has no type for them."""
    import pyarrow as pa

    try:
        array = pa.array(names)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([str(name) for name in names], pa.string())
    return array if array.null_count == 0 else pa.array([str(name) for name in names], pa.string())


def _too_dense(path: Path) -> bool:
    """Whether a file unpacks to more bytes than are allowed for its size."""
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        size = check_ends(file)
        return unpacked_bytes(pq.ParquetFile(file).metadata, file, size) > allowed_bytes(size)


def _metadata(file: BinaryIO, key: bytes) -> dict[bytes, bytes]:
    """The metadata of a file; one of ours is refused where it would unpack to too much."""
    import pyarrow.parquet as pq

    try:
        parquet = pq.ParquetFile(file)
        found = parquet.schema_arrow.metadata or {}
        if key in found:
            check_bounds(parquet.metadata, file, check_ends(file))
    except Exception as error:
        if type(error) is ValueError:  # of ours, already a phrase
            raise
        raise ValueError("its end cannot be read") from None
    return dict(found)


def placeholder() -> bytes:
    """Random digits that stand for the checksum until the file is written."""
    return secrets.token_hex(_LENGTH // 2).encode()


def seal(path: Path, mark: bytes) -> None:
    """Replace the placeholder by the checksum of the rest of the file."""
    with path.open("rb+") as file:
        start, footer = _footer(file)
        place = start + footer.index(mark)
        digest = _digest(file, place)
        file.seek(place)
        file.write(digest)


def verify(file: BinaryIO) -> bool | None:
    """Whether the checksum of a file matches; None where it has none."""
    start, footer = _footer(file)
    found = [match for _, match in zip(range(_MAX_FOUND), _CHECKSUM.finditer(footer), strict=False)]
    if not found:
        return None
    return any(_digest(file, start + match.start(1)) == match[1] for match in found)


def _footer(file: BinaryIO) -> tuple[int, bytes]:
    """Position of the metadata, and all bytes from there on."""
    size = file.seek(0, 2)
    file.seek(size - 8)
    start = max(0, size - 8 - int.from_bytes(file.read(4), "little"))
    file.seek(start)
    return start, file.read(size - start)


def _digest(file: BinaryIO, place: int) -> bytes:
    """The checksum of a file without the 64 bytes at ``place``."""
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
