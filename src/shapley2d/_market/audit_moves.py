"""Moves of an owner, on the table and on its claims, for an audit to try."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._tables.changes import blank_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._market.layout import Changed
    from shapley2d._market.regions import Regions
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target

JITTER = 0.15
"""Of a fabricated entry, in standard deviations of its column."""


def take_rows(table: Table, target: Target, index: NDArray[np.intp]) -> Changed:
    """The table and target of some rows, in any order or several times."""
    return table.take_rows(index), target.take(index), index


def fabricate(
    table: Table,
    target: Target,
    rows: NDArray[np.intp],
    random: np.random.Generator,
    *,
    means: bool,
) -> Changed:
    """The table with three rows more for each of some rows, which nobody observed.

    Copies of a row with its label, whose numbers are jittered; with ``means`` the numbers are
    those of the mean of the rows with the same label (in regression, of the ten nearest labels).
    A model that takes the user's own frame sees copies.
    """
    n, added = table.n_rows, np.repeat(rows, 3)
    index = np.append(np.arange(n), added)
    alike = [_alike(target, rows, row) for row in rows.tolist()] if means else []
    columns = [
        _fabricated(column, n, rows, alike, random) for column in table.take_rows(index).columns
    ]
    return replace(table.take_rows(index), columns=tuple(columns)), target.take(index), index


def _alike(target: Target, rows: NDArray[np.intp], row: int) -> NDArray[np.intp]:
    """Those of an owner's rows whose labels are as that of a row."""
    if target.task == "classification":
        return np.asarray(rows[target.codes[rows] == target.codes[row]])
    order = np.argsort(np.abs(target.y[rows] - target.y[row]), kind="stable")
    return np.asarray(rows[order[:10]])


def _fabricated(
    column: Column,
    n: int,
    rows: NDArray[np.intp],
    alike: list[NDArray[np.intp]],
    random: np.random.Generator,
) -> Column:
    """A column whose entries from position ``n`` on are made of an owner's rows."""
    if column.kind == "category":
        return column
    entries = column.entries.copy()
    known = entries[rows][~np.isnan(entries[rows])]
    if not known.size:
        return column
    if alike:
        made = [entries[some][~np.isnan(entries[some])] for some in alike]
        centres = [some.mean() if some.size else np.nan for some in made]
        entries[n:] = np.repeat(centres, 3)
    entries[n:] += random.normal(0.0, JITTER * known.std(), entries.size - n)
    return column.with_entries(entries)


def blank(table: Table, target: Target, gone: NDArray[np.bool_]) -> Changed:
    """The table without some cells."""
    return blank_cells(table, gone), target, np.arange(table.n_rows)


def split_owner(regions: Regions, owner: int, random: np.random.Generator) -> Regions:
    """Half of the owner's cells under a second name: half of its rows, or of columns if it has all.

    An owner of one row keeps it: there is no half.
    """
    mine = regions.owner == owner
    has_all_rows = regions.rows[mine].any(axis=0).all()
    by_rows = not (has_all_rows and regions.columns[mine].any(axis=0).sum() > 1)
    masks = regions.rows if by_rows else regions.columns
    held = random.permutation(np.flatnonzero(masks[mine].any(axis=0)))
    given = np.isin(np.arange(masks.shape[1]), held[held.size // 2 :])
    if not held.size // 2:
        given[:] = False
    name = f"{regions.names[owner]} (2)"
    while name in regions.names:
        name += "'"
    kept, moved = masks.copy(), masks[mine] & given
    kept[mine] &= ~given
    return replace(
        regions,
        names=[*regions.names, name],
        owner=np.append(regions.owner, np.full(int(mine.sum()), len(regions.names))),
        rows=np.concatenate([kept, moved] if by_rows else [regions.rows, regions.rows[mine]]),
        columns=np.concatenate(
            [regions.columns, regions.columns[mine]] if by_rows else [kept, moved]
        ),
    )
