"""What people read of owners: which setting holds, and what their intervals include."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted, plural, printable
from shapley2d._market.audit_result import alarm_words
from shapley2d._market.parties import HOLDS
from shapley2d._market.payments import uncertain_pairs
from shapley2d._valuation.wording.units import Units

if TYPE_CHECKING:
    from shapley2d._market.block_values import BlockValues

_COPIES = {
    "one": ("counts once, shared by its owners", "count once, shared by their owners"),
    "each": ("counts again", "count again"),
}


def owner_lines(values: BlockValues) -> list[str]:
    """Owners, or blocks without owners, most valuable first, and which order is not certain."""
    points, worth, reach = Units.of(values).points, values._payee_values, values._payee_errors.reach
    order = np.argsort(-worth, kind="stable")[:12].tolist()
    numbers = points.numbers(worth[order].tolist(), signed=True)
    spreads = points.spreads(reach[order].tolist(), worth[order].tolist())
    lines = []
    for k, number, spread in zip(order, numbers, spreads, strict=True):
        error = f" +- {spread}" if spread else ""
        owner = f"  {printable(values._payee_names[k]):<24} {number}{error}"
        lines.append(f"{owner} {points.words}".rstrip())
    left = worth.size - len(order)
    lines += [f"  and {left} more"] if left else []
    higher, lower, _, _ = uncertain_pairs(worth[order], values._payee_errors.take(np.array(order)))
    names = [values._payee_names[k] for k in order]
    pairs = [printable(f"{names[a]} / {names[b]}") for a, b in zip(higher, lower, strict=True)]
    if pairs:
        more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
        lines.append(f"  order not certain: {'; '.join(pairs[:3])}{more}")
    return lines


def setting_words(info: dict[str, Any]) -> str:
    """Which setting holds for owners, and what it does not prevent."""
    return HOLDS.get(str(info.get("parties")), "") if info.get("digests") else ""


def owner_words(info: dict[str, Any]) -> str:
    """How copies count, and what intervals include."""
    words = []
    copies = info.get("copies") or {}
    repeated, rule = copies.get("n_rows"), _COPIES.get(str(copies.get("rule")))
    if isinstance(repeated, int) and repeated and rule:  # a file may hold anything
        what = counted(repeated, "row that repeats another", "rows that repeat others")
        words.append(f"{what} {plural(repeated, *rule)}.")
    known, no_error = str(info.get("intervals") or ""), "no error: "
    if known.startswith(no_error):
        words.append(
            f"There are no intervals: {known.removeprefix(no_error)}; parts of these left out in "
            "turn (valid_parts=10, --valid-parts 10) tell how much."
        )
    elif known:
        words.append(f"Intervals include {known}; they do not cover fraud.")
    return " ".join(words)


def look_lines(info: dict[str, Any]) -> list[str]:
    """What was seen of the owners' rows, without an audit, which says it too."""
    look = info.get("look") or {}
    return [str(look["words"]), *map(alarm_words, look["alarms"])] if look else []


def negative_words(lines: list[dict[str, Any]]) -> str:
    """What happens to those who harm; empty where nobody is paid."""
    if not lines or lines[0]["amount"] is None:
        return ""
    if any(line["amount"] < 0 for line in lines):
        return "A party of negative value owes its share, and the others are paid that much more."
    return "A party of negative value is paid nothing; the others share the whole amount."
