"""Moves of an owner, on the table and on its claims, for an audit to try."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._market.regions import Regions

if TYPE_CHECKING:
    from shapley2d._base.arrays import Ints
    from shapley2d._market.layout import Changed
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

JITTER = 0.15
"""Of a fabricated entry, in standard deviations of its column."""


def take_rows(table: Table, target: Target, index: Ints) -> Changed:
    """The table and target of some rows, in any order or several times."""
    return table.take_rows(index), target.take(index), index


def fabricate(
    table: Table, target: Target, rows: Ints, random: np.random.Generator, *, means: bool
) -> Changed:
    """The table with three rows more for each of some rows, which nobody observed.

    Copies of a row with its label, whose numbers are jittered; with ``means`` the numbers are
    those of the mean of the rows with the same label (in regression, of the ten nearest labels).
    A model that takes the user's own frame sees copies.
    """
    n, index = table.n_rows, np.append(np.arange(table.n_rows), np.repeat(rows, 3))
    alike = [_alike(target, rows, row) for row in rows.tolist()] if means else []
    made, columns = table.take_rows(index), []
    for column in made.columns:
        known = column.entries[rows][~np.isnan(column.entries[rows])]
        if column.kind == "category" or not known.size:
            columns.append(column)
            continue
        entries = column.entries.copy()
        if means:
            groups = [entries[some][~np.isnan(entries[some])] for some in alike]
            entries[n:] = np.repeat([one.mean() if one.size else np.nan for one in groups], 3)
        entries[n:] += random.normal(0.0, JITTER * known.std(), entries.size - n)
        columns.append(column.with_entries(entries))
    return replace(made, columns=tuple(columns)), target.take(index), index


def _alike(target: Target, rows: Ints, row: int) -> Ints:
    """Those of an owner's rows whose labels are as that of a row."""
    if target.task == "classification":
        return np.asarray(rows[target.codes[rows] == target.codes[row]])
    order = np.argsort(np.abs(target.y[rows] - target.y[row]), kind="stable")
    return np.asarray(rows[order[:10]])


def split_owner(regions: Regions, owner: int, random: np.random.Generator) -> Regions:
    """Half of an owner's rows, or of its columns if it has all rows, under a second name."""
    mine = regions.owner == owner
    kept = {"rows": regions.rows.copy(), "columns": regions.columns.copy()}
    moved = {axis: masks[mine] for axis, masks in kept.items()}
    rows, columns = (masks.any(axis=0) for masks in moved.values())
    axis = "columns" if rows.all() and columns.sum() > 1 else "rows"
    held = random.permutation(np.flatnonzero(moved[axis].any(axis=0)))
    # an owner of one row keeps it: there is no half
    given = np.isin(np.arange(moved[axis].shape[1]), held[held.size // 2 :]) & (held.size > 1)
    kept[axis][mine] &= ~given
    moved[axis] &= given
    name = f"{regions.names[owner]} (2)"
    while name in regions.names:
        name += "'"
    names, number = [*regions.names, name], np.full(int(mine.sum()), len(regions.names))
    both = (np.concatenate([kept[axis], moved[axis]]) for axis in kept)
    return Regions(names, np.append(regions.owner, number), *both)
