"""A quick check of labels: rows whose neighbours disagree, and classes that may be misspelt."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._tables.encoding import encode_tables, fill_means, near_one

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

MAX_ROWS = 5_000
"""Larger tables are checked on a random sample of this many rows."""

_NEIGHBOURS = 10
_RARE = 2  # a class of at most this many rows may be a misspelling


def disagreeing_rows(table: Table, target: Target) -> Ints:
    """Rows of a classification whose ten nearest others nearly all have one other label.

    Nothing is suspected where neighbours predict labels badly, since disagreement is normal there.
    """
    none = np.zeros(0, dtype=np.intp)
    has_classes = target.task == "classification" and target.classes.size >= 2
    if not has_classes or table.n_rows <= 2 * _NEIGHBOURS:
        return none
    rows = np.arange(table.n_rows)
    if rows.size > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:MAX_ROWS])
    part = table.take_rows(rows)
    (matrix,) = near_one(fill_means(encode_tables(part, part).train), by_column=True)
    spread = matrix.std(axis=0)
    matrix = (matrix / np.where(spread > 0, spread, 1.0))[:, spread > 0]
    if not 0 < matrix.shape[1] <= 200:  # wider tables take too long
        return none
    codes = target.codes[rows]
    near = _nearest_others(matrix)
    votes = np.zeros((rows.size, target.classes.size))
    for column in codes[near].T:
        votes[np.arange(rows.size), column] += 1
    predicted = votes.argmax(axis=1)
    classes, sizes = np.unique(codes, return_counts=True)
    right = [float(np.mean(predicted[codes == c] == c)) for c in classes[sizes > _RARE]]
    if not right or np.mean(right) < 0.8:  # all classes are rare, or labels too noisy
        return none
    return np.asarray(rows[(predicted != codes) & (votes.max(axis=1) >= _NEIGHBOURS - 1)])


def _nearest_others(matrix: Floats) -> Ints:
    """The nearest other rows of every row; importing scikit-learn for it would take seconds."""
    near = np.empty((len(matrix), _NEIGHBOURS), dtype=np.intp)
    squares = np.square(matrix).sum(axis=1)
    for start in range(0, len(matrix), 256):  # bounds the memory of distances
        part = slice(start, start + 256)
        distances = squares - 2 * (matrix[part] @ matrix.T)  # up to a constant per row
        own = np.arange(len(distances))
        distances[own, start + own] = np.inf
        near[part] = np.argpartition(distances, _NEIGHBOURS - 1, axis=1)[:, :_NEIGHBOURS]
    return near


def rare_classes(target: Target) -> list[tuple[str, int, str | None]]:
    """Classes of one or two rows, their sizes, and the common class that each may misspell."""
    if target.task != "classification":
        return []
    counts = Counter(str(label) for label in target.y.tolist())
    common = [name for name, count in counts.items() if count >= 8]
    found = []
    for name, count in sorted(counts.items()):
        if count <= _RARE and common:
            like = get_close_matches(name, common, n=1, cutoff=0.75)
            found.append((name, count, like[0] if like else None))
    return found
