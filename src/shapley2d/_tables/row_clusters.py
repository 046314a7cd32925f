"""Clusters of similar rows, with names that say what is typical of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.clusters import number_clusters
from shapley2d._tables.encoding import encode_tables, fill_means

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Column, Table

_FITTED = 20_000  # rows that the centres are found from; the others join the nearest


def cluster_rows(table: Table, count: int, seed: int) -> tuple[Ints, list[str]]:
    """The cluster of every row, numbered from the largest on, and the clusters' names.

    Numbers count by their ranks, categories by equality, and every column counts the same. Where
    fewer rows differ than there should be clusters, there are fewer. The order of the rows does not
    matter: they are sorted first.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    points, order = _points(table)
    random = np.random.default_rng(seed)
    some = points
    if len(points) > _FITTED:
        some = points[np.sort(random.choice(len(points), _FITTED, replace=False))]
    count = min(count, len(np.unique(some, axis=0)))
    with threadpool_limits(1):  # sums in threads come in any order
        # the best of 4 starts: one alone misses 3 clear kinds of rows at times
        found = KMeans(count, n_init=4, random_state=seed % 2**32).fit(some)
        labels = number_clusters(found.predict(points).astype(np.intp))
    sizes = np.bincount(labels)
    place = np.empty(sizes.size, dtype=np.intp)
    place[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    sorted_labels, labels = place[labels], np.empty_like(labels)
    labels[order] = sorted_labels
    facts = [_Typical(column) for column in table.columns]
    names = [_name(k, labels == k, facts) for k in range(sizes.size)]
    return labels, names


def _points(table: Table) -> tuple[Floats, Ints]:
    """Rows as points in which two random rows are as far apart in one column as in another.

    Points are sorted by their entries, so that neither random choices nor sums depend on the
    table's order; the second array has the row behind every point.
    """
    encoded = encode_tables(table, table)
    order = np.lexsort(encoded.train.T[::-1])
    points = fill_means(encoded.train[order])
    for j, column in enumerate(table.columns):
        mine = encoded.owners == j
        if column.kind != "category":
            points[:, mine] = _ranks(points[:, mine][:, 0])[:, None]
        spread = float(points[:, mine].var(axis=0).sum())
        points[:, mine] /= np.sqrt(spread) if spread > 0 else 1.0
    return points, order


def _ranks(numbers: Floats) -> Floats:
    """Mean ranks from 0 to 1."""
    from scipy.stats import rankdata

    return np.asarray((rankdata(numbers) - 0.5) / numbers.size)


class _Typical:
    """What some rows have in a column more often than all rows do."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.known = ~np.isnan(column.entries)
        if column.kind == "category":
            codes = column.entries[self.known].astype(np.intp)
            self.shares = np.bincount(codes, minlength=len(column.categories)) / max(codes.size, 1)
        else:
            self.ranks = _ranks(np.where(self.known, column.entries, -np.inf))

    def of(self, rows: Bools) -> tuple[float, str]:
        """How far some rows are from all, at most 1, and in words where."""
        name, rows = self.column.name, rows & self.known
        if not rows.any():
            return 0.0, ""
        if self.column.kind == "category":
            codes = self.column.entries[rows].astype(np.intp)
            more = np.bincount(codes, minlength=self.shares.size) / codes.size - self.shares
            most = int(more.argmax())
            return float(more[most]), f"{name} {self.column.categories[most]}"
        off = 2 * (float(self.ranks[rows].mean()) - float(self.ranks[self.known].mean()))
        return abs(off), f"{'high' if off > 0 else 'low'} {name}"


def _name(number: int, rows: Bools, facts: list[_Typical]) -> str:
    found = sorted((fact.of(rows) for fact in facts), key=lambda one: -one[0])[:2]
    words = ", ".join(text for off, text in found if off >= 0.2)
    return f"{number + 1}: {words}" if words else f"{number + 1}: mixed"
