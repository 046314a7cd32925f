"""Valuations as Parquet files: a tidy table that any reader opens, never a pickle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.json_record import history_pairs, real_number, whole_number
from shapley2d._results.audit import Audit
from shapley2d._results.sealed import read_sealed, write_sealed
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._tables.reading.parquet_bounds import allowed_bytes
from shapley2d._tables.table import Column, FromText, Table
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._results.sealed import SealedCells
    from shapley2d._results.values import Values

_KEY = b"shapley2d"
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

    n, m = valuation.shape
    columns: dict[str, Any] = {
        "value": valuation.values.ravel().astype(kind, copy=False),
        "stderr": valuation.stderr.ravel().astype(kind, copy=False),
    }
    if valuation.contents is not None:
        by_row = [text for line in zip(*valuation.contents, strict=True) for text in line]
        columns["content"] = pa.array(by_row, pa.string())
    if valuation.labels is not None:
        columns["label"] = pa.array(valuation.labels, pa.string()).take(np.repeat(np.arange(n), m))
    record: dict[str, Any] = {
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
    names = valuation.row_names, valuation.column_names
    write_sealed(path, _KEY, record, *names, columns)


def read_fields(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Read what a valuation is made of, and its kind, checking that the file is one and that it is whole."""
    found: tuple[str, dict[str, Any]] = read_sealed(path, _KEY, "a valuation", _fields, _COLUMNS)
    return found


def _fields(record: dict[str, Any], cells: SealedCells) -> tuple[str, dict[str, Any]]:
    """What a valuation is made of; a ValueError says in a phrase what does not fit."""
    n, m = cells.shape
    fields: dict[str, Any] = {
        "values": cells.numbers("value"),
        "stderr": cells.numbers("stderr"),
        "row_names": cells.row_names,
        "column_names": cells.column_names,
        "row_stderr": _spread(record.get("row_stderr"), n),
        "column_stderr": _spread(record.get("column_stderr"), m),
        "info": _info(record.get("info")),
        "history": history_pairs(record.get("history")),
        "frame": record.get("frame"),
        "dof": real_number(record.get("dof", np.inf), "its degrees of freedom"),
        "table": _stored_table(cells, record.get("kinds"), _notations(record, m)),
        "target": cells.texts("label")[:, 0] if cells.has("label") else None,
    }
    if fields["frame"] not in FRAME_KINDS:
        raise ValueError("its kind of frame is not known")
    if not np.isfinite(fields["values"]).all():
        raise ValueError("some of its values are not numbers")
    if not (fields["stderr"] >= 0).all():
        raise ValueError("some of its standard errors are below 0 or not numbers")
    if "blocks" not in record:
        return "cells", fields
    return "blocks", fields | _block_fields(
        record["blocks"], n, m, allowed_bytes(cells.table.nbytes)
    )


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


def _compact(errors: NDArray[np.float64]) -> list[float] | None:
    return errors.tolist() if errors.any() else None


def _spread(errors: Any, size: int) -> NDArray[np.float64]:
    if errors is None:
        return np.zeros(size)
    if not isinstance(errors, list) or len(errors) != size:
        raise ValueError("its standard errors of sums do not fit")
    return np.array([real_number(error, "a standard error of its sums") for error in errors])


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


def _stored_table(cells: SealedCells, kinds: Any, notations: list[str]) -> Table | None:
    """The table's entries, as text, under the kinds that they had."""
    if not cells.has("content") or kinds is None:
        return None
    n, m = cells.shape
    if not isinstance(kinds, list) or len(kinds) != m or any(kind not in _KINDS for kind in kinds):
        raise ValueError("its kinds of columns do not fit")
    texts = cells.texts("content")
    columns = []
    for j, (name, kind) in enumerate(zip(cells.column_names, kinds, strict=True)):
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
