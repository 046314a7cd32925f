"""Near copies: rows whose nearest rows are far nearer than the next, compared with validation rows.

A jittered copy lies beside one row and far from all others. The ratio of the distances of two
successive neighbours tells that, and depends neither on how dense rows lie nor on how many there
are: another population, one class alone or a drift changes nothing. How large ratios are where
nothing was copied the validation rows tell among themselves: siblings and repeated visits, if rows
have any, are there too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._market.sellers.points import Points

_TWINS = 16  # copies of one row that are still seen as its copies
_CHUNK = 256  # rows at a time whose distances to all others are held
_FLOOR = 1e-3  # of the usual distance: below, distances count as equal
_LEAST = float(np.log(2.0))  # a copy is twice as near as the next row at least: coarse tables


class Gaps(NamedTuple):
    """Of some rows: the gap after their nearest few, and the nearest of all."""

    rows: Ints
    size: Floats  # logarithm of the largest ratio of successive distances
    nearest: Ints

    def families(self) -> Ints:
        """Numbers of the rows, the same for rows that a gap sets apart with their nearest."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        next_of_kin = np.where(self.size > _LEAST, self.nearest, self.rows)
        ends = np.unique(np.append(self.rows, next_of_kin), return_inverse=True)[1].ravel()
        one, other = np.split(ends, 2)
        size = int(ends.max()) + 1
        graph = coo_array((np.ones(one.size), (one, other)), shape=(size, size))
        return np.asarray(connected_components(graph, directed=False)[1][one])

    def apart(self, *, families: bool) -> Floats:
        """The gaps of rows, one of those with the same nearest row, or of a family."""
        same = self.families() if families else self.nearest
        return self.size[np.unique(same, return_index=True)[1]]


def gaps(points: Points, rows: Ints, among: Ints, counted: Ints, usual: float) -> Gaps:
    """The gap of every row among other rows; none is compared with itself.

    ``counted`` are those of ``among`` that count where they are equal to a row. The more rows, the
    more are equal by chance where columns are coarse; so as many count as there are validation
    rows. If none counts, gaps are those to different rows, each of which is one however often it
    occurs. ``usual`` is a distance between neighbours.
    """
    if not counted.size:
        among = among[np.unique(points.lines[among], axis=0, return_index=True)[1]]
    count = min(_TWINS, among.size // 4) + 1
    size, nearest = np.full(rows.size, _LEAST), rows.copy()
    floor, counts = _FLOOR * usual, np.isin(among, counted)
    if among.size < count + 2:
        return Gaps(rows, size, nearest)
    for start in range(0, rows.size, _CHUNK):
        part = rows[start : start + _CHUNK]
        apart = points.distances(part, among)
        apart[((apart == 0) & ~counts) | (part[:, None] == among)] = np.inf
        place = np.argpartition(apart, count, axis=1)[:, : count + 1]
        near = np.sort(np.take_along_axis(apart, place, axis=1), axis=1) + floor
        with np.errstate(invalid="ignore"):
            ratio = np.log(near[:, 1:] / near[:, :-1])
        ratio = np.where(np.isfinite(ratio), ratio, 0.0)
        size[start : start + part.size] = np.maximum(ratio.max(axis=1), _LEAST)
        nearest[start : start + part.size] = among[apart.argmin(axis=1)]
    return Gaps(rows, size, nearest)


def usual_distance(points: Points, rows: Ints) -> float:
    """The median distance of rows to the nearest other that is not equal."""
    apart = points.distances(rows, rows)
    apart[apart == 0] = np.inf
    near = apart.min(axis=1)
    return float(np.median(near[np.isfinite(near)])) if np.isfinite(near).any() else 1.0
