"""Valuations as Parquet files: a tidy table that any reader opens, the record in its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.json_record import Maybe, check_form, history_pairs
from shapley2d._base.limits import allowed_bytes
from shapley2d._market.audited import Audit
from shapley2d._market.payments import RULES
from shapley2d._market.receipts.sums import audit_fits
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._tables.table import Kind, Table
from shapley2d._tables.texts.column import stored_column
from shapley2d._valuation.sealed import read_sealed, write_sealed
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._market.owned import BlockValues
    from shapley2d._valuation.sealed import SealedCells
    from shapley2d._valuation.values import CellValues

_KEY = b"shapley2d"
_SINGLE = 1e-5  # relative: values may be stored with 7 digits
_MEASURED = dict.fromkeys(("tolerance", "seconds", "max_time"), Maybe(float))
_WORDS = ("method", "call", "task", "kind", "players", "intervals", "splits")
_COUNTS = ("n_valid", "n_valid_used", "folds", "folds_made", "n_utilities")
_INFO = {  # entries that reports and commands read
    **dict.fromkeys(_WORDS, Maybe(str)), **dict.fromkeys(_COUNTS, Maybe(int)),
    **dict.fromkeys(("copies", "audit", "digests", "asked"), Maybe(dict)),
    **dict.fromkeys(("semivalue", "block_owners"), Maybe(list)),
    **dict.fromkeys(("about", "versions"), Maybe({str: str})),
    **_MEASURED, "settings": Maybe(_MEASURED), "planned_s": Maybe((float, float)),
    "other_trees": Maybe({"stderr": [float]}),
}  # fmt: skip
_BLOCKS = {
    "row_sizes": [int], "column_sizes": [int], "owner_names": [str], "owned": Maybe([[int]]),
    "covariance": Maybe(list), "spread": Maybe(list), "covariance_dof": Maybe(float),
    "owner_values": Maybe(list),
}  # fmt: skip
_RECORD = {
    "row_stderr": Maybe([float]), "column_stderr": Maybe([float]), "dof": Maybe(float),
    "kinds": Maybe([str]), "notations": Maybe([str]), "history": [(int, float)], "info": _INFO,
    "blocks": Maybe(_BLOCKS),
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
    check_form(record, _RECORD)
    if record["info"].get("audit") is not None:
        Audit.from_dict(record["info"]["audit"])
    n, m = cells.shape
    fields: dict[str, Any] = {
        "values": cells.numbers("value"),
        "stderr": cells.numbers("stderr"),
        "row_names": cells.row_names,
        "column_names": cells.column_names,
        "row_stderr": _numbers(record.get("row_stderr") or [0.0] * n, n),
        "column_stderr": _numbers(record.get("column_stderr") or [0.0] * m, m),
        "info": record["info"],
        "history": history_pairs(record["history"]),
        "_frame": record.get("frame"),
        "dof": _dof(record.get("dof")),
        "_table": _table(record, cells),
        "_target": cells.texts("label")[:, 0] if cells.has("label") else None,
    }
    if fields["_frame"] not in FRAME_KINDS:
        raise ValueError("its kind of frame is not known")
    if not np.isfinite(fields["values"]).all():
        raise ValueError("some of its values are not numbers")
    if not (fields["stderr"] >= 0).all():
        raise ValueError("some of its standard errors are below 0 or not numbers")
    if record.get("blocks") is None:
        return "cells", fields
    fields |= _block_fields(record["blocks"], n, m, allowed_bytes(cells.table.nbytes))
    _check_owners(fields)
    return "blocks", fields


def _check_owners(fields: dict[str, Any]) -> None:
    """Owners are worth what their blocks are, and an audit is about what they are paid."""
    shares, owned = fields["_owner_shares"], fields["_owner_values"]
    if shares is None and owned is None:
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


def _table(record: dict[str, Any], cells: SealedCells) -> Table | None:
    """The typed columns, from their entries as text."""
    kinds, notations = record.get("kinds"), record.get("notations") or []
    if kinds is None or not cells.has("content"):
        return None
    n, m = cells.shape
    if not len(kinds) == len(notations) == m or not {*kinds} <= {*get_args(Kind)}:
        raise ValueError("its kinds of columns do not fit")
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
    names, owned = record["owner_names"], record.get("owned")
    count = n * m if owned is None else len(owned)
    covariance, spread, values = (
        None if record.get(key) is None else _numbers(record[key], *shape)
        for key, shape in (
            ("covariance", (count, count)),
            ("spread", (None, len(names))),
            ("owner_values", (len(names),)),
        )
    )
    if covariance is not None and (np.diag(covariance) < 0).any():
        raise ValueError("its covariance does not fit")
    if spread is not None and not np.isfinite(spread).all():
        raise ValueError("its errors of owners do not fit")
    return {
        "row_sizes": _numbers(record["row_sizes"], n).astype(np.intp),
        "column_sizes": _numbers(record["column_sizes"], m).astype(np.intp),
        "_owner_names": names,
        "_owner_shares": None if owned is None else _shares(owned, len(names), n, m, limit),
        "_covariance": covariance,
        "_spread": spread,
        "_owner_values": values,
        "_covariance_dof": _dof(record.get("covariance_dof")),
    }


def _shares(
    owned: list[list[int]], n_owners: int, n: int, m: int, limit: int
) -> NDArray[np.float64]:
    """Part of every block that each owner has: owners of a block have equal parts."""
    if len(owned) != n_owners or 8 * n_owners * n * m > limit:
        raise ValueError("its owners do not fit")
    holders = np.zeros((n_owners, n * m))
    for owner, blocks in enumerate(owned):
        holders[owner, blocks] = 1.0
    if not holders.any(axis=0).all():
        raise ValueError("a block has no owner")
    return np.asarray((holders / holders.sum(axis=0)).reshape(-1, n, m))


def _numbers(value: list[Any], *shape: int | None) -> NDArray[np.float64]:
    """A list as an array of this shape."""
    found = np.array(value, dtype=np.float64)
    fits = found.ndim == len(shape) and all(
        want in (None, size) for want, size in zip(shape, found.shape, strict=True)
    )
    if not fits or np.isnan(found).any():
        raise ValueError("a list of its record does not fit")
    return found


def _none_if_exact(errors: NDArray[np.float64]) -> list[float] | None:
    return errors.tolist() if errors.any() else None


def _none_if_infinite(dof: float) -> float | None:
    return None if np.isinf(dof) else dof


def _dof(number: float | None) -> float:
    return float(np.inf if number is None else number)
