"""Texts among numbers that are no errors: words for missing, bounds and ranges such as ``<0.5``.

For inspections. Elsewhere they are strays, of which a warning tells, or make their column text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._tables.texts.column import text_column
from shapley2d._tables.texts.numbers import parse_numbers
from shapley2d._tables.texts.stray_rule import MAX_STRAYS, are_few

if TYPE_CHECKING:
    from shapley2d._tables.table import Column

_NUMBER = r"(\d+(?:[.,]\d+)?)"
_BOUND = re.compile(
    r"(?i)(?:[<>\u2264\u2265]=?|under|over|below|above|less than|more than|at least|at most|up to|"
    rf"unter|über|bis|mindestens|höchstens)\s*-?{_NUMBER}\D*|"
    rf"{_NUMBER}\s?(?:\+|(?:and|or) (?:more|over|older|less|under|younger))"
)
_RANGE = re.compile(rf"{_NUMBER}\s*[-\u2013]\s*{_NUMBER}")


def is_bound(text: str) -> bool:
    """Whether a text says that a number is below or above another one, or between two.

    >>> [is_bound(text) for text in ("<0.5", "> 100 mg/l", "under 20", "90+", "10-20")]
    [True, True, True, True, True]
    >>> [is_bound(text) for text in ("<html>", "about 20", "10115-0001")]
    [False, False, False]
    """
    ends = _RANGE.fullmatch(text)
    if ends is None:
        return _BOUND.fullmatch(text) is not None
    low, high = (float(end.replace(",", ".")) for end in ends.groups())
    return low < high


def inspected_column(
    texts: Any, key: str, *, kind: str | None = None, like: Column | None = None, **more: Any
) -> Column:
    """A typed column for an inspection, else as of :func:`text_column`.

    A column of text holds numbers if words for missing and bounds alone keep it from that: words in
    no more than a tenth of the rows, fewer different ones than numbers, and no more bounds than
    numbers.
    """
    column = text_column(texts, key, kind=kind, like=like, **more)
    if kind is None and like is None and column.kind == "category" and _are_numbers(column):
        column = text_column(texts, key, kind="number", **more)
        column = replace(column, from_text=replace(column.from_text, asked=False))
    return counted_as_missing(column, like)


def counted_as_missing(column: Column, known: Column | None = None) -> Column:
    """The column with bounds, and with words for missing, as marks instead of strays.

    Texts without digits stand for missing among numbers or dates if three rows or more have them;
    or if a ``known`` column has them, by which this one is read.
    """
    read = column.from_text
    rows = defaultdict(list)
    for row, text in read.strays.items():
        rows[text].append(row)
    marks = {
        text: np.array(some, dtype=np.intp)
        for text, some in rows.items()
        if is_bound(text) or (text in known.from_text.marks if known else _is_word(text, len(some)))
    }
    strays = {row: text for row, text in read.strays.items() if text not in marks}
    return replace(column, from_text=replace(read, strays=strays, marks=read.marks | marks))


def _is_word(text: str, times: int) -> bool:
    return times > 2 and not any(map(str.isdigit, text))


def _are_numbers(column: Column) -> bool:
    """Whether the categories of a column are numbers, but for words for missing and bounds.

    Words of up to three letters may be codes, as the numbers may be.
    """
    texts = np.array(column.categories, dtype=object)
    counts = np.bincount(column.entries[~np.isnan(column.entries)].astype(np.intp))
    is_long = [sum(map(str.isalpha, text)) > 3 for text in column.categories]
    words = np.array([*map(_is_word, column.categories, counts.tolist())]) & is_long
    bounds = np.array([*map(is_bound, column.categories)])
    others = ~words & ~bounds
    n_words, n_bounds, n_others = (int(counts[those].sum()) for those in (words, bounds, others))
    if n_words > MAX_STRAYS * counts.sum() or n_bounds > n_others or others.all():
        return False
    texts[~others] = None
    found = parse_numbers(pa.array(texts), counts)
    are_more = words.sum() < (~np.isnan(found.values)).sum()
    return bool(are_more) and are_few(found.strays, others, counts, found.values)
