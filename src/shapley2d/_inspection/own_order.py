"""A canonical order of rows and columns, so that no permutation or reflection changes a score.

A random number of an inspection belongs to a position: of a row in the bags of the trees, of a
column among the inputs. Ties go to the first, and bins are cut from below. So the entries decide
the order of rows and columns, and which end of a column of numbers comes first. Then a table gives
the same scores in any order of its rows and columns, and with any column mirrored. Categories stay
in the order of their names: likely neighbours in it, such as times of day, help the forests.

Every entry first gets a hash that none of these change: a number by its rank's distance from the
middle, a category by its code. They make the hashes of rows and columns, and those of rows decide
which way round numbers go. Where numbers repeat, as zeros do in many columns, the end that repeats
most comes first: the score was tuned on such columns. All sums are of whole numbers modulo 2^64, so
they are exact in any order. Columns that hold the same go by name; rows that hold the same are
judged alike. A table that is its own mirror image has no direction; it stays as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.cells import Expected
from shapley2d._inspection.kernels.random_words import scrambled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column

_MISSING, _STRAY = 2**62, 2**62 + 1  # beyond ranks and codes


@dataclass(frozen=True)
class OwnOrder:
    """A table in its canonical order.

    ``column_places`` and ``row_places`` are where these columns and rows are in the given table,
    ``alike`` is for every row the first one that holds the same, and ``signs`` are -1 where columns
    are mirrored.
    """

    columns: tuple[Column, ...]
    column_places: NDArray[np.intp]
    row_places: NDArray[np.intp]
    alike: NDArray[np.intp]
    signs: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[Column], label: int) -> OwnOrder:
        """The order of a table; the column at ``label``, if there is one, is set apart."""
        with np.errstate(over="ignore"):  # words are sums modulo 2^64
            read = [_Read.of(column, is_label=j == label) for j, column in enumerate(columns)]
            rows = _row_words(read, [one.word for one in read])
            keys = [scrambled(one.word ^ scrambled(rows ^ one.plain).sum()) for one in read]
            rows = _row_words(read, keys)
            order = sorted(range(len(columns)), key=lambda j: (int(keys[j]), columns[j].name))
            signs = np.ones(len(columns), dtype=np.int64)
            for place, j in enumerate(order):
                signs[place] = read[j].sign(rows)
                # the columns that follow are turned in view of this one
                codes = np.where(read[j].there, signs[place] * read[j].codes, read[j].codes)
                rows = rows + scrambled(codes.view(np.uint64) ^ scrambled(np.uint64(place)))
        row_places = np.argsort(rows, kind="stable")
        ordered = rows[row_places]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        taken = [columns[j].take(row_places) for j in order]
        return cls(
            tuple(
                column.with_entries(sign * column.entries)
                for column, sign in zip(taken, signs, strict=True)
            ),
            np.array(order, dtype=np.intp),
            row_places,
            np.repeat(starts, np.diff(np.append(starts, ordered.size))),
            signs,
        )

    def given(self, k: int, expected: Expected, places: NDArray[np.intp]) -> Expected:
        """What is expected in column k of this order, in the given one of rows and numbers.

        ``places`` is where the rows are there.
        """
        taken = expected.take(np.argsort(places))
        if self.signs[k] > 0 or taken.low is None or taken.high is None:
            return taken
        entries, low, high = (0.0 - one for one in (taken.entries, taken.low, taken.high))
        return Expected(entries, low=high, high=low)


@dataclass(frozen=True)
class _Read:
    """A column before it is turned.

    ``codes`` are twice the rank of a number, counted from the middle, or the code of a category;
    ``plain`` is a word of every entry that mirroring does not change; ``there`` are those not
    missing. ``lean`` is below 0 where the numbers that repeat most are the small ones. ``word`` is
    the column's.
    """

    codes: NDArray[np.int64]
    plain: NDArray[np.uint64]
    there: NDArray[np.bool_]
    is_category: bool
    lean: np.int64
    word: np.uint64

    @classmethod
    def of(cls, column: Column, *, is_label: bool) -> _Read:
        there = ~np.isnan(column.entries)
        entries = column.entries[there]
        codes = np.full(there.size, _MISSING)
        codes[[row for row in column.from_text.strays if not there[row]]] = _STRAY
        plain = codes.copy()
        is_category = column.kind in ("category", "boolean")
        lean = np.int64(0)
        if is_category:
            codes[there] = plain[there] = entries.astype(np.int64)
        else:
            _, place, counts = np.unique(entries, return_inverse=True, return_counts=True)
            ranks = (2 * np.cumsum(counts) - counts - place.size)[place]
            codes[there], plain[there] = ranks, np.abs(ranks)
            lean = (counts[place] * ranks).sum()
        words = scrambled(plain.view(np.uint64))
        role = np.uint64(is_category + 2 * is_label)  # tells columns apart beside their entries
        return cls(codes, words, there, is_category, lean, scrambled(words.sum() ^ scrambled(role)))

    def sign(self, rows: NDArray[np.uint64]) -> int:
        """Whether to mirror the column (-1) or not (1), by the words of the rows."""
        if self.is_category:
            return 1
        # mirroring the column changes the sign of these sums, and nothing else does
        known = self.codes[self.there]
        lean = self.lean or -(known * rows[self.there].view(np.int64)).sum()
        return -1 if lean > 0 else 1


def _row_words(columns: Sequence[_Read], keys: Sequence[np.uint64]) -> NDArray[np.uint64]:
    """A word of every row: the sum of its entries' words, each in view of its column's."""
    words = np.zeros(columns[0].plain.size, dtype=np.uint64)
    for column, key in zip(columns, keys, strict=True):
        words += scrambled(column.plain ^ key)
    return words
