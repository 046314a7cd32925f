"""Sealed files with one line per cell: the names of its row and column, and what is known of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import one_chunk, pa
from shapley2d._base.json_record import whole_number
from shapley2d._base.sealed_file import read_table, write_table
from shapley2d._tables.frames import objects

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.row_words import RowWords


@dataclass(frozen=True)
class SealedCells:
    """The cells of a file, row after row, with the names of their rows and columns."""

    table: Any
    row_names: NDArray[Any]
    column_names: list[str]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_names), len(self.column_names)

    @property
    def lines(self) -> NDArray[np.int64] | None:
        """The line of every row, from 1 on; None where the file has none."""
        if not self.has("line"):
            return None
        lines = self._matrix("line", "its lines are not whole numbers", pa.int64())
        if (lines < 1).any() or (lines != lines[:, :1]).any():
            raise ValueError("its lines do not fit its rows")
        return np.ascontiguousarray(lines[:, 0])

    def has(self, key: str) -> bool:
        return key in self.table.column_names

    def numbers(self, key: str) -> NDArray[np.float64]:
        """One number per cell, as a matrix."""
        wrong = f"its column {key} does not hold numbers"
        return self._matrix(key, wrong, pa.float64(), pa.float32()).astype(np.float64)

    def booleans(self, key: str) -> NDArray[np.bool_]:
        """Whether something is true of each cell, as a matrix."""
        return self._matrix(key, f"its column {key} does not say yes or no", pa.bool_())

    def texts(self, key: str) -> NDArray[Any]:
        """One text per cell, None where there is none; equal texts are one object."""
        column = _encoded(self.table[key], f"its column {key} does not hold text")
        if column.type.value_type != pa.string():
            raise ValueError(f"its column {key} does not hold text")
        texts = objects([*column.dictionary.to_pylist(), None])
        return np.asarray(texts[np.asarray(column.indices.fill_null(-1))]).reshape(self.shape)

    def _matrix(self, key: str, wrong: str, *kinds: Any) -> NDArray[Any]:
        """The entries of a column of one of some types, none of them missing."""
        if not self.has(key) or self.table[key].type not in kinds or self.table[key].null_count:
            raise ValueError(wrong)
        matrix: NDArray[Any] = self.table[key].to_numpy().reshape(self.shape)
        return matrix


def write_sealed(
    path: str | os.PathLike[str],
    key: bytes,
    record: Mapping[str, Any],
    rows: RowWords,
    column_names: Sequence[str],
    columns: Mapping[str, Any],
) -> None:
    """Write cells and a record to a Parquet file, whole or not at all.

    ``columns`` say something of each cell, row after row; ``key`` names the record in the metadata.
    """
    n, m = len(rows.row_names), len(column_names)
    names = _name_array(rows.row_names.tolist())
    row_codes = pa.DictionaryArray.from_arrays(np.repeat(np.arange(n, dtype=np.int32), m), names)
    lined = {} if rows.lines is None else {"line": np.repeat(rows.lines, m)}
    named = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(m, dtype=np.int32), n), pa.array(column_names, pa.string())
    )
    cells = {"row": row_codes.cast(names.type), **lined, "column": named, **columns}
    write_table(path, key, {"shape": [n, m], **record}, pa.table(cells))


def read_sealed(
    path: str | os.PathLike[str],
    key: bytes,
    what: str,
    make: Callable[[dict[str, Any], SealedCells], Any],
) -> Any:
    """Read a file that :func:`write_sealed` wrote; ``make`` takes its record and its cells."""
    return read_table(path, key, what, lambda record, table: make(record, _cells(record, table)))


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
    column = _encoded(table[key], f"its column {key} holds no names")
    if column.null_count or column.dictionary.null_count:
        raise ValueError(f"names are missing in its column {key}")
    codes = np.asarray(column.indices).reshape(n, m)
    first = codes[:, :1] if key == "row" else codes[:1]
    if (codes != first).any():
        raise ValueError(f"its cells are not in order: column {key} is not what it should be")
    names: list[Any] = column.dictionary.take(pa.array(first.ravel())).to_pylist()
    return names


def _encoded(column: Any, wrong: str) -> Any:
    """A column as a dictionary of its different entries."""
    column = one_chunk(column)
    if pa.types.is_nested(column.type):
        raise ValueError(wrong)
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _name_array(names: list[Any]) -> Any:
    """Row names of any type, as text where Parquet has no type for them."""
    with suppress(pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        array = pa.array(names)
        if not array.null_count:
            return array
    return pa.array([str(name) for name in names], pa.string())
