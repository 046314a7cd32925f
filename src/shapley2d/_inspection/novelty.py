"""What is new in rows, compared with a trusted table: columns, categories, formats, ranges, keys.

How likely an entry of a new kind is wrong follows from how often the trusted table itself met
something for the first time. Of its n entries f kinds occur once, so that the next correct entry is
of a new kind with probability f / n (Good 1953, doi:10.1093/biomet/40.3-4.237). With
:data:`ERRORS` of all entries wrong in this way, the others follow by Bayes' rule, and at most that
share of correct entries is called likelier wrong than right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.finding import RARE, fact
from shapley2d._inspection.columns.view import shape_of, shortened
from shapley2d._tables.column_warnings import find_keys
from shapley2d._tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView
    from shapley2d._tables.table import Column

ERRORS = 0.002
"""Share of entries that are errors of one kind, before anything is known of them."""

NEGLIGIBLE = ERRORS / RARE
"""What is less likely wrong than this is not told."""

NEW = ("another type", "known key", "missing entries", "new category", "new format", "new range",
       "repeated key")  # fmt: skip
"""Kinds of findings about entries that the trusted table does not have."""

_DIGITS = re.compile(r"\d+")


def wrong_if_new(n: int, once: float) -> float:
    """How likely an entry of a new kind is wrong, if of n correct entries ``once`` were of theirs.

    >>> round(wrong_if_new(3000, 0), 2), round(wrong_if_new(3000, 1500), 3)
    (0.92, 0.004)
    """
    return ERRORS / (ERRORS + (once + 0.5) / (n + 1))


def find_new(known: Table, new: Table, together: list[ColumnView]) -> list[ColumnFinding]:
    """Everything that new rows have and a trusted table does not, or the other way round.

    Columns stand ``together``: those of the trusted table, with the new rows below its own.
    """
    n, names = known.n_rows, set(new.column_names)
    keys = {key.name for key in find_keys(known)}
    found = [*_columns(known, new)]
    for column in together:
        if column.name not in names:
            continue
        if column.name in keys:
            found += _keys(column, n)
        found += _types(column, n)
        found += _missing(column, n)
        if column.column.kind in ("category", "boolean"):
            found += list(_categories(column, n)) or _formats(column, n)
        else:
            found += _formats(column, n)
            ranges = list(_ranges(column, n))
            found += ranges
            if any(2 * one.rows.size > new.n_rows for one in ranges):
                continue  # that it has moved is told
        if column.name not in keys and column.column.kind != "date":
            found += _moved(column, n, known.n_columns)
    return found


def as_time_goes_on(column: Column, known: int) -> Floats:
    """The new entries of a column, as they were if the table had been made when they were.

    Dates, and numbers that count the rows, grow. A table covers a span; what lies behind its end is
    one span nearer, and as usual as its end up to there. Whole numbers of a key are all as usual as
    those of the table. The column has the new rows below the ``known``.
    """
    entries, new = column.entries[:known], column.entries[known:]
    there = entries[~np.isnan(entries)]
    if not there.size:
        return new
    first, last = there.min(), there.max()
    if find_keys(Table((column.with_entries(entries),), entries)) and column.kind == "number":
        is_usual = (new == np.round(new)) & ((new >= 0) | (first < 0))
        return np.where(is_usual, np.clip(new, first, last), new)
    counts = column.kind == "number" and there.size == known == np.unique(there).size
    if not (column.kind == "date" or (counts and (there == there.round()).all())):
        return new
    return np.where(new > last, np.maximum(last, new - (last - first)), new)


def _columns(known: Table, new: Table) -> Iterator[ColumnFinding]:
    """Columns that are missing, new or in another order; told of the table's first column."""
    ours, theirs = known.column_names, new.column_names
    first = theirs[0]
    for name in [one for one in ours if one not in theirs]:
        yield fact(first, "missing column", f"there is no column {name!r}: the reference has it")
    for name in [one for one in theirs if one not in ours]:
        text = f"{name!r} is a new column: the reference does not have it, so it is not judged"
        yield fact(name, "new column", text)
    both = [name for name in ours if name in theirs]
    order = [name for name in theirs if name in ours]
    if both != order:
        moved = next(one for one, other in zip(order, both, strict=True) if one != other)
        text = f"the columns are in another order than the reference's, from {moved!r} on"
        yield fact(moved, "column order", text)


