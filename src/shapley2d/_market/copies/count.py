"""Duplicate rows and columns: how many, within an owner and between owners."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._market.regions import Regions


@dataclass(frozen=True)
class CopiesFound:
    """Duplicate rows of a table."""

    rule: str  # "one", "first", "escrow", "each": what a cluster of copies counts as
    # rows within this distance are copies; 0 means identical rows, and ``"auto"`` that rows are
    # copies if they are nearer, or more often equal, than validation rows are
    distance: float | str
    n_rows: int  # rows that repeat an earlier one
    n_clusters: int  # distinct rows that occur more than once
    # owners with the same row more than once, and their numbers of surplus rows
    within: list[tuple[str, int]]
    # owners with copies of each other's rows, and how many of their rows repeat others of the two;
    # most first
    between: list[tuple[str, str, int]]
    n_pairs: int  # number of such pairs, listed or not
    # a column that counts, its duplicate, and their R squared
    columns: list[tuple[str, str, float]]

    @classmethod
    def count(
        cls,
        regions: Regions,
        clusters: NDArray[np.intp],
        rule: str,
        distance: float | str,
        columns: list[tuple[str, str, float]],
    ) -> CopiesFound:
        """Count the copies in a table; ``clusters`` has the cluster of every row."""
        size = np.bincount(clusters)
        repeated = np.flatnonzero(size > 1)
        held = regions.of_rows()
        within = np.zeros(len(regions.names), dtype=np.intp)
        pairs: dict[tuple[int, int], int] = {}
        order = np.argsort(clusters, kind="stable")
        starts = np.append(0, np.cumsum(size))
        for cluster in repeated.tolist():
            owners = held[:, order[starts[cluster] : starts[cluster + 1]]]
            within += np.maximum(owners.sum(axis=1) - 1, 0)
            # owners who hold exactly the same rows share them anyway
            apart = [
                (a, b)
                for a, b in combinations(np.flatnonzero(owners.any(axis=1)).tolist(), 2)
                if (owners[a] != owners[b]).any()
            ]
            for a, b in apart:
                surplus = int((owners[a] | owners[b]).sum()) - 1
                pairs[a, b] = pairs.get((a, b), 0) + surplus
        listed = sorted(pairs.items(), key=lambda entry: (-entry[1], entry[0]))
        names = regions.names
        return cls(
            rule,
            distance,
            int(clusters.size - size.size),
            int(repeated.size),
            [(names[k], int(within[k])) for k in np.flatnonzero(within).tolist()],
            [(names[a], names[b], count) for (a, b), count in listed[:20]],
            len(pairs),
            columns,
        )

    def record(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return {
            "rule": self.rule,
            "distance": self.distance,
            "n_rows": self.n_rows,
            "n_clusters": self.n_clusters,
            "within": [list(entry) for entry in self.within],
            "between": [list(entry) for entry in self.between],
            "n_pairs": self.n_pairs,
            "columns": [list(entry) for entry in self.columns],
        }
