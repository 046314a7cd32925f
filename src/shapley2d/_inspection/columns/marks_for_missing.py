"""Words that stand for a missing entry: ``N/A``, ``UNKNOWN``, ``ERROR``, in any column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import plural
from shapley2d._inspection.columns.finding import ColumnFinding, shortened
from shapley2d._tables.texts.stray_rule import MISSING, MISSING_AMONG_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._inspection.columns.finding import WrittenColumn

_ERRORS = frozenset(
    ("error", "#error", "#ref!", "#div/0!", "#value!", "#name?", "#num!", "#null!", "undefined")
)
"""What programs write where they fail: never meant."""

_NOTHING = frozenset(
    ("k.a.", "k. a.", "k.a", "keine angabe", "unbekannt", "n.n.", "s.o.", "s/d", "sin datos",
     "s.d.", "n.c.", "non renseigné", "inconnu", "tbd", "tba",
     "not given", "not specified", "no value")
)  # fmt: skip
"""In other languages, and what is not counted as missing elsewhere."""

_MEANT = frozenset(
    ("-", "--", "---", ".", "..", "...", "none", "unknown", "unk", "nil", "other", "na", "?",
     "unbekannt", "inconnu", "not applicable")
)  # fmt: skip
"""Also meant, among categories: no garage, an unknown owner."""

# Set on hospital, beers and on words planted into clean tables; of words that are a usual category,
# 4 % of 7,206 were errors in the tables of benchmarks/calibration.py.
_SURE, _BESIDE, _ALONE, _RARE, _CATEGORY, _OWN = 0.9, 0.8, 0.5, 0.3, 0.1, 0.15
_USUAL_CATEGORY = 0.02  # a category of this share of the rows is one


def find_marks_for_missing(columns: Sequence[WrittenColumn]) -> list[ColumnFinding]:
    """Words for nothing, each with how likely it is not what the makers of the table meant.

    A table may mark all its gaps with one word. A word beside another mark of the same column, or
    that a failing program wrote, is none of that.

    Examples
    --------
    >>> from shapley2d._inspection.columns.finding import written_columns
    >>> from shapley2d._tables.convert import as_table
    >>> X = {"item": ["tea", "cake", "milk"] * 9 + ["ERROR"], "n": ["1", "2", "3"] * 9 + ["N/A"]}
    >>> found = find_marks_for_missing(written_columns(as_table(X)))
    >>> [(finding.columns[0], finding.probability) for finding in found]
    [('item', 0.9), ('n', 0.5)]
    """
    marks = [_marks(column) for column in columns]
    everywhere: dict[str, int] = {}
    for of_column in marks:
        for word in {column_word.lower() for column_word in of_column.values()}:
            everywhere[word] = everywhere.get(word, 0) + 1
    has_gaps = any((column.codes < 0).any() for column in columns)
    found = []
    for column, of_column in zip(columns, marks, strict=True):
        if not of_column or len(of_column) == len(column.words):
            continue
        chances = {
            code: _chance(column, code, of_column, everywhere, has_gaps=has_gaps)
            for code in of_column
        }
        chosen = np.zeros(len(column.words), dtype=bool)
        chosen[list(of_column)] = True
        rows = column.rows(chosen)
        of_rows = np.array([chances[int(column.codes[i])] for i in rows])
        own = _own_mark(column, of_column)
        named = ", ".join(shortened(word) for word in sorted(set(of_column.values()))[:3])
        found.append(
            ColumnFinding(
                (column.name,),
                "words for missing",
                f"{column.counted_entries(rows)} {plural(rows.size, 'is', 'are')} {named}, which "
                f"counts as missing: leave {plural(rows.size, 'it', 'them')} empty, or find the "
                "right entry",
                rows,
                {i: "" if column.word(i) == own else own for i in rows.tolist()},
                float(of_rows.mean()),
                of_rows,
            )
        )
    return found


def _marks(column: WrittenColumn) -> dict[int, str]:
    """The words for nothing among the texts of a column, by position."""
    if not column.is_text:
        return {}
    return {
        k: word
        for k, word in enumerate(column.words)
        if column.counts[k]
        and (word in MISSING or word.lower() in (*MISSING_AMONG_NUMBERS, *_ERRORS, *_NOTHING))
    }


def _own_mark(column: WrittenColumn, marks: dict[int, str]) -> str:
    """How the column marks what is missing: by nothing, or by the word that it has most of."""
    first, *others = sorted(marks, key=lambda code: -column.counts[code])
    is_most = others and column.counts[first] > column.counts[others[0]]
    return marks[first] if is_most and (column.codes >= 0).all() else ""


def _chance(
    column: WrittenColumn,
    code: int,
    marks: dict[int, str],
    everywhere: dict[str, int],
    *,
    has_gaps: bool,
) -> float:
    word, count = marks[code].lower(), int(column.counts[code])
    if word in _ERRORS:
        return _SURE
    if any(other.lower() in _ERRORS for other in marks.values()):
        return _BESIDE
    others = [int(column.counts[k]) for k in marks if k != code] + [int((column.codes < 0).sum())]
    is_meant = column.column.kind == "category" and word in _MEANT
    if is_meant and count >= _USUAL_CATEGORY * column.n_written:
        return _CATEGORY
    if max(others) > count:
        return _BESIDE
    if everywhere[word] > 1 and not has_gaps and len(everywhere) == 1:
        return _OWN
    return _RARE if is_meant else _ALONE