def _told(
    column: ColumnView, n: int, kind: str, rows: Ints, words: str, chance: float | Floats
) -> Iterator[ColumnFinding]:
    """A finding about some of the new rows, if there are any; ``words`` is its predicate."""
    # a finding without a chance is a mere fact
    if rows.size and not 0 < np.max(chance) < NEGLIGIBLE:
        size = column.codes.size - n
        share = f" ({100 * rows.size / size:.2g} %)" if rows.size < size else ""
        of_all = f"{rows.size:,} of {counted(size, 'entry', 'entries')} of {column.name!r}{share}"
        yield column.finding(kind, f"{of_all} {words}", rows, chance=chance)


def _examples(texts: Iterable[str]) -> str:
    """The first three different texts."""
    words = list(dict.fromkeys(texts))
    shown = ", ".join(shortened(word) for word in words[:3])
    return shown + (f" and {len(words) - 3:,} more" if len(words) > 3 else "")


def _seen(codes: Ints, n: int) -> Ints:
    """How often the reference has each code; -1 is none."""
    known = codes[:n]
    return np.bincount(known[known >= 0], minlength=codes.max(initial=0) + 1)


def _keys(column: ColumnView, n: int) -> Iterator[ColumnFinding]:
    """Entries of a key that the reference has already, or that come twice."""
    before, new = _seen(column.codes, n), column.codes[n:]
    chance = wrong_if_new(n, float((before > 1).sum()))
    is_known = (new >= 0) & (before[new] > 0)
    rows = np.flatnonzero(is_known)
    if rows.size:
        words = (
            f"{plural(rows.size, 'is', 'are')} in the reference already, such as "
            f"{shortened(column.word(n + rows[0]))}: check whether the row is new"
        )
        yield from _told(column, n, "known key", rows, words, chance)
    again = np.bincount(new[new >= 0], minlength=before.size)
    rows = np.flatnonzero((new >= 0) & ~is_known & (again[new] > 1))
    words = f"{plural(rows.size, 'comes', 'come')} more than once, but the reference's all differ"
    yield from _told(column, n, "repeated key", rows, words, chance)


def _types(column: ColumnView, n: int) -> Iterator[ColumnFinding]:
    """Text among numbers or dates."""
    known, kind = column.column, column.column.kind
    strays = np.array([i for i in known.from_text.strays if np.isnan(known.entries[i])], np.intp)
    rows = strays[strays >= n] - n
    texts = sorted(known.from_text.strays[i] for i in strays[strays >= n].tolist())
    words = f"{plural(rows.size, f'is not a {kind}', f'are not {kind}s')}: {_examples(texts)}"
    # texts of which the reference has many are codes
    chance = wrong_if_new(n, float((strays < n).sum()))
    yield from _told(column, n, "another type", rows, words, chance)


def _missing(column: ColumnView, n: int) -> Iterator[ColumnFinding]:
    """Empty cells, if the reference has hardly any."""
    gone = column.codes < 0
    chance = wrong_if_new(n, float(gone[:n].sum()))
    rows = np.flatnonzero(gone[n:])
    if chance >= 0.5:
        words = f"{plural(rows.size, 'is', 'are')} empty, as hardly any of the reference's are"
        yield from _told(column, n, "missing entries", rows, words, chance)


def _formats(column: ColumnView, n: int) -> Iterator[ColumnFinding]:
    """Shapes of texts that the reference does not have: of words without, of numbers with units."""
    if not column.is_text:
        return
    is_word = column.column.kind in ("category", "boolean")
    shapes = [shape_of(word) if is_word else _DIGITS.sub("9", word) for word in column.words]
    place = {shape: k for k, shape in enumerate(dict.fromkeys(shapes))}
    codes = np.array([*(place[shape] for shape in shapes), -1])[column.codes]
    codes[list(column.column.from_text.strays)] = -1
    codes[[row for rows in column.column.from_text.marks.values() for row in rows]] = -1
    what = "written in a way that the reference does not have"
    yield from _of_new_kinds(column, n, "new format", codes, what, least=0.5)


def _categories(column: ColumnView, n: int) -> Iterator[ColumnFinding]:
    """Categories that the reference does not have."""
    codes = np.nan_to_num(column.column.entries, nan=-1.0).astype(np.intp)
    what = f"none of the reference's {int((_seen(codes, n) > 0).sum()):,} categories"
    yield from _of_new_kinds(column, n, "new category", codes, what)


def _of_new_kinds(
    column: ColumnView, n: int, kind: str, codes: Ints, what: str, least: float = 0.0
) -> Iterator[ColumnFinding]:
    """Entries whose code the reference does not have; where it has most once, they are usual."""
    seen = _seen(codes, n)
    rows = np.flatnonzero(((codes >= 0) & (seen[codes] == 0))[n:])
    chance = wrong_if_new(n, float((seen == 1).sum()))
    if chance >= least:
        texts = _examples(column.word(n + i) for i in rows.tolist())
        words = f"{plural(rows.size, 'is', 'are')} {what}: {texts}"
        yield from _told(column, n, kind, rows, words, chance)


