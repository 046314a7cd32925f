"""What a sampled result is certain of, and what twice the time would add, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, format_seconds, plural
from shapley2d._results.units import Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._results.valuation import Valuation


_NOUNS = {
    "cells": ("cell", "row", "column"),
    "blocks": ("block", "group of rows", "group of columns"),
}


def n_known_signs(values: NDArray[np.float64], reach: NDArray[np.float64]) -> int:
    """Values whose 95 % interval is on one side of 0.

    Examples
    --------
    >>> n_known_signs(np.array([1.0, -3.0, 0.5]), np.array([2.0, 2.0, 0.4]))
    2
    """
    return int(np.count_nonzero(np.abs(values) > reach))


def n_known_ranks(values: NDArray[np.float64], reach: NDArray[np.float64]) -> int:
    """Values whose rank is known: their 95 % interval overlaps with that of no neighbour.

    Examples
    --------
    >>> n_known_ranks(np.array([1.0, 2.0, 9.0]), np.array([0.6, 0.6, 1.0]))
    1
    """
    order = np.argsort(values, kind="stable")
    low, high = (values - reach)[order], (values + reach)[order]
    # the highest end of all below, and the lowest of all above
    below = np.append(-math.inf, np.maximum.accumulate(high)[:-1])
    above = np.append(np.minimum.accumulate(low[::-1])[::-1][1:], math.inf)
    return int(np.count_nonzero((low > below) & (high < above)))


def certainty_sentences(valuation: Valuation) -> list[str]:
    """How precise a run got that a time limit ended; empty for any other."""
    info, factor = valuation.info, valuation.interval_factor
    if not info.get("time_up"):
        return []
    noun, row, column = _NOUNS[info.get("kind", "cells")]
    counts = []
    for values, stderr, name in (
        (valuation.values, valuation.stderr, noun),
        (valuation.rows, valuation.row_stderr, row),
        (valuation.column_values, valuation.column_stderr, column),
    ):
        known = n_known_signs(values, factor * stderr)
        counts.append(f"{known:,} of {_counted(values.size, name)}")
    ranks = n_known_ranks(valuation.column_values, factor * valuation.column_stderr)
    unit = Units.of(valuation).cells
    typical = unit.factor * float(np.median(valuation.stderr))
    limit = format_seconds(info["max_time"])
    first = (
        f"Stopped after {limit}, as asked. The sign is certain (95 %) of {', '.join(counts[:-1])} "
        f"and {counts[-1]}; so is the rank of {_counted(ranks, column)}."
    )
    after = f"{typical / math.sqrt(2):.2g} {unit.words}".rstrip()
    then = (
        f"Twice the time would shrink the errors by about 30 %, a typical {noun} from "
        f"{typical:.2g} to {after}; {_then(valuation, noun)}."
    )
    return [first, then]


def _counted(count: int, noun: str) -> str:
    return counted(count, noun, noun.replace("group", "groups") if " of " in noun else "")


def _then(valuation: Valuation, noun: str) -> str:
    """How many signs would be certain with smaller errors, if the values stay what they are."""
    reach = valuation.interval_factor * valuation.stderr / math.sqrt(2)
    more = n_known_signs(valuation.values, reach)
    return f"about {more:,} {plural(more, noun)} would then have a certain sign"
