"""Rows of a table that repeat one another: exactly, or within a distance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.metric import integer_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


def find_copies(table: Table, target: Target, distance: float = 0.0) -> NDArray[np.intp]:
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
        numbers, 0 or 1 for categories). Chains count: if b is a copy of a and c one of b, all three
        are copies.

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
    clusters = _equal(table, target)
    if distance > 0:
        _, first = np.unique(clusters, return_index=True)
        clusters = _numbered(_near(table.take_rows(first), target.take(first), distance))[clusters]
    return clusters


def _equal(table: Table, target: Target) -> NDArray[np.intp]:
    """Clusters of rows with equal entries and labels."""
    lines = [column.entries for column in table.columns] + [
        np.asarray(target.codes, dtype=np.float64)
    ]
    entries = np.column_stack(lines) + 0.0  # there are two zeros
    entries[np.isnan(entries)] = np.nan  # and many ways to write that something is missing
    keys = np.ascontiguousarray(entries).view(np.void(entries.shape[1] * 8).dtype).ravel()
    return _numbered(np.unique(keys, return_inverse=True)[1].ravel())


def _near(table: Table, target: Target, distance: float) -> NDArray[np.intp]:
    """Clusters of rows within a distance of one another, or linked by such rows."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    columns = integer_columns(table, table.take_rows(np.arange(1)))
    gone = (columns.train == columns.missing_code).T
    # rows by which entries they miss: the others make them points
    patterns, pattern = np.unique(gone, axis=0, return_inverse=True)
    label = np.unique(target.codes, return_inverse=True)[1]
    allowed = distance * table.n_columns * (1 + 1e-9)
    links = []
    for p in range(len(patterns)):
        # a gap is as far from any entry as two random rows are; two gaps are equal
        apart = (patterns != patterns[p]) @ (columns.missing / columns.unit)
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
    n = table.n_rows
    linked = coo_matrix((np.ones(i.size, dtype=bool), (i, j)), shape=(n, n))
    return np.asarray(connected_components(linked, directed=False)[1])


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


def _places(columns: IntegerColumns, there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rows as points whose squared distance is the sum of the columns' dissimilarities."""
    lines = [np.zeros(columns.n_rows)]
    for j in np.flatnonzero(there):
        entries, scale = columns.train[j], float(columns.weight[j]) / columns.unit
        if columns.nominal[j]:
            lines.extend(np.sqrt(0.5 * scale) * (entries == code) for code in np.unique(entries))
        else:
            lines.append(entries * math.sqrt(scale))
    return np.column_stack(lines)


def _numbered(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The same labels, numbered in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return np.asarray(rank[inverse.ravel()])
