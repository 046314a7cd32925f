"""Where the blocks of a table lie, who owns them, and which of its rows are copies."""

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
class Layout:
    """The blocks of a table.

    Attributes
    ----------
    grid : Grid
        Groups of the rows that are valued: one of each cluster of copies, where these count as one.
    ownership : Ownership or None
    copies : Copies or None
        Which rows repeat others; None where there are no owners.
    regions : Regions or None
        What the owners have of the table as it was read.
    """

    grid: Grid
    ownership: Ownership | None
    copies: Copies | None
    regions: Regions | None


class Reading:
    """What happens to a training table between its reading and its splits: changes, and copies taken as one.

    Parameters
    ----------
    copies : {"one", "first", "each"}
    distance : float
        Within which rows are copies.
    owned : bool
        Whether there are owners, for whom copies are looked for.
    change : callable, optional
        From the table and target that were read to others, with the position in the former of every
        row of the latter.
    """

    def __init__(
        self,
        copies: str,
        distance: float,
        *,
        owned: bool,
        change: Callable[[Table, Target], Changed] | None = None,
    ) -> None:
        self._rule, self._distance, self._owned, self._change = copies, distance, owned, change
        self.table: Table
        self.target: Target
        self.row_names: list[Any] = []
        self.origin = np.zeros(0, dtype=np.intp)
        self.clusters: NDArray[np.intp] | None = None

    def __call__(self, table: Table, target: Target) -> Changed:
        self.table, self.target = table, target
        self.row_names = table.row_names.tolist()
        self.origin = np.arange(table.n_rows)
        if self._change is not None:
            table, target, self.origin = self._change(table, target)
        if self._owned:
            self.clusters = find_copies(table, target, self._distance)
            if self._rule != "each":
                kept = first_rows(self.clusters)
                if kept.size < table.n_rows:
                    return table.take_rows(kept), target.take(kept), self.origin[kept]
        return table, target, self.origin

    def layout(
        self,
        problem: Problem,
        rows: Any,
        columns: Any,
        claims: list[Claim] | None,
        change: Callable[[Regions], Regions] | None = None,
    ) -> Layout:
        """The grid of blocks, and who owns them.

        Parameters
        ----------
        problem : Problem
            Of the table that came out of this reading.
        rows, columns : labels or None
            Groups of the table's rows and columns, as the user gave them.
        claims : list of Claim or None
        change : callable, optional
            From what owners have to what they would have; it gets the regions of the rows as they
            were changed.
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
            return Layout(
                _grid_of_groups(problem, row_groups, column_groups, len(row_names)),
                None,
                None,
                None,
            )
        read = find_regions(claims, self.row_names, column_names, read_groups, column_groups)
        regions = read.take_rows(self.origin)
        regions = regions if change is None else change(regions)
        assert self.clusters is not None
        copies = Copies.count(regions, self.clusters, self._rule, self._distance)
        if self._rule == "one":
            valued = regions.merge_rows(self.clusters)
        else:
            valued = (
                regions if self._rule == "each" else regions.take_rows(first_rows(self.clusters))
            )
        grid, ownership = cut_grid(valued, row_names, column_names, row_groups, column_groups)
        return Layout(grid, ownership, copies, read)

    def _row_groups(self, problem: Problem, rows: Any) -> Groups:
        """The groups of the rows, without those rows that were left out for their targets."""
        if problem.given is None:
            return label_groups(rows, self.row_names, "rows")
        groups = label_groups(rows, problem.given.names.tolist(), "rows")
        labels = [groups.names[label] for label in groups.labels[problem.given.kept]]
        return label_groups(labels, self.row_names, "rows")

    def _of_valued_rows(self, groups: Groups) -> Groups:
        """Groups of the rows that are valued: a cluster of copies is in the group of its first row."""
        rows = self.origin
        if self.clusters is not None and self._rule != "each":
            rows = rows[first_rows(self.clusters)]
        labels = [groups.names[label] for label in groups.labels[rows]]
        return label_groups(labels, list(range(rows.size)), "rows")


def first_rows(clusters: NDArray[np.intp]) -> NDArray[np.intp]:
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
