"""Evidence from marginal counts: how usual an entry is in its class and column, its writing, lift.

None of it needs a model: class-conditional deviations, frequencies, shapes and pairs of characters
of texts, and the lift of pairs of entries (Brin et al. 1997, doi:10.1145/253260.253325).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shapley2d._base.in_threads import map_in_threads
from shapley2d._inspection.binning import MOST_CATEGORIES
from shapley2d._tables.texts.numbers import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._inspection.binning import BinnedColumn
    from shapley2d._tables.table import Column

_RUN = re.compile(r"[^\W\d_]+|\d+")

_STRAY = 5.0
"""Score of a text among numbers."""

_CATEGORY_TIMES = (30, 300)
"""An entry that is there this many times counts less and less by how it is written, and from the
second number on no more. Systematic slips repeat too: with a step at 30, average precision on 51
tables with planted errors fell by .01."""

_MOST_WORDS = 200_000
"""A column with more distinct texts holds keys: their characters are not compared."""


def class_distance(
    column: BinnedColumn, groups: Ints, judged: BinnedColumn, labels: Ints
) -> Floats:
    """The class-conditional deviation of every entry: how unusual it is among rows of its label.

    For numbers the logarithm of the z-score, for categories of the excess of their surprisal. Rows
    ``judged`` that are not the table's own are judged by it with themselves as one more row.
    """
    more = judged is not column  # whether the row itself is still to be added
    off = np.zeros(judged.bins.size)
    for group in np.unique(groups):
        known = np.flatnonzero((groups == group) & ~np.isnan(column.values))
        rows = np.flatnonzero((labels == group) & ~np.isnan(judged.values))
        if known.size + more < 2:
            continue
        if column.is_category:
            counts = np.append(np.bincount(column.bins[known], minlength=column.n_bins), 0)
            usual = -np.log(counts[column.bins[known]] / known.size).mean() if known.size else 0.0
            rarity = -np.log((counts[judged.bins[rows]] + more) / (known.size + more))
            off[rows] = np.log1p(np.maximum(0.0, rarity - usual))
        elif known.size:
            entries = column.values[known]
            away = entries - entries.mean()
            size = np.abs(away).max()
            is_flat = size <= 1e-12 * np.abs(entries).max()
            # squares of tiny numbers would underflow
            spread = 0.0 if is_flat else size * np.sqrt(np.mean((away / size) ** 2))
            away = np.abs(judged.values[rows] - entries.mean())
            if more:  # mean and spread with the row itself
                n, away = known.size, np.where(away > 1e-12 * np.abs(entries).max(), away, 0.0)
                away *= n / (n + 1)
                spread = np.hypot(np.sqrt(n / (n + 1)) * spread, away / np.sqrt(n))
            with np.errstate(invalid="ignore", divide="ignore"):
                off[rows] = np.nan_to_num(np.log1p(away / spread)) * (not is_flat or more)
    return off


def standing_alone(column: BinnedColumn, judged: BinnedColumn) -> Floats:
    """How much rarer an entry is than usual in its column: the mean log of counts minus its own.

    Other rows than the table's own are judged by it with themselves as one more row.
    """
    alone = np.zeros(judged.bins.size)
    there = ~np.isnan(judged.values)
    if there.any() and column.distinct.size:
        counts = np.searchsorted(column.ordered, column.distinct, side="right")
        counts = np.diff(np.concatenate([[0], counts]))
        usual = np.repeat(np.log(counts), counts).mean()
        entries = judged.values[there]
        place = np.searchsorted(column.distinct, entries).clip(max=counts.size - 1)
        times = np.where(column.distinct[place] == entries, counts[place], 0)
        times += judged is not column
        alone[there] = usual - np.log(times)
    return alone


def odd_writing(column: Column, known: int | None = None) -> Floats:
    """How unusually an entry is written: its shape and its rarest pair of characters.

    Only the first ``known`` rows are counted, if given, and each of the others with itself.
    """
    odd = np.zeros(column.entries.size)
    words, codes = _words(column)
    there = codes >= 0
    known = codes.size if known is None else known
    counts = np.bincount(codes[:known][there[:known]], minlength=len(words))
    if 1 < (counts > 0).sum() <= _MOST_WORDS:
        is_slip = np.interp(np.log(counts.clip(1)), np.log(_CATEGORY_TIMES), (1.0, 0.0))
        for rarity in (rare_shapes(words, counts), rare_pairs(words, counts)):
            usual = float((rarity * counts).sum() / counts.sum())
            odd[there] += (0.5 * np.maximum(0.0, rarity - usual) * is_slip)[codes[there]]
    odd[[row for row in column.from_text.strays if np.isnan(column.entries[row])]] += _STRAY
    return odd


def _words(column: Column) -> tuple[Sequence[str], NDArray[np.int64]]:
    """The distinct texts of a column that was text, and each entry's position among them, or -1."""
    read = column.from_text
    if read.words is not None and read.codes is not None:
        return [str(word) for word in read.words[:-1]], np.asarray(read.codes, dtype=np.int64)
    if column.kind == "category":
        codes = np.where(np.isnan(column.entries), -1, column.entries)
        return column.categories, codes.astype(np.int64)
    return (), np.full(column.entries.size, -1)


