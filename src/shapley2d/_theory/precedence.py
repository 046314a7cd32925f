"""Players who can only join after others: all of a lower precedence before any of a higher one.

A player's value is then its mean contribution over the orders that respect this (Asymmetric Data
Shapley): all players of lower precedence are present, a random part of its own, and none of higher
precedence. So it is a Shapley value in the game of the players of its own precedence. All values
still sum to the utility of all players.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Precedence:
    """A whole number for every row and every column; None if an axis has no precedence.

    Examples
    --------
    >>> first = Precedence(np.array([1, 0, 1]), None)
    >>> first.of_rows(np.array([0, 1])).rows.tolist()
    [1, 0]
    """

    rows: NDArray[np.intp] | None = None
    columns: NDArray[np.intp] | None = None

    @property
    def is_set(self) -> bool:
        """Whether any player has to join after another."""
        return self.rows is not None or self.columns is not None

    def of_rows(self, rows: NDArray[np.intp]) -> Precedence:
        """The same for some of the rows."""
        return self if self.rows is None else Precedence(self.rows[rows], self.columns)


def respecting(order: NDArray[np.intp], precedence: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """A random order of players, sorted by precedence: as likely as any other that respects it.

    Examples
    --------
    >>> respecting(np.array([2, 0, 3, 1]), np.array([1, 0, 0, 1])).tolist()
    [2, 1, 0, 3]
    """
    return order if precedence is None else order[np.argsort(precedence[order], kind="stable")]


def joining_steps(precedence: NDArray[np.intp]) -> list[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """For every precedence, from the lowest: who is present before, and who joins.

    Examples
    --------
    >>> steps = joining_steps(np.array([5, 2, 5]))
    >>> [(before.tolist(), joining.tolist()) for before, joining in steps]
    [([False, False, False], [1]), ([False, True, False], [0, 2])]
    """
    return [(precedence < own, np.flatnonzero(precedence == own)) for own in np.unique(precedence)]


def n_subsets(n_players: int, precedence: NDArray[np.intp] | None) -> int:
    """Coalitions that an exact value needs."""
    if precedence is None:
        return int(2**n_players)
    return sum(int(2**joining.size) for _, joining in joining_steps(precedence))
