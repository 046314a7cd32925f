"""Discretised columns, as forests see them: quantile bins to predict, and codes to split on.

Numbers and dates fall into bins of equal shares, or into one per value where there are few. Every
category is a bin of its own, and so are empty cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.kernels.forest import CODES, Predicted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.table import Column

FEWEST_ROWS = 10
"""Entries that a column must have to be judged."""

MOST_CATEGORIES = 0.5
"""A column with more categories than this share of its entries is a key or free text, and is not
predicted."""

_ROWS_PER_BIN, _BINS = 8, (6, 24)
"""A column of numbers has one bin per 8 entries, between 6 and 24 bins."""


@dataclass(frozen=True)
class BinnedColumn:
    values: Floats  # (n,): the entries, NaN where there is none
    is_category: bool  # whether bins have no order
    graded: bool  # whether every distinct entry has a bin of its own
    # (n,): ``filled`` where a cell is empty, -1 where there is no bin: the entry is not of the
    # column's type, or it is new, as a category or an empty cell can be
    bins: NDArray[np.int32]
    filled: int  # number of bins that hold entries
    has_empty: bool  # whether one more is for empty cells
    shares: Floats  # (bins,)
    # the entries, ascending: bin b is ordered[starts[b] : starts[b + 1]]
    ordered: Floats
    starts: NDArray[np.int64]
    ranks: Floats  # (n,): mid-ranks between 0 and 1, 0 where the cell is empty
    # distinct entries, ascending, and the code of each as an input; 0 is for an empty cell
    distinct: Floats
    input_codes: NDArray[np.uint8]
    known: int  # rows that this was learned from: the column's own, unless made by :meth:`at`

    @property
    def n_bins(self) -> int:
        """Number of bins, that of empty cells included."""
        return self.filled + self.has_empty

    @property
    def is_free(self) -> bool:
        """Whether its texts hardly repeat: a key or free text, whose entries are all alike."""
        return self.is_category and self.filled > MOST_CATEGORIES * self.ordered.size

    @property
    def blurred(self) -> bool:
        """Whether to smooth over neighbouring bins, as the cuts between them are arbitrary."""
        return not self.graded and self.filled > 3

    @property
    def centres(self) -> Floats:
        """The entry that stands for each bin: its lower median."""
        return np.asarray(self.ordered[(self.starts[:-1] + self.starts[1:] - 1) // 2])

    @property
    def predicted(self) -> Predicted:
        empty = self.filled if self.has_empty else -1
        return Predicted(self.bins, self.ranks, empty, self.n_bins, self.is_category)

    def codes_of(self, values: Floats) -> NDArray[np.uint8]:
        codes = np.zeros(values.size, dtype=np.uint8)
        there = ~np.isnan(values)
        if self.distinct.size:
            place = np.searchsorted(self.distinct, values[there]).clip(max=self.distinct.size - 1)
            codes[there] = self.input_codes[place]
            if self.is_category:  # a new one is as rare as the rarest
                new = self.distinct[place] != values[there]
                codes[np.flatnonzero(there)[new]] = self.input_codes.max()
        return codes

    def at(self, values: Floats, strays: Ints) -> BinnedColumn:
        """Other rows in these bins; ``strays`` are those whose entry is of another type."""
        there = np.flatnonzero(~np.isnan(values))
        bins = np.full(values.size, self.filled if self.has_empty else -1, dtype=np.int32)
        bins[strays] = -1
        ranks = np.zeros(values.size)
        if self.filled:
            entries = values[there]
            firsts = self.ordered[self.starts[:-1]]
            place = (np.searchsorted(firsts, entries, side="right") - 1).clip(0)
            bins[there] = np.where(self.graded & (firsts[place] != entries), -1, place)
            below, upto = (
                np.searchsorted(self.ordered, entries, side=s) for s in ("left", "right")
            )
            ranks[there] = 0.5 * (below + upto) / self.ordered.size
        return replace(self, values=values, bins=bins, ranks=ranks)


def bin_column(column: Column) -> BinnedColumn:
    """Discretise a column.

    >>> from shapley2d._tables.table import Column
    >>> binned = bin_column(Column("size", "number", np.array([1.0, 2.0, np.nan, 2.0])))
    >>> binned.bins, binned.shares
    (array([0, 1, 2, 1], dtype=int32), array([0.25, 0.5 , 0.25]))
    """
    values = column.entries
    is_category = column.kind in ("category", "boolean")
    there = ~np.isnan(values)
    entries = values[there]
    distinct, place, counts = np.unique(entries, return_inverse=True, return_counts=True)
    most = int(np.clip(entries.size / _ROWS_PER_BIN, *_BINS))
    graded = is_category or distinct.size <= most
    bin_of = np.arange(distinct.size) if graded else _equal_shares(entries, distinct, most)
    filled = int(bin_of[-1]) + 1 if distinct.size else 0
    bins = np.full(values.size, filled, dtype=np.int32)
    bins[there] = bin_of[place]
    strays = [row for row in column.from_text.strays if not there[row]]
    bins[strays] = -1
    has_empty = bool((bins == filled).any())
    held = np.bincount(bins[bins >= 0], minlength=filled + has_empty).astype(np.float64)
    middle = (np.cumsum(counts) - 0.5 * counts) / max(1, entries.size)
    ranks = np.zeros(values.size)
    ranks[there] = middle[place]
    return BinnedColumn(
        values=values,
        is_category=is_category,
        graded=graded,
        bins=bins,
        filled=filled,
        has_empty=has_empty,
        shares=held / max(1.0, held.sum()),
        ordered=np.repeat(distinct, counts),
        starts=np.concatenate([[0], np.cumsum(held[:filled])]).astype(np.int64),
        ranks=ranks,
        distinct=distinct,
        input_codes=_input_codes(counts, middle, is_category=is_category),
        known=values.size,
    )


def _equal_shares(entries: Floats, distinct: Floats, most: int) -> NDArray[np.int64]:
    """The bin of every distinct number; bins hold about as many entries, and none is empty."""
    edges = np.unique(np.quantile(entries, np.linspace(0, 1, most + 1)[1:-1]))
    place = np.searchsorted(edges, distinct, side="right")
    return np.cumsum(np.concatenate([[False], np.diff(place) > 0]))


def _input_codes(
    counts: NDArray[np.int64], middle: Floats, *, is_category: bool
) -> NDArray[np.uint8]:
    """Codes from 1 on: numbers by rank, categories by frequency."""
    place = np.arange(counts.size)
    if is_category:
        place = np.argsort(np.argsort(-counts, kind="stable"))
    if counts.size >= CODES:
        scaled = place / counts.size if is_category else middle
        place = (scaled * (CODES - 1)).astype(np.int64)
    return (1 + np.minimum(place, CODES - 2)).astype(np.uint8)
