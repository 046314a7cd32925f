"""The regions that owners have, and the coarsest grid that respects them.

An owner's region is the union of its claims, of any shape. Rows in the same regions form a set,
and so do columns; that is the coarsest grid in which every block has the same owners throughout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._market.grid import Grid, Sets, numbered
from shapley2d._market.owners import UNOWNED, AxisNames
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._market.owners import Claim


_MAX_OWNERS = 10_000  # who has which block of a row or column each takes 8 bytes a pair of owners


@dataclass(frozen=True)
class Ownership:
    """Who owns the blocks of a grid."""

    names: list[str]  # the owners, and :data:`UNOWNED` last if a block has no owner
    shares: Floats  # (owners, row sets, column sets): of the cells of every block


@dataclass(frozen=True)
class Regions:
    """The regions of owners: the owner, rows and columns of each."""

    names: list[str]  # the owners
    owner: Ints  # (regions,): the owner of every region, by number
    # (regions, rows) and (regions, columns)
    rows: Bools
    columns: Bools

    def take_rows(self, rows: Ints) -> Regions:
        """The regions in a table of other rows; repeated rows keep their owners."""
        return replace(self, rows=self.rows[:, rows])

    def merge_rows(self, clusters: Ints) -> Regions:
        """The regions when each cluster becomes one row, held by every owner of its rows."""
        merged = np.zeros((len(self.rows), int(clusters.max()) + 1), dtype=bool)
        region, member = np.nonzero(self.rows)
        merged[region, clusters[member]] = True
        return replace(self, rows=merged)

    def of_rows(self) -> Bools:
        """Mask (owners, rows) of the rows in which an owner has a cell."""
        held = np.zeros((len(self.names), self.rows.shape[1]), dtype=bool)
        for owner, rows, columns in zip(self.owner.tolist(), self.rows, self.columns, strict=True):
            if columns.any():
                held[owner] |= rows
        return held

    def patterns(self) -> tuple[Ints, Bools]:
        """The pattern of every row, and who has which columns of each: (patterns, owners, columns).

        Rows in the same regions have the same owners; rows in different regions may, too.
        """
        inside = self.rows.T
        patterns, first = numbered(inside)
        held = np.zeros((len(first), len(self.names), self.columns.shape[1]), dtype=bool)
        for pattern, row in enumerate(first):
            for region in np.flatnonzero(inside[row]):
                held[pattern, self.owner[region]] |= self.columns[region]
        return patterns, held

    def ownership(self, grid: Grid) -> Ownership:
        """Who owns the blocks of a grid; owners of one cell have equal shares of it."""
        patterns, held = self.patterns()
        free = ~held.any(axis=1, keepdims=True)
        held = np.concatenate([held, free], axis=1) if free.any() else held
        count = held.sum(axis=1)
        # rows of one pattern may be in several sets, if the user named these
        pairs, n_rows = np.unique(
            np.column_stack([grid.rows.labels, patterns]), axis=0, return_counts=True
        )
        shares = np.zeros((held.shape[1], *grid.shape))
        for (row, pattern), size in zip(pairs, n_rows, strict=True):
            owner, column = np.nonzero(held[pattern])
            cells = size / count[pattern, column]
            np.add.at(shares, (owner, row, grid.columns.labels[column]), cells)
        names = [*self.names, UNOWNED] if len(shares) > len(self.names) else self.names
        return Ownership(names, shares / np.outer(grid.rows.sizes, grid.columns.sizes))

    def cells_of(self, owner: int) -> Bools:
        """Mask (rows, columns) of an owner's cells."""
        mine = self.owner == owner
        held = np.zeros((self.rows.shape[1], self.columns.shape[1]), dtype=bool)
        for rows, columns in zip(self.rows[mine], self.columns[mine], strict=True):
            held |= np.outer(rows, columns)
        return held


