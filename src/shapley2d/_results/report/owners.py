"""Owners of blocks for the report: who owns which, what it is worth, what is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._results.audit import Audit
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._results.values import Values

_MOST_OWNERS = 12  # in columns of a table
_KEYS = ("owner", "value", "amount", "low", "high")


def block_owners(valuation: Values) -> dict[tuple[int, int], str]:
    """Names of the owners of every block by its position, where the valuation knows them."""
    shares = getattr(valuation, "owner_shares", None)
    if shares is None:
        return {}
    names: list[str] = valuation.owner_names  # type: ignore[attr-defined]
    owners: dict[tuple[int, int], str] = {}
    for i, j in np.ndindex(valuation.shape):
        owners[i, j] = ", ".join(str(names[k]) for k in np.flatnonzero(shares[:, i, j]))
    return owners


def owner_lines(valuation: Values) -> list[dict[str, Any]]:
    """What each owner's blocks are worth with its interval, and no amount; empty where there are no owners."""
    if getattr(valuation, "owner_shares", None) is None:
        return []
    lines = []
    for owner in _lines(valuation.owners):  # type: ignore[attr-defined]
        factor: float = valuation.owner_interval_factor  # type: ignore[attr-defined]
        value, spread = float(owner["value"]), factor * float(owner["stderr"])
        spread = spread if np.isfinite(spread) else 0.0
        ends = {"low": value - spread, "high": value + spread}
        lines.append({"owner": str(owner["owner"]), "value": value, "amount": None, **ends})
    return lines


def payment_lines(payments: Any) -> list[dict[str, Any]]:
    """Payments, from a frame or from dicts, as plain numbers.

    Examples
    --------
    >>> payment_lines([{"owner": "Ann", "value": 1, "amount": 2, "low": 1, "high": 3}])
    [{'owner': 'Ann', 'value': 1.0, 'amount': 2.0, 'low': 1.0, 'high': 3.0}]
    """
    lines = []
    for payment in _lines(payments):
        absent = [key for key in _KEYS if key not in payment]
        if absent:
            raise InputError(f"a payment needs {', '.join(_KEYS)}: {absent[0]!r} is missing")
        lines.append(
            {"owner": str(payment["owner"]), **{key: float(payment[key]) for key in _KEYS[1:]}}
        )
    return lines


def _lines(data: Any) -> list[dict[str, Any]]:
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    return (
        frame.rows(named=True) if isinstance(frame, nw.DataFrame) else [dict(line) for line in data]
    )


def audit_tables(valuation: Values) -> dict[str, Any] | None:
    """The audit that a valuation came with, as tables: gains by owner and move, payments by setting and owner."""
    record = valuation.info.get("audit")
    if record is None:
        return None
    audit = Audit.of_record(record)
    owners = list(audit.payments)
    moves = list(dict.fromkeys(move["move"] for move in audit.moves))
    gains = {(move["owner"], move["move"]): move["after"] - move["before"] for move in audit.moves}
    return {
        "amount": audit.amount,
        "moves": moves,
        "gains": [
            (owner, audit.payments[owner], [gains.get((owner, move)) for move in moves])
            for owner in owners
        ],
        "owners": owners if len(owners) <= _MOST_OWNERS else [],
        "settings": [
            (one["setting"], [one["payments"].get(owner) for owner in owners])
            for one in audit.settings
        ],
        "payments": [audit.payments[owner] for owner in owners],
        "copies": audit.copies,
        "complete": audit.complete,
        "sentences": audit.sentences,
    }
