"""Columns that say the same: one predicts the other, up to a map that keeps the order.

Numbers are compared by Pearson's and by Spearman's correlation, and a column of few values with the
best map of another one that never falls: that finds copies, other units, logarithms and bins. Words
are compared as partitions of the rows: other names for the same groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._market.copies.rows import tight_clusters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table

    Floats = NDArray[np.float64]

_ROWS = 5000  # of a table that are compared, at most
_COARSE = 0.9  # Spearman's R squared of bins: four even ones have 0.94, a yes or no at most 0.75
_FEWEST = 8  # rows without gaps that a correlation needs
_WORDS = ("category", "boolean")


class SameColumns(NamedTuple):
    """The cluster of every column, and the pairs that were found, with their R squared."""

    clusters: NDArray[np.intp]
    pairs: list[tuple[int, int, float]]


def find_same_columns(table: Table, least: float) -> SameColumns:
    """Which columns say the same.

    Parameters
    ----------
    table : Table
    least : float
        R squared from which one column is a copy of another.

    Returns
    -------
    SameColumns
        A cluster has the number of its first column; all of its columns are copies of one another,
        so that a chain of columns, each near the next, makes none.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> x = np.arange(20.0)
    >>> table = as_table(np.column_stack([x, np.cos(x), 5 - 2 * x, np.exp(x)]))
    >>> find_same_columns(table, 0.99).clusters
    array([0, 1, 0, 0])
    """
    rows = np.arange(table.n_rows)
    if rows.size > _ROWS:
        rows = np.sort(generator(0, "copies").choice(rows.size, _ROWS, replace=False))
    entries = [column.entries[rows] for column in table.columns]
    words = [column.kind in _WORDS for column in table.columns]
    pairs = []
    for i, one in enumerate(entries):
        for j in range(i + 1, len(entries)):
            if words[i] or words[j]:
                found = 1.0 if words[i] and words[j] and _bijection(one, entries[j]) else 0.0
            else:
                found = _r_squared(one, entries[j])
            if found >= least:
                pairs.append((i, j, found))
    ends = np.array([(i, j) for i, j, _ in pairs], dtype=np.intp).reshape(-1, 2)
    return SameColumns(tight_clusters(len(entries), ends[:, 0], ends[:, 1]), pairs)


def _bijection(one: Floats, other: Floats) -> bool:
    """Whether two columns of words divide the rows alike; gaps are a word too."""
    one, other = np.nan_to_num(one, nan=-1.0), np.nan_to_num(other, nan=-1.0)
    groups = np.unique(one).size
    both = np.unique(np.column_stack([one, other]), axis=0).shape[0]
    return bool(groups == np.unique(other).size == both > 1)


def _r_squared(one: Floats, other: Floats) -> float:
    """How well one column of numbers predicts another, at best."""
    there = ~(np.isnan(one) | np.isnan(other))
    if there.sum() < max(_FEWEST, 0.9 * max((~np.isnan(one)).sum(), (~np.isnan(other)).sum())):
        return 0.0  # a copy has its gaps where the original has them
    one, other = one[there], other[there]
    ranks = _ranks(one), _ranks(other)
    by_rank = _squared_correlation(*ranks)
    if by_rank < _COARSE:
        return max(by_rank, _squared_correlation(one, other))
    direction = float(np.sign(np.corrcoef(*ranks)[0, 1]))
    fewer, more = sorted((one, other), key=lambda x: np.unique(x).size)
    return max(by_rank, _squared_correlation(one, other), _monotone(more, direction * fewer))


def _monotone(finer: Floats, coarser: Floats) -> float:
    """R squared of the ranks of a coarser column by the best rising map of a finer one."""
    from sklearn.isotonic import IsotonicRegression

    wanted = _ranks(coarser)
    fitted = IsotonicRegression().fit_transform(finer, wanted)
    # a map with as many steps as rows fits anything: the coarser column has to be far coarser
    if np.unique(coarser).size > 0.2 * coarser.size:
        return 0.0
    return 1.0 - float(np.var(wanted - fitted) / np.var(wanted))


def _ranks(entries: Floats) -> Floats:
    """Mean ranks, where equal entries share theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(entries))


def _squared_correlation(one: Floats, other: Floats) -> float:
    """Pearson's R squared; 0 where a column does not vary."""
    if not (np.ptp(one) > 0 and np.ptp(other) > 0):
        return 0.0
    with np.errstate(all="ignore"):
        found = float(np.corrcoef(one, other)[0, 1] ** 2)
    return found if np.isfinite(found) else 0.0