def _ranges(column: ColumnView, n: int) -> Iterator[ColumnFinding]:
    """Numbers and dates outside the reference's, if more than chance puts there or far outside.

    Far is farther off than the reference is wide, which its own extremes may be of its others.
    """
    from scipy.special import bdtrc  # scipy.stats takes a second to import

    entries, new = column.column.entries, as_time_goes_on(column.column, n)
    known = np.sort(entries[:n][~np.isnan(entries[:n])])
    if known.size < FEWEST_ROWS or known[0] == known[-1]:
        return
    low, high = float(known[0]), float(known[-1])
    off = np.maximum(low - new, new - high)
    rows = np.flatnonzero(off > 0)
    far = off[rows] > high - low
    own = (high - known[-2] > known[-2] - low) + (known[1] - low > high - known[1])
    by_chance = float(bdtrc(rows.size - 1, new.size, 2 / (known.size + 1)))
    if not far.any() and by_chance > ERRORS:
        return
    # where time puts most rows outside, not every entry is wrong
    many = new.size >= FEWEST_ROWS and rows.size > new.size / 2
    moved = many and np.count_nonzero(new != entries[n:]) > new.size / 2
    chance = np.where(far & (not moved), wrong_if_new(known.size, float(own)), 0.0)
    ends = [column.word(int(np.flatnonzero(entries[:n] == end)[0])) for end in (low, high)]
    farthest = rows[np.argsort(-off[rows], kind="stable")]
    words = (
        f"{plural(rows.size, 'lies', 'lie')} outside the reference's range, {ends[0]} to "
        f"{ends[1]}: {_examples(column.word(n + i) for i in farthest)}"
    )
    words += ": has the unit changed?" if many and column.column.kind == "number" else ""
    yield from _told(column, n, "new range", rows, words, chance)


def _moved(column: ColumnView, n: int, columns: int) -> Iterator[ColumnFinding]:
    """A distribution that is not the reference's, with the share of rows that must differ."""
    entries = column.column.entries
    known, new = (part[~np.isnan(part)] for part in (entries[:n], entries[n:]))
    if min(known.size, new.size) < 20:
        return
    if column.column.kind in ("category", "boolean"):
        names = column.column.categories or ("false", "true")
        parts = (known, new)
        counts = np.array([np.bincount(one.astype(np.intp), minlength=len(names)) for one in parts])
        there, here = counts[0] / known.size, counts[1] / new.size
        counts = counts[:, counts[0] > 0]  # others are told apart
        size, total = counts[1].sum(), counts.sum()
        if not size:
            return
        share = float(np.abs(counts[0] / known.size - counts[1] / size).sum() / 2)
        often = counts.sum(axis=0) * size >= 5 * total  # the others count as one
        counts = np.column_stack([counts[:, often], counts[:, ~often].sum(axis=1)])
        chance = _by_chance(counts[:, counts.sum(axis=0) * size >= 5 * total])
        most = int(np.abs(here - there).argmax())
        words = (
            f"{shortened(names[most])} is {100 * here[most]:.0f} % of them, there "
            f"{100 * there[most]:.0f} %"
        )
    else:
        share, chance = _farthest_apart(known, new)
        middles = [float(np.median(part)) for part in (known, new)]
        words = f"the median is {middles[1]:.4g}, the reference's {middles[0]:.4g}"
    if chance * columns < ERRORS and share > RARE:
        text = (
            f"{column.name!r} has another distribution than in the reference: at least "
            f"{100 * share:.0f} % of the rows differ ({words})"
        )
        yield fact(column.name, "moved", text)


def _by_chance(counts: NDArray[np.int64]) -> float:
    """How likely two rows of counts differ as much by chance (Pearson's test)."""
    from scipy.special import chdtrc

    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(chdtrc(counts.shape[1] - 1, ((counts - expected) ** 2 / expected).sum()))


def _farthest_apart(known: Floats, new: Floats) -> tuple[float, float]:
    """The largest difference of two distributions, and how likely it is by chance (Smirnov)."""
    from scipy.special import kolmogorov

    entries = np.concatenate([known, new])
    upto = [np.searchsorted(np.sort(one), entries, side="right") / one.size for one in (known, new)]
    apart = float(np.abs(upto[0] - upto[1]).max())
    return apart, float(kolmogorov(apart * np.sqrt(known.size * new.size / entries.size)))
