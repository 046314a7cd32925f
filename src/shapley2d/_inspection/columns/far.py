"""Numbers and dates far outside the rest of their column: beyond a gap that its tail does not make.

Under a heavy tail the logarithms of the distances from the median, beyond a high one, are
exponential, and so are the gaps between the farthest of them (Renyi 1953; Hill 1975,
doi:10.1214/aos/1176343247). A gap therefore has a chance, whatever the unit, the number of rows and
the weight of the tail; lighter tails make gaps of that size rarer still. It states how likely its
entries are wrong by itself: the share of errors in a table says nothing of a number beyond a gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import plural
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.finding import HABIT, RARE, SUREST
from shapley2d._inspection.tables.entry_writer import EntryWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

_LARGEST_GROUP = 80
"""Only one row in so many can be far outside: a larger group is a part of the column. So is one of
more than the root of the rows."""

_PRIOR = 0.01
"""Odds that a column has a gross error, before its gaps are looked at."""


def find_far(written: ColumnView, known: Sequence[int] = ()) -> Iterator[ColumnFinding]:
    """Numbers, or dates, beyond a gap at either end of a column; not the rows of known codes."""
    entries = written.column.entries.copy()
    entries[list(known)] = np.nan
    numbers, counts = np.unique(entries[~np.isnan(entries)], return_counts=True)
    if written.column.kind not in ("number", "date") or counts.sum() < _LARGEST_GROUP:
        return
    ordered, few = np.repeat(numbers, counts), int(counts.sum()) // _LARGEST_GROUP
    usual_low, middle, usual_high = (float(ordered[k]) for k in (few, ordered.size // 2, -1 - few))
    n_low, low = _far_end(middle - numbers, counts, usual_high - middle)
    n_high, high = _far_end((numbers - middle)[::-1], counts[::-1], middle - usual_low)
    inside = numbers[n_low : numbers.size - n_high]
    chances = np.select([entries < inside[0], entries > inside[-1]], [low, high], 0.0)
    rows = np.flatnonzero(chances >= 0.5)
    if not rows.size:
        return
    farthest = rows[np.argsort(-np.abs(entries[rows] - middle), kind="stable")]
    writer = EntryWriter.of(written.column)
    ends = " to ".join(str(writer.text(float(end))) for end in (inside[0], inside[-1]))
    yield written.finding(
        "numbers far outside",
        f"{written.entries(rows)} far outside the others ({ends}), {written.example(farthest)}: "
        f"check {plural(rows.size, 'it', 'them')}",
        rows,
        chance=chances[rows],
    )


def _far_end(away: Floats, counts: NDArray[np.int64], other: float) -> tuple[int, float]:
    """How many distinct numbers at one end lie beyond a gap, and how likely these are wrong.

    ``away`` are the distances of the distinct numbers from the median, the farthest first,
    ``counts`` their rows; at the other end numbers usually lie ``other`` from it.
    """
    n_rows = int(counts.sum())
    most = int(np.sqrt(n_rows))
    beside = away > 0
    away, counts = away[beside], counts[beside]
    upto = np.cumsum(counts)
    tried = int(np.searchsorted(upto, min(most, n_rows // _LARGEST_GROUP), side="right"))
    tried = min(tried, away.size - 2)
    if tried < 1:
        return 0, 0.0
    gaps = np.log(away[:tried] / away[1 : tried + 1])
    best = int(np.argmax(gaps)) + 1
    spread = _spread(away[best:], counts[best:], most + 1)
    tail = float(np.log(spread[:-1] / spread[-1]).mean())
    # far: the gap is wider than half the range of the others
    if tail <= 0 or away[best - 1] - spread[0] < (spread[0] + other) / 2:
        return 0, 0.0
    gap = float(np.log(away[best - 1] / spread[0]))
    by_chance = (1 + gap / (tail * (spread.size - 1))) ** (1 - spread.size)
    return best, SUREST * _PRIOR / (_PRIOR + by_chance)


def _spread(away: Floats, counts: NDArray[np.int64], most: int) -> Floats:
    """The distances of the farthest rows: equal ones were rounded, and stand for evenly spaced."""
    steps = away - np.append(away[1:], 0.0)
    needed = int(np.searchsorted(np.cumsum(counts), most)) + 1
    held = counts[:needed]
    place = np.concatenate([(np.arange(m) + 0.5) / m for m in held])
    spread = np.repeat(away[:needed], held) + np.repeat(steps[:needed], held) * (0.5 - place)
    return np.asarray(spread[:most])


def beyond_in_tail(ordered: Floats, numbers: Floats) -> Floats:
    """How many entries the tail of a column puts at each number or farther out.

    The tail is the farthest tenth of the rows on each side of the median. Its weight is the median
    of its gaps, so that a few errors do not make it heavier. Infinity for numbers nearer than that;
    0 beyond a gap that is too wide for it, and where there is no tail to compare with. The entries
    are ``ordered``; the numbers are among them or others.

    >>> column = np.arange(1.0, 101)
    >>> beyond_in_tail(column, np.array([60.0, 100, 1000])).round(1)
    array([inf, 2.8, 0. ])
    """
    found = np.full(numbers.size, np.inf)
    middle, few = ordered[ordered.size // 2], ordered.size // 10
    for side in (1.0, -1.0):
        own, counts = np.unique(side * (middle - ordered), return_counts=True)
        away, counts = -own[own < 0], counts[own < 0]
        spread = _spread(away, counts, min(few, int(counts.sum()) - 1) + 1) if away.size else away
        off = side * (numbers - middle)
        if spread.size <= FEWEST_ROWS / 2:
            found[off > 0] = 0.0
            continue
        gaps = np.arange(1, spread.size) * -np.diff(np.log(spread))
        tail = float(np.median(gaps)) / np.log(2)
        far = off > spread[-1]
        with np.errstate(divide="ignore"):
            found[far] = (spread.size - 1) * np.exp(-np.log(off[far] / spread[-1]) / tail)
        # beyond a gap that hardly any tail makes by chance there may be many errors
        wide = np.flatnonzero((gaps > tail * np.log(gaps.size / RARE))[: int(HABIT * ordered.size)])
        if wide.size:
            found[off > spread[wide[-1] : wide[-1] + 2].mean()] = 0.0
    return found
