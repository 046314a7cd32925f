"""What the neighbours of rows tell of them: statistics of a set of rows among all.

Each takes a mask of the rows in the set, so that :mod:`shapley2d._sellers.exchange` can ask the
same of other sets. Distances enter as ratios of two distances at the same place, so that rows of a
denser or a wider population are not suspicious by themselves.
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
        more = ((0, 0), (0, _TWINS + 1))  # room for places beyond the end of the list
        self._order, self._near = np.pad(order, more), near
        self._listed = listed
        self._classes = classes
        self._labels = np.append(labels, np.nan)
        self._elsewhere = elsewhere

    def near_others(self, inside: NDArray[np.bool_]) -> float:
        """How much nearer the rows lie to another seller's than to one another."""
        assert self._elsewhere is not None
        rows = np.flatnonzero(inside)
        own, _ = self._first(rows, inside, 1)
        return float(self._log_ratio(own[:, 0], self._elsewhere[rows]).mean())

    def near_rest(self, inside: NDArray[np.bool_]) -> float:
        """How much nearer the rows lie to rows outside the set than to one another."""
        rows = np.flatnonzero(inside)
        own, _ = self._first(rows, inside, 1)
        rest, _ = self._first(rows, ~inside, 1)
        return float(self._log_ratio(own[:, 0], rest[:, 0]).mean())

    def twins(self, inside: NDArray[np.bool_]) -> float:
        """How much farther the rows around a row are than its few nearest."""
        rows = np.flatnonzero(inside)
        near, _ = self._first(rows, inside, min(_TWINS, rows.size // 4) + 1)
        return float(self._log_ratio(near[:, 1:], near[:, :-1]).max(axis=1).mean())

    def odd_labels(self, inside: NDArray[np.bool_]) -> float:
        """How much the labels differ from those of the nearest rows outside the set."""
        return self.label_gap(inside, ~inside)

    def label_gap(self, inside: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
        """How much the labels of some rows differ from those of their nearest among others.

        Rows with none of these in their lists do not count.
        """
        rows = np.flatnonzero(inside)
        _, places = self._first(rows, among, min(_VOTES, int(among.sum())))
        near, own = self._labels[places], self._labels[rows][:, None]
        listed = ~np.isnan(near)
        count, there = listed.sum(axis=1), listed.any(axis=1)
        if not there.any():
            return 0.0
        if self._classes:
            gaps = ((near != own) & listed).sum(axis=1)[there] / count[there]
        else:
            gaps = np.abs(np.where(listed, near - own, 0.0).sum(axis=1)[there] / count[there])
        return float(gaps.mean())

    def nearest(self, rows: NDArray[np.intp], among: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The distance of each row to its nearest among some rows."""
        return self._first(rows, among, 1)[0][:, 0]

    def _log_ratio(
        self, far: NDArray[np.float64], near: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        ratio = np.log((far + self._floor) / (near + self._floor))
        return np.asarray(np.clip(ratio, -_MOST, _MOST))

    def _first(
        self, rows: NDArray[np.intp], among: NDArray[np.bool_], count: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Distances and numbers of the nearest rows among some, for each of ``rows``."""
        # among random sets, this many neighbours hold enough of a set but for one row in thousands
        width = min(self._listed, _WIDTH * count * among.size // max(int(among.sum()), 1))
        member = np.ones((rows.size, width + count), dtype=bool)
        member[:, :width] = among[self._order[rows, :width]]
        if count == 1:
            place = member.argmax(axis=1)[:, None]
        else:
            number = np.cumsum(member, axis=1, dtype=np.int16)
            place = np.nonzero(member & (number <= count))[1].reshape(-1, count)
        line = rows[:, None]
        end = place >= width  # then the row at the end of the list stands for the others
        numbers = np.where(end, len(self._order), self._order[line, place])
        return self._near[line, np.minimum(place, width - 1)], numbers
