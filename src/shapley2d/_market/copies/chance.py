"""Which rows are copies of one another, and which are alike by chance, as validation rows are.

Nobody who sells rows has a say about the validation rows, so they tell what independent rows look
like: how far apart, and how often equal.

*Near copies.* The nearest validation rows of a row say how densely rows lie around it. If another
training row is so near that an independent one would be so less than once in 10,000 rows, it is a
copy. With ``r`` the distance of the k-th nearest of T validation rows and ``d`` the dimension that
validation rows fill, N independent rows have ``k (N/T) (x/r)^d`` rows within ``x``.

*Equal rows.* Where validation rows are equal as often, rows are equal by chance, and each counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.clusters import equal_lines, number_clusters
from shapley2d._base.robust import centre_and_spread
from shapley2d._base.streams import generator
from shapley2d._market.copies.rows import equal_rows, tight_clusters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

    Floats = NDArray[np.float64]

CHANCE = 1e-4
"""How many independent rows may be as near as a copy, or how likely as many equal ones may be."""

_REFERENCE = 2000  # validation rows that distances are compared with, at most
_PATTERNS = 20  # of gaps whose rows are compared, the most frequent ones
_NEIGHBOUR = 3  # whose distance is the density's measure: one alone may be near by chance
_FILLED = 10  # neighbours that the dimension is estimated from
_WORDS = ("category", "boolean")  # kinds of columns whose entries are equal or not
_HONEST = 1e-3  # share of validation rows with a row so near that copies have to be twice as near
_SNAP = 0.1  # of the gap between two values of validation rows: jitter around one of them


def find_unlikely_copies(
    table: Table, target: Target, valid: Table, valid_codes: NDArray[np.generic]
) -> NDArray[np.intp]:
    """The cluster of every row; rows that are alike by chance are each in one of their own.

    Parameters
    ----------
    table : Table
    target : Target
    valid : Table
        Validation rows, with the columns of the table.
    valid_codes : ndarray
        Their targets, coded as those of the training rows.

    Returns
    -------
    ndarray of int
        Clusters are numbered in the order of their first rows.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(40, 3))
    >>> X[1] = X[0] + 0.001  # a copy with jitter
    >>> table, valid = as_table(X), as_table(random.normal(size=(40, 3)))
    >>> codes = np.zeros(40, dtype=int)
    >>> find_unlikely_copies(table, as_target([0] * 39 + [1], table), valid, codes)[:4]
    array([0, 0, 1, 2])
    """
    if valid.n_rows <= _NEIGHBOUR:  # too few to tell which columns vary and how near rows lie
        return equal_rows(table, target.codes)
    lines = _snapped(table, valid)
    codes = np.asarray(target.codes, dtype=np.float64)
    of_valid = np.column_stack(_numbers_that_vary(valid))
    clusters = _equal(lines, codes, of_valid, np.asarray(valid_codes, dtype=np.float64))
    linked = _near_links(table, lines, codes, of_valid)
    _, first = np.unique(clusters, return_index=True)
    one, other = clusters[linked[0]], clusters[linked[1]]
    return number_clusters(tight_clusters(first.size, one, other)[clusters])


def _snapped(table: Table, valid: Table) -> Floats:
    """Entries, those of numbers moved to a value of the validation rows if they are beside one.

    So jitter makes no new rows of rows whose numbers are few. Columns of numbers that are the same
    in all validation rows do not count, so that jitter in one of them hides nothing.
    """
    lines = []
    for column, known in zip(table.columns, valid.columns, strict=True):
        entries = column.entries
        values = np.unique(known.entries[~np.isnan(known.entries)])
        if column.kind in _WORDS:
            lines.append(entries)
            continue
        if values.size < 2:  # no validation row can tell entries of this column apart
            lines.append(np.zeros(entries.size))
            continue
        place = np.clip(np.searchsorted(values, entries), 1, values.size - 1)
        low, high = values[place - 1], values[place]
        near = np.where(np.abs(entries - low) <= np.abs(high - entries), low, high)
        beside = np.abs(entries - near) <= _SNAP * (high - low)
        lines.append(np.where(beside, near, entries))
    return np.column_stack(lines)


def _numbers_that_vary(valid: Table) -> list[Floats]:
    """The entries of every column; 0 for numbers that are the same in all rows."""
    return [
        column.entries
        if column.kind in _WORDS or np.unique(column.entries[~np.isnan(column.entries)]).size > 1
        else np.zeros(column.entries.size)
        for column in valid.columns
    ]


def _equal(lines: Floats, codes: Floats, valid: Floats, valid_codes: Floats) -> NDArray[np.intp]:
    """Clusters of equal rows that are more than chance makes them."""
    from scipy.stats import nbinom, poisson

    n, n_valid = len(lines), len(valid)
    both = np.vstack([np.column_stack([lines, codes]), np.column_stack([valid, valid_codes])])
    group = equal_lines(both)
    rows = np.bincount(group[:n], minlength=group.max() + 1)
    known = np.bincount(group[n:], minlength=rows.size)
    # training rows to a validation row; the median, so that rows listed very often do not count
    ratio = min(n / n_valid, float(np.median((rows / np.maximum(known, 1))[group[n:]])) or np.inf)
    # rows that validation rows are equal to: as many as those lead one to expect?
    share = 1.0 / (1.0 + ratio)
    by_chance = known > 0
    by_chance[by_chance] = nbinom.sf(rows[by_chance] - 1, known[by_chance], share) >= CHANCE
    # others: validation rows that are equal to one another, but to no training row, tell how many
    surplus = int(np.maximum(known[rows == 0] - 1, 0).sum())
    at_most = (surplus + 2 * np.sqrt(surplus)) * ratio**2
    repeated = int(np.maximum(rows[known == 0] - 1, 0).sum())
    if surplus and poisson.sf(repeated - 1, at_most) >= CHANCE:
        by_chance |= known == 0
    clusters = group[:n].copy()
    alone = by_chance[clusters]
    clusters[alone] = rows.size + np.flatnonzero(alone)
    return number_clusters(clusters)


def _near_links(
    table: Table, lines: Floats, codes: Floats, valid: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of rows of one label that are nearer than independent rows are."""
    from scipy.spatial import cKDTree

    none = np.empty(0, dtype=np.intp)
    if len(valid) > _REFERENCE:
        chosen = generator(0, "copies").choice(len(valid), _REFERENCE, replace=False)
        valid = valid[chosen]
    if len(valid) <= _NEIGHBOUR:
        return none, none
    nominal = np.array([column.kind in _WORDS for column in table.columns])
    units = np.array([centre_and_spread(entries[~np.isnan(entries)]) for entries in valid.T]).T
    counts = ~nominal & (units[1] > 0)
    if not counts.any():
        return none, none
    points = _points(lines, nominal, counts, units)
    of_valid = _points(valid, nominal, counts, units)
    reach = np.zeros(len(lines))
    gone, gone_valid = np.isnan(lines[:, counts]), np.isnan(valid[:, counts])
    patterns, pattern, often = np.unique(gone, axis=0, return_inverse=True, return_counts=True)
    for k in np.argsort(-often, kind="stable")[:_PATTERNS]:
        # rows with gaps are judged by the columns that they have
        rows, there = np.flatnonzero(pattern.ravel() == k), ~patterns[k]
        known = np.flatnonzero(~gone_valid[:, there].any(axis=1))
        if there.any() and rows.size > 1 and known.size > _NEIGHBOUR:
            columns = np.append(there, np.ones(int(nominal.sum()), dtype=bool))
            reach[rows] = _reach(
                points[np.ix_(rows, columns)], of_valid[np.ix_(known, columns)], len(lines)
            )
    # a copy has the same categories, and misses the same entries
    exact = np.column_stack([codes, np.where(nominal, lines, np.isnan(lines))])
    group = equal_lines(exact)
    order = np.argsort(group, kind="stable")
    numbers = points[:, : int(counts.sum())]
    found: list[NDArray[np.intp]] = [np.empty((2, 0), dtype=np.intp)]
    for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if part.size < 2 or not reach[part].any():
            continue
        tree = cKDTree(numbers[part])
        near = tree.query_ball_point(numbers[part], reach[part])
        ends = part[np.concatenate(near).astype(np.intp)]
        starts = np.repeat(part, [len(one) for one in near])
        off = np.linalg.norm(numbers[starts] - numbers[ends], axis=1)
        mutual = (starts < ends) & (off <= np.minimum(reach[starts], reach[ends]))
        mutual &= off > 0  # whether equal rows are copies is decided by how many they are
        found.append(np.stack([starts[mutual], ends[mutual]]))
    one, other = np.concatenate(found, axis=1)
    return one, other


