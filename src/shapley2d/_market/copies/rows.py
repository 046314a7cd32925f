"""Rows of a table that repeat one another: exactly, or within a distance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.clusters import equal_lines, number_clusters
from shapley2d._knn.metric import measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.metric import Columns
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


def find_copies(
    table: Table, target: Target, distance: float = 0.0, valid: Table | None = None
) -> NDArray[np.intp]:
    """The cluster of every row: its rows have one label and equal or nearly equal entries.

    Two missing entries are equal; one is as far from any entry as two random rows are on average. A
    row with another label is not a copy.

    Parameters
    ----------
    table : Table
    target : Target
    distance : float
        How far apart two rows may be, as a mean over the columns, where 1 is how far apart two
        random rows are on average (as ``metric="auto"`` measures it: squared differences of
        numbers, 0 or 1 for categories). All rows of a cluster are that near one another: a chain
        of rows, each near the next, is no cluster.
    valid : Table, optional
        Rows that say how far apart two random rows are; by default those of the table.

    Returns
    -------
    ndarray of int
        Clusters are numbered in the order of their first rows.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> table = as_table([[1.0, None], [2.0, 5.0], [1.0, None], [2.001, 5.0], [1.0, None]])
    >>> target = as_target(["a", "b", "a", "b", "b"], table)
    >>> find_copies(table, target), find_copies(table, target, 0.01)
    (array([0, 1, 0, 2, 3]), array([0, 1, 0, 1, 2]))
    """
    clusters = equal_rows(table, target.codes)
    if distance > 0:
        _, first = np.unique(clusters, return_index=True)
        near = _near(table.take_rows(first), target.take(first), distance, valid or table)
        clusters = number_clusters(near)[clusters]
    return clusters


def equal_rows(table: Table, codes: NDArray[np.generic]) -> NDArray[np.intp]:
    """Clusters of rows with equal entries and labels."""
    lines = [column.entries for column in table.columns]
    return equal_lines(np.column_stack([*lines, np.asarray(codes, dtype=np.float64)]))


def tight_clusters(n: int, one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.intp]:
    """Clusters in which every two rows are linked, so that no chain of rows makes one.

    Every row, in order, joins the first cluster all of whose rows it is linked to.

    Parameters
    ----------
    n : int
        Number of rows.
    one, other : ndarray of int
        The ends of the links, in either order.

    Examples
    --------
    The row in the middle is linked to both of its neighbours, which are not linked:

    >>> tight_clusters(3, np.array([0, 1]), np.array([1, 2]))
    array([0, 0, 2])
    """
    clusters = np.arange(n)
    members: dict[int, int] = {}
    linked: dict[int, set[int]] = {}
    apart = one != other
    for a, b in zip(one[apart].tolist(), other[apart].tolist(), strict=True):
        linked.setdefault(max(a, b), set()).add(min(a, b))
    for row in sorted(linked):
        counts: dict[int, int] = {}
        for earlier in linked[row]:
            cluster = int(clusters[earlier])
            counts[cluster] = counts.get(cluster, 0) + 1
        whole = [c for c, count in counts.items() if count == members.get(c, 1)]
        if whole:
            clusters[row] = min(whole)
            members[min(whole)] = members.get(min(whole), 1) + 1
    return clusters


def _near(table: Table, target: Target, distance: float, known: Table) -> NDArray[np.intp]:
    """Clusters of rows that are all within a distance of one another."""
    columns = measure(known, table)
    gone = np.isnan(columns.valid).T
    # rows by which entries they miss: the others make them points
    patterns, pattern = np.unique(gone, axis=0, return_inverse=True)
    label = np.unique(target.codes, return_inverse=True)[1]
    allowed = distance * table.n_columns * (1 + 1e-9)
    links = []
    for p in range(len(patterns)):
        # a gap is as far from any entry as two random rows are; two gaps are equal
        apart = (patterns != patterns[p]) @ columns.missing
        for q in np.flatnonzero(apart <= allowed):
            if q < p:
                continue
            places = _places(columns, ~(patterns[p] | patterns[q]))
            for group in np.unique(label[pattern.ravel() == p]):
                one, other = (
                    np.flatnonzero((pattern.ravel() == k) & (label == group)) for k in (p, q)
                )
                links.extend(_links(places, one, other, math.sqrt(max(allowed - apart[q], 0.0))))
    i, j = np.concatenate(links, axis=1) if links else np.empty((2, 0), dtype=np.intp)
    return tight_clusters(table.n_rows, i, j)


def _links(
    places: NDArray[np.float64], one: NDArray[np.intp], other: NDArray[np.intp], radius: float
) -> list[NDArray[np.intp]]:
    """Pairs of a row of one list and one of the other within a radius."""
    from sklearn.neighbors import NearestNeighbors

    if not other.size:
        return []
    finder = NearestNeighbors(radius=radius).fit(places[other])
    near = finder.radius_neighbors(places[one], return_distance=False)
    ends = other[np.concatenate(near).astype(np.intp)]
    return [np.stack([np.repeat(one, [len(found) for found in near]), ends])]


def _places(columns: Columns, there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rows as points whose squared distance is the sum of the columns' dissimilarities."""
    lines = [np.zeros(columns.n_valid)]
    for j in np.flatnonzero(there):
        entries, weight = columns.valid[j], float(columns.weight[j])
        if columns.nominal[j]:
            lines.extend(np.sqrt(0.5 * weight) * (entries == code) for code in np.unique(entries))
        else:
            lines.append(entries * math.sqrt(weight))
    return np.nan_to_num(np.column_stack(lines))
