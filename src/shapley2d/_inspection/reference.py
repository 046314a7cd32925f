"""New rows against a trusted table: what it teaches, and the rows judged by it.

The reference is the inspection of the trusted table. Its forests are grown again from its table and
seed, which gives the same trees bit by bit: so a file of an inspection is all that another process
needs, and nothing in it can be a forged tree. Every row is judged as if it were one more row of the
trusted table, whatever other rows come with it; only findings about columns look at the new rows
together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.in_threads import count_threads, map_in_threads
from shapley2d._inspection.cells import Expected, ScoredCells
from shapley2d._inspection.columns.find import find_in_columns
from shapley2d._inspection.columns.view import column_views
from shapley2d._inspection.novelty import NEGLIGIBLE, as_time_goes_on, find_new, wrong_if_new
from shapley2d._inspection.score import Lessons, judge_rows
from shapley2d._inspection.tables.marks import counted_as_missing
from shapley2d._inspection.tables.read import beyond_as_strays
from shapley2d._tables.kinds import as_category
from shapley2d._tables.table import Column, FromText, Table
from shapley2d._tables.texts.column import text_column
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.inspected import InspectedCells

_OF_PAIRS = ("repeated key", "near-duplicates")
"""Findings that name two rows, one of which may be the reference's: those of keys are made anew."""

_SAME = {
    "numbers far outside": ("new range", "arithmetic"),
    "new range": ("arithmetic",),
    "new format": ("formats",),
    "another type": ("notation", "suffix"),
    "new category": ("encoding", "spellings"),
    "missing entries": ("rule",),
}
"""Findings that say of the same rows what others say better."""


@dataclass(frozen=True)
class Reference:
    inspection: InspectedCells

    @property
    def cells(self) -> ScoredCells:
        return self.inspection._cells

    @property
    def table(self) -> Table:
        """The trusted table, by which text in new rows is read; the label left out."""
        columns = self.cells.columns[: self.inspection.shape[1]]
        return Table(columns, self.inspection.row_names)

    @property
    def label(self) -> Column | None:
        return self.cells.columns[-1] if self.cells.has_label else None

    @cached_property
    def lessons(self) -> Lessons:
        facts, columns = self.cells.info, self.cells.columns
        seed, trees = self.inspection.info.get("random_state", -1), facts.get("trees", 0)
        alone = facts.get("columns_not_predicted", [])
        if not (_is_whole(seed, 0) and _is_whole(trees, 1) and isinstance(alone, list)):
            raise InputError(
                "reference does not say how its trees were grown: inspect the trusted table again"
            )
        lessons = Lessons(columns, len(columns) - self.cells.has_classes, seed, trees)
        grown = [k for k, name in enumerate(lessons.names) if name not in alone]
        list(map_in_threads(lessons.grow, grown, count_threads(None)))
        return lessons

    def judge(
        self, table: Table, label: Table | None, n_jobs: int | None
    ) -> tuple[ScoredCells, list[ColumnFinding]]:
        """Score the cells of new rows, and find what is new in them.

        Columns that the reference does not have are not judged.
        """
        n, known = table.n_rows, len(self.cells.scores)
        given = {column.name: column for column in table.columns}
        own = self.cells.columns[: self.inspection.shape[1]]
        new = [
            _like(given[one.name], one) if one.name in given else _nothing(one, n) for one in own
        ]
        if (labels := self.label) is not None:
            there = None if label is None else label.columns[0]
            new.append(_nothing(labels, n) if there is None else _like(there, labels))
        both = tuple(map(_joined, self.cells.columns, new))
        together = Table(both[: len(own)], np.arange(known + n))
        views = column_views(Table(both, together.row_names), known)
        written = views[: len(own)]
        grown = {
            one.name
            for one in both
            if not np.array_equal(as_time_goes_on(one, known), one.entries[known:], equal_nan=True)
        }
        found = [
            one
            for one in _of_new_rows(find_in_columns(together, written), known)
            if one.columns[0] in given and one.kind not in _OF_PAIRS
            # far as time goes on: find_new looks at what is beyond
            if one.kind != "numbers far outside" or one.columns[0] not in grown
        ]
        found += find_new(self.table, table, written)
        found.sort(key=lambda one: -one.probability)
        below = [
            replace(
                one,
                rows=one.rows + known,
                suggestions={known + i: text for i, text in one.suggestions.items()},
            )
            for one in found
            if any(one.columns[0] == column.name for column in both)
        ]
        threads = count_threads(n_jobs)
        about = [*self.inspection.findings, *below]
        judged = judge_rows(self.lessons, views, about, threads)
        shown = [*table.columns, *(() if label is None else label.columns)]
        return _arranged(judged, shown, label is not None), _told_once(found)


