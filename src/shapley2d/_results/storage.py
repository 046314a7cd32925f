"""Valuations as Parquet files: a tidy table that any reader opens, the record in its metadata, never a pickle.

The metadata holds a checksum of the whole file, so that one flipped bit is noticed. A file may come
from anyone: it is read within bounds, and whatever does not fit is refused in one line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.checks import check_choice
from shapley2d._base.json_record import history_pairs, parse_record, real_number, whole_number
from shapley2d._base.warnings import warn
from shapley2d._results import checksum
from shapley2d._results.audit import Audit
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._tables.reading.parquet_bounds import (
    allowed_bytes,
    check_bounds,
    check_ends,
    read_bounded,
    unpacked_bytes,
)
from shapley2d._tables.table import Column, FromText, Table
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._results.values import Values

_KEY = b"shapley2d"
_FORMAT = 3  # the first one had no checksum
_DOUBLE = 2  # only numbers of single precision need a newer reader
_COLUMNS = ("row", "column", "value", "stderr", "content", "label")
_KINDS = ("number", "category", "boolean", "date")
_WORDS = {  # entries of the record that others read, and what they are
    "about": dict, "settings": dict, "versions": dict, "method": str, "call": str, "task": str, "kind": str,
    "players": str, "copies": dict, "intervals": str, "audit": dict,
    "n_valid": int, "n_valid_used": int, "folds": int, "splits": str, "n_utilities": int, "block_owners": list,
    "semivalue": list,
}  # fmt: skip


def save_valuation(
    valuation: Values, path: str | os.PathLike[str], precision: str = "double"
) -> None:
    """Write a valuation to a Parquet file, whole or not at all."""
    check_choice(precision, "precision", ("double", "single"))
    single = precision == "single"
    kind = np.float32 if single else np.float64
    if single and np.abs(valuation.values).max(initial=0.0) > np.finfo(np.float32).max:
        raise InputError(Setting("precision", precision), " cannot hold values as large as these")
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, m = valuation.shape
    names = name_array(valuation.row_names.tolist())
    row = pa.DictionaryArray.from_arrays(np.repeat(np.arange(n, dtype=np.int32), m), names)
    column = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(m, dtype=np.int32), n), pa.array(valuation.column_names, pa.string())
    )
    columns: dict[str, Any] = {
        "row": row.cast(names.type),
        "column": column,
        "value": valuation.values.ravel().astype(kind, copy=False),
        "stderr": valuation.stderr.ravel().astype(kind, copy=False),
    }
    if valuation.contents is not None:
        by_row = [text for line in zip(*valuation.contents, strict=True) for text in line]
        columns["content"] = pa.array(by_row, pa.string())
    if valuation.labels is not None:
        columns["label"] = pa.array(valuation.labels, pa.string()).take(np.repeat(np.arange(n), m))
    record = {
        "format": _FORMAT if single else _DOUBLE,
        "shape": [n, m],
        "row_stderr": _compact(valuation.row_stderr),
        "column_stderr": _compact(valuation.column_stderr),
        "history": valuation.history,
        "frame": valuation.frame,
        "kinds": None
        if valuation.table is None
        else [column.kind for column in valuation.table.columns],
        "info": valuation.info,
    }
    notations = (
        [column.from_text.notation for column in valuation.table.columns] if valuation.table else []
    )
    if any(notations):
        record["notations"] = notations
    if not np.isinf(valuation.dof):
        record["dof"] = valuation.dof
    if hasattr(valuation, "owner_shares"):
        record["blocks"] = _block_record(valuation)
    mark = checksum.placeholder()
    metadata = {_KEY: json.dumps(record, ensure_ascii=False).encode(), checksum.KEY: mark}
    table = pa.table(columns).replace_schema_metadata(metadata)
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
        if too_dense(
            temporary
        ):  # values that are nearly all the same: as they are, so that they can be read again
            pq.write_table(
                table,
                temporary,
                compression="none",
                use_dictionary=["column"],
                write_page_checksum=True,
            )
        checksum.seal(temporary, mark)


def too_dense(path: Path) -> bool:
    """Whether a file unpacks to more than one of its size may."""
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        size = check_ends(file)
        return unpacked_bytes(pq.ParquetFile(file).metadata, file, size) > allowed_bytes(size)


def read_fields(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Read what a valuation is made of, and its kind, checking that the file is one and that it is whole."""
    found: tuple[str, dict[str, Any]] = read_sealed(
        path, _KEY, "a valuation", _FORMAT, _fields, _COLUMNS
    )
    return found