def _points(
    lines: Floats, nominal: NDArray[np.bool_], counts: NDArray[np.bool_], units: Floats
) -> Floats:
    """Rows as points: numbers in their units, and categories by number, at least a unit apart."""
    numbers = (lines[:, counts] - units[0, counts]) / units[1, counts]
    numbers = np.where(np.isnan(numbers), 0.0, np.clip(numbers, -1e6, 1e6))
    return np.column_stack([numbers, np.nan_to_num(lines[:, nominal], nan=-1.0)])


def _reach(points: Floats, valid: Floats, n_rows: int) -> Floats:
    """How near another row has to be to be a copy, for every row; 0 if nothing tells."""
    from sklearn.neighbors import NearestNeighbors

    finder = NearestNeighbors().fit(valid)
    most = min(_FILLED, len(valid) - 1)
    between = finder.kneighbors(n_neighbors=most)[0]
    apart = between[between[:, 0] > 0]
    if not len(apart):
        return np.zeros(len(points))
    # the dimension, by how distances grow with the number of neighbours (Levina and Bickel)
    growth = float(np.mean(np.log(apart[:, -1:] / apart[:, :-1])))
    dimension = min(max(1.0 / max(growth, 1e-9), 1.0), float(points.shape[1]))
    rate = CHANCE * len(valid) / (_NEIGHBOUR * n_rows)
    share = rate ** (1.0 / dimension)
    # where rows fill fewer dimensions in places, pairs of validation rows are nearer than that
    ratios = np.sort(apart[:, 0] / apart[:, min(_NEIGHBOUR, most - 1)])
    share = min(share, 0.5 * ratios[int(_HONEST * len(ratios))])
    beside = finder.kneighbors(points, n_neighbors=_NEIGHBOUR)[0][:, -1]
    return np.asarray(share * beside)
