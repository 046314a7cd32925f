"""Who plays in a valuation of blocks: every cell by itself, or blocks as wholes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._knn.method import KNN
from shapley2d._models.exact import Exact
from shapley2d._models.monte_carlo import MonteCarlo
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._methods.method import Method

PLAYERS = ("cells", "blocks")
"""Every cell by itself, or sets of rows and sets of columns that join as wholes."""


def settle_players(players: str | None, method: Method, *, contributed: bool) -> str:
    """The default of ``players``; refuses blocks for a method that values cells only.

    Cells for contributors under nearest neighbours, and for methods that value nothing else; blocks
    for a model that is trained, and for blocks that nobody in particular contributed.

    >>> [settle_players(None, one, contributed=True) for one in (KNN(), Exact())]
    ['cells', 'blocks']
    """
    of_blocks = isinstance(method, (KNN, MonteCarlo, Exact))
    if players == "blocks" and not of_blocks:
        raise InputError(
            Setting("method", method.name),
            " values cells, not blocks of them: leave ",
            Setting("players", "blocks"),
            " out",
        )
    if players is not None:
        return players
    by_cells = not of_blocks or (isinstance(method, KNN) and contributed)
    return "cells" if by_cells else "blocks"
