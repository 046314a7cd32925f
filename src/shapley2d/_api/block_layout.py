"""Where the blocks of a table are, who owns them, and which of its rows are copies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import warn
from shapley2d._knn.copies import find_copies
from shapley2d._ownership.copies import Copies
from shapley2d._ownership.grid import Grid, Groups, label_groups
from shapley2d._ownership.owners import Claim, read_claims
from shapley2d._ownership.regions import Ownership, Regions, cut_grid, find_regions
from shapley2d._tables.reading.files import read_table
from shapley2d._tables.texts.column import clean_texts
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

    Changed = tuple[Table, Target, NDArray[np.intp]]


@dataclass(frozen=True)
class BlockLayout:
    """The blocks of a table.

    Attributes
    ----------
    grid : Grid
        Groups of the rows that are valued: one of each cluster of copies, where these count as one.
    ownership : Ownership or None
    copies : Copies or None
        Which rows repeat others; None where there are no owners.
    regions : Regions or None
        What the owners have of the table that was read.
    clusters : ndarray of int or None
        The cluster of copies that every row is in, before copies are merged.
    """

    grid: Grid
    ownership: Ownership | None = None
    copies: Copies | None = None
    regions: Regions | None = None
    clusters: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Prepared:
    """A training table after changes to it, and with copies merged, before it is split.

    Attributes
    ----------
    rule : {"one", "first", "escrow", "each"} or None
        What copies count for; None where there are no owners, for whom they are looked for.
    distance : float
        Within which rows are copies.
    row_names : list
        Of the table that was read.
    origin : ndarray of int
        Its row that every row of the changed table comes from.
    clusters : ndarray of int or None
        The cluster of copies that every row of the changed table is in.
    kept : ndarray of int
        The rows of the changed table that are valued.
    table, target
        Those rows.
    """

    rule: str | None
    distance: float
    row_names: list[Any]
    origin: NDArray[np.intp]
    clusters: NDArray[np.intp] | None
    kept: NDArray[np.intp]
    table: Table
    target: Target

    @classmethod
    def of(
        cls,
        table: Table,
        target: Target,
        rule: str | None,
        distance: float,
        change: Callable[[Table, Target], Changed] | None = None,
    ) -> Prepared:
        """Prepare a table.

        Parameters
        ----------
        table, target
            As they were read.
        rule, distance
            See above.
        change : callable, optional
            From the table and target that were read to others, with the row of the former that
            every row of the latter comes from.
        """
        names, origin = table.row_names.tolist(), np.arange(table.n_rows)
        if change is not None:
            table, target, origin = change(table, target)
        clusters = None if rule is None else find_copies(table, target, distance)
        kept = np.arange(table.n_rows)
        if clusters is not None and rule != "each":
            kept = _first_rows(clusters)
            if kept.size < table.n_rows:
                table, target = table.take_rows(kept), target.take(kept)
        return cls(rule, distance, names, origin, clusters, kept, table, target)

    def layout(
        self,
        problem: Problem,
        rows: Any,
        columns: Any,
        claims: list[Claim] | None,
        change: Callable[[Regions], Regions] | None = None,
    ) -> BlockLayout:
        """The grid of blocks, and who owns them.

        Parameters
        ----------
        problem : Problem
            Of the prepared table.
        rows, columns : labels or None
            Groups of the table's rows and columns, as the user gave them.
        claims : list of Claim or None
        change : callable, optional
            From what owners have of the changed table to what they would have.
        """
        label = problem.label
        column_names = problem.table.column_names
        read_groups = None if rows is None else self._row_groups(problem, rows)
        row_groups = None if read_groups is None else self._of_valued_rows(read_groups)
        column_groups = None if columns is None else label_groups(columns, column_names, "columns")
        if label is not None:
            column_groups = None if column_groups is None else column_groups.with_player(label)
            column_names = [*column_names, label]
        row_names = problem.table.row_names.tolist()
        if claims is None:
            return BlockLayout(_grid_of_groups(problem, row_groups, column_groups, len(row_names)))
        assert self.clusters is not None
        assert self.rule is not None
        read = find_regions(claims, self.row_names, column_names, read_groups, column_groups)
        regions = read.take_rows(self.origin)
        regions = regions if change is None else change(regions)
        copies = Copies.count(regions, self.clusters, self.rule, self.distance)
        if self.rule in ("one", "escrow"):
            valued = regions.merge_rows(self.clusters)
        else:
            valued = regions.take_rows(self.kept)
        grid, ownership = cut_grid(
            valued,
            row_names,
            column_names,
            row_groups,
            column_groups,
            escrow=self.rule == "escrow",
        )
        return BlockLayout(grid, ownership, copies, read, self.clusters)

    def _row_groups(self, problem: Problem, rows: Any) -> Groups:
        """The groups of the rows, without those rows that were left out for their targets."""
        if problem.given is None:
            return label_groups(rows, self.row_names, "rows")
        groups = label_groups(rows, problem.given.names.tolist(), "rows")
        labels = [groups.names[label] for label in groups.labels[problem.given.kept]]
        return label_groups(labels, self.row_names, "rows")

    def _of_valued_rows(self, groups: Groups) -> Groups:
        """Groups of the valued rows: a cluster of copies is in the group of its first row."""
        rows = self.origin[self.kept]
        labels = [groups.names[label] for label in groups.labels[rows]]
        return label_groups(labels, list(range(rows.size)), "rows")


def _first_rows(clusters: NDArray[np.intp]) -> NDArray[np.intp]:
    """The first row of every cluster, in the order of the rows."""
    return np.unique(clusters, return_index=True)[1]


def _grid_of_groups(
    problem: Problem, row_groups: Groups | None, column_groups: Groups | None, n_rows: int
) -> Grid:
    if row_groups is None and column_groups is None:
        raise InputError(
            "name the blocks by ",
            Setting("rows"),
            ", ",
            Setting("columns"),
            " or ",
            Setting("owners"),
            "; single cells are for value_cells",
        )
    if column_groups is None:
        column_groups = Groups.single(problem.table.n_columns, "all columns")
        column_groups = (
            column_groups if problem.label is None else column_groups.with_player(problem.label)
        )
    return Grid(row_groups or Groups.single(n_rows, "all rows"), column_groups)


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
