"""What the neighbours of rows tell of them: statistics of sets of rows among all.

Each takes masks of the rows in several sets, a line each, so that
:mod:`shapley2d._market.sellers.exchange` can ask the same of many sets at once. Distances enter as
ratios of two distances at the same place, so that rows of a denser or a wider population are not
suspicious by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LISTED = 256  # neighbours of a row that are kept
_WIDTH = 8  # times as many neighbours as are looked for, by the share of rows that are looked at
_TWINS = 16  # copies of one row that are still seen as its copies
_VOTES = 5  # neighbours whose labels a label is compared with
_MOST = 3.0  # logarithm of a ratio: beyond 20-fold it does not matter how much
_FLOOR = 1e-3  # of the usual distance: below, distances count as equal


class Neighbours:
    """Rows by their distance from every row.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
    labels : ndarray of shape (n,)
        Codes of classes, or numbers.
    classes : bool
        Whether the labels are classes.
    elsewhere : ndarray of shape (n,) or None
        Distance of every row to the nearest row of another seller.
    """

    def __init__(
        self,
        distances: NDArray[np.float64],
        labels: NDArray[np.float64],
        *,
        classes: bool,
        elsewhere: NDArray[np.float64] | None = None,
    ) -> None:
        n = len(distances)
        apart = distances.copy()
        np.fill_diagonal(apart, np.inf)
        listed = min(_LISTED, n - 1)
        order = np.argsort(apart, axis=1, kind="stable")[:, :listed]
        near = np.take_along_axis(apart, order, axis=1)
        apart_at_all = near[near[:, 0] > 0, 0]
        self._floor = _FLOOR * (float(np.median(apart_at_all)) if apart_at_all.size else 1.0)
        self._order, self._near = order, near
        self._listed = listed
        self._classes = classes
        self._labels = np.append(labels, np.nan)
        self._elsewhere = elsewhere

    def near_others(self, sets: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How much nearer the rows of each set lie to another seller's than to one another."""
        assert self._elsewhere is not None
        rows = _members(sets)
        own, _ = self._first(rows, sets, 1)
        ratio = self._log_ratio(own[..., 0], self._elsewhere[rows])
        return np.asarray(ratio.mean(axis=1))

    def near_rest(self, sets: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How much nearer the rows of each set lie to rows outside than to one another."""
        rows = _members(sets)
        own, _ = self._first(rows, sets, 1)
        rest, _ = self._first(rows, ~sets, 1)
        return np.asarray(self._log_ratio(own[..., 0], rest[..., 0]).mean(axis=1))

    def twins(self, sets: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How much farther the rows around a row are than its few nearest, in each set."""
        rows = _members(sets)
        near, _ = self._first(rows, sets, min(_TWINS, rows.shape[1] // 4) + 1)
        gaps = self._log_ratio(near[..., 1:], near[..., :-1])
        return np.asarray(gaps.max(axis=2).mean(axis=1))

    def odd_labels(self, sets: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How much the labels of each set differ from those of the nearest rows outside."""
        return self.label_gap(sets, ~sets)

    def label_gap(self, sets: NDArray[np.bool_], among: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How much the labels of each set differ from those of their nearest among some rows.

        Rows with none of these in their lists do not count.
        """
        rows = _members(sets)
        _, places = self._first(rows, among, min(_VOTES, int(among[0].sum())))
        near, own = self._labels[places], self._labels[rows][..., None]
        listed = ~np.isnan(near)
        count = listed.sum(axis=2)
        if self._classes:
            gaps = ((near != own) & listed).sum(axis=2) / np.maximum(count, 1)
        else:
            gaps = np.abs(np.where(listed, near - own, 0.0).sum(axis=2)) / np.maximum(count, 1)
        return np.asarray(gaps.sum(axis=1) / np.maximum((count > 0).sum(axis=1), 1))

    def nearest(self, rows: NDArray[np.bool_], among: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The distance of each of some rows to its nearest among some."""
        return self._first(_members(rows[None]), among[None], 1)[0][0, :, 0]

    def _log_ratio(
        self, far: NDArray[np.float64], near: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        ratio = np.log((far + self._floor) / (near + self._floor))
        return np.asarray(np.clip(ratio, -_MOST, _MOST))

    def _first(
        self, rows: NDArray[np.intp], among: NDArray[np.bool_], count: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Distances and numbers of the nearest rows among some, for each row of each set.

        Parameters
        ----------
        rows : ndarray of shape (sets, rows of a set)
        among : ndarray of bool of shape (sets, n)
            As many rows in each set.
        count : int
            How many.
        """
        # among random sets, this many neighbours hold enough of a set but for one row in thousands
        width = min(self._listed, _WIDTH * count * among.shape[1] // max(int(among[0].sum()), 1))
        order = self._order[rows, :width]
        member = np.ones((*rows.shape, width + count), dtype=bool)
        member[..., :width] = among[np.arange(len(rows))[:, None, None], order]
        if count == 1:
            place = member.argmax(axis=2)[..., None]
        else:
            number = np.cumsum(member, axis=2, dtype=np.int16)
            place = np.nonzero(member & (number <= count))[2].reshape(*rows.shape, count)
        inside = np.minimum(place, width - 1)  # at the end of the list, its last row stands for all
        line = rows[..., None]
        numbers = np.where(place < width, self._order[line, inside], len(self._order))
        return self._near[line, inside], numbers


def _members(sets: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The rows of every set; all sets have as many."""
    return np.nonzero(sets)[1].reshape(len(sets), -1)
