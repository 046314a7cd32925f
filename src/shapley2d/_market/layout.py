"""Where the blocks of a table are, who owns them, and which of its rows are copies."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted
from shapley2d._market.copies import CopiesFound, find_copies
from shapley2d._market.grid import Grid, Sets, label_sets
from shapley2d._market.named_rows import Clusters
from shapley2d._market.owners import Claim, check_owners, entry_key, read_claims
from shapley2d._market.regions import Ownership, Regions, cut_grid, find_regions
from shapley2d._tables.intake import is_path, opened
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.arrays import Bools, Ints
    from shapley2d._tables.problem import Problem, Tables
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

    Changed = tuple[Table, Target, Ints]


@dataclass(frozen=True)
class BlockLayout:
    """The blocks of a table."""

    # sets of the rows that are valued: one of each cluster of copies, where these count as one
    grid: Grid
    ownership: Ownership | None = None
    copies: CopiesFound | None = None  # which rows repeat others; None where there are no owners
    # the valued row that every row of the changed table is part of; -1 for rows that are not valued
    valued: Ints | None = None


@dataclass(frozen=True)
class Prepared:
    """A training table after changes to it, and with copies merged, before it is split."""

    rule: str  # what copies count for
    tables: Tables  # the valued rows
    origin: Ints  # the row read that every row of the changed table comes from
    kept: Ints  # the rows of the changed table that are valued
    # the cluster of copies of every row of the changed table; None without owners
    clusters: Ints | None

    @classmethod
    def of(
        cls,
        tables: Tables,
        named: Named,
        rule: str,
        change: Callable[[Table, Target], Changed] | None = None,
    ) -> Prepared:
        """Change a table, find copies among its rows, and drop these and rows without any entry.

        Where the label is valued, rows without any other entry stay. ``change`` returns another
        table and target, and the row of the former that each row of the latter comes from.
        """
        table, target, origin = tables.table, tables.target, np.arange(tables.table.n_rows)
        if change is not None:
            table, target, origin = change(table, target)
        clusters, kept = None, np.arange(table.n_rows)
        if named.regions is not None:
            clusters = find_copies(table, target, tables.split)
            kept = kept if rule == "each" else np.unique(clusters, return_index=True)[1]
            # a row without any entry is no data; it would be paid for outvoting far rows
            blank = np.all([np.isnan(column.entries[kept]) for column in table.columns], axis=0)
            if named.label is None and not blank.all():
                kept = kept[~blank]
            if named.claimed is not None:
                kept = kept[named.claimed[origin[kept]]]
        if kept.size < table.n_rows:
            table, target = table.take_rows(kept), target.take(kept)
        rows = tables.kept[origin[kept]]
        return cls(
            rule, replace(tables, table=table, target=target, kept=rows), origin, kept, clusters
        )

    def layout(
        self,
        problem: Problem,
        named: Named,
        change: Callable[[Regions], Regions] | None = None,
        *,
        players: bool = False,
        seed: int = 0,
    ) -> BlockLayout:
        """The grid of blocks, and who owns them; of ``players``, sets join as wholes."""
        rows, columns = named.rows, named.columns
        if isinstance(rows, Clusters):
            rows = rows.of(problem.table, seed)
        elif rows is not None:  # a cluster of copies is in the set of its first row
            rows = rows.take(self.origin[self.kept])
        if named.regions is None:
            rows = rows or Sets.single(self.kept.size, "all rows")
            if columns is None:
                columns = Sets.single(problem.table.n_columns, "all columns")
                columns = columns if named.label is None else columns.with_player(named.label)
            return BlockLayout(Grid(rows, columns))
        assert self.clusters is not None
        regions = named.regions.take_rows(self.origin)
        regions = regions if change is None else change(regions)
        own = np.arange(self.clusters.size) if self.rule == "each" else self.clusters
        merged = regions if self.rule == "each" else regions.merge_rows(self.clusters)
        names = problem.table.row_names.tolist(), [*problem.table.column_names]
        names[1].extend([] if named.label is None else [named.label])
        held = merged.take_rows(own[self.kept])
        grid, ownership = cut_grid(held, *names, rows, columns, players=players)
        place = np.full(int(own.max()) + 1, -1)
        place[own[self.kept]] = np.arange(self.kept.size)
        copies = CopiesFound.count(regions, self.clusters, self.rule)
        return BlockLayout(grid, ownership, copies, place[own])


@dataclass(frozen=True)
class Named:
    """What a user named in a table as it was read: sets of rows and columns, and who owns what."""

    rows: Sets | Clusters | None
    columns: Sets | None  # the label, where it is valued, is a set of its own
    label: str | None  # the target's name where it is valued as one more column
    regions: Regions | None = None  # what the owners have; None without owners
    claimed: Bools | None = None  # the rows that somebody claims; None for all

    @classmethod
    def of(
        cls,
        tables: Tables,
        rows: Any,
        columns: Any,
        claims: list[Claim] | None,
        label: str | None,
        *,
        owned: bool,
        option: str,
        drop: bool,
    ) -> Named:
        """Read labels and claims; without claims the sets of one axis may be its owners."""
        names, features = tables.table.row_names.tolist(), tables.table.column_names
        if rows is not None and not isinstance(rows, Clusters):
            # labels are those of all rows that were given
            rows = label_sets(rows, tables.given.row_names.tolist(), option, "row")
            rows = rows.take(tables.kept) if tables.kept.size < tables.given.n_rows else rows
        sets = None if columns is None else label_sets(columns, features, "columns")
        if label is not None:
            sets = None if sets is None else sets.with_player(label)
            if owned and claims is None and sets is None:
                sets = Sets.single(len(features), "all columns").with_player(label)
            features = [*features, label]
        named = cls(rows, sets, label)
        if not owned:
            if rows is None and sets is None:
                raise InputError(
                    "name the blocks by ", Setting("rows"), ", ", Setting("columns"), " or ",
                    Setting("owners"), "; single cells are for value_cells",
                )  # fmt: skip
            return named
        if claims is None:  # every set claims itself
            axis, own = ("column", sets) if rows is None else ("row", rows)
            assert own is not None
            claims = read_claims([{"owner": name, axis: entry_key(name)} for name in own.names])
        regions = find_regions(claims, names, features, rows, sets)
        claimed = np.asarray(regions.of_rows().any(axis=0))
        free = np.flatnonzero(~claimed)
        if free.size and not drop:
            more = f" and {counted(free.size - 1, 'more row')}" if free.size > 1 else ""
            raise InputError(
                f"nobody claims row {names[free[0]]!r}{more}, and rows that nobody answers for can "
                "change what others are paid: name their owners in ",
                Setting("owners"),
                ", or set ",
                Setting("unclaimed", "drop"),
                " to leave them out of everything",
            )
        return replace(named, regions=regions, claimed=claimed if free.size else None)


def claims_of(owners: Any) -> list[Claim] | None:
    """The claims of owners in any kind of table, or in a file."""
    if not is_path(owners):
        return None if owners is None else read_claims(owners)
    check_owners(os.fspath(owners))
    return read_claims(opened(owners), os.fspath(owners))
