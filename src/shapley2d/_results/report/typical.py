"""What is typical in a column, in words: to see at a glance that an entry is not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._results.report.encode import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._results.values import Values


def typical_entries(valuation: Values) -> list[str]:
    """One phrase per column; empty where the valuation has no table."""
    if valuation.table is None or valuation.contents is None:
        return [""] * valuation.shape[1]
    phrases = []
    for j, column in enumerate(valuation.table.columns):
        numbers = valuation.numbers(j) if column.kind in ("number", "date") else None
        if numbers is None or not np.isfinite(numbers).any():
            phrases.append(typical_texts(valuation.contents[j]))
        else:
            phrases.append(typical_numbers(numbers, dates=column.kind == "date"))
    return phrases


def typical_numbers(numbers: NDArray[np.float64], *, dates: bool = False) -> str:
    """The median and the middle nine tenths.

    Examples
    --------
    >>> import numpy as np
    >>> typical_numbers(np.arange(101.0))
    'median 50, mostly 5 to 95'
    """
    known = numbers[np.isfinite(numbers)]
    low, median, high = (
        _number_text(q, dates=dates) for q in np.quantile(known, [0.05, 0.5, 0.95])
    )
    spread = (
        f"always {median}"
        if known.min() == known.max()
        else f"median {median}, mostly {low} to {high}"
    )
    return spread + _missing(numbers.size - known.size, numbers.size)


def typical_texts(texts: Sequence[str | None], most: int = 3) -> str:
    """The most common entries with their shares.

    Examples
    --------
    >>> typical_texts(["a", "a", "b", None])
    'a 50 %, b 25 %, missing 25 %'
    """
    counts = Counter(text for text in texts if text is not None)
    top = counts.most_common(most)
    if len(texts) > 1 and top and top[0][1] == 1:
        phrase = (
            "all different" if len(counts) == len(texts) else f"{len(counts)} different entries"
        )
    else:
        phrase = ", ".join(
            f"{shorten(text, 40)} {_percent(count, len(texts))}" for text, count in top
        )
        if len(counts) > most:
            phrase += f", {len(counts) - most} more"
    return (phrase + _missing(len(texts) - counts.total(), len(texts))).removeprefix(", ")


def _missing(count: int, size: int) -> str:
    return f", missing {_percent(count, size)}" if count else ""


def _percent(count: int, size: int) -> str:
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 1 else "< 1 %"


def _number_text(number: float, *, dates: bool) -> str:
    if dates:
        return str(np.datetime64(round(number), "D"))
    return str(round(number)) if abs(number) >= 1000 else f"{number:.3g}"
