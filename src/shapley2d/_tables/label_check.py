"""A cheap look at the labels: which disagree with all rows like theirs, and which classes may be misspelt."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._tables.encoding import encode_tables, fill_means, near_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

_NEIGHBOURS = 10
_MOST_OTHERS = 9  # neighbours of one other class that make a label suspicious
_PREDICTABLE = (
    0.8  # mean share of right votes by class below which labels are too noisy to suspect any
)
MAX_ROWS = 5_000
"""Rows that are looked at; of larger tables a random part."""
_MAX_CODES = 200  # columns that tables are encoded into
_ROWS_AT_ONCE = 256
_RARE = 2  # rows of a class that may be a misspelling
_COMMON = 8  # rows of the class that it may be a misspelling of


def disagreeing_rows(table: Table, target: Target, seed: int = 0) -> NDArray[np.intp]:
    """Rows of a classification whose ten nearest others nearly all have one other label.

    Nothing is suspected where the neighbours do not predict labels well to begin with: disagreement
    then is the rule.

    Parameters
    ----------
    table : Table
    target : Target
    seed : int
        Large tables are looked at in a random part.

    Returns
    -------
    ndarray of int
        Positions of the rows.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> table = as_table(np.arange(60)[:, None] // 30 * 50 + np.arange(60)[:, None] % 30)
    >>> labels = ["low"] * 30 + ["high"] * 30
    >>> labels[12] = "high"
    >>> disagreeing_rows(table, as_target(labels, table))
    array([12])
    """
    none = np.zeros(0, dtype=np.intp)
    if (
        target.task != "classification"
        or target.classes.size < 2
        or table.n_rows <= 2 * _NEIGHBOURS
    ):
        return none
    rows = np.arange(table.n_rows)
    if rows.size > MAX_ROWS:
        rows = np.sort(np.random.default_rng(seed).permutation(rows)[:MAX_ROWS])
    matrix = _scaled(table.take_rows(rows))
    if not 0 < matrix.shape[1] <= _MAX_CODES:
        return none
    codes = target.codes[rows]
    near = _nearest_others(matrix)
    votes = np.zeros((rows.size, target.classes.size))
    for column in codes[near].T:
        votes[np.arange(rows.size), column] += 1
    predicted = votes.argmax(axis=1)
    classes, sizes = np.unique(codes, return_counts=True)
    right = [float(np.mean(predicted[codes == c] == c)) for c in classes[sizes > _RARE]]
    if not right or np.mean(right) < _PREDICTABLE:  # or all classes are rare
        return none
    return np.asarray(rows[(predicted != codes) & (votes.max(axis=1) >= _MOST_OTHERS)])


def _nearest_others(matrix: NDArray[np.float64]) -> NDArray[np.intp]:
    """The nearest rows of every row, itself apart: done here, since to import a library for it takes seconds.

    Examples
    --------
    >>> near = _nearest_others(np.append(np.arange(11.0), 99.0)[:, None])
    >>> sorted(near[11].tolist()), 0 in near[0]
    ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], False)
    """
    near = np.empty((len(matrix), _NEIGHBOURS), dtype=np.intp)
    squares = np.square(matrix).sum(axis=1)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        distances = squares - 2 * (matrix[part] @ matrix.T)  # up to what all have in common
        own = np.arange(len(distances))
        distances[own, start + own] = np.inf
        near[part] = np.argpartition(distances, _NEIGHBOURS - 1, axis=1)[:, :_NEIGHBOURS]
    return near


def _scaled(table: Table) -> NDArray[np.float64]:
    """Numbers of spread 1, and 0/1 columns of categories."""
    (matrix,) = near_one(fill_means(encode_tables(table, table).train), by_column=True)
    spread = matrix.std(axis=0)
    return np.asarray((matrix / np.where(spread > 0, spread, 1.0))[:, spread > 0])


def rare_classes(target: Target) -> list[tuple[str, int, str | None]]:
    """Classes of one or two rows, how many, and a common class that each may be a misspelling of.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> table = as_table(np.arange(21)[:, None])
    >>> rare_classes(as_target(["heart attack"] * 10 + ["stroke"] * 10 + ["heaxt attack"], table))
    [('heaxt attack', 1, 'heart attack')]
    """
    if target.task != "classification":
        return []
    counts = Counter(str(label) for label in target.y.tolist())
    common = [name for name, count in counts.items() if count >= _COMMON]
    found = []
    for name, count in sorted(counts.items()):
        if count <= _RARE and common:
            like = get_close_matches(name, common, n=1, cutoff=0.75)
            found.append((name, count, like[0] if like else None))
    return found
