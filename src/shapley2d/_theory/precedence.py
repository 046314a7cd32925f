"""Who can only join after others: levels of players, all of a lower one before any of a higher one.

The value of a player is then its mean step over the orders that respect the levels (Asymmetric Data
Shapley): it joins all players of lower levels and a random part of its own, and none of higher
levels. So it is its Shapley value in the game of its own level, in which all lower levels are
always there. All values still sum to the whole's worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Precedence:
    """Levels of the rows and of the columns; None where an axis has no order.

    Examples
    --------
    >>> first = Precedence(np.array([1, 0, 1]), None)
    >>> first.of_rows(np.array([0, 1])).rows.tolist()
    [1, 0]
    """

    rows: NDArray[np.intp] | None = None
    columns: NDArray[np.intp] | None = None

    @property
    def orders(self) -> bool:
        """Whether anyone has to wait."""
        return self.rows is not None or self.columns is not None

    def of_rows(self, rows: NDArray[np.intp]) -> Precedence:
        """The same for some of the rows."""
        return self if self.rows is None else Precedence(self.rows[rows], self.columns)


def respecting(order: NDArray[np.intp], levels: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """A random order of players, sorted by their levels: as likely as any other that respects them.

    Examples
    --------
    >>> respecting(np.array([2, 0, 3, 1]), np.array([1, 0, 0, 1])).tolist()
    [2, 1, 0, 3]
    """
    return order if levels is None else order[np.argsort(levels[order], kind="stable")]


def split_levels(levels: NDArray[np.intp]) -> list[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """For every level, from the lowest: who is there before, and who joins.

    Examples
    --------
    >>> [(before.tolist(), joining.tolist()) for before, joining in split_levels(np.array([5, 2, 5]))]
    [([False, False, False], [1]), ([False, True, False], [0, 2])]
    """
    return [(levels < level, np.flatnonzero(levels == level)) for level in np.unique(levels)]


def n_subsets(n_players: int, levels: NDArray[np.intp] | None) -> int:
    """Coalitions that an exact value needs."""
    if levels is None:
        return int(2**n_players)
    return sum(int(2**joining.size) for _, joining in split_levels(levels))
