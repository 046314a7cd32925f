"""Valuations as Parquet files: a tidy table that any reader opens, the record in its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.json_record import history_pairs, real_number, whole_number
from shapley2d._base.limits import allowed_bytes
from shapley2d._ownership.payments import RULES
from shapley2d._results.audit import Audit
from shapley2d._results.receipt_sums import audit_fits
from shapley2d._results.sealed import read_sealed, write_sealed
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._tables.table import Kind, Table
from shapley2d._tables.texts.column import stored_column
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._results.owned import BlockValues
    from shapley2d._results.sealed import SealedCells
    from shapley2d._results.values import CellValues

_KEY = b"shapley2d"
_SINGLE = 1e-5  # relative: values may be stored with 7 digits
_INFO_TYPES = {  # entries of ``info`` that reports and commands read
    "about": dict, "settings": dict, "versions": dict, "method": str, "call": str, "task": str,
    "kind": str, "players": str, "copies": dict, "intervals": str, "audit": dict, "n_valid": int,
    "n_valid_used": int, "folds": int, "folds_made": int, "splits": str, "n_utilities": int,
    "semivalue": list, "block_owners": list, "digests": dict, "asked": dict,
}  # fmt: skip


def save_valuation(
    valuation: CellValues, path: str | os.PathLike[str], precision: str = "double"
) -> None:
    """Write the valuation, its record and the table's entries to a Parquet file.

    The file is a tidy table (``row``, ``column``, ``value``, ``stderr``, ``content``, ``label``;
    ``line`` beside the row where a file was read) that any Parquet reader opens. It appears whole
    or not at all.

    Parameters
    ----------
    path : path-like
    precision : {"double", "single"}
        Of values and standard errors: 16 digits, or 7, which take about half of the space.
    """
    check_choice(precision, "precision", ("double", "single"))
    dtype = np.float32 if precision == "single" else np.float64
    if np.abs(valuation.values).max(initial=0.0) > np.finfo(dtype).max:
        raise InputError(Setting("precision", precision), " cannot hold values as large as these")
    import pyarrow as pa

    n, m = valuation.shape
    columns: dict[str, Any] = {
        "value": valuation.values.ravel().astype(dtype, copy=False),
        "stderr": valuation.stderr.ravel().astype(dtype, copy=False),
    }
    if valuation._contents is not None:
        by_row = [text for line in zip(*valuation._contents, strict=True) for text in line]
        columns["content"] = pa.array(by_row, pa.string())
    if valuation._labels is not None:
        columns["label"] = pa.array(valuation._labels, pa.string()).take(np.repeat(np.arange(n), m))
    held = None if valuation._table is None else valuation._table.columns
    record = {
        "row_stderr": _none_if_exact(valuation.row_stderr),
        "column_stderr": _none_if_exact(valuation.column_stderr),
        "dof": _none_if_infinite(valuation.dof),
        "history": valuation.history,
        "frame": valuation._frame,
        "kinds": None if held is None else [column.kind for column in held],
        "notations": None if held is None else [column.from_text.notation for column in held],
        "info": valuation.info,
    }
    if valuation._kind == "blocks":
        record["blocks"] = _block_record(valuation)  # type: ignore[arg-type]
    write_sealed(path, _KEY, record, valuation, valuation.column_names, columns)


def read_valuation(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """The kind of valuation that a file holds, ``"cells"`` or ``"blocks"``, and its fields."""
    found: tuple[str, dict[str, Any]] = read_sealed(path, _KEY, "a valuation", _fields)
    return found


def _fields(record: dict[str, Any], cells: SealedCells) -> tuple[str, dict[str, Any]]:
    """Kind and fields; a ValueError says in a phrase what does not fit."""
    n, m = cells.shape
    fields: dict[str, Any] = {
        "values": cells.numbers("value"),
        "stderr": cells.numbers("stderr"),
        "row_names": cells.row_names,
        "column_names": cells.column_names,
        "row_stderr": _stderr_of_sums(record.get("row_stderr"), n),
        "column_stderr": _stderr_of_sums(record.get("column_stderr"), m),
        "info": _info(record.get("info")),
        "history": history_pairs(record.get("history")),
        "_frame": record.get("frame"),
        "dof": _dof(record.get("dof"), "its degrees of freedom"),
        "_table": _table(record, cells),
        "_target": cells.texts("label")[:, 0] if cells.has("label") else None,
    }
    if fields["_frame"] not in FRAME_KINDS:
        raise ValueError("its kind of frame is not known")
    if not np.isfinite(fields["values"]).all():
        raise ValueError("some of its values are not numbers")
    if not (fields["stderr"] >= 0).all():
        raise ValueError("some of its standard errors are below 0 or not numbers")
    if "blocks" not in record:
        return "cells", fields
    fields |= _block_fields(record["blocks"], n, m, allowed_bytes(cells.table.nbytes))
    _check_owners(fields)
    return "blocks", fields


def _check_owners(fields: dict[str, Any]) -> None:
    """Owners are worth what their blocks are, and an audit is about what they are paid."""
    shares, owned = fields["_owner_shares"], fields["_owner_values"]
    if shares is None:
        return
    sums = np.tensordot(shares, fields["values"], axes=2)
    off = _SINGLE * np.tensordot(shares, np.abs(fields["values"]), axes=2).max()
    if owned is not None and (np.abs(owned - sums) > off).any():
        raise ValueError("its owners are not worth the sum of their blocks")
    if fields["info"].get("audit") is not None:
        audit = Audit.from_dict(fields["info"]["audit"])
        worth = (sums if owned is None else owned).tolist()
        cents = 1 + round(100 * audit.total * _SINGLE) if owned is None else 0
        if not audit_fits(audit, fields["_owner_names"], worth, list(RULES), cents):
            raise ValueError("its audit is about other payments than its values give")


def _info(info: Any) -> dict[str, Any]:
    """The record of the run, if its entries have the types that others expect."""
    if not isinstance(info, dict):
        raise ValueError("its record of the run is missing")  # noqa: TRY004  (one kind of error for one cause)
    for key, kind in _INFO_TYPES.items():
        if info.get(key) is not None and not isinstance(info[key], kind):
            raise ValueError(f"{key} in its record is not what it should be")
    words = [*(info.get("about") or {}).values(), *(info.get("versions") or {}).values()]
    if not all(isinstance(word, str) for word in words):
        raise ValueError("about or versions in its record is not text")
    if info.get("audit") is not None:
        Audit.from_dict(info["audit"])
    for key in ("tolerance", "seconds"):
        for place in (info, info.get("settings") or {}):
            real_number(0 if place.get(key) is None else place[key], f"{key} in its record")
    return info


def _table(record: dict[str, Any], cells: SealedCells) -> Table | None:
    """The typed columns, from their entries as text."""
    kinds: Any = record.get("kinds")
    notations: Any = record.get("notations")
    if kinds is None or not cells.has("content"):
        return None
    n, m = cells.shape
    if not _is_list(kinds, m) or any(kind not in get_args(Kind) for kind in kinds):
        raise ValueError("its kinds of columns do not fit")
    if not _is_list(notations, m) or not all(isinstance(one, str) for one in notations):
        raise ValueError("the notations of its columns do not fit")
    texts = cells.texts("content")
    columns = tuple(
        stored_column(texts[:, j].tolist(), cells.column_names[j], kinds[j], notations[j])
        for j in range(m)
    )
    return Table(columns, np.arange(n), texts, cells.lines)


def _block_record(valuation: BlockValues) -> dict[str, Any]:
    """What a valuation of blocks has besides: sizes, owners by block, and joint errors."""
    shares, covariance = valuation._owner_shares, valuation._covariance
    return {
        "row_sizes": valuation.row_sizes.tolist(),
        "column_sizes": valuation.column_sizes.tolist(),
        "owner_names": valuation._owner_names,
        "owned": None if shares is None else [np.flatnonzero(part).tolist() for part in shares],
        "covariance": None if covariance is None else covariance.tolist(),
        "spread": None if valuation._spread is None else valuation._spread.tolist(),
        "covariance_dof": _none_if_infinite(valuation._covariance_dof),
        "owner_values": None
        if valuation._owner_values is None
        else valuation._owner_values.tolist(),
    }


def _block_fields(record: dict[str, Any], n: int, m: int, limit: int) -> dict[str, Any]:
    owned, names, covariance = record["owned"], record["owner_names"], record["covariance"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("its owners have no names")
    shares = None if owned is None else _shares(owned, len(names), n, m, limit)
    if covariance is not None:
        covariance = np.array(covariance, dtype=np.float64)
        size = n * m if owned is None else len(owned)
        fits = covariance.shape == (size, size) and not np.isnan(covariance).any()
        if not fits or (np.diag(covariance) < 0).any():
            raise ValueError("its covariance does not fit")
    spread = record.get("spread")
    if spread is not None:
        spread = np.array(spread, dtype=np.float64)
        if spread.ndim != 2 or spread.shape[1:] != (len(names),) or not np.isfinite(spread).all():
            raise ValueError("its errors of owners do not fit")
    sizes = {}
    for key, count in (("row_sizes", n), ("column_sizes", m)):
        sizes[key] = np.array(
            [whole_number(size, f"one of its {key}") for size in record[key]], dtype=np.intp
        )
        if sizes[key].size != count:
            raise ValueError(f"its {key} do not fit")
    values = record["owner_values"]
    if values is not None:
        if owned is None or not _is_list(values, len(owned)):
            raise ValueError("the values of its owners do not fit")
        values = np.array([real_number(value, "an owner's value", -np.inf) for value in values])
        if not np.isfinite(values).all():
            raise ValueError("some values of its owners are not numbers")
    return {
        **sizes,
        "_owner_names": names,
        "_owner_shares": shares,
        "_covariance": covariance,
        "_spread": spread,
        "_owner_values": values,
        "_covariance_dof": _dof(record["covariance_dof"], "degrees of freedom of its owners"),
    }


def _shares(
    owned: list[list[int]], n_owners: int, n: int, m: int, limit: int
) -> NDArray[np.float64]:
    """Part of every block that each owner has: owners of a block have equal parts."""
    if len(owned) != n_owners or 8 * n_owners * n * m > limit:
        raise ValueError("its owners do not fit")
    holders = np.zeros((n_owners, n * m))
    for owner, blocks in enumerate(owned):
        held = [whole_number(block, "an owned block", 0, n * m - 1) for block in blocks]
        holders[owner, held] = 1.0
    if not holders.any(axis=0).all():
        raise ValueError("a block has no owner")
    return np.asarray((holders / holders.sum(axis=0)).reshape(-1, n, m))


def _none_if_exact(errors: NDArray[np.float64]) -> list[float] | None:
    return errors.tolist() if errors.any() else None


def _stderr_of_sums(errors: Any, size: int) -> NDArray[np.float64]:
    if errors is None:
        return np.zeros(size)
    if not _is_list(errors, size):
        raise ValueError("its standard errors of sums do not fit")
    return np.array([real_number(error, "a standard error of its sums") for error in errors])


def _none_if_infinite(dof: float) -> float | None:
    return None if np.isinf(dof) else dof


def _dof(number: Any, what: str) -> float:
    return float(np.inf) if number is None else real_number(number, what)


def _is_list(value: Any, size: int) -> bool:
    return isinstance(value, list) and len(value) == size
