"""Where the blocks of a table are, who owns them, and which of its rows are copies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import warn
from shapley2d._base.words import counted
from shapley2d._market.copies import CopiesFound, find_copies
from shapley2d._market.grid import Grid, Sets, label_sets
from shapley2d._market.named_rows import Clusters
from shapley2d._market.owners import Claim, read_claims
from shapley2d._market.regions import (
    Ownership,
    Regions,
    cut_grid,
    find_regions,
    regions_of_sets,
)
from shapley2d._tables.reading.files import read_table
from shapley2d._tables.texts.column import clean_texts
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.problem import Problem, Split, Tables
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

    Changed = tuple[Table, Target, NDArray[np.intp]]


@dataclass(frozen=True)
class BlockLayout:
    """The blocks of a table."""

    # sets of the rows that are valued: one of each cluster of copies, where these count as one
    grid: Grid
    ownership: Ownership | None = None
    copies: CopiesFound | None = None  # which rows repeat others; None where there are no owners
    regions: Regions | None = None  # of the table that was read
    # the valued row that every row of the changed table is part of; -1 for rows that are not valued
    valued: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Prepared:
    """A training table after changes to it, and with copies merged, before it is split."""

    copies: str | None  # what copies count for; None without owners
    origin: NDArray[np.intp]  # the row read that every row of the changed table comes from
    # the cluster of copies that every row of the changed table is in
    clusters: NDArray[np.intp] | None
    kept: NDArray[np.intp]  # the rows of the changed table that are valued
    # the valued rows
    table: Table
    target: Target

    @classmethod
    def of(
        cls,
        table: Table,
        target: Target,
        copies: str | None,
        *,
        split: Split | None = None,
        with_label: bool = False,
        claimed: NDArray[np.bool_] | None = None,
        change: Callable[[Table, Target], Changed] | None = None,
    ) -> Prepared:
        """Change a table, find copies among its rows, and drop these and rows without any entry.

        The ``split`` of a validation table tells copies from rows that are alike by chance. Where
        the label is valued (``with_label``), rows without any other entry stay. Of the table that
        was read only ``claimed`` rows are valued. ``change`` returns
        another table and target, and the row of the former that each row of the latter comes from.
        """
        origin = np.arange(table.n_rows)
        if change is not None:
            table, target, origin = change(table, target)
        clusters, kept = None, np.arange(table.n_rows)
        if copies is not None:
            clusters = find_copies(table, target, split)
            kept = kept if copies == "each" else np.unique(clusters, return_index=True)[1]
            # a row without any entry is no data; it would be paid for outvoting far rows
            blank = np.all([np.isnan(column.entries[kept]) for column in table.columns], axis=0)
            if not with_label and not blank.all():
                kept = kept[~blank]
            if claimed is not None:
                kept = kept[claimed[origin[kept]]]
            if kept.size < table.n_rows:
                table, target = table.take_rows(kept), target.take(kept)
        return cls(copies, origin, clusters, kept, table, target)

    def layout(
        self,
        problem: Problem,
        named: Named,
        change: Callable[[Regions], Regions] | None = None,
        *,
        players: bool = False,
        seed: int = 0,
    ) -> BlockLayout:
        """The grid of blocks, and who owns them.

        ``change`` maps what owners have of the changed table to what they would have. Owners are
        ``players`` where sets join as wholes.
        """
        row_names, column_names = problem.table.row_names.tolist(), problem.table.column_names
        if isinstance(named.rows, Clusters):
            sets = named.rows.of(problem.table, seed)
            return BlockLayout(_grid_of_sets(problem, sets, named.columns, len(row_names)))
        row_sets = None if named.rows is None else self._of_valued_rows(named.rows)
        if named.regions is None:
            return BlockLayout(_grid_of_sets(problem, row_sets, named.columns, len(row_names)))
        assert self.clusters is not None
        assert self.copies is not None
        regions = named.regions.take_rows(self.origin)
        regions = regions if change is None else change(regions)
        valued = regions.take_rows(self.kept)
        if self.copies == "one":
            valued = regions.merge_rows(self.clusters).take_rows(self.clusters[self.kept])
        column_names = column_names if problem.label is None else [*column_names, problem.label]
        grid, ownership = cut_grid(
            valued, row_names, column_names, row_sets, named.columns, players=players
        )
        copies = CopiesFound.count(regions, self.clusters, self.copies)
        return BlockLayout(grid, ownership, copies, named.regions, self._valued_rows())

    def _valued_rows(self) -> NDArray[np.intp]:
        """The valued row that every row is part of; -1 for rows that are not valued."""
        assert self.clusters is not None
        own = np.arange(self.clusters.size) if self.copies == "each" else self.clusters
        place = np.full(int(own.max()) + 1, -1)
        place[own[self.kept]] = np.arange(self.kept.size)
        return place[own]

    def _of_valued_rows(self, sets: Sets) -> Sets:
        """Sets of the valued rows: a cluster of copies is in the set of its first row."""
        rows = self.origin[self.kept]
        labels = [sets.names[label] for label in sets.labels[rows]]
        return label_sets(labels, list(range(rows.size)), "rows")


@dataclass(frozen=True)
class Named:
    """What a user named in a table as it was read: sets of rows and columns, and who owns what."""

    rows: Sets | Clusters | None
    columns: Sets | None  # the label, where it is valued, is a set of its own
    regions: Regions | None  # what the owners have; None without owners
    claimed: NDArray[np.bool_] | None  # the rows that somebody claims; None for all

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
        """Read labels and claims; ``option`` named the labels of rows.

        Without claims the sets of the one axis that has some are its owners, if they are ``owned``.
        Rows that nobody claims are refused, unless they are to be dropped.
        """
        names, features = tables.table.row_names.tolist(), tables.table.column_names
        row_sets = rows
        if rows is not None and not isinstance(rows, Clusters):
            row_sets = _read_sets(rows, tables, option)
        sets = None if columns is None else label_sets(columns, features, "columns")
        if label is not None:
            sets = None if sets is None else sets.with_player(label)
            if claims is None and owned and sets is None:
                sets = Sets.single(len(features), "all columns").with_player(label)
            features = [*features, label]
        if isinstance(rows, Clusters) or (claims is None and not owned):
            return cls(row_sets, sets, None, None)
        if claims is None:
            regions = regions_of_sets(row_sets, sets, len(names), len(features))
            return cls(row_sets, sets, regions, None)
        regions = find_regions(claims, names, features, row_sets, sets)
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
        return cls(row_sets, sets, regions, claimed if free.size else None)


def _read_sets(rows: Any, tables: Tables, option: str) -> Sets:
    """The sets of the rows that were read; labels are those of all rows that were given."""
    sets = label_sets(rows, tables.given.row_names.tolist(), option, "row")
    if tables.kept.size == tables.given.n_rows:
        return sets
    labels = [sets.names[label] for label in sets.labels[tables.kept]]
    return label_sets(labels, tables.table.row_names.tolist(), "rows")


def _grid_of_sets(
    problem: Problem, row_sets: Sets | None, column_sets: Sets | None, n_rows: int
) -> Grid:
    if row_sets is None and column_sets is None:
        raise InputError(
            "name the blocks by ",
            Setting("rows"),
            ", ",
            Setting("columns"),
            " or ",
            Setting("owners"),
            "; single cells are for value_cells",
        )
    rows = row_sets or Sets.single(n_rows, "all rows")
    if column_sets is None:
        column_sets = Sets.single(problem.table.n_columns, "all columns")
        if problem.label is not None:
            column_sets = column_sets.with_player(problem.label)
    return Grid(rows, column_sets)


def claims_of(owners: Any) -> list[Claim] | None:
    """The claims of owners in any kind of table, or in a file."""
    if owners is None:
        return None
    if not isinstance(owners, (str, os.PathLike)):
        return read_claims(owners)
    if not _exists(owners):
        raise InputError(Setting("owners", os.fspath(owners)), ": there is no such file")
    source = read_table(os.fspath(owners))
    for note in source.notes:
        warn(InputWarning(*note.args))
    return read_claims(
        clean_texts(source.table), source.path, lambda row: f"{source.path}, {source.where(row)}"
    )


def _exists(path: str | os.PathLike[str]) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a name that cannot be one
        return False