def read_sealed(
    path: str | os.PathLike[str],
    key: bytes,
    what: str,
    version: int,
    make: Callable[[dict[str, Any], Any], Any],
    columns: Sequence[str] | None = None,
) -> Any:
    """What ``make`` makes of the record and the table in a file of ours, once it is known to be one and to be whole.

    Parameters
    ----------
    path : path-like
    key : bytes
        The metadata's name for the record.
    what : str
        What the file should hold, in words.
    version : int
        The newest format that can be read.
    make : callable
        Takes the record and the table; a ValueError says in a phrase what does not fit.
    columns : sequence of str, optional
        Those that are read, where not all are.
    """
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not place.is_file():
        raise InputError(f"there is no file {path}")
    with place.open("rb") as file:
        try:
            check_ends(file)
        except ValueError as error:
            raise InputError(f"{path} is not a readable Parquet file: {error}") from None
        whole = checksum.verify(file)
        if whole is False:
            raise InputError(
                f"{path} is damaged, or another program has changed it: its checksum does not match; use a copy, or "
                "compute it again"
            )
        try:
            metadata = _metadata(file, key)
        except ValueError as error:
            raise InputError(f"{path} is not a readable Parquet file: {error}") from None
        if key not in metadata:
            raise InputError(f"{path} is a Parquet file, but not {what} saved by shapley2d")
        try:
            record = parse_record(metadata[key])
            _check_format(record, path, version, sealed=whole is not None)
            made = make(record, read_bounded(file, columns))
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
    if whole is None:
        warn(
            InputWarning(
                f"{path} was saved by an earlier shapley2d, without a checksum: damage cannot be noticed; save it "
                "again to add one"
            )
        )
    return made


def _check_format(
    record: dict[str, Any], path: str | os.PathLike[str], newest: int, *, sealed: bool
) -> None:
    version = whole_number(record.get("format"), "its format", 1)
    if version > newest:
        raise InputError(f"{path} was saved by a newer shapley2d: update the package to read it")
    if not sealed and version > 1:
        raise ValueError("its checksum is missing")


def _metadata(file: BinaryIO, key: bytes) -> dict[bytes, bytes]:
    """The metadata of a file that is not larger than it may be."""
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


def _fields(record: dict[str, Any], table: Any) -> tuple[str, dict[str, Any]]:
    """What a valuation is made of; a ValueError says in a phrase what does not fit."""
    shape = record.get("shape")
    if not isinstance(shape, list) or len(shape) != 2:
        raise ValueError("its shape is not known")
    n, m = (whole_number(size, "a size of its shape", 1) for size in shape)
    if table.num_rows != n * m:
        raise ValueError(f"{table.num_rows} cells for {n} rows x {m} columns")
    row_names, column_names = axis_names(table, n, m)
    fields: dict[str, Any] = {
        "values": _matrix(table, "value", n, m),
        "stderr": _matrix(table, "stderr", n, m),
        "row_names": row_name_array(row_names),
        "column_names": column_names,
        "row_stderr": _spread(record.get("row_stderr"), n),
        "column_stderr": _spread(record.get("column_stderr"), m),
        "info": _info(record.get("info")),
        "history": history_pairs(record.get("history")),
        "frame": record.get("frame"),
        "dof": real_number(record.get("dof", np.inf), "its degrees of freedom"),
        "table": _stored_table(
            table, record.get("kinds"), column_names, n, m, _notations(record, m)
        ),
        "target": _labels(table, n, m),
    }
    if fields["frame"] not in FRAME_KINDS:
        raise ValueError("its kind of frame is not known")
    if not np.isfinite(fields["values"]).all():
        raise ValueError("some of its values are not numbers")
    if not (fields["stderr"] >= 0).all():
        raise ValueError("some of its standard errors are below 0 or not numbers")
    if "blocks" not in record:
        return "cells", fields
    return "blocks", fields | _block_fields(record["blocks"], n, m, allowed_bytes(table.nbytes))


