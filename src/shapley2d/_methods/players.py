"""Who plays in a valuation of blocks: every cell by itself, or groups of rows and of columns."""

from __future__ import annotations

from typing import Any

from shapley2d._methods.models import is_knn
from shapley2d._methods.registry import block_methods

PLAYERS = ("cells", "groups")
"""What players may be."""


def settle_players(players: Any, method: str, given: dict[str, Any], *, owned: bool) -> str:
    """Who plays where the user leaves it open: cells for owners and nearest neighbours, groups otherwise.

    Examples
    --------
    >>> settle_players(None, "auto", {}, owned=True), settle_players(None, "auto", {"model": "tree"}, owned=True)
    ('cells', 'groups')
    """
    if players is not None:
        return str(players)
    model = given.get("model")
    alone = method not in block_methods()  # they know no groups
    near = method in ("auto", "knn") and (model is None or is_knn(model))
    return "cells" if owned and (near or alone) else "groups"
