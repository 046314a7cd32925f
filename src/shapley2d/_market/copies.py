"""Equal rows: which of them are copies, and who has copies of whose.

Rows with equal entries and one label are copies, unless rows are equal by chance, as in a table of
a few coarse columns: nobody who sells rows has a say about the validation rows, so these tell how
often independent rows are equal. Near copies are not merged: the look at sellers tells of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.clusters import equal_lines, number_clusters

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._market.regions import Regions
    from shapley2d._tables.problem import Split
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

RULES = ("one", "each")
"""A cluster of copies counts as one row, which its owners share, or each counts."""

_CHANCE = 1e-4  # how likely as many equal rows may be where they are independent


def find_copies(table: Table, target: Target, split: Split | None = None) -> Ints:
    """The cluster of every row, in order of first rows; rows equal by chance are each in their own.

    The validation rows of the ``split`` tell what is chance; without, all equal rows are copies.
    """
    rows = _lines(table, target)
    if split is None:
        return equal_lines(rows)
    return _more_than_chance(rows, _lines(split.valid, split.y_valid))


def _lines(table: Table, target: Target) -> Floats:
    codes = np.asarray(target.codes, dtype=np.float64)
    return np.column_stack([*(column.entries for column in table.columns), codes])


def _more_than_chance(lines: Floats, valid: Floats) -> Ints:
    """Clusters of equal rows that are more than chance makes them."""
    from scipy.stats import nbinom, poisson

    n = len(lines)
    group = equal_lines(np.vstack([lines, valid]))
    rows = np.bincount(group[:n], minlength=group.max() + 1)
    known = np.bincount(group[n:], minlength=rows.size)
    # training rows to a validation row; the median, so that rows listed very often do not count
    usual = float(np.median((rows / np.maximum(known, 1))[group[n:]])) or np.inf
    ratio = min(n / len(valid), usual)
    # rows that validation rows are equal to: as many as those lead one to expect?
    by_chance = known > 0
    chances = nbinom.sf(rows[by_chance] - 1, known[by_chance], 1.0 / (1.0 + ratio))
    by_chance[by_chance] = chances >= _CHANCE
    # others: validation rows that are equal to one another, but to no training row, tell how many
    surplus = int(np.maximum(known[rows == 0] - 1, 0).sum())
    at_most = (surplus + 2 * np.sqrt(surplus)) * ratio**2
    repeated = int(np.maximum(rows[known == 0] - 1, 0).sum())
    if surplus and poisson.sf(repeated - 1, at_most) >= _CHANCE:
        by_chance |= known == 0
    clusters = group[:n].copy()
    alone = by_chance[clusters]
    clusters[alone] = rows.size + np.flatnonzero(alone)
    return number_clusters(clusters)


@dataclass(frozen=True)
class CopiesFound:
    """Duplicate rows of a table."""

    rule: str  # "one", "each": what a cluster of copies counts as
    n_rows: int  # rows that repeat an earlier one
    # owners with the same row more than once, and their numbers of surplus rows
    within: list[tuple[str, int]]
    # owners with copies of each other's rows, and how many of their rows repeat others of the two;
    # most first
    between: list[tuple[str, str, int]]
    n_pairs: int  # number of such pairs, listed or not

    @classmethod
    def count(cls, regions: Regions, clusters: Ints, rule: str) -> CopiesFound:
        """Count the copies in a table; ``clusters`` has the cluster of every row."""
        size = np.bincount(clusters)
        held = regions.of_rows()
        within = np.zeros(len(regions.names), dtype=np.intp)
        pairs: dict[tuple[int, int], int] = {}
        order = np.argsort(clusters, kind="stable")
        starts = np.append(0, np.cumsum(size))
        for cluster in np.flatnonzero(size > 1).tolist():
            owners = held[:, order[starts[cluster] : starts[cluster + 1]]]
            within += np.maximum(owners.sum(axis=1) - 1, 0)
            for a, b in combinations(np.flatnonzero(owners.any(axis=1)).tolist(), 2):
                if (owners[a] != owners[b]).any():  # else they share these rows anyway
                    surplus = int((owners[a] | owners[b]).sum()) - 1
                    pairs[a, b] = pairs.get((a, b), 0) + surplus
        listed = sorted(pairs.items(), key=lambda entry: (-entry[1], entry[0]))
        names = regions.names
        return cls(
            rule,
            int(clusters.size - size.size),
            [(names[k], int(within[k])) for k in np.flatnonzero(within).tolist()],
            [(names[a], names[b], count) for (a, b), count in listed[:20]],
            len(pairs),
        )
