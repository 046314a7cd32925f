"""What is typical in each column, in a phrase."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import shorten
from shapley2d._valuation.facts import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats
    from shapley2d._valuation.values import CellValues


def typical_entries(valuation: CellValues) -> list[str]:
    """The phrase of every column; empty where there are no entries."""
    if valuation._table is None or valuation._contents is None:
        return [""] * valuation.shape[1]
    return [
        typical_numbers(column.entries, dates=column.kind == "date")
        if column.kind in ("number", "date") and np.isfinite(column.entries).any()
        else typical_texts(texts)
        for column, texts in zip(valuation._table.columns, valuation._contents, strict=True)
    ]


def typical_numbers(numbers: Floats, *, dates: bool = False) -> str:
    """The median and the middle nine tenths."""
    known = numbers[np.isfinite(numbers)]
    low, median, high = (
        str(np.datetime64(round(q), "D"))
        if dates
        else str(round(q))
        if abs(q) >= 1000
        else f"{q:.3g}"
        for q in np.quantile(known, [0.05, 0.5, 0.95])
    )
    spread = f"median {median}, mostly {low} to {high}"
    return _with_missing(
        spread if np.ptp(known) else f"always {median}", numbers.size - known.size, numbers.size
    )


def typical_texts(texts: Sequence[str | None], most: int = 3) -> str:
    """The most common entries with their shares."""
    counts, size = Counter(texts), len(texts)
    missing = counts.pop(None, 0)
    top = counts.most_common(most)
    listed = [f"{shorten(text or '', 40)} {percent(count, size)}" for text, count in top]
    if len(counts) > most:
        listed.append(f"{len(counts) - most} more")
    if size > 1 and top and top[0][1] == 1:
        listed = ["all different" if len(counts) == size else f"{len(counts)} different entries"]
    return _with_missing(", ".join(listed), missing, size)


def _with_missing(words: str, count: int, size: int) -> str:
    missing = f"missing {percent(count, size)}" if count else ""
    return ", ".join(filter(None, (words, missing)))
