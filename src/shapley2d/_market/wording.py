"""What people read of owners: what their value is the sum of, and what its interval includes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted, figure, plural, printable
from shapley2d._valuation.wording.units import Units

if TYPE_CHECKING:
    from shapley2d._market.block_values import BlockValues


def owner_lines(values: BlockValues) -> list[str]:
    """Owners, or blocks without owners, most valuable first, as a printed summary lists them."""
    points, worth, reach = Units.of(values).points, values._payee_values, values._payee_reach
    order = np.argsort(-worth, kind="stable")[:12].tolist()
    numbers = points.numbers(worth[order].tolist(), signed=True)
    lines = []
    for k, number in zip(order, numbers, strict=True):
        error = f" +- {figure(points.factor * reach[k], 2)}" if reach[k] else ""
        owner = f"  {printable(values._payee_names[k]):<24} {number}{error}"
        lines.append(f"{owner} {points.words}".rstrip())
    left = worth.size - len(order)
    return [*lines, f"  and {left} more"] if left else lines


def owner_words(info: dict[str, Any]) -> str:
    """What an owner's value is the sum of, how copies count, and what intervals include.

    Examples
    --------
    >>> owner_words({"players": "cells", "intervals": "sampling"}).split(". ")[1]
    'The intervals include sampling; they do not cover fraud.'
    """
    players = {
        "cells": "is worth the sum of its cells",
        "blocks": "is worth the sum of its blocks, whose rows and columns join as wholes",
    }
    rules = {
        "one": ("counts once, shared by its owners", "count once, shared by their owners"),
        "each": ("counts again", "count again"),
    }
    if info.get("players") not in players:
        return ""
    copies, also = info.get("copies") or {}, ""
    repeated, rule = copies.get("n_rows"), rules.get(str(copies.get("rule")))
    if isinstance(repeated, int) and repeated and rule:  # a file may hold anything
        what = counted(repeated, "row that repeats another", "rows that repeat others")
        also = f"; {what} {plural(repeated, *rule)}"
    known, no_error = str(info.get("intervals") or ""), "no error: "
    intervals = f" The intervals include {known}; they do not cover fraud." if known else ""
    if known.startswith(no_error):
        intervals = (
            f" There are no intervals: {known.removeprefix(no_error)}; parts of these left out in "
            "turn (valid_parts=10, --valid-parts 10) tell how much."
        )
    who = "An owner" if info.get("block_owners") else "A set"
    return f"{who} {players[info['players']]}{also}.{intervals}"
