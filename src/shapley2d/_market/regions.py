"""The regions that owners have, and the coarsest grid that respects them.

An owner's region is the union of its claims, of any shape. Rows in the same regions form a set,
and so do columns; that is the coarsest grid in which every block has the same owners throughout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._market.grid import Grid, Sets
from shapley2d._market.owners import UNOWNED, AxisNames, read_claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._market.owners import Claim


@dataclass(frozen=True)
class Ownership:
    """Who owns the blocks of a grid."""

    names: list[str]  # the owners, and :data:`UNOWNED` last if a block has no owner
    # (owners, row sets, column sets): each owner's share of every block; owners of one block
    # have equal shares
    shares: NDArray[np.float64]


@dataclass(frozen=True)
class Regions:
    """The regions of owners: the owner, rows and columns of each."""

    names: list[str]  # the owners
    owner: NDArray[np.intp]  # (regions,): the owner of every region, by number
    # (regions, rows) and (regions, columns)
    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]

    def take_rows(self, rows: NDArray[np.intp]) -> Regions:
        """The regions in a table of other rows; repeated rows keep their owners."""
        return replace(self, rows=self.rows[:, rows])

    def merge_rows(self, clusters: NDArray[np.intp]) -> Regions:
        """The regions when each cluster becomes one row, held by every owner of its rows."""
        merged = np.zeros((len(self.rows), int(clusters.max()) + 1), dtype=bool)
        region, member = np.nonzero(self.rows)
        merged[region, clusters[member]] = True
        return replace(self, rows=merged)

    def of_rows(self) -> NDArray[np.bool_]:
        """Mask (owners, rows) of the rows in which an owner has a cell."""
        held = np.zeros((len(self.names), self.rows.shape[1]), dtype=bool)
        for owner, rows, columns in zip(self.owner.tolist(), self.rows, self.columns, strict=True):
            if columns.any():
                held[owner] |= rows
        return held

    def cells_of(self, owner: int) -> NDArray[np.bool_]:
        """Mask (rows, columns) of an owner's cells."""
        mine = self.owner == owner
        held = np.zeros((self.rows.shape[1], self.columns.shape[1]), dtype=bool)
        for rows, columns in zip(self.rows[mine], self.columns[mine], strict=True):
            held |= np.outer(rows, columns)
        return held

    def owners_of_everything(self) -> list[str]:
        """Owners who have every cell of the table."""
        found = []
        for number, name in enumerate(self.names):
            mine = self.owner == number
            whole_rows = self.rows[mine & self.columns.all(axis=1)].any(axis=0)
            if whole_rows.all() or self.cells_of(number).all():
                found.append(name)
        return found


def find_regions(
    claims: Sequence[Claim],
    row_names: Sequence[Any],
    column_names: Sequence[str],
    row_sets: Sets | None = None,
    column_sets: Sets | None = None,
) -> Regions:
    """The regions that claims describe in a table.

    Claims may name rows and columns of the table, or sets of them.
    """
    rows = AxisNames("row", row_names, row_sets)
    columns = AxisNames("column", column_names, column_sets)
    number = {name: k for k, name in enumerate(dict.fromkeys(claim.owner for claim in claims))}
    # rows by owner and columns
    found: dict[tuple[int, bytes], NDArray[np.bool_]] = {}
    for claim in claims:
        column_mask = np.zeros(columns.size, dtype=bool)
        column_mask[columns.find(claim.column, claim.where)] = True
        row_mask = found.setdefault(
            (number[claim.owner], column_mask.tobytes()), np.zeros(rows.size, dtype=bool)
        )
        row_mask[rows.find(claim.row, claim.where)] = True
    masks = np.array([np.frombuffer(key, dtype=bool) for _, key in found])
    owner = np.array([owner for owner, _ in found], dtype=np.intp)
    return Regions(list(number), owner, np.array(list(found.values())), masks)


def regions_of_sets(
    row_sets: Sets | None, column_sets: Sets | None, n_rows: int, n_columns: int
) -> Regions:
    """The regions where the sets of one axis are the owners of it; the other axis has none."""
    sets = column_sets if row_sets is None else row_sets
    assert sets is not None
    claims = read_claims([{"owner": name} for name in sets.names])
    names = list(dict.fromkeys(claim.owner for claim in claims))
    held = sets.labels == np.arange(len(sets.names))[:, None]
    everything = np.ones((len(held), n_rows if row_sets is None else n_columns), dtype=bool)
    rows, columns = (everything, held) if row_sets is None else (held, everything)
    owner = np.array([names.index(claim.owner) for claim in claims], dtype=np.intp)
    return Regions(names, owner, rows, columns)


def cut_grid(
    regions: Regions,
    row_names: Sequence[Any],
    column_names: Sequence[str],
    row_sets: Sets | None = None,
    column_sets: Sets | None = None,
) -> tuple[Grid, Ownership]:
    """The coarsest grid that respects every owner's region, and who owns its blocks.

    The grid respects ``row_sets`` and ``column_sets`` too.
    """
    names, masks, inside = regions.names, regions.columns, regions.rows.T
    # rows in the same regions have the same owners; rows in different regions may too
    patterns, first = _number(np.packbits(inside, axis=1))
    held = np.zeros((len(first), len(names), masks.shape[1]), dtype=bool)
    for pattern, row in enumerate(first):
        for region in np.flatnonzero(inside[row]):
            held[pattern, regions.owner[region]] |= masks[region]
    merged, _ = _number(np.packbits(held.reshape(len(first), -1), axis=1))
    row_labels, first_rows = _refine(merged[patterns], row_sets)
    by_row = held[patterns[first_rows]]
    column_labels, _ = _number(
        np.packbits(np.moveaxis(by_row, 2, 0).reshape(masks.shape[1], -1), axis=1)
    )
    column_labels, first_columns = _refine(column_labels, column_sets)
    holders = np.moveaxis(by_row[:, :, first_columns], 1, 0)
    grid = Grid(
        Sets(row_labels, _names(row_labels, row_names, row_sets, "rows")),
        Sets(column_labels, _names(column_labels, column_names, column_sets, "columns")),
    )
    count = holders.sum(axis=0)
    shares = holders / np.maximum(count, 1)
    if (count == 0).any():
        return grid, Ownership([*names, UNOWNED], np.concatenate([shares, (count == 0)[None]]))
    return grid, Ownership(names, shares)


def _number(patterns: NDArray[np.generic]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of equal rows in order of first occurrence, and the position of each first."""
    _, first, inverse = np.unique(patterns, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return rank[inverse.ravel()], first[order]


def _refine(
    labels: NDArray[np.intp], sets: Sets | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if sets is None:
        return _number(labels[:, None])
    return _number(np.column_stack([labels, sets.labels]))


def _names(
    labels: NDArray[np.intp], names: Sequence[Any], sets: Sets | None, plural: str
) -> list[str]:
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


def _describe(members: NDArray[np.intp], names: Sequence[Any], plural: str) -> str:
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
