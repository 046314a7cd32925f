"""The comparison of two valuations: frames, words and a page."""

from __future__ import annotations

import html
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
    from pathlib import Path

    from shapley2d._base.arrays import Ints
    from shapley2d._tables.match import Texts
    from shapley2d._valuation.values import CellValues, Part

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
            record=script_json(
                {
                    what: self._listed(what, None if what == "columns" else 200)
                    for what in ("columns", "rows", "cells")
                }
            ),
        )

    def open(self) -> Path:
        """Show the page in a browser, from a temporary file, and return its path."""
        return open_page(self.to_html)

    def _listed(self, what: str, n: int | None) -> dict[str, Any]:
        """What the page lists, in the unit in which people read it."""
        moved, units = self._moved(what, n), self.after._units
        unit = getattr(units, "points" if what == "columns" else what)
        own = self.before._units.points.factor / units.points.factor  # each run by its own score
        numbers = [moved.pop(name) for name in ("before", "after", "change", "certain")]
        if "line" in moved:  # people know rows by their lines
            del moved["row"]
        return {
            "unit": typeset(unit.words) or "value",
            "named": {
                name: [None if one is None else brief(str(one)) for one in texts]
                for name, texts in moved.items()
            },
            "before": (unit.factor * own * numbers[0]).tolist(),
            "after": (unit.factor * numbers[1]).tolist(),
            "certain": numbers[3].tolist(),
        }

    @cached_property
    def _both(self) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """The rows and the columns that both have, by their positions before and after."""
        both = self.before, self.after
        names = matched_names(*(one.column_names for one in both))
        columns = np.array(names, dtype=np.intp).reshape(-1, 2).T
        known = all(one._table is not None for one in both)
        texts = (lambda: [*map(_row_texts, both, columns)]) if known else None
        rows = matched_rows([one.row_names for one in both], texts)
        return (rows[0], columns[0]), (rows[1], columns[1])

    def _moved(self, what: str, n: int | None = None) -> dict[str, Any]:
        """What is named, its values before and after, and whether they differ for certain."""
        both = [*zip((self.before, self.after), self._both, strict=True)]
        (old, before), (new, after) = (_shared(one, *here, what) for one, here in both)
        change = after.values - before.values
        # equal but for rounding is equal
        rounding = 1e-9 * np.abs([before.values, after.values]).max(initial=0.0)
        reach = max(before.factor, after.factor) * np.hypot(before.stderr, after.stderr)
        certain = np.abs(change) > np.maximum(reach, rounding)
        order = np.argsort(-np.abs(change), kind="stable")[:n]
        named = after.named(order)
        if what == "cells":
            for name, one, at in (
                ("entry_before", self.before, old), ("entry", self.after, new)
            ):  # fmt: skip
                cells = (divmod(k, one.shape[1]) for k in at[order].tolist())
                named[name] = objects([one._entry(i, j) for i, j in cells])
        return named | {
            "before": before.values[order],
            "after": after.values[order],
            "change": change[order],
            "certain": certain[order],
        }

    @cached_property
    def _sentences(self) -> list[str]:
        """What is the same, what is new, what moved."""
        before, after = self.before, self.after
        (_, columns), (rows, _) = self._both
        first, second = (
            [text for column in _texts(one, here[1]) for text in column[here[0]]]
            for one, here in zip((before, after), self._both, strict=True)
        )
        # of a game there are none
        edited = sum(one != other for one, other in zip(first, second, strict=False))
        both = f"{counted(rows.size, 'row')} and {counted(columns.size, 'column')}"
        differ = counted(edited, "entry differs", "entries differ")
        lines = [f"{both} are in both tables; {differ}."]
        gone, more = len(before) - rows.size, len(after) - rows.size
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
        words = f"moved by more than the errors: {named} {unit.words}".rstrip()
        return [*lines, f"{counted(certain.size, 'column')} {words}."]

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
        said = "".join(f"<p>{html.escape(line)}</p>" for line in repr(self).split("\n"))
        return f"<div>{said}{html_table(listed, head)}</div>"


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


def _shared(valuation: CellValues, rows: Ints, columns: Ints, what: str) -> tuple[Ints, Part]:
    """Where the shared cells, rows or columns are, and what they are worth.

    A row is worth its cells in the shared columns; a column is worth what all its rows make it.
    """
    part, m = valuation._part(what), valuation.shape[1]
    at = {"rows": rows, "columns": columns}.get(what, np.add.outer(m * rows, columns).ravel())
    shared = part.take(at)
    if what == "rows":
        shared = shared._replace(values=valuation.values[np.ix_(rows, columns)].sum(axis=1))
    return at, shared


def _texts(valuation: CellValues, columns: Ints) -> list[Any]:
    """The entries of these columns as text, where there are any."""
    contents = valuation._contents or []
    return [objects(contents[j]) for j in columns.tolist() if contents]


def _row_texts(valuation: CellValues, columns: Ints) -> list[Texts]:
    """The entries of every row in these columns, and its label."""
    labels = [] if valuation._labels is None else [valuation._labels]
    return [*zip(*_texts(valuation, columns), *labels, strict=True)]
