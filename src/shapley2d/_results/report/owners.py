"""Owners of blocks for the report: who owns what, what it is worth, what is paid."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._ownership.payments import RULES
from shapley2d._results.audit import Audit
from shapley2d._results.receipt_sums import expected_units
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._results.blocks import BlockValuation
    from shapley2d._results.valuation import Valuation

_MOST_OWNERS = 12  # in columns of a table
_KEYS = ("owner", "value", "amount", "low", "high")
_OWING = ("if_unpaid", "collateral")
_SAME = 1e-9  # relative: a file may hold fewer digits
_PLAYERS = {
    "cells": "is worth the sum of its cells",
    "groups": "is worth the sum of its blocks, whose rows and columns join as wholes",
}
_NO_ERROR = "no error: "
_COUNTED = {
    "one": ("counts once, shared by its owners", "count once, shared by their owners"),
    "first": ("counts once, for the first in the table", "count once, for the first in the table"),
    "escrow": ("counts once, withheld if shared", "count once, withheld where shared"),
    "each": ("counts again", "count again"),
}


def owner_words(info: dict[str, Any]) -> str:
    """What an owner's value is the sum of, how copies count, and what intervals include.

    Examples
    --------
    >>> owner_words({"players": "cells", "intervals": "sampling"}).split(". ")[1]
    'The intervals include sampling; they do not cover fraud.'
    """
    players, copies = _PLAYERS.get(str(info.get("players"))), info.get("copies") or {}
    if players is None:
        return ""
    repeated, counts = copies.get("n_rows"), _COUNTED.get(str(copies.get("rule")))
    also = ""
    if isinstance(repeated, int) and repeated and counts:  # a file may hold anything
        what = counted(repeated, "row that repeats another", "rows that repeat others")
        also = f"; {what} {plural(repeated, *counts)}"
    known = info.get("intervals")
    about = f" The intervals include {known}; they do not cover fraud." if known else ""
    if str(known).startswith(_NO_ERROR):
        about = (
            f" There are no intervals: {str(known).removeprefix(_NO_ERROR)}; groups of these left "
            "out in turn (validation groups) tell how much."
        )
    who = "An owner" if info.get("block_owners") else "A group"
    return f"{who} {players}{also}.{about}"


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
        ends: dict[str, float | None] = {"low": value - spread, "high": value + spread}
        if not valuation.has_intervals:
            ends = {"low": None, "high": None}
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
        kept = [*_KEYS[1:], *(key for key in _OWING if payment.get(key) is not None)]
        lines.append(
            {"owner": str(payment["owner"]), **{key: _number(payment[key]) for key in kept}}
        )
    return lines


def _number(entry: Any) -> float | None:
    """A number; None for one that is not known."""
    return None if entry is None or np.isnan(float(entry)) else float(entry)


def check_payments(valuation: BlockValuation, lines: list[dict[str, Any]]) -> None:
    """Refuse payments that do not follow from the values, by any rule and number of decimals."""
    known = valuation.owner_table()
    worth = sorted(zip(map(str, known["owner"]), known["value"].tolist(), strict=True))
    given = sorted((line["owner"], line["value"]) for line in lines)
    scale = _SAME * max((abs(value) for _, value in worth), default=0.0)
    same = len(worth) == len(given) and all(
        one[0] == other[0] and abs(one[1] - other[1]) <= scale
        for one, other in zip(worth, given, strict=True)
    )
    if not same:
        raise InputError(
            "these payments are of other owners or values: take them from valuation.payments"
        )
    exact = dict(worth)
    names, values = [line["owner"] for line in lines], [exact[line["owner"]] for line in lines]
    amounts = [line["amount"] for line in lines]
    whole = sum((Decimal(repr(amount)) for amount in amounts), Decimal(0))
    least = max(0, *(-int(Decimal(repr(one)).normalize().as_tuple().exponent) for one in amounts))
    for digits in sorted(range(least, 13), key=lambda digits: abs(digits - 2)):
        units = int(whole.scaleb(digits).to_integral_value())
        for rule in RULES:
            with suppress(ValueError):
                right = expected_units(units, names, values, rule)
                if [float(Fraction(one, 10**digits)) for one in right] == amounts:
                    return
    raise InputError(
        f"these payments sum to {whole:,f}, but the values give other amounts: take them from "
        "valuation.payments"
    )


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
