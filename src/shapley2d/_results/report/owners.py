"""Owners of blocks for the report: who owns what, what it is worth, what is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._results.audit import Audit
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._results.blocks import BlockValuation
    from shapley2d._results.valuation import Valuation

_MOST_OWNERS = 12  # in columns of a table
_KEYS = ("owner", "value", "amount", "low", "high")
_PLAYERS = {
    "cells": "An owner is worth the sum of its cells",
    "groups": "An owner is worth the sum of its blocks, whose rows and columns join as wholes",
}
_COUNTED = {
    "one": ("counts once, shared by its owners", "count once, shared by their owners"),
    "first": ("counts once, for the first in the table", "count once, for the first in the table"),
    "each": ("counts again", "count again"),
}


def owner_words(info: dict[str, Any]) -> str:
    """What an owner's value is the sum of, how copies count, and what intervals include.

    Examples
    --------
    >>> owner_words({"players": "cells", "intervals": "sampling"})
    'An owner is worth the sum of its cells. The intervals include sampling.'
    """
    players, copies = _PLAYERS.get(str(info.get("players"))), info.get("copies") or {}
    if players is None:
        return ""
    repeated, counts = copies.get("n_rows"), _COUNTED.get(str(copies.get("rule")))
    also = ""
    if isinstance(repeated, int) and repeated and counts:  # a file may hold anything
        what = counted(repeated, "row that repeats another", "rows that repeat others")
        also = f"; {what} {plural(repeated, *counts)}"
    about = f" The intervals include {info['intervals']}." if info.get("intervals") else ""
    return f"{players}{also}.{about}"


def block_owners(valuation: BlockValuation) -> list[tuple[int, int, str]]:
    """Every block by its position, with the names of its owners; empty without owners."""
    shares = valuation.owner_shares
    if shares is None:
        return []
    return [
        (i, j, ", ".join(valuation.owner_names[k] for k in np.flatnonzero(shares[:, i, j])))
        for i, j in np.ndindex(valuation.shape)
    ]


def owner_lines(valuation: BlockValuation) -> list[dict[str, Any]]:
    """What each owner is worth with its interval, and no amount; empty without owners."""
    if valuation.owner_shares is None:
        return []
    lines = []
    for owner in _lines(valuation.owners):
        value = float(owner["value"])
        spread = valuation.owner_interval_factor * float(owner["stderr"])
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


def audit_tables(valuation: Valuation) -> dict[str, Any] | None:
    """The audit of a valuation as tables: gains by owner and move, payments by setting."""
    record = valuation.info.get("audit")
    if record is None:
        return None
    audit = Audit.from_dict(record)
    owners = list(audit.payments)
    moves = list(dict.fromkeys(move["move"] for move in audit.moves))
    gains = {(move["owner"], move["move"]): move["after"] - move["before"] for move in audit.moves}
    return {
        "total": audit.total,
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
        "look": audit.look,
        "alarms": audit.alarms,
        "complete": audit.complete,
        "sentences": audit.sentences,
    }
