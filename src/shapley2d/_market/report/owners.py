"""Owners of blocks for the report: who owns what, what it is worth, what is paid."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import is_missing
from shapley2d._market.audit_result import Audit
from shapley2d._market.owners import lookalikes
from shapley2d._market.payments import follow
from shapley2d._market.wording import negative_words, owner_words, setting_words
from shapley2d._valuation.report.payload import page_units
from shapley2d._valuation.values import PagePart
from shapley2d._valuation.wording.units import Units
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._market.block_values import BlockValues

_HERE = "_market/report"
_KEYS = ("owner", "value", "amount", "low", "high")


def owners_part(valuation: BlockValues, payments: Any) -> PagePart:
    """Owners, what they are worth and paid, the audit, and the grid of blocks."""
    lines = [] if payments is None else payment_lines(payments)
    if lines:
        check_payments(valuation, lines)
    if payments is None and valuation._owner_shares is not None:
        lines = valuation._payee_lines()
    joining = _joining(valuation)
    worth = Units.of(valuation).points.numbers([line["value"] for line in lines])
    lines = [
        {**line, "worth": text, **joining.get(line["owner"], {})}
        for line, text in zip(lines, worth, strict=True)
    ]
    info, shares, names = valuation.info, valuation._owner_shares, valuation._owner_names
    blocks = []
    if shares is not None:
        for i, j in np.ndindex(valuation.shape):
            blocks.append([i, j, ", ".join(names[k] for k in np.flatnonzero(shares[:, i, j]))])
    # where every owner has one block, and every block one owner, the list says it all
    grid = sorted(block for _, _, block in blocks) != sorted(names) or not blocks
    content = {
        "payments": lines,
        "points": page_units(valuation, 0.0)["columnUnit"],
        "setting_words": setting_words(info),
        "owner_words": owner_words(info),
        "negative_words": negative_words(lines),
        "alike": list(lookalikes(names)),
        "audit": audit_tables(info),
        "look": info.get("look") or {"words": "", "alarms": []},
        "grid": grid,
        "pooled": info.get("pooled"),
    }
    title = f"What every owner is {'worth' if payments is None else 'paid'}" if lines else ""
    return PagePart(
        f"{_HERE}/template.html.jinja", f"{_HERE}/owners.js", content, {"owners": blocks}, title
    )


def payment_lines(payments: Any) -> list[dict[str, Any]]:
    """Payments, from a frame or from dicts, as plain numbers."""
    frame = nw.from_native(payments, eager_only=True, pass_through=True)
    lines = []
    for payment in frame.rows(named=True) if isinstance(frame, nw.DataFrame) else payments:
        absent = [key for key in _KEYS if key not in payment]
        if absent:
            raise InputError(f"a payment needs {', '.join(_KEYS)}: {absent[0]!r} is missing")
        numbers = {key: payment[key] for key in _KEYS[1:]}
        plain = {key: None if is_missing(one) else float(one) for key, one in numbers.items()}
        lines.append({"owner": str(payment["owner"]), **plain})
    return lines


def check_payments(valuation: BlockValues, lines: list[dict[str, Any]]) -> None:
    """Refuse payments that do not follow from the values, by any rule and number of decimals."""
    exact = dict(zip(valuation._payee_names, valuation._payee_values.tolist(), strict=True))
    given = {line["owner"]: line["value"] for line in lines}
    off = 1e-9 * max(map(abs, exact.values()), default=0.0)  # a file may hold less
    same = given.keys() == exact.keys() and len(lines) == len(exact)
    if not same or any(abs(given[name] - value) > off for name, value in exact.items()):
        raise InputError(
            "these payments are of other owners or values: take them from valuation.payments"
        )
    amounts = [Decimal(repr(line["amount"])).normalize() for line in lines]
    digits = max(0, *(-int(amount.as_tuple().exponent) for amount in amounts))
    paid = [int(amount.scaleb(digits)) for amount in amounts]
    names = [line["owner"] for line in lines]
    if not follow(paid, [exact[name] for name in names], names):
        raise InputError(
            f"these payments sum to {sum(amounts):,f}, but the values give other amounts: take "
            "them from valuation.payments"
        )


def _joining(valuation: BlockValues) -> dict[str, dict[str, str]]:
    """By owner: its score alone, and what it adds to the others; empty where unknown."""
    info, shares, units = valuation.info, valuation._owner_shares, Units.of(valuation)
    if "alone" not in info or shares is None or len(info["alone"]) != valuation.values.size:
        return {}
    held = {
        name: np.flatnonzero(one) for name, one in zip(valuation._owner_names, shares, strict=True)
    }
    blocks = {name: int(of[0]) for name, of in held.items() if of.size == 1}  # rows or columns
    adds = [info["pooled"] - info["without"][k] for k in blocks.values()]
    alone = [info["alone"][k] for k in blocks.values()]
    texts = units.points.numbers(alone)
    if units.score is not None:
        decimals = units.points.decimals(alone) or 0
        texts = [units.score.level(one, decimals) for one in alone]
    lines = zip(blocks, texts, units.points.numbers(adds, signed=True), strict=True)
    return {name: {"alone": alone, "adds": adds} for name, alone, adds in lines}


def audit_tables(info: dict[str, Any]) -> dict[str, Any] | None:
    """The audit of a valuation as tables: gains by owner and move, the range over settings."""
    if info.get("audit") is None:
        return None
    audit = Audit.from_dict(info["audit"])
    owners = list(audit.payments)
    moves = list(dict.fromkeys(move["move"] for move in audit._moves))
    gains = {(move["owner"], move["move"]): move["after"] - move["before"] for move in audit._moves}
    ranges = []
    for owner in owners:
        paid = [one["payments"][owner] for one in audit._settings if owner in one["payments"]]
        ranges.append((min(paid), max(paid)) if paid else None)
    return {
        **audit.to_dict(),
        "moves": [(move, [gains.get((owner, move)) for owner in owners]) for move in moves],
        "owners": owners if len(owners) <= 12 else [],
        "ranges": ranges,
        "n_settings": len(audit._settings),
        "payments": [audit.payments[owner] for owner in owners],
        "sentences": audit.sentences,
    }
