"""Games: the utility of a row coalition under a column coalition.

A game has one method, :meth:`Game.utilities`, and knows nothing of Shapley. The empty row coalition
has one utility under all columns; the empty column coalition has that of predicting from the labels
of the rows alone.

A game may say that it is ``compiled``, so that threads can share its work, and that it
``takes_all_rows``: it sorts them once for many row coalitions; and that it ``guesses``: no rows are
worth a guess even where values count from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats


class Game(Protocol):
    """A function of row coalitions and column coalitions that computes utilities."""

    @property
    def n_rows(self) -> int:
        """Number of players on the row axis."""

    @property
    def n_columns(self) -> int:
        """Number of players on the column axis."""

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities: one row per row coalition, one column per column coalition.

        Coalitions are boolean masks: ``rows`` (coalitions, n_rows), ``columns`` (coalitions,
        n_columns).
        """


def gain_of_all(games: Sequence[Game], *, from_zero: bool = False) -> float:
    """What all columns add to none, with all rows: what Shapley values sum to, over games.

    ``from_zero``: whether no columns count 0.
    """
    gains = []
    for game in games:
        ends = np.repeat([[False], [True]], game.n_columns, axis=1)
        alone, whole = game.utilities(np.ones((1, game.n_rows), dtype=bool), ends)[0]
        gains.append(whole if from_zero else whole - alone)
    return float(np.mean(gains))
