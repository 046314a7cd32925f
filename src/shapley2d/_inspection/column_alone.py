"""Evidence against an entry from its column alone: its class, how often it occurs, its writing."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.recipe import (
    CATEGORY_TIMES,
    MOST_WORDS,
    PAIR_WEIGHT,
    SHAPE_WEIGHT,
    STRAY,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.binning import BinnedColumn
    from shapley2d._tables.table import Column

_RUN = re.compile(r"[^\W\d_]+|\d+")
_FEWEST = 3  # entries that a column must have to compare them


def class_distance(column: BinnedColumn, groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """How unusual an entry is among the rows of its label.

    In standard deviations, or by the share of its category.
    """
    off = np.zeros(column.bins.size)
    for group in np.unique(groups):
        rows = np.flatnonzero((groups == group) & ~np.isnan(column.values))
        if rows.size < 2:
            continue
        if column.is_category:
            counts = np.bincount(column.bins[rows])
            rarity = -np.log(counts[column.bins[rows]] / rows.size)
            off[rows] = np.log1p(np.maximum(0.0, rarity - rarity.mean()))
        else:
            entries = column.values[rows]
            away = entries - entries.mean()
            size = np.abs(away).max()
            if size > 1e-12 * np.abs(entries).max():
                away /= size  # squares of tiny numbers would underflow
                off[rows] = np.log1p(np.abs(away) / np.sqrt(np.mean(away**2)))
    return off


def standing_alone(column: BinnedColumn) -> NDArray[np.float64]:
    """How much rarer an entry is than usual in its column: the mean log of counts minus its own."""
    alone = np.zeros(column.bins.size)
    there = ~np.isnan(column.values)
    if there.sum() >= _FEWEST:
        counts = np.searchsorted(column.ordered, column.distinct, side="right")
        counts = np.diff(np.concatenate([[0], counts]))
        repeated = np.log(counts[np.searchsorted(column.distinct, column.values[there])])
        alone[there] = repeated.mean() - repeated
    return alone


def odd_writing(column: Column) -> NDArray[np.float64]:
    """How unusually an entry is written: its shape and its rarest pair of characters.

    An entry that stands hundreds of times is a category, however it is written.
    """
    odd = np.zeros(column.entries.size)
    words, codes = _words(column)
    there = codes >= 0
    if there.sum() >= _FEWEST and 1 < len(words) <= MOST_WORDS:
        counts = np.bincount(codes[there], minlength=len(words))
        is_slip = np.interp(np.log(counts.clip(1)), np.log(CATEGORY_TIMES), (1.0, 0.0))
        for weight, rarity in (
            (SHAPE_WEIGHT, rare_shapes(words, counts)),
            (PAIR_WEIGHT, rare_pairs(words)),
        ):
            usual = float((rarity * counts).sum() / counts.sum())
            odd[there] += (weight * np.maximum(0.0, rarity - usual) * is_slip)[codes[there]]
    odd[[row for row in column.from_text.strays if np.isnan(column.entries[row])]] += STRAY
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

    Examples
    --------
    >>> shape_of("12.0 oz"), shape_of("St. Mary's")
    ('9.9 a', "a. a'a")
    """
    return _RUN.sub(lambda run: "9" if run[0][0].isdigit() else "a", text)


def rare_shapes(words: Sequence[str], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Minus the log of the share of entries that have the shape of each word."""
    shapes = [shape_of(word) for word in words]
    held: Counter[str] = Counter()
    for shape, count in zip(shapes, counts.tolist(), strict=True):
        held[shape] += count
    total = float(counts.sum())
    return -np.log(np.array([max(held[shape], 1) for shape in shapes]) / total)


def rare_pairs(words: Sequence[str]) -> NDArray[np.float64]:
    """Minus the log of the share of distinct words that have the rarest pair of each word."""
    held: Counter[tuple[str, str]] = Counter()
    for word in words:
        held.update(set(_pairs(word)))
    rarest = np.array([min(held[pair] for pair in _pairs(word)) for word in words])
    return -np.log(rarest / (len(words) + 1))


def _pairs(word: str) -> Iterator[tuple[str, str]]:
    """The pairs of neighbouring characters, the word's ends included."""
    return zip("^" + word, word + "$", strict=True)
