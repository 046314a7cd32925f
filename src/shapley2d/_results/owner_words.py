"""What an owner's value is the sum of, and what its interval is about, in words."""

from __future__ import annotations

from typing import Any

_PLAYERS = {
    "cells": "An owner is worth the sum of its cells",
    "groups": "An owner is worth the sum of its blocks, whose rows and columns join as wholes",
}
_COUNTED = {
    "one": "count once, shared by their owners",
    "first": "count once, for whoever comes first in the table",
    "each": "count each time",
}


def owner_words(info: dict[str, Any]) -> str:
    """A sentence or two from the record of a valuation of blocks; empty where it does not say.

    Examples
    --------
    >>> owner_words({"players": "cells", "intervals": "sampling"})
    'An owner is worth the sum of its cells. The intervals include sampling.'
    """
    players, copies = _PLAYERS.get(str(info.get("players"))), info.get("copies") or {}
    if players is None:
        return ""
    repeated = copies.get("n_rows") or 0
    counted = _COUNTED.get(str(copies.get("rule")))
    also = f"; {repeated:,} rows that repeat others {counted}" if repeated and counted else ""
    about = f" The intervals include {info['intervals']}." if info.get("intervals") else ""
    return f"{players}{also}.{about}"
