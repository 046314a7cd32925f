"""The comparison of two valuations: frames, words and a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.page import open_page, settings_words, write_page
from shapley2d._base.page_data import brief, script_json
from shapley2d._base.words import counted, html_table, printable
from shapley2d._tables.frames import make_frame, objects
from shapley2d._tables.match import matched_names, matched_rows
from shapley2d._valuation.facts import Facts
from shapley2d._valuation.typeset import typeset
from shapley2d._valuation.units import Score, Unit, Units
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.match import Texts
    from shapley2d._valuation.values import CellValues

_FOLDER = "_valuation/comparison"
_OF_A_RUN = ("seconds", "n_utilities", "interrupted", "converged", "n_valid_used", "time_up")


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """What moved between two valuations: two runs, or two versions of a table.

    Rows with names go by these; others by their entries, and a row that was edited is the one
    between the same neighbours with at least half of its entries. Frames have ``before``,
    ``after`` and ``change`` in the utility's own unit, and ``certain``: whether the change exceeds
    the 95 % interval of the errors of both runs. Their largest change comes first.

    Attributes
    ----------
    before, after : Valuation

    Examples
    --------
    >>> from shapley2d import value_game
    >>> before = value_game(lambda S, F: S.sum() * F.sum(), 3, 2)
    >>> after = value_game(lambda S, F: S.sum() * (F[0] + 2 * F[1]), 3, 2)
    >>> moved = after.compare(before)
    >>> moved.columns.values.tolist()
    [['1', 3.0, 6.0, 3.0, True], ['0', 3.0, 3.0, 0.0, False]]
    """

    before: CellValues
    after: CellValues

    @property
    def columns(self) -> Any:
        """The columns that both have: a frame of ``column`` and what moved."""
        return make_frame(self._columns(), self.after._frame)

    def rows(self, n: int | None = 20) -> Any:
        """The rows that moved most, summed over the columns that both have."""
        return make_frame(self._rows(n), self.after._frame)

    def cells(self, n: int | None = 20) -> Any:
        """The cells that moved most, with ``entry_before`` and ``entry``."""
        return make_frame(self._cells(n), self.after._frame)

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """The settings that differ: before and after."""
        first, second = (settings_words(one.info) for one in (self.before, self.after))
        return {
            key: (first.get(key, "none"), second.get(key, "none"))
            for key in first | second
            if key not in _OF_A_RUN and first.get(key) != second.get(key)
        }

    def to_html(self, path: str | os.PathLike[str], *, title: str = "What moved") -> None:
        """Write a page of what moved: one HTML file that opens in any browser, offline."""
        units = Units.of(self.after)
        record = {
            "columns": self._record(self._columns(), units.points),
            "rows": self._record(self._rows(200), units.rows),
            "cells": self._record(self._cells(200), units.cells),
        }
        write_page(
            path,
            f"{_FOLDER}/page.html.jinja",
            scripts=[f"{_FOLDER}/page.js"],
            info=self.after.info,
            facts=None,
            notes=(),
            title=title,
            sentences=[typeset(line) for line in self._sentences],
            scores=[typeset(Facts.of(one).score) for one in (self.before, self.after)],
            differences=self.differences,
            record=script_json(record),
        )

    def open(self) -> Path:
        """Show the page in a browser, from a temporary file, and return its path."""
        return open_page(self.to_html)

    @cached_property
    def _both(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Positions of what both have: rows before and after, columns before and after."""
        pairs = matched_names(self.before.column_names, self.after.column_names)
        old, new = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        both = ((self.before, old), (self.after, new))
        known = self.before._table is not None and self.after._table is not None
        rows = matched_rows(
            [one.row_names for one, _ in both],
            (lambda: [_texts(one, columns) for one, columns in both]) if known else None,
        )
        return (*rows, old, new)

    def _columns(self) -> dict[str, Any]:
        _, _, old, new = self._both
        names = {"column": objects([self.after.column_names[j] for j in new.tolist()])}
        sums = self.before.column_values[old], self.after.column_values[new]
        return self._moved(
            names, sums, (self.before.column_stderr[old], self.after.column_stderr[new])
        )

    def _rows(self, n: int | None) -> dict[str, Any]:
        old, new, of_old, of_new = self._both
        before = self.before.values[np.ix_(old, of_old)].sum(axis=1)
        after = self.after.values[np.ix_(new, of_new)].sum(axis=1)
        errors = self.before.row_stderr[old], self.after.row_stderr[new]
        return self._moved(self.after._row_columns(new), (before, after), errors, n)

    def _cells(self, n: int | None) -> dict[str, Any]:
        old, new, of_old, of_new = self._both
        first, second = np.ix_(old, of_old), np.ix_(new, of_new)
        changes = (self.after.values[second] - self.before.values[first]).ravel()
        a, b = np.unravel_index(_largest(changes, n), (old.size, of_old.size))
        was, now = (old[a], of_old[b]), (new[a], of_new[b])
        named = {
            **self.after._row_columns(now[0]),
            "column": objects([self.after.column_names[j] for j in now[1].tolist()]),
            "entry_before": objects([*map(self.before._entry, *(one.tolist() for one in was))]),
            "entry": objects([*map(self.after._entry, *(one.tolist() for one in now))]),
        }
        sums = self.before.values[was], self.after.values[now]
        return self._moved(named, sums, (self.before.stderr[was], self.after.stderr[now]))

    def _moved(
        self,
        named: dict[str, Any],
        sums: tuple[Floats, Floats],
        errors: tuple[Floats, Floats],
        n: int | None = None,
    ) -> dict[str, Any]:
        """What is named, its values before and after, and whether they differ for certain."""
        factor = max(self.before._interval_factor, self.after._interval_factor)
        change = sums[1] - sums[0]
        # equal but for rounding is equal
        rounding = 1e-9 * max(np.abs(part).max(initial=0.0) for part in sums)
        certain = np.abs(change) > np.maximum(factor * np.hypot(*errors), rounding)
        moved = {"before": sums[0], "after": sums[1], "change": change, "certain": certain}
        order = _largest(change, n)
        return {name: part[order] for name, part in (named | moved).items()}

    def _record(self, part: dict[str, Any], unit: Unit) -> dict[str, Any]:
        """A list for the page, its numbers as people read them; each run by its own score."""
        own = Units.of(self.before).points.factor / Units.of(self.after).points.factor
        return {
            "unit": typeset(unit.words) or "value",
            "named": {
                name.replace("_", " "): [_text(one) for one in part[name]]
                for name in (self.after._row_word, "column", "entry_before", "entry")
                if name in part
            },
            "before": (unit.factor * own * part["before"]).tolist(),
            "after": (unit.factor * part["after"]).tolist(),
            "certain": part["certain"].tolist(),
        }

    @cached_property
    def _sentences(self) -> list[str]:
        """What is the same, what is new, what moved."""
        before, after = self.before, self.after
        old, new, of_old, of_new = self._both
        edited = 0
        if before._contents is not None and after._contents is not None:
            edited = sum(
                before._contents[i][a] != after._contents[j][b]
                for i, j in zip(of_old.tolist(), of_new.tolist(), strict=True)
                for a, b in zip(old.tolist(), new.tolist(), strict=True)
            )
        both = f"{counted(new.size, 'row')} and {counted(of_new.size, 'column')} are in both tables"
        lines = [f"{both}; {counted(edited, 'entry differs', 'entries differ')}."]
        gone, more = len(before) - new.size, len(after) - new.size
        if gone or more:
            lines.append(f"New rows: {more:,}. Gone rows: {gone:,}.")
        for word, names, other in (("new", after, before), ("gone", before, after)):
            missing = [name for name in names.column_names if name not in other.column_names]
            if missing:
                cut = ", ..." if len(missing) > 8 else ""
                lines.append(f"Columns {word}: {', '.join(missing[:8])}{cut}.")
        moved, unit = self._columns(), Units.of(after).points
        certain = np.flatnonzero(moved["certain"])
        if not certain.size:
            return [*lines, "No column's sum changed by more than its error."]
        shown = unit.numbers(moved["change"][certain[:6]].tolist(), signed=True)
        pairs = zip(moved["column"][certain], shown, strict=False)
        named = ", ".join(f"{name} {number}" for name, number in pairs)
        count = counted(certain.size, "column")
        return [
            *lines,
            f"{count} moved by more than the errors: {named} {unit.words}".rstrip() + ".",
        ]

    def __repr__(self) -> str:
        lines = [f"Comparison of {self.before._size_words} with {self.after._size_words}"]
        for when, one in (("before", self.before), ("after", self.after)):
            lines.append(f"  {when:<7}{Facts.of(one).score or f'total {one.total:+.5g}'}")
        changed = [f"{key} {a} -> {b}" for key, (a, b) in self.differences.items()]
        lines += [f"  settings that differ: {'; '.join(changed)}"] if changed else []
        lines += [f"  {sentence}" for sentence in self._sentences]
        return "\n".join(printable(line, "\n") for line in lines)

    def _repr_html_(self) -> str:
        unit, moved = Units.of(self.after).points, self._columns()
        numbers = [
            map(typeset, unit.numbers(moved[key][:20].tolist(), signed=True))
            for key in ("before", "after", "change")
        ]
        listed = [*zip(map(str, moved["column"][:20]), *numbers, strict=True)]
        head = ("column", "before", "after", f"change, {unit.words}".rstrip(", "))
        words = html_table([(line,) for line in self._sentences])
        return f"<div><p><b>Comparison</b></p>{words}{html_table(listed, head)}</div>"


def compare(after: CellValues, before: CellValues) -> Comparison:
    """What moved since another valuation, of the same table or of another version of it.

    Parameters
    ----------
    before : Valuation
        Of the same kind of players as this one, by the same score.

    Returns
    -------
    Comparison
        Its ``columns``, ``rows()`` and ``cells()`` are frames; ``to_html(path)`` and ``open()``
        show a page.
    """
    if getattr(before, "_nouns", None) != after._nouns:
        raise InputError(f"compare needs another valuation of {after._nouns[0][1]}")
    first, second = (
        "a game" if score is None else score.name
        for score in map(Score.of, (before.info, after.info))
    )
    if first != second:
        raise InputError(
            f"the scores differ, {first} before and {second} after: "
            "value both tables with the same scoring and method"
        )
    return Comparison(before, after)


def _largest(changes: Floats, n: int | None) -> Ints:
    return np.argsort(-np.abs(changes), kind="stable")[:n]


def _texts(values: CellValues, columns: Ints) -> list[Texts]:
    contents = values._contents or []
    labels = [] if values._labels is None else [values._labels]
    return list(zip(*(contents[j] for j in columns.tolist()), *labels, strict=True))


def _text(name: Any) -> str | None:
    return None if name is None else brief(str(name))