def axis_names(table: Any, n: int, m: int) -> tuple[list[Any], list[str]]:
    """Names of rows and columns, if the cells stand in their order."""
    import pyarrow as pa

    names = []
    for axis, key in enumerate(("row", "column")):
        column = table[key].combine_chunks()
        if pa.types.is_nested(column.type):
            raise ValueError(f"its column {key} holds no names")
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        if column.null_count or column.dictionary.null_count:
            raise ValueError(f"names are missing in its column {key}")
        codes = np.asarray(column.indices).reshape(n, m)
        first = codes[:, :1] if axis == 0 else codes[:1]
        if (codes != first).any():
            raise ValueError(f"its cells are not in order: column {key} is not what it should be")
        names.append(column.dictionary.take(pa.array(first.ravel())).to_pylist())
    if not all(isinstance(name, str) for name in names[1]):
        raise ValueError("its columns have no names")
    return names[0], names[1]


def _info(info: Any) -> dict[str, Any]:
    """The record of the run, if what others read of it is what they expect."""
    if not isinstance(info, dict):
        raise ValueError("its record of the run is missing")  # noqa: TRY004  (one kind of error for one cause)
    for key, kind in _WORDS.items():
        if info.get(key) is not None and not isinstance(info[key], kind):
            raise ValueError(f"{key} in its record is not what it should be")
    words = [*(info.get("about") or {}).values(), *(info.get("versions") or {}).values()]
    if not all(isinstance(word, str) for word in words):
        raise ValueError("about or versions in its record is not text")
    if info.get("audit") is not None:
        Audit.of_record(info["audit"])
    for key in ("tolerance", "seconds"):
        for place in (info, info.get("settings") or {}):
            real_number(0 if place.get(key) is None else place[key], f"{key} in its record")
    planned = info.get("planned_s")
    if planned is not None:
        if not isinstance(planned, list) or len(planned) != 2:
            raise ValueError("planned_s in its record is not two numbers")
        for seconds in planned:
            real_number(seconds, "planned_s in its record")
    return info


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
        "owner_values": None if valuation.owner_values is None else valuation.owner_values.tolist(),
    }


def _block_fields(record: Any, n: int, m: int, limit: int) -> dict[str, Any]:
    owned, names = record["owned"], record["owner_names"]
    shares = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("its owners have no names")
    if owned is not None:
        if len(owned) != len(names) or 8 * len(owned) * n * m > limit:
            raise ValueError("its owners do not fit")
        holders = np.zeros((len(owned), n * m))
        for owner, blocks in enumerate(owned):
            holders[
                owner, [whole_number(block, "an owned block", 0, n * m - 1) for block in blocks]
            ] = 1.0
        if not holders.any(axis=0).all():
            raise ValueError("a block has no owner")
        shares = (holders / holders.sum(axis=0)).reshape(
            -1, n, m
        )  # owners of a block have equal parts
    covariance = record["covariance"]
    if covariance is not None:
        covariance = np.array(covariance, dtype=np.float64)
        size = n * m if owned is None else len(owned)
        if (
            covariance.shape != (size, size)
            or np.isnan(covariance).any()
            or (np.diag(covariance) < 0).any()
        ):
            raise ValueError("its covariance does not fit")
    sizes = {}
    for key, count in (("row_sizes", n), ("column_sizes", m)):
        sizes[key] = np.array(
            [whole_number(size, f"one of its {key}") for size in record[key]], dtype=np.intp
        )
        if sizes[key].size != count:
            raise ValueError(f"its {key} do not fit")
    dof = record.get("covariance_dof")
    values = record.get("owner_values")
    if values is not None:
        if owned is None or not isinstance(values, list) or len(values) != len(owned):
            raise ValueError("the values of its owners do not fit")
        values = np.array([real_number(value, "an owner's value", -np.inf) for value in values])
        if not np.isfinite(values).all():
            raise ValueError("some values of its owners are not numbers")
    return {
        **sizes,
        "owner_names": names,
        "owner_shares": shares,
        "covariance": covariance,
        "owner_values": values,
        "covariance_dof": np.inf
        if dof is None
        else real_number(dof, "degrees of freedom of its owners"),
    }