def find_regions(
    claims: Sequence[Claim],
    row_names: Sequence[Any],
    column_names: Sequence[str],
    row_sets: Sets | None = None,
    column_sets: Sets | None = None,
) -> Regions:
    """The regions that claims of rows, columns, or sets of them describe in a table."""
    rows = AxisNames("row", row_names, row_sets)
    columns = AxisNames("column", column_names, column_sets)
    owners = {name: k for k, name in enumerate(dict.fromkeys(claim.owner for claim in claims))}
    if len(owners) > _MAX_OWNERS:
        raise InputError(
            Setting("owners"),
            f" names {len(owners):,}, more than the {_MAX_OWNERS:,} that can be valued at once: "
            "value the cells with value_cells, of which each has the sum of its own",
        )
    # rows by owner and columns
    found: dict[tuple[int, bytes], Bools] = {}
    for claim in claims:
        column_mask = np.zeros(columns.size, dtype=bool)
        column_mask[columns.find(claim.column, claim.where)] = True
        row_mask = found.setdefault(
            (owners[claim.owner], column_mask.tobytes()), np.zeros(rows.size, dtype=bool)
        )
        row_mask[rows.find(claim.row, claim.where)] = True
    masks = np.array([np.frombuffer(key, dtype=bool) for _, key in found])
    owner = np.array([owner for owner, _ in found], dtype=np.intp)
    return Regions(list(owners), owner, np.array(list(found.values())), masks)


def cut_grid(
    regions: Regions,
    row_names: Sequence[Any],
    column_names: Sequence[str],
    row_sets: Sets | None = None,
    column_sets: Sets | None = None,
    *,
    players: bool = False,
) -> tuple[Grid, Ownership]:
    """The coarsest grid that respects sets and owners' regions, and who owns its blocks."""
    patterns, held = regions.patterns()
    if players:
        patterns, held = _as_players(patterns, held)
    merged, _ = numbered(held)
    row_labels, first_rows = _refine(merged[patterns], row_sets)
    by_row = np.moveaxis(held[patterns[first_rows]], 2, 0)
    column_labels, _ = numbered(by_row)
    column_labels, _ = _refine(column_labels, column_sets)
    grid = Grid(
        Sets(row_labels, _names(row_labels, row_names, row_sets, "rows")),
        Sets(column_labels, _names(column_labels, column_names, column_sets, "columns")),
    )
    return grid, regions.ownership(grid)


def _as_players(patterns: Ints, held: Bools) -> tuple[Ints, Bools]:
    """Patterns as if rows in which the same owners have cells were claimed alike.

    And so columns that one owner alone has cells of: nobody is several players, or makes others
    several, by claiming every few rows in other columns.
    """
    rows, _ = numbered(np.asarray(held.any(axis=2)))
    joined = np.zeros((int(rows.max()) + 1, *held.shape[1:]), dtype=bool)
    np.logical_or.at(joined, rows, held)
    by_column = np.moveaxis(joined, 2, 0)
    owners = np.asarray(by_column.any(axis=1))
    shared = by_column & (owners.sum(axis=1) > 1)[:, None, None]
    columns, _ = numbered(np.hstack([owners, shared.reshape(len(owners), -1)]))
    alike = np.zeros((int(columns.max()) + 1, *by_column.shape[1:]), dtype=bool)
    np.logical_or.at(alike, columns, by_column)
    return rows[patterns], np.moveaxis(alike[columns], 0, 2)


def _refine(labels: Ints, sets: Sets | None) -> tuple[Ints, Ints]:
    return numbered(labels if sets is None else np.column_stack([labels, sets.labels]))


def _names(labels: Ints, names: Sequence[Any], sets: Sets | None, plural: str) -> list[str]:
    """Names of a grid's sets: the user's label if the set is whole, else its content."""
    found: list[str] = []
    for number in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == number)
        if sets is None:
            name = _describe(members, names, plural)
        else:
            label = sets.labels[members[0]]
            name = str(sets.names[label])
            if members.size < np.count_nonzero(sets.labels == label):
                name += f" ({_describe(members, names, plural)})"
        found.append(name if name not in found else f"{name} [{number}]")
    return found


def _describe(members: Ints, names: Sequence[Any], plural: str) -> str:
    if members.size == 1:
        return str(names[members[0]])
    if members.size == len(names):
        return f"all {plural}"
    if plural == "columns":
        shown = " + ".join(str(names[k]) for k in members[:3])
        return shown if members.size <= 3 else f"{shown} + {members.size - 3} more"
    first, last = names[members[0]], names[members[-1]]
    if members[-1] - members[0] == members.size - 1:
        return f"rows {first}-{last}"
    return f"{members.size} rows from {first} to {last}"
