"""What a file of blocks keeps besides: sizes, owners by block, and their joint errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import (
    Maybe,
    check_form,
    infinite_if_none,
    none_if_infinite,
    numbers_of,
)
from shapley2d._base.limits import allowed_bytes
from shapley2d._market.audit_result import Audit, check_look
from shapley2d._market.cell_sums import JointErrors
from shapley2d._market.owners import UNOWNED
from shapley2d._market.payments import follow

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._market.block_values import BlockValues
    from shapley2d._valuation.sealed import SealedCells

_SINGLE = 1e-5  # relative: values may be stored with 7 digits
_INFO = {  # entries that reports and commands read
    **dict.fromkeys(("parties", "intervals"), Maybe(str)),
    **dict.fromkeys(("copies", "audit", "look", "digests", "asked"), Maybe(dict)),
    **dict.fromkeys(("alone", "without"), Maybe(list)), "pooled": Maybe(float | int),
}  # fmt: skip
_BLOCKS = {
    "row_sizes": [int], "column_sizes": [int],
    "owner_names": [str], "shares": Maybe([[(int, float)]]),
    "errors": Maybe({"variance": list, "spread": list, "dof": Maybe(float)}),
    "owner_values": Maybe(list), "block_stderr": Maybe(list),
}  # fmt: skip


def block_record(valuation: BlockValues) -> dict[str, Any]:
    """What the record of a valuation of blocks has besides."""
    shares, errors = valuation._owner_shares, valuation._errors
    worth, stderr = valuation._owner_values, valuation._block_stderr
    blocks = {
        "row_sizes": valuation.row_sizes.tolist(),
        "column_sizes": valuation.column_sizes.tolist(),
        "owner_names": valuation._owner_names,
        "shares": shares
        if shares is None
        else [[[k, float(part.flat[k])] for k in np.flatnonzero(part).tolist()] for part in shares],
        "errors": errors
        and {
            "variance": errors.variance.tolist(),
            "spread": errors.spread.tolist(),
            "dof": none_if_infinite(errors.dof),
        },
        "owner_values": None if worth is None else worth.tolist(),
        "block_stderr": None if stderr is None else stderr.tolist(),
    }
    return {"blocks": blocks}


def block_fields(
    record: dict[str, Any], cells: SealedCells, fields: dict[str, Any]
) -> dict[str, Any]:
    """The fields that :func:`block_record` kept, beside others, or a ValueError in a phrase."""
    check_form(record, {"info": _INFO, "blocks": _BLOCKS})
    blocks, (n, m) = record["blocks"], cells.shape
    names, parts, errors = blocks["owner_names"], blocks.get("shares"), blocks.get("errors")
    count, limit = n * m if parts is None else len(parts), allowed_bytes(cells.table.nbytes)
    shares = None if parts is None else _shares(parts, len(names), n, m, limit)
    worth, stderr = (
        None if blocks.get(key) is None else numbers_of(blocks[key], *shape)
        for key, shape in (("owner_values", (len(names),)), ("block_stderr", (n, m)))
    )
    if stderr is not None and not (stderr >= 0).all():
        raise ValueError("its errors of blocks do not fit")
    _check_owners(fields, names, shares, worth)
    return {
        "row_sizes": numbers_of(blocks["row_sizes"], n).astype(np.intp),
        "column_sizes": numbers_of(blocks["column_sizes"], m).astype(np.intp),
        "_owner_names": names,
        "_owner_shares": shares,
        "_errors": None if errors is None else _errors(errors, count),
        "_owner_values": worth,
        "_block_stderr": stderr,
    }


def _check_owners(
    fields: dict[str, Any], names: list[str], shares: Floats | None, worth: Floats | None
) -> None:
    """Owners are worth what their blocks are, and an audit is about what they are paid."""
    info = fields["info"]
    for name in ("alone", "without"):  # scores, which may be negative
        numbers_of(info.get(name) or [], None)
    if info.get("look") is not None:
        check_look(info["look"])
    audit = None if info.get("audit") is None else Audit.from_dict(info["audit"])
    if shares is None:
        return
    sums = np.tensordot(shares, fields["values"], axes=2)
    off = _SINGLE * np.tensordot(shares, np.abs(fields["values"]), axes=2).max()
    if worth is not None and (np.abs(worth - sums) > off).any():
        raise ValueError("its owners are not worth the sum of their blocks")
    if audit is not None:  # values may be stored roughly
        values, off = sums if worth is None else worth, 1 + 100 * audit.total * _SINGLE
        paid = [round(100 * audit.payments.get(name, 0)) for name in names]
        same = {*audit.payments} == {*names} - {UNOWNED} and sum(paid) == round(100 * audit.total)
        if not same or not follow(paid, values.tolist(), names, off):
            raise ValueError("its audit is about other payments than its values give")


def _errors(record: dict[str, Any], count: int) -> JointErrors:
    size = count if record["variance"] else 0  # none of many blocks
    variance = numbers_of(record["variance"], size)
    spread = numbers_of(record["spread"], None, size) if record["spread"] else np.zeros((0, size))
    if not ((variance >= 0).all() and np.isfinite(spread).all()):
        raise ValueError("its errors of owners do not fit")
    return JointErrors(variance, spread, infinite_if_none(record.get("dof")))


def _shares(parts: list[list[list[Any]]], n_owners: int, n: int, m: int, limit: int) -> Floats:
    """Part of every block that each owner has."""
    if len(parts) != n_owners or 8 * n_owners * n * m > limit:
        raise ValueError("its owners do not fit")
    shares = np.zeros((n_owners, n * m))
    for owner, blocks in enumerate(parts):
        for block, share in blocks:
            shares[owner, block] = share
    if np.abs(shares.sum(axis=0) - 1).max() > _SINGLE:
        raise ValueError("the shares of a block do not add up")
    return shares.reshape(-1, n, m)
