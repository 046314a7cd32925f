"""Moves of an owner, on the table and on its claims, for an audit to try."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._tables.changes import blank_cells, take_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._market.layout import Changed
    from shapley2d._market.regions import Regions
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


def take_rows(table: Table, target: Target, index: NDArray[np.intp]) -> Changed:
    """The table and target of some rows, in any order or several times."""
    return table.take_rows(index), target.take(index), index


def shuffle_columns(table: Table, target: Target, index: list[NDArray[np.intp]]) -> Changed:
    """The table with each column from rows of its own, and the label from the last."""
    return take_cells(table, index[:-1]), target.take(index[-1]), index[-1]


def blank(table: Table, target: Target, gone: NDArray[np.bool_]) -> Changed:
    """The table without some cells."""
    return blank_cells(table, gone), target, np.arange(table.n_rows)


def split_owner(regions: Regions, owner: int, parts: int, random: np.random.Generator) -> Regions:
    """The owner's cells dealt at random to shells: by rows, or by columns if it has all."""
    mine = regions.owner == owner
    has_all_rows = regions.rows[mine].any(axis=0).all()
    by_rows = not (has_all_rows and regions.columns[mine].any(axis=0).sum() >= parts)
    masks = regions.rows if by_rows else regions.columns
    held = np.flatnonzero(masks[mine].any(axis=0))
    shell = np.full(masks.shape[1], -1)
    shell[held] = random.permutation(np.arange(held.size) % parts)
    pieces = [
        replace(
            regions,
            owner=regions.owner[~mine],
            rows=regions.rows[~mine],
            columns=regions.columns[~mine],
        )
    ]
    names = list(regions.names)
    for part in range(parts):
        inside = masks[mine] & (shell == part)
        number = owner if part == 0 else len(names)
        if part:
            names.append(_shell_name(names, owner, part + 1))
        pieces.append(
            replace(
                regions,
                owner=np.full(int(mine.sum()), number),
                rows=inside if by_rows else regions.rows[mine],
                columns=regions.columns[mine] if by_rows else inside,
            )
        )
    return _joined(names, pieces)


def add_rows(regions: Regions, owner: int, first: int, *, same_name: bool) -> Regions:
    """Give the rows from a position on to an owner, or its second name, in the columns it has."""
    rows, mine = regions.rows.copy(), regions.owner == owner
    added = rows[mine].copy()
    added[:, :first] = False
    rows[:, first:] = False
    names = regions.names
    if not same_name:
        names = [*names, _shell_name(names, owner, 2)]
    old = replace(regions, rows=rows)
    number = owner if same_name else len(names) - 1
    new = replace(
        regions, owner=np.full(len(added), number), rows=added, columns=regions.columns[mine]
    )
    return _joined(names, [old, new])


def set_apart(regions: Regions, owner: int, rows: NDArray[np.intp]) -> Regions:
    """Give some rows of an owner to a shell."""
    mine = regions.owner == owner
    apart, left = regions.rows[mine].copy(), regions.rows.copy()
    inside = np.zeros(regions.rows.shape[1], dtype=bool)
    inside[rows] = True
    left[np.ix_(mine, inside)] = False
    names = [*regions.names, _shell_name(regions.names, owner, 2)]
    shell = replace(
        regions,
        owner=np.full(len(apart), len(names) - 1),
        rows=apart & inside,
        columns=regions.columns[mine],
    )
    return _joined(names, [replace(regions, rows=left), shell])


def _joined(names: list[str], pieces: list[Regions]) -> Regions:
    return replace(
        pieces[0],
        names=names,
        owner=np.concatenate([part.owner for part in pieces]).astype(np.intp),
        rows=np.concatenate([part.rows for part in pieces]),
        columns=np.concatenate([part.columns for part in pieces]),
    )


def _shell_name(names: list[str], owner: int, number: int) -> str:
    """A name for a shell that nobody has."""
    name = f"{names[owner]} (shell {number})"
    while name in names:
        name += "'"
    return name
