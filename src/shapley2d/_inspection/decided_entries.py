"""Whether decisions fit a table: a file of decisions may be edited, and the table repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import did_you_mean
from shapley2d._inspection.columns.view import SHOWN
from shapley2d._inspection.decisions import same_entry
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._inspection.tables.table_digest import file_digest, table_digest
from shapley2d._tables.convert import as_table
from shapley2d._tables.digest import column_digest
from shapley2d._tables.table import Table
from shapley2d._tables.texts.stray_rule import MISSING
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shapley2d._inspection.decisions import Decision, Decisions
    from shapley2d._inspection.inspected import InspectedCells
    from shapley2d._tables.reading.files import Source
    from shapley2d._tables.table import Column


def check_decided(
    decisions: Decisions, called: str, table: Table, where: Callable[[int], str]
) -> None:
    """Refuse decisions about rows, columns or entries that a table does not have.

    The table is ``called`` so in messages; ``where`` gives words for a row, such as ``line 7``.
    """
    advice = "correct that line of the decisions, or delete it"
    names, columns = table.column_names, dict[str, list[str | None]]()
    for one in decisions.made:
        place = decisions.where(one)
        if one.row >= table.n_rows:
            raise InputError(
                f"{place}: there is no row {one.row} in {called}, whose {table.n_rows:,} rows are "
                f"0 to {table.n_rows - 1}: {advice}"
            )
        if one.column not in names:
            hint = did_you_mean(one.column, names)
            raise InputError(
                f"{place}: there is no column {one.column!r} in {called}{hint}: {advice}"
            )
        column = table.columns[names.index(one.column)]
        if one.column not in columns:
            columns[one.column] = column.written()
        texts = columns[one.column]
        if not _fits(one, texts[one.row], column):
            raise InputError(
                f"{place}: column {one.column!r} in {where(one.row)} of {called} is "
                f"{(texts[one.row] or '')[:SHOWN]!r}, not {(one.entry or '')[:SHOWN]!r} as decided"
                f"{_elsewhere(one, texts, where)}: {advice}, or inspect the table again"
            )


def _fits(one: Decision, text: str | None, column: Column) -> bool:
    """Whether the entry is the one that was decided on, as its column is read.

    A spreadsheet that saved the decisions writes 199 for 199,00 and 1.5.2020 for 01.05.2020.
    """
    if same_entry(text, one.entry) or (one.entry is None and (text or "").strip() in MISSING):
        return True
    if column.kind == "category" or one.entry is None:
        return same_entry(column.take(np.array([one.row])).text()[0], one.entry)
    like = Table((column,), np.arange(column.entries.size))
    said = as_table({column.name: [one.entry]}, "decisions", like=like).columns[0]
    return bool(said.kind == column.kind and said.entries[0] == column.entries[one.row])


def _elsewhere(one: Decision, texts: Sequence[str | None], where: Callable[[int], str]) -> str:
    """Where the entry is, if that is in one row only."""
    rows = [i for i, text in enumerate(texts) if one.entry and same_entry(text, one.entry)]
    if len(rows) != 1:
        return ""
    place = where(rows[0])
    return f" (that is in {place}" + (f", row {rows[0]})" if "line" in place else ")")


def check_decisions(decisions: Decisions, source: Source) -> None:
    """Refuse decisions that were made for another table, or that do not fit this one.

    They carry the fingerprint of the file's texts, or of its columns as Python holds them.
    """
    table = inspected_table(source.table, "X")
    digest = file_digest(source.table)
    typed = table_digest({column.name: column_digest(column) for column in table.columns})
    if decisions.table not in (digest, typed):
        raise InputError(
            f"{decisions.path} was made for another table, or {source.path} has changed since "
            f"(fingerprint {decisions.table[:16] or 'missing'}, this one has {digest}): inspect "
            "this one and decide again"
        )
    check_decided(decisions, source.path, table, source.where)


def known_decisions(
    decisions: Decisions, inspection: InspectedCells
) -> tuple[list[tuple[int, int]], list[Decision], int]:
    """Decisions that still hold for a table, which may be the repaired one.

    A decision holds where the entry is still the one called right, or already the new one. Returns
    the cells decided on, which are not listed again, the decisions that called an entry right, and
    how many entries called right have changed since.
    """
    names = {name: j for j, name in enumerate(inspection._cells.names)}
    entries = inspection._cells.entries
    cells, right, stale = [], [], 0
    for one in decisions.made:
        j, said = names.get(one.column), one.new if one.changes else one.entry
        if j is None or one.row >= inspection.shape[0] or not same_entry(entries[j][one.row], said):
            stale += not one.changes
            continue
        cells.append((one.row, j))
        if not one.changes:
            right.append(one)
    return cells, right, stale
