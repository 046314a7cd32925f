"""Lists of coalitions of players, by their membership masks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


class Coalitions(ABC):
    """An ordered list of coalitions of the players ``0 .. n_players - 1``.

    A game needs the length of the list and boolean membership masks, in slices. Games that can
    share work between coalitions use the type of the list: :class:`NestedCoalitions` has the order
    in which players join.
    """

    n_players: int

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def masks(self, start: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        """Membership of the players in coalitions ``start .. stop - 1``, one row per coalition."""

    def slice(self, start: int, stop: int) -> Coalitions:
        """Coalitions ``start .. stop - 1`` as a list of their own."""
        return MaskCoalitions(self.masks(start, stop))

    def __iter__(self) -> Iterator[NDArray[np.bool_]]:
        for k in range(len(self)):
            yield self.masks(k, k + 1)[0]


class MaskCoalitions(Coalitions):
    """Coalitions given by their membership masks.

    >>> MaskCoalitions([[True, False], [True, True]]).n_players
    2
    """

    def __init__(self, masks: ArrayLike) -> None:
        self._masks = np.atleast_2d(np.asarray(masks, dtype=bool))
        self.n_players = self._masks.shape[1]

    def __len__(self) -> int:
        return int(self._masks.shape[0])

    def masks(self, start: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        return self._masks[start:stop]


class SubsetCoalitions(Coalitions):
    """All ``2 ** n`` coalitions; the bits of a coalition's number are its members.

    >>> SubsetCoalitions(2).masks().tolist()
    [[False, False], [True, False], [False, True], [True, True]]
    """

    def __init__(self, n_players: int) -> None:
        self.n_players = n_players

    def __len__(self) -> int:
        return int(2**self.n_players)

    def masks(self, start: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        end = len(self) if stop is None else min(stop, len(self))
        numbers = np.arange(start, end, dtype=np.int64)
        return np.asarray((numbers[:, None] >> np.arange(self.n_players)) & 1 == 1)


class NestedCoalitions(Coalitions):
    """The ``n + 1`` nested coalitions of players who join one after the other.

    >>> NestedCoalitions([1, 0]).masks().tolist()
    [[False, False], [False, True], [True, True]]
    """

    def __init__(self, order: ArrayLike) -> None:
        self.order = np.asarray(order, dtype=np.intp)
        self.n_players = self.order.size
        self._position = np.empty(self.n_players, dtype=np.intp)
        self._position[self.order] = np.arange(self.n_players)

    def __len__(self) -> int:
        return self.n_players + 1

    def masks(self, start: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        sizes = np.arange(start, len(self) if stop is None else min(stop, len(self)))
        return np.asarray(self._position[None, :] < sizes[:, None])


class GroupedCoalitions(Coalitions):
    """Coalitions of groups, as coalitions of the members.

    ``groups``: coalitions whose players are groups.
    ``labels``: the group of every member.

    >>> GroupedCoalitions(SubsetCoalitions(2), [0, 0, 1]).masks(1, 3).tolist()
    [[True, True, False], [False, False, True]]
    """

    def __init__(self, groups: Coalitions, labels: ArrayLike) -> None:
        self._groups = groups
        self._labels = np.asarray(labels, dtype=np.intp)
        self.n_players = self._labels.size

    def __len__(self) -> int:
        return len(self._groups)

    def masks(self, start: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        return self._groups.masks(start, stop)[:, self._labels]