def name_array(names: list[Any]) -> Any:
    """Row names of any kind; as text where Parquet has no kind for them."""
    import pyarrow as pa

    try:
        array = pa.array(names)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([str(name) for name in names], pa.string())
    return array if array.null_count == 0 else pa.array([str(name) for name in names], pa.string())


def _compact(errors: NDArray[np.float64]) -> list[float] | None:
    return errors.tolist() if errors.any() else None


def _spread(errors: Any, size: int) -> NDArray[np.float64]:
    if errors is None:
        return np.zeros(size)
    if not isinstance(errors, list) or len(errors) != size:
        raise ValueError("its standard errors of sums do not fit")
    return np.array([real_number(error, "a standard error of its sums") for error in errors])


def _matrix(table: Any, key: str, n: int, m: int) -> NDArray[np.float64]:
    import pyarrow as pa

    if (
        key not in table.column_names
        or table[key].type not in (pa.float64(), pa.float32())
        or table[key].null_count
    ):
        raise ValueError(f"its column {key} does not hold numbers")
    return np.array(table[key].to_numpy(), dtype=np.float64).reshape(n, m)


def texts_of(table: Any, key: str) -> NDArray[Any]:
    """A column of text, None where there is none; equal texts are one object."""
    import pyarrow as pa

    column = table[key].combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type != pa.string():
        raise ValueError(f"its column {key} does not hold text")
    column = column.dictionary_encode()
    texts = np.array([*column.dictionary.to_pylist(), None], dtype=object)
    codes = column.indices.fill_null(len(texts) - 1)
    return np.asarray(texts[np.asarray(codes)])


def _labels(table: Any, n: int, m: int) -> NDArray[Any] | None:
    if "label" not in table.column_names:
        return None
    return texts_of(table, "label").reshape(n, m)[:, 0]


def row_name_array(names: list[Any]) -> NDArray[Any]:
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array(names, dtype=object)


def _notations(record: dict[str, Any], m: int) -> list[str]:
    """How the columns' numbers are written; the plain way in files that do not say."""
    notations = record.get("notations") or [""] * m
    if (
        not isinstance(notations, list)
        or len(notations) != m
        or not all(isinstance(x, str) for x in notations)
    ):
        raise ValueError("the notations of its columns do not fit")
    return notations


def _stored_table(
    table: Any, kinds: Any, names: list[str], n: int, m: int, notations: list[str]
) -> Table | None:
    """The table's entries, as text, under the kinds that they had."""
    if "content" not in table.column_names or kinds is None:
        return None
    if not isinstance(kinds, list) or len(kinds) != m or any(kind not in _KINDS for kind in kinds):
        raise ValueError("its kinds of columns do not fit")
    texts = texts_of(table, "content").reshape(n, m)
    columns = []
    for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        present = [text for text in texts[:, j] if text is not None]
        categories = tuple(sorted(set(present)))
        position = {text: float(code) for code, text in enumerate(categories)}
        entries = np.array([np.nan if text is None else position[text] for text in texts[:, j]])
        columns.append(
            StoredColumn(name, kind, entries, categories, FromText(notation=notations[j]))
        )
    return Table(tuple(columns), np.arange(n), texts)


class StoredColumn(Column):
    """A column read back from a file: its entries are text, whatever kind they had."""

    def _entry_text(self, entry: float) -> str:
        return self.categories[int(entry)]
