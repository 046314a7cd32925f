"""What needs no distances: rows that equal validation rows, text among numbers, double claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._market.sellers.exchange import count_p_value
from shapley2d._market.sellers.seller import VALIDATION, WHAT, Alarm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._market.regions import Regions
    from shapley2d._tables.table import Column, Table

_PAIRS = 20  # of owners with the same cells, listed at most
_MOSTLY = 0.5  # share of a column's entries that are numbers, where text is read as such


def equal_rows(
    name: str,
    keys: NDArray[np.intp],
    rows: NDArray[np.intp],
    others: NDArray[np.intp],
    valid: NDArray[np.intp],
) -> tuple[float, Callable[[], Alarm]]:
    """Whether more of an owner's rows equal validation rows than of others' rows do.

    Parameters
    ----------
    name : str
    keys : ndarray of int
        Numbers of rows, the same for equal rows.
    rows, others, valid : ndarray of int
        Rows of the owner, of others, and of the validation table.
    """
    mine, theirs = (int(np.isin(keys[part], keys[valid]).sum()) for part in (rows, others))
    p = count_p_value(mine, rows.size, mine + theirs, rows.size + others.size)

    def alarm() -> Alarm:
        sentence = (
            f"{mine:,} of {name}'s {rows.size:,} rows equal a validation row, its label too; "
            f"{theirs:,} of the {others.size:,} rows of others do."
        )
        return Alarm(name, WHAT["equal"], VALIDATION, sentence, None)

    return p, alarm


def text_among_numbers(
    name: str,
    table: Table,
    cells: NDArray[np.bool_],
    owner_of: Callable[[int], str],
) -> tuple[float, Callable[[], Alarm]] | None:
    """Whether an owner has more text in a column of numbers than others have; None if no text.

    Parameters
    ----------
    name : str
    table : Table
    cells : ndarray of bool of shape (rows, columns)
        Of the owner.
    owner_of : callable
        From a row to the name of its owner.
    """
    found: list[tuple[float, int, int, int, int]] = []
    for j, column in enumerate(table.columns):
        text = text_entries(column)
        mine = int((text & cells[:, j]).sum())
        held = int(cells[:, j].sum())
        if not mine or held == text.size:
            continue
        p = count_p_value(mine, held, int(text.sum()), text.size)
        found.append((p, j, mine, held, int(text.sum()) - mine))
    if not found:
        return None
    p, j, mine, held, others = min(found)

    def alarm() -> Alarm:
        rivals: dict[str, int] = {}
        for row in np.flatnonzero(~cells[:, j]).tolist():
            rivals[owner_of(row)] = rivals.get(owner_of(row), 0) + 1
        rest = table.n_rows - held
        effect = "; it is read as text for everybody" if table.columns[j].kind == "category" else ""
        sentence = (
            f"{mine:,} of {name}'s {counted(held, 'entry', 'entries')} in "
            f"{table.columns[j].name!r} {plural(mine, 'is', 'are')} text, and {others:,} of the "
            f"{rest:,} of others: the column holds numbers{effect}."
        )
        victim = max(rivals, key=lambda rival: rivals[rival])
        return Alarm(name, WHAT["text"], victim, sentence, None)

    return min(1.0, p * len(found)), alarm


def text_entries(column: Column) -> NDArray[np.bool_]:
    """Which entries of a column of numbers are text.

    Examples
    --------
    >>> from shapley2d._tables.kinds import as_category
    >>> text_entries(as_category(["1", "2", "x", None, "3"], "a")).tolist()
    [False, False, True, False, False]
    """
    text = np.zeros(column.entries.size, dtype=bool)
    if column.kind in ("number", "date"):
        text[list(column.from_text.strays)] = True
        return text
    if column.kind != "category" or column.from_text.asked:
        return text
    numeric = np.array([_is_number(label) for label in column.categories], dtype=bool)
    there = ~np.isnan(column.entries)
    codes = column.entries[there].astype(np.intp)
    if codes.size and numeric[codes].mean() >= _MOSTLY:
        text[there] = ~numeric[codes]
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def double_claims(regions: Regions) -> Iterator[Alarm]:
    """Owners who claim the same cells: an alarm for either, since a claim has no author."""
    in_rows = regions.rows.astype(np.float32) @ regions.rows.T
    in_columns = regions.columns.astype(np.float32) @ regions.columns.T
    region, other = np.nonzero(in_rows * in_columns)
    pairs = {
        (int(a), int(b))
        for a, b in zip(regions.owner[region], regions.owner[other], strict=True)
        if a < b
    }
    cells = {one: regions.cells_of(one) for one in sorted({one for pair in pairs for one in pair})}
    found = [(-int((cells[a] & cells[b]).sum()), a, b) for a, b in pairs]
    for count, a, b in sorted(found)[:_PAIRS]:
        n_rows = int((cells[a] & cells[b]).any(axis=1).sum())
        one, two = regions.names[a], regions.names[b]
        sentence = (
            f"{one} and {two} both claim {counted(-count, 'cell')} in {counted(n_rows, 'row')} and "
            f"share what {plural(-count, 'it is', 'they are')} worth: "
            f"{_part(-count, cells[a], one)}, {_part(-count, cells[b], two)}."
        )
        yield Alarm(one, WHAT["claims"], two, sentence, None)
        yield Alarm(two, WHAT["claims"], one, sentence, None)


def _part(count: int, cells: NDArray[np.bool_], name: str) -> str:
    return f"{100 * count / int(cells.sum()):.3g} % of what {name} claims"
