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
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.match import Texts
    from shapley2d._valuation.values import CellValues

_FOLDER = "_valuation/comparison"
_OF_A_RUN = ("seconds", "n_utilities", "interrupted", "converged", "n_valid_used", "time_up")


@dataclass(frozen=True)
class _Side:
    """A valuation, and the positions of its rows and columns that the other has too."""

    of: CellValues
    rows: Ints
    columns: Ints

    def sums(self, what: str) -> tuple[Floats, Floats]:
        """The values of cells, of rows over these columns, or of whole columns; their errors."""
        if what == "columns":
            return self.of.column_values[self.columns], self.of.column_stderr[self.columns]
        here = np.ix_(self.rows, self.columns)
        if what == "rows":
            return self.of.values[here].sum(axis=1), self.of.row_stderr[self.rows]
        return self.of.values[here].ravel(), self.of.stderr[here].ravel()

    def names(self, what: str, order: Ints) -> dict[str, Any]:
        """The columns of a frame that name some of them."""
        i, j = divmod(order, self.columns.size) if what == "cells" else (order, order)
        named = {} if what == "columns" else self.of._row_columns(self.rows[i])
        if what != "rows":
            named["column"] = objects(self.of.column_names)[self.columns[j]]
        return named

    def entries(self, order: Ints) -> Any:
        """The entries of some cells as text."""
        places = zip(*divmod(order, self.columns.size), strict=True)
        return objects([self.of._entry(self.rows[i], self.columns[j]) for i, j in places])

    @property
    def texts(self) -> Iterator[list[str | None]]:
        """All entries, column by column."""
        contents = self.of._contents or []
        for j in self.columns.tolist() if contents else ():
            yield [contents[j][i] for i in self.rows.tolist()]


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
        return make_frame(self._moved("columns"), self.after._frame)

    def rows(self, n: int | None = 20) -> Any:
        """The rows that moved most, summed over the columns that both have."""
        return make_frame(self._moved("rows", n), self.after._frame)

    def cells(self, n: int | None = 20) -> Any:
        """The cells that moved most, with ``entry_before`` and ``entry``."""
        return make_frame(self._moved("cells", n), self.after._frame)

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
        units, own = self.after._units, self.before._units.points.factor
        record = {}
        for what, n, unit in (
            ("columns", None, units.points), ("rows", 200, units.rows), ("cells", 200, units.cells),
        ):  # fmt: skip
            moved = self._moved(what, n)
            record[what] = {
                "unit": typeset(unit.words) or "value",
                "named": {
                    name: [None if one is None else brief(str(one)) for one in moved[name]]
                    for name in (self.after._row_word, "column", "entry_before", "entry")
                    if name in moved
                },
                # each run by its own score
                "before": (unit.factor * own / units.points.factor * moved["before"]).tolist(),
                "after": (unit.factor * moved["after"]).tolist(),
                "certain": moved["certain"].tolist(),
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
    def _both(self) -> tuple[_Side, _Side]:
        """What both have."""
        both = self.before, self.after
        columns = np.array(matched_names(*(one.column_names for one in both)), dtype=np.intp)
        found = [*zip(both, columns.reshape(-1, 2).T, strict=True)]
        known = all(one._table is not None for one in both)
        texts = (lambda: [_texts(one, at) for one, at in found]) if known else None
        rows = matched_rows([one.row_names for one in both], texts)
        first, second = (_Side(one, at, of) for (one, of), at in zip(found, rows, strict=True))
        return first, second

    def _moved(self, what: str, n: int | None = None) -> dict[str, Any]:
        """What is named, its values before and after, and whether they differ for certain."""
        (before, error), (after, other) = (side.sums(what) for side in self._both)
        change = after - before
        factor = max(self.before._interval_factor, self.after._interval_factor)
        # equal but for rounding is equal
        rounding = 1e-9 * np.abs([before, after]).max(initial=0.0)
        certain = np.abs(change) > np.maximum(factor * np.hypot(error, other), rounding)
        order = np.argsort(-np.abs(change), kind="stable")[:n]
        moved = {"before": before, "after": after, "change": change, "certain": certain}
        names, entries = self._both[1].names(what, order), {}
        if what == "cells":
            both = zip(("entry_before", "entry"), self._both, strict=True)
            entries = {name: side.entries(order) for name, side in both}
        return names | entries | {name: part[order] for name, part in moved.items()}

    @cached_property
    def _sentences(self) -> list[str]:
        """What is the same, what is new, what moved."""
        before, after = self.before, self.after
        first, second = self._both
        both_texts = zip(first.texts, second.texts, strict=False)  # a game has none
        edited = sum(one != other for pair in both_texts for one, other in zip(*pair, strict=True))
        n_rows, n_columns = second.rows.size, second.columns.size
        both = f"{counted(n_rows, 'row')} and {counted(n_columns, 'column')} are in both tables"
        lines = [f"{both}; {counted(edited, 'entry differs', 'entries differ')}."]
        gone, more = len(before) - n_rows, len(after) - n_rows
        if gone or more:
            lines.append(f"New rows: {more:,}. Gone rows: {gone:,}.")
        for word, names, other in (("new", after, before), ("gone", before, after)):
            missing = [name for name in names.column_names if name not in other.column_names]
            if missing:
                cut = ", ..." if len(missing) > 8 else ""
                lines.append(f"Columns {word}: {', '.join(missing[:8])}{cut}.")
        moved, unit = self._moved("columns"), after._units.points
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
        unit, moved = self.after._units.points, self._moved("columns", 20)
        numbers = [
            map(typeset, unit.numbers(moved[key].tolist(), signed=True))
            for key in ("before", "after", "change")
        ]
        listed = [*zip(map(str, moved["column"]), *numbers, strict=True)]
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
        "a game" if one._run.score is None else one._run.score.name for one in (before, after)
    )
    if first != second:
        raise InputError(
            f"the scores differ, {first} before and {second} after: "
            "value both tables with the same scoring and method"
        )
    return Comparison(before, after)


def _texts(values: CellValues, columns: Ints) -> list[Texts]:
    """The entries of every row in these columns, and its label."""
    contents, labels = values._contents or [], values._labels
    parts: list[Sequence[str | None]] = [contents[j] for j in columns.tolist()]
    return [*zip(*parts, *([] if labels is None else [labels]), strict=True)]
