"""Whether decisions fit a table: a file of decisions may have been edited by hand."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class DecidedTable:
    """What a table says, to compare with decisions.

    Attributes
    ----------
    called : str
        What to call the table in messages.
    names : sequence of str
        Of its columns.
    n_rows : int
    texts : callable
        From the name of a column to its entries as they are written.
    column : callable
        From that name to the typed column.
    where : callable
        From the position of a row to words such as ``line 7``.
    """

    called: str
    names: Sequence[str]
    n_rows: int
    texts: Callable[[str], Sequence[Any]]
    column: Callable[[str], Column]
    where: Callable[[int], str]

    def check(self, decisions: Decisions) -> None:
        """Refuse decisions about rows, columns or entries that the table does not have."""
        advice = "correct that line of the decisions, or delete it"
        for one in decisions.made:
            where = decisions.where(one)
            if one.row >= self.n_rows:
                raise InputError(
                    f"{where}: there is no row {one.row} in {self.called}, whose {self.n_rows:,} "
                    f"rows are 0 to {self.n_rows - 1}: {advice}"
                )
            if one.column not in self.names:
                hint = did_you_mean(one.column, self.names)
                raise InputError(
                    f"{where}: there is no column {one.column!r} in {self.called}{hint}: {advice}"
                )
        for name in dict.fromkeys(one.column for one in decisions.made):
            texts = self.texts(name)
            for one in decisions.made:
                if one.column == name and not self._fits(one, texts[one.row]):
                    raise InputError(
                        f"{decisions.where(one)}: column {name!r} in {self.where(one.row)} of "
                        f"{self.called} is {_text(texts[one.row])[:SHOWN]!r}, not "
                        f"{(one.entry or '')[:SHOWN]!r} as decided{self._elsewhere(one, texts)}: "
                        f"{advice}, or inspect the table again"
                    )

    def _fits(self, one: Decision, there: Any) -> bool:
        """Whether the entry is the one that was decided on, as its column is read.

        A spreadsheet that saved the decisions writes 199 for 199,00 and 1.5.2020 for 01.05.2020.
        """
        text = _text(there)
        if same_entry(text, one.entry) or (one.entry is None and text in MISSING):
            return True
        column = self.column(one.column)
        if column.kind == "category" or one.entry is None:
            return same_entry(column.take(np.array([one.row])).text()[0], one.entry)
        like = Table((column,), np.arange(column.entries.size))
        said = as_table({column.name: [one.entry]}, "decisions", like=like).columns[0]
        return bool(said.kind == column.kind and said.entries[0] == column.entries[one.row])

    def _elsewhere(self, one: Decision, texts: Sequence[Any]) -> str:
        """Where the entry is, if that is in one row only."""
        rows = [
            i for i, text in enumerate(texts) if one.entry and same_entry(_text(text), one.entry)
        ]
        if len(rows) != 1:
            return ""
        place = self.where(rows[0])
        return f" (that is in {place}" + (f", row {rows[0]})" if "line" in place else ")")


def _text(entry: Any) -> str:
    return "" if entry is None else str(entry).strip()