def _is_whole(number: Any, least: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= least


def _nothing(column: Column, n: int) -> Column:
    """A column that the new rows do not have."""
    return Column(column.name, column.kind, np.full(n, np.nan), column.categories)


def _like(column: Column, known: Column) -> Column:
    """A column of new rows with the type of the reference's; what is of another type strays.

    New categories get codes behind the reference's.
    """
    if known.kind == "category":
        if column.kind != "category":
            column = as_category(column.text(), column.name)
        place: dict[Any, int] = {word: code for code, word in enumerate(known.categories)}
        # labels of classes may be 1 here and 1.0 there
        numbers = {_number(word): code for word, code in place.items() if _number(word) is not None}
        unseen = [
            word for word in column.categories if word not in place and _number(word) not in numbers
        ]
        place |= {word: len(known.categories) + k for k, word in enumerate(unseen)}
        codes = [place.get(word, numbers.get(_number(word))) for word in column.categories]
        recoded = np.array([*codes, np.nan], dtype=np.float64)
        at = np.nan_to_num(column.entries, nan=len(column.categories)).astype(np.intp)
        categories = (*known.categories, *unseen)
        return replace(column.with_entries(recoded[at]), categories=categories)
    unit = known.from_text.unit
    if column.kind == known.kind and unit in ("", column.from_text.unit):
        return column
    if {column.kind, known.kind} == {"number", "boolean"} and np.isin(
        column.entries[~np.isnan(column.entries)], (0, 1)
    ).all():
        return replace(column, kind=known.kind)
    texts = column.text()
    if known.kind in ("number", "date"):
        array, notation = pa.array(texts, pa.string()), known.from_text.notation
        try:
            like = known if unit else None
            read = text_column(array, column.name, kind=known.kind, notation=notation, like=like)
            if (finite := beyond_as_strays(read)).kind == known.kind:
                return finite
        except InputError:  # not one entry can be read so
            pass
    strays = {i: text for i, text in enumerate(texts) if text is not None}
    return Column(column.name, known.kind, np.full(len(texts), np.nan), (), FromText(strays))


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _joined(known: Column, new: Column) -> Column:
    """The reference's column with the new rows below, written and read as the reference's."""
    new = counted_as_missing(new, known)
    n, own, others = known.entries.size, known.from_text, new.from_text
    words = codes = None
    if known.kind == "category" or own.words is not None or others.words is not None:
        texts = [*known.text(), *new.text()]
        distinct = [text for text in dict.fromkeys(texts) if text is not None]
        place: dict[Any, int] = {None: -1, **{text: k for k, text in enumerate(distinct)}}
        words = np.array([*distinct, None], dtype=object)
        codes = np.array([place[text] for text in texts], dtype=np.int32)
    strays = own.strays | {n + row: text for row, text in others.strays.items()}
    marks = dict(own.marks)
    for word, rows in others.marks.items():
        marks[word] = np.append(marks.get(word, rows[:0]), rows + n)
    read = replace(own, strays=strays, words=words, codes=codes, marks=marks)
    entries = np.concatenate([known.entries, new.entries])
    return Column(known.name, known.kind, entries, new.categories, read)


def _of_new_rows(findings: Sequence[ColumnFinding], known: int) -> list[ColumnFinding]:
    """Findings about both tables, as far as they are about rows below the first."""
    found = []
    for one in findings:
        new = one.rows >= known
        # what the trusted table has as well is usual there
        most = wrong_if_new(known, float((~new).sum()))
        if not new.any() or most < NEGLIGIBLE:
            continue
        text = one.text
        if not new.all():
            text += f" ({new.sum():,} of the {new.size:,} rows are new, the others the reference's)"
        chances = np.minimum(one.row_chances[new], most)
        if one.kind == "formats" and new.all():  # not one of the trusted table's is written so
            chances = np.full(new.size, most)
        found.append(
            replace(
                one,
                text=text,
                rows=one.rows[new] - known,
                suggestions={i - known: new for i, new in one.suggestions.items() if i >= known},
                chances=chances,
                right=None if one.right is None else one.right[new],
                probability=float(chances.mean()),
            )
        )
    return found


def _told_once(findings: Sequence[ColumnFinding]) -> list[ColumnFinding]:
    """The findings without those whose rows others name for the same reason."""
    rows = {(one.columns[0], one.kind): {*one.rows.tolist()} for one in findings}

    def is_said(one: ColumnFinding) -> bool:
        better = [rows.get((one.columns[0], kind), set()) for kind in _SAME.get(one.kind, ())]
        return bool(better) and {*one.rows.tolist()} <= set().union(*better)

    return [one for one in findings if not is_said(one)]


def _arranged(judged: ScoredCells, shown: Sequence[Column], has_label: bool) -> ScoredCells:
    """The cells in the order of the new table's columns; those not judged are what is expected."""
    names, n = judged.names, len(judged.scores)
    places = [names.index(one.name) if one.name in names else -1 for one in shown]
    if has_label:
        places[-1] = len(names) - 1
    shown_at = list(zip(places, shown, strict=True))

    def taken(matrix: Any) -> Any:
        extended = np.concatenate([matrix, np.zeros((n, 1), dtype=matrix.dtype)], axis=1)
        return np.ascontiguousarray(extended[:, places])

    back = {j: k for k, j in enumerate(places) if j >= 0}
    like = judged.written_like or judged.columns
    return replace(
        judged,
        columns=tuple(one if j < 0 else judged.columns[j] for j, one in shown_at),
        has_label=has_label,
        has_classes=has_label and judged.has_classes,
        scores=taken(judged.scores),
        probability=taken(judged.probability),
        expected=tuple(
            Expected(one.entries) if j < 0 else judged.expected[j] for j, one in shown_at
        ),
        parts={name: taken(part) for name, part in judged.parts.items()},
        notes={(i, back[j]): text for (i, j), text in judged.notes.items() if j in back},
        suggested={(i, back[j]): new for (i, j), new in judged.suggested.items() if j in back},
        written_like=tuple(one if j < 0 else like[j] for j, one in shown_at),
    )
