"""Valuations as Parquet files: a tidy table that any reader opens, the record in its metadata, never a pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.atomic_write import atomic_write
from shapley2d._tables.table import Column, Table
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._results.values import Values

_KEY = b"shapley2d"
_FORMAT = 1


def save_valuation(valuation: Values, path: str | os.PathLike[str]) -> None:
    """Write a valuation to a Parquet file, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, m = valuation.shape
    names = _name_array(valuation.row_names.tolist())
    row = pa.DictionaryArray.from_arrays(np.repeat(np.arange(n, dtype=np.int32), m), names)
    column = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(m, dtype=np.int32), n), pa.array(valuation.column_names, pa.string())
    )
    columns: dict[str, Any] = {
        "row": row.cast(names.type),
        "column": column,
        "value": valuation.values.ravel(),
        "stderr": valuation.stderr.ravel(),
    }
    if valuation.contents is not None:
        by_row = [text for line in zip(*valuation.contents, strict=True) for text in line]
        columns["content"] = pa.array(by_row, pa.string())
    if valuation.labels is not None:
        columns["label"] = pa.array(valuation.labels, pa.string()).take(np.repeat(np.arange(n), m))
    record = {
        "format": _FORMAT,
        "shape": [n, m],
        "row_stderr": _compact(valuation.row_stderr),
        "column_stderr": _compact(valuation.column_stderr),
        "history": valuation.history,
        "frame": valuation.frame,
        "kinds": None if valuation.table is None else [column.kind for column in valuation.table.columns],
        "info": valuation.info,
    }
    if not np.isinf(valuation.dof):
        record["dof"] = valuation.dof
    if hasattr(valuation, "owner_shares"):
        record["blocks"] = _block_record(valuation)
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(record, ensure_ascii=False).encode()})
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_fields(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Read what a valuation is made of, and its kind, checking that the file is one and that it is whole."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        raise InputError(f"there is no file {path}")
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} is not a readable Parquet file: {error}") from None
    metadata = table.schema.metadata or {}
    if _KEY not in metadata:
        raise InputError(f"{path} is a Parquet file, but not a valuation saved by shapley2d")
    try:
        record = json.loads(metadata[_KEY])
        if record["format"] > _FORMAT:
            raise InputError(f"{path} was saved by a newer shapley2d: update the package to read it")
        n, m = record["shape"]
        names = table["column"].slice(0, m).to_pylist()
        if table.num_rows != n * m or len(names) != m:
            raise InputError(f"{path} is damaged: {table.num_rows} cells for {n} rows x {m} columns")
        first = np.arange(0, n * m, m)
        fields: dict[str, Any] = {
            "values": _matrix(table["value"], n, m),
            "stderr": _matrix(table["stderr"], n, m),
            "row_names": _names(table["row"].take(first).to_pylist()),
            "column_names": names,
            "row_stderr": _spread(record["row_stderr"], n),
            "column_stderr": _spread(record["column_stderr"], m),
            "info": record["info"],
            "history": [(int(count), float(ratio)) for count, ratio in record["history"]],
            "frame": record["frame"],
            "dof": float(record.get("dof", np.inf)),
            "table": _stored_table(table, record["kinds"], names, n, m),
            "target": np.array(table["label"].take(first).to_pylist(), dtype=object)
            if "label" in table.column_names
            else None,
        }
        kind = "blocks" if "blocks" in record else "cells"
        if kind == "blocks":
            fields |= _block_fields(record["blocks"], n, m)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} is damaged: its record cannot be read ({error})") from None
    return kind, fields


def _block_record(valuation: Any) -> dict[str, Any]:
    """What a valuation of blocks has besides: sizes, owners by block, and joint errors."""
    shares = valuation.owner_shares
    return {
        "row_sizes": valuation.row_sizes.tolist(),
        "column_sizes": valuation.column_sizes.tolist(),
        "owner_names": valuation.owner_names,
        "owned": None if shares is None else [np.flatnonzero(part).tolist() for part in shares],
        "covariance": None if valuation.covariance is None else valuation.covariance.tolist(),
        "covariance_dof": None if np.isinf(valuation.covariance_dof) else valuation.covariance_dof,
    }


def _block_fields(record: dict[str, Any], n: int, m: int) -> dict[str, Any]:
    shares = None
    if record["owned"] is not None:
        holders = np.zeros((len(record["owned"]), n * m))
        for owner, blocks in enumerate(record["owned"]):
            holders[owner, blocks] = 1.0
        shares = (holders / holders.sum(axis=0)).reshape(-1, n, m)  # owners of a block have equal parts
    covariance = record["covariance"]
    return {
        "row_sizes": np.array(record["row_sizes"], dtype=np.intp),
        "column_sizes": np.array(record["column_sizes"], dtype=np.intp),
        "owner_names": record["owner_names"],
        "owner_shares": shares,
        "covariance": None if covariance is None else np.array(covariance, dtype=np.float64),
        "covariance_dof": np.inf if record.get("covariance_dof") is None else float(record["covariance_dof"]),
    }


def _name_array(names: list[Any]) -> Any:
    """Row names of any kind; as text where Parquet has no kind for them."""
    import pyarrow as pa

    try:
        array = pa.array(names)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([str(name) for name in names], pa.string())
    return array if array.null_count == 0 else pa.array([str(name) for name in names], pa.string())


def _compact(errors: NDArray[np.float64]) -> list[float] | None:
    return errors.tolist() if errors.any() else None


def _spread(errors: list[float] | None, size: int) -> NDArray[np.float64]:
    return np.zeros(size) if errors is None else np.array(errors, dtype=np.float64)


def _matrix(cells: Any, n: int, m: int) -> NDArray[np.float64]:
    return np.array(cells.to_numpy(), dtype=np.float64).reshape(n, m)


def _names(names: list[Any]) -> NDArray[Any]:
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array(names, dtype=object)


def _stored_table(table: Any, kinds: Any, names: list[str], n: int, m: int) -> Table | None:
    """The table's entries, as text, under the kinds that they had."""
    if "content" not in table.column_names or kinds is None:
        return None
    texts = np.array(table["content"].to_pylist(), dtype=object).reshape(n, m)
    columns = []
    for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        present = [text for text in texts[:, j] if text is not None]
        categories = tuple(sorted(set(present)))
        position = {text: float(code) for code, text in enumerate(categories)}
        entries = np.array([np.nan if text is None else position[text] for text in texts[:, j]])
        columns.append(StoredColumn(name, kind, entries, categories))
    return Table(tuple(columns), np.arange(n), texts)


class StoredColumn(Column):
    """A column read back from a file: its entries are text, whatever kind they had."""

    def _entry_text(self, entry: float) -> str:
        return self.categories[int(entry)]
