"""Whether decisions fit a table: a file of decisions may have been edited by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import did_you_mean
from shapley2d._inspection.columns.finding import SHOWN
from shapley2d._inspection.decisions import same_entry
from shapley2d._tables.convert import as_table
from shapley2d._tables.table import Table
from shapley2d._tables.texts.stray_rule import MISSING
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shapley2d._inspection.decisions import Decision, Decisions
    from shapley2d._tables.table import Column


def check_decided(
    decisions: Decisions,
    called: str,
    names: Sequence[str],
    n_rows: int,
    texts_of: Callable[[str], Sequence[Any]],
    typed: Callable[[str], Column],
    where: Callable[[int], str],
) -> None:
    """Refuse decisions about rows, columns or entries that a table does not have.

    The table is ``called`` so in messages; ``texts_of`` and ``typed`` give the entries of a column
    as they are written and as they are read, ``where`` words for a row, such as ``line 7``.
    """
    advice = "correct that line of the decisions, or delete it"
    for one in decisions.made:
        place = decisions.where(one)
        if one.row >= n_rows:
            raise InputError(
                f"{place}: there is no row {one.row} in {called}, whose {n_rows:,} rows are 0 to "
                f"{n_rows - 1}: {advice}"
            )
        if one.column not in names:
            hint = did_you_mean(one.column, names)
            raise InputError(
                f"{place}: there is no column {one.column!r} in {called}{hint}: {advice}"
            )
    for name in dict.fromkeys(one.column for one in decisions.made):
        texts = texts_of(name)
        for one in decisions.made:
            if one.column == name and not _fits(one, texts[one.row], typed):
                raise InputError(
                    f"{decisions.where(one)}: column {name!r} in {where(one.row)} of {called} is "
                    f"{_text(texts[one.row])[:SHOWN]!r}, not {(one.entry or '')[:SHOWN]!r} as "
                    f"decided{_elsewhere(one, texts, where)}: {advice}, or inspect the table again"
                )


def _fits(one: Decision, there: Any, typed: Callable[[str], Column]) -> bool:
    """Whether the entry is the one that was decided on, as its column is read.

    A spreadsheet that saved the decisions writes 199 for 199,00 and 1.5.2020 for 01.05.2020.
    """
    text = _text(there)
    if same_entry(text, one.entry) or (one.entry is None and text in MISSING):
        return True
    column = typed(one.column)
    if column.kind == "category" or one.entry is None:
        return same_entry(column.take(np.array([one.row])).text()[0], one.entry)
    like = Table((column,), np.arange(column.entries.size))
    said = as_table({column.name: [one.entry]}, "decisions", like=like).columns[0]
    return bool(said.kind == column.kind and said.entries[0] == column.entries[one.row])


def _elsewhere(one: Decision, texts: Sequence[Any], where: Callable[[int], str]) -> str:
    """Where the entry is, if that is in one row only."""
    rows = [i for i, text in enumerate(texts) if one.entry and same_entry(_text(text), one.entry)]
    if len(rows) != 1:
        return ""
    place = where(rows[0])
    return f" (that is in {place}" + (f", row {rows[0]})" if "line" in place else ")")


def _text(entry: Any) -> str:
    return "" if entry is None else str(entry).strip()
