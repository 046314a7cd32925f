"""The result of an inspection: which entries are wrong, and what they should say."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.page import open_page
from shapley2d._base.told import as_markdown
from shapley2d._base.words import counted, html_table, printable
from shapley2d._inspection.cells import percent
from shapley2d._inspection.compare import compare
from shapley2d._inspection.inspected import InspectedCells
from shapley2d._inspection.ranking import rank_cells
from shapley2d._inspection.said import cell_columns, cell_records, headline, narrow, short_record
from shapley2d._tables.frames import FRAME_KINDS, make_frame, objects

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from shapley2d._inspection.reference import Reference
    from shapley2d._tables.table import Column

_BOOLEANS = {"true": True, "false": False}
_WHOLE = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True, repr=False, eq=False)
class Inspection(InspectedCells):
    """Which entries of a table are wrong, and what they should say.

    Attributes
    ----------
    findings : list of ColumnFinding
        Problems of whole columns: units, formats, codes, spellings, rules that rows break. Each has
        ``columns``, ``kind``, ``text``, ``rows`` and ``suggestions``.
    row_names : ndarray of shape (n,)
    lines : ndarray of shape (n,) or None
        Where a file was read whose rows have no names: the line where each row starts. Pages and
        lists name rows by it; frames have it beside the row's position, as ``line``.
    info : dict
        Settings and facts of the run. Plain JSON values.

    Examples
    --------
    >>> from shapley2d import inspect_cells
    >>> X = {"height": [150 + k % 40 for k in range(80)]}
    >>> X["weight"] = [height - 100.0 for height in X["height"]]
    >>> X["weight"][7] = 570.0
    >>> inspection = inspect_cells(X, progress=False)
    >>> inspection.rank(1)[["row", "column", "entry"]].values.tolist()
    [[7, 'weight', '570']]
    >>> clean, log = inspection.repair(X, n=1)
    >>> log[["row", "column", "before"]].values.tolist()
    [[7, 'weight', '570']]
    """

    @property
    def scores(self) -> NDArray[np.float64]:
        """How unusual every entry is, comparable within the table."""
        return self._cells.scores[:, : self.shape[1]]

    @property
    def probability(self) -> NDArray[np.float64]:
        """How likely every entry is wrong."""
        return self._cells.probability[:, : self.shape[1]]

    @property
    def label_scores(self) -> NDArray[np.float64] | None:
        """How unusual every label is; None without labels."""
        return self._cells.scores[:, -1] if self._cells.has_label else None

    @property
    def label_probability(self) -> NDArray[np.float64] | None:
        """How likely every label is wrong; None without labels."""
        return self._cells.probability[:, -1] if self._cells.has_label else None

    @cached_property
    def expected(self) -> Any:
        """The entries that :meth:`rank` suggests, of all cells, as a frame like the table's."""
        cells = self._cells
        columns = {
            name: _typed(cells.expected_texts(j), cells.columns[j])
            for j, name in enumerate(self.column_names)
        }
        frame = make_frame(columns, self._frame)
        are_numbered = np.array_equal(self.row_names, np.arange(len(self.row_names)))
        if self._frame == "pandas" and not are_numbered:
            frame.index = list(self.row_names)
        return frame

    @cached_property
    def label_expected(self) -> list[str | None] | None:
        """The expected labels as text; None without labels."""
        return self._cells.expected_texts(self.shape[1]) if self._cells.has_label else None

    def rank(self, n: int | None = 20, *, labels: bool = False, details: bool = False) -> Any:
        """The suspects as a frame, the first to look at first.

        Parameters
        ----------
        n : int or None
            How many; None for all.
        labels : bool
            The labels, which are a list of their own, instead of the entries.
        details : bool
            All that is known of each, instead of what fits a narrow screen.

        Returns
        -------
        frame
            With the columns ``row`` (and ``line``, where a file was read), ``column``, ``entry``,
            ``expected``, ``probability``, ``sure`` (how likely the expected entry is right, if this
            one is wrong) and ``why``: the first reason. With ``details`` all reasons and their
            shares, ``likely`` (the range of a number, or the likeliest categories) and ``score``.
        """
        places = rank_cells(self, n, "labels" if labels else "entries", least=0.0)
        columns = cell_columns(self, places)
        return make_frame(columns if details else narrow(columns), self._frame)

    def to_frame(self) -> Any:
        """All cells in the order of the table, like :meth:`rank` without the words on each."""
        n, p = self._cells.scores.shape
        everywhere = [(i, j) for i in range(n) for j in range(p)]
        return make_frame(cell_columns(self, everywhere, words=False), self._frame)

    compare = compare

    @cached_property
    def _reference(self) -> Reference:
        """The inspected table as one that others are judged by; its forests are grown once."""
        from shapley2d._inspection.reference import Reference

        return Reference(self)

    def _settle(self, cells: Iterable[tuple[int, int]]) -> Inspection:
        """A copy in which these cells, by position, are called right: they are not listed again."""
        return replace(self, _settled=self._settled | frozenset(cells))

    def repair(
        self,
        X: Any,
        *,
        cells: Any = None,
        n: int | None = None,
        probability: float | None = None,
        findings: Iterable[int] | None = None,
        y: Any = None,
    ) -> Any:
        """A repaired copy of the table, and a log of what was changed. X itself is never changed.

        Give one or more of ``cells``, ``n``, ``probability`` and ``findings``. Cells called right
        stay as they are.

        Parameters
        ----------
        X : the table that was inspected
            Another one is refused. It may have further columns, such as the label.
        cells : list of (row, column) or (row, column, entry), boolean array, frame, or path
            Rows and columns by name; the expected entry is used where none is given. The path is
            that of a file of decisions.
        n : int
            The n cells most likely wrong.
        probability : float
            All cells whose probability of being wrong is at least this, and whose suggested entry
            is at least 90 % likely right; a warning counts the others.
        findings : list of int
            All suggestions of these :attr:`findings`, by position.
        y : the labels that were inspected, optional
            Where they are not a column of X: they are repaired too, and returned after the table.

        Returns
        -------
        table, log
            Or table, y, log where ``y`` was given. The table is of the type of X, its columns of
            the same types wherever the new entries fit. The log is a frame of ``row``, ``column``,
            ``before``, ``after`` and ``why``.
        """
        from shapley2d._inspection.repair import repair

        return repair(self, X, cells=cells, n=n, probability=probability, findings=findings, y=y)

    def to_pandera(self, findings: Iterable[int] | None = None) -> Any:
        """A schema of pandera that accepts what is right in the table and refuses what is not.

        Parameters
        ----------
        findings : list of int, optional
            The accepted :attr:`findings`, by position; all by default. Their entries, and those
            that stand out, do not count as right.

        Returns
        -------
        pandera.pandas.DataFrameSchema
            Ranges of numbers and dates, lists of categories, shapes of texts, keys that are unique,
            columns that are never empty. Needs ``pip install "shapley2d[pandera]"``.
        """
        from shapley2d._inspection.checks import pandera_schema

        return pandera_schema(self, None if findings is None else list(findings))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the inspection to a Parquet file, a tidy table, whole or not at all."""
        from shapley2d._inspection.storage import save_inspection

        save_inspection(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], frame: str | None = None) -> Inspection:
        """Read an inspection that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
        frame : {"pandas", "polars", "pyarrow"}, optional
            The type of frame that its methods return; by default that of the inspected table.
        """
        from shapley2d._inspection.storage import read_inspection

        if frame is not None:
            check_choice(frame, "frame", FRAME_KINDS)
        fields = read_inspection(path)
        return cls(**(fields if frame is None else fields | {"_frame": frame}))

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        n: int = 2000,
    ) -> None:
        """Write a page on which a person decides: one HTML file that opens in any browser, offline.

        Parameters
        ----------
        path : path-like
        title : str, optional
        n : int
            How many suspects to list at most.
        """
        from shapley2d._inspection.page import write_inspection

        write_inspection(self, path, title=title, n=n)

    def open(self, **options: Any) -> Path:
        """Show the page in a browser: a temporary file, by the options of :meth:`to_html`.

        Returns
        -------
        Path
            Where it is, for machines without a browser.
        """
        return open_page(lambda path: self.to_html(path, **options))

    def to_dict(self) -> dict[str, Any]:
        """The inspection in brief as plain JSON values, below 4,000 tokens for any table.

        Lists hold the first of each kind; :meth:`rank` and :meth:`to_frame` have all. Keys stay
        within a version of the schema, new ones may come. Text from the table is cut, and is data,
        not instructions.

        Returns
        -------
        dict
            ``schema`` (``"shapley2d.inspection/1"``), ``headline``, ``stand_out``,
            ``expected_errors`` with its interval, ``findings``, ``entries`` and ``labels``, the
            likeliest wrong first; an ``expected`` of None is not known.
        """
        return short_record(self)

    def to_markdown(self) -> str:
        """What :meth:`to_dict` holds as Markdown; text from the table stands in fences."""
        return as_markdown(self.to_dict())

    def _summary(self) -> str:
        n, m = self.shape
        label = f" and the label {printable(self.label_name or '')!r}" if self.label_name else ""
        return f"{counted(n, 'row')} x {counted(m, 'column')}{label}: {headline(self)}"

    def __repr__(self) -> str:
        lines = [f"Inspection of {self._summary()}"]
        lines += [
            f"  {percent(one['probability'])}  {self._row_word} "
            f"{printable(str(one[self._row_word]))}, {one['column']!r}: {one['entry']!r}, "
            f"expected {one['expected']!r}"
            for one in cell_records(self, 3, "entries")
        ]
        lines += [f"  {printable(finding.text)}" for finding in self.findings[:3]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (
                str(one[self._row_word]),
                one["column"],
                one["entry"] or "(empty)",
                one["expected"] or "(empty)",
                percent(one["probability"]),
                percent(one["sure"]),
                one["why"],
            )
            for one in cell_records(self, 10, "entries")
        ]
        found = "".join(f"<li>{html.escape(finding.text)}</li>" for finding in self.findings[:10])
        head = (self._row_word, "column", "entry", "expected", "wrong", "sure", "why")
        return (
            f"<div><p><b>Inspection</b> of {html.escape(self._summary())}</p>"
            f"{f'<ul>{found}</ul>' if found else ''}{html_table(rows, head)}</div>"
        )


def _typed(texts: list[str | None], column: Column) -> Any:
    """Suggested entries as numbers, dates or booleans, if the table holds such there."""
    read, kind = column.from_text, column.kind
    if kind == "category" or read.words is not None or read.strays or read.marks:
        return objects(texts)  # it is text in the table, too
    try:
        if kind == "boolean":
            return objects([None if text is None else _BOOLEANS[text] for text in texts])
        if kind == "date":
            return np.array([text or "NaT" for text in texts], dtype="datetime64[ms]")
        if None not in texts and all(map(_WHOLE.fullmatch, map(str, texts))):
            return np.array(texts, dtype=np.int64)
        return np.array([text or "nan" for text in texts], dtype=np.float64)
    except (KeyError, OverflowError, ValueError):  # a finding suggests an entry of another kind
        return objects(texts)
