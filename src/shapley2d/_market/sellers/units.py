"""Which rows are tested together: rows are looked at whoever claims them, and in whatever pieces.

A test of what one *name* claims is evaded by drawing claims differently. So rows are tested by
every way in which they may belong together: all rows of an owner; its rows of one pattern of
columns; rows that several claim, as wholes; and the rows of all small owners as one pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._market.grid import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapley2d._base.arrays import Bools, Ints
    from shapley2d._market.regions import Regions

FEWEST_ROWS = 8
"""With fewer rows no test can be significant after correction."""

_SMALL = 30  # rows below which an owner's are tested in the pool too: few rows hide what many tell
_PATTERNS = 16  # of columns of an owner that are tested by themselves, the most frequent


@dataclass(frozen=True, eq=False)
class Unit:
    """Rows that are tested together, in some columns, and the names of all who claim them."""

    owners: tuple[str, ...]
    rows: Ints
    columns: Bools

    @property
    def name(self) -> str:
        """The owners in words."""
        return together(self.owners)


def together(names: Sequence[str]) -> str:
    """Names in words, the first few of many: "A, B and C", "A, B and 3 others"."""
    if len(names) > 3:
        return f"{names[0]}, {names[1]} and {len(names) - 2} others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def units_of(regions: Regions, n_columns: int) -> list[Unit]:
    """All units of a table whose first columns are features, none of rows that nobody claims."""
    found: dict[tuple[bytes, bytes], Unit] = {}
    for unit in _units(regions, n_columns):
        if unit.rows.size >= FEWEST_ROWS and unit.columns.any():
            found.setdefault((unit.rows.tobytes(), unit.columns.tobytes()), unit)
    return list(found.values())


def _units(regions: Regions, n_columns: int) -> Iterator[Unit]:
    held = regions.of_rows()
    claimed = np.zeros((held.shape[1], n_columns), dtype=bool)
    small = np.zeros(held.shape[1], dtype=bool)
    pooled = []
    for owner, name in enumerate(regions.names):
        cells = regions.cells_of(owner)[:, :n_columns]
        claimed |= cells
        rows = np.flatnonzero(cells.any(axis=1))
        if rows.size < _SMALL:
            small[rows] = True
            pooled += [name] if rows.size else []
        if rows.size < FEWEST_ROWS:
            continue
        yield Unit((name,), rows, _mostly(cells[rows]))
        patterns, which, often = np.unique(
            cells[rows], axis=0, return_inverse=True, return_counts=True
        )
        for k in np.argsort(-often, kind="stable")[:_PATTERNS]:
            yield Unit((name,), rows[which.ravel() == k], patterns[k])
    which, first = numbered(held.T)
    for k in np.flatnonzero(held[:, first].sum(axis=0) > 1):
        rows = np.flatnonzero(which == k)
        names = tuple(regions.names[owner] for owner in np.flatnonzero(held[:, first[k]]))
        yield Unit(names, rows, _mostly(claimed[rows]))
    if len(pooled) > 1:
        rows = np.flatnonzero(small)
        yield Unit(tuple(pooled), rows, _mostly(claimed[rows]))


def _mostly(cells: Bools) -> Bools:
    """The columns that are claimed in at least half as many rows as any."""
    share = cells.mean(axis=0)
    return np.asarray((share > 0) & (share >= share.max() / 2))