def shape_of(text: str) -> str:
    """A text with every run of letters as ``a`` and every run of digits as ``9``.

    >>> shape_of("12.0 oz"), shape_of("St. Mary's")
    ('9.9 a', "a. a'a")
    """
    return _RUN.sub(lambda run: "9" if run[0][0].isdigit() else "a", text[:LONGEST])


def rare_shapes(words: Sequence[str], counts: NDArray[np.int64]) -> Floats:
    """Minus the log of the share of entries that have the shape of each word."""
    shapes = [shape_of(word) for word in words]
    held: Counter[str] = Counter()
    for shape, count in zip(shapes, counts.tolist(), strict=True):
        held[shape] += count
    total = float(counts.sum())
    return -np.log(np.array([max(held[shape], 1) for shape in shapes]) / total)


def rare_pairs(words: Sequence[str], counts: NDArray[np.int64] | None = None) -> Floats:
    """Minus the log of the share of distinct words that have the rarest pair of each word.

    Words whose count is 0 are not counted.
    """
    held: Counter[tuple[str, str]] = Counter()
    times = [1] * len(words) if counts is None else counts.tolist()
    for word, count in zip(words, times, strict=True):
        if count:
            held.update(set(_pairs(word)))
    rarest = np.array([max(min(held[pair] for pair in _pairs(word)), 1) for word in words])
    return np.asarray(-np.log(rarest / (sum(count > 0 for count in times) + 1)))


def _pairs(word: str) -> Iterator[tuple[str, str]]:
    """The pairs of neighbouring characters, the word's ends included."""
    word = word[:LONGEST]
    return zip("^" + word, word + "$", strict=True)


def vouched(
    columns: Sequence[Column], threads: int = 1, known: int | None = None
) -> NDArray[np.float32]:
    """The logarithm of the largest lift of an entry with another one of its row; 0 if empty.

    How much more often than by chance other rows, the first ``known`` ones, have both. An odd entry
    that several rows have, and other entries with it, is hardly a slip: all rows of the one
    hospital in Alaska have its state, its city and its telephone number. Half a row is added to
    both counts. Keys, of which no two rows have the same, vouch for nothing.

    >>> from shapley2d._tables.convert import as_table
    >>> states = ["AL"] * 90 + ["AK"] * 9 + ["OH"]
    >>> cities = ["Troy"] * 50 + ["Mobile"] * 40 + ["Sitka"] * 9 + ["Troy"]
    >>> vouched(as_table({"state": states, "city": cities}).columns)[[0, 95, 99]].round(1)
    array([[0.1, 0.1],
           [2. , 2. ],
           [0. , 0. ]], dtype=float32)
    """
    n = columns[0].entries.size if columns else 0
    codes = np.empty((len(columns), n), dtype=np.int32)
    times = np.empty((len(columns), n))  # other rows with the same entry
    n_codes, n_known = [], []
    known = n if known is None else known
    own_row = (np.arange(n) < known).astype(np.float64)  # which is among those counted
    for column, own, others in zip(columns, codes, times, strict=True):
        distinct, own[:] = np.unique(column.entries, return_inverse=True)
        counts = np.bincount(own[:known], minlength=distinct.size)
        others[:] = counts[own] - own_row
        n_codes.append(distinct.size)
        n_known.append(int((counts > 0).sum()))
    vouching = [k for k, size in enumerate(n_known) if 1 < size <= MOST_CATEGORIES * known]

    def of_column(j: int) -> NDArray[np.float32]:
        most = np.ones(n)
        for k in vouching:
            if k != j:
                pairs = pa.array(np.int64(n_codes[k]) * codes[j] + codes[k]).dictionary_encode()
                pair = np.from_dlpack(pairs.indices)
                by_chance = times[j] * times[k] / (known - own_row)
                both = np.bincount(pair[:known], minlength=len(pairs.dictionary))[pair] - own_row
                np.maximum(most, (both + 0.5) / (by_chance + 0.5), out=most)
        return np.where(np.isnan(columns[j].entries), 0.0, np.log(most)).astype(np.float32)

    said = np.zeros((n, len(columns)), dtype=np.float32, order="F")
    some = [j for j, size in enumerate(n_known) if size < known or known < n]
    for j, about in zip(some, map_in_threads(of_column, some, threads), strict=True):
        said[:, j] = about
    return said
