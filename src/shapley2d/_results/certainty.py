"""What a sampled result is certain of, and what twice the time would add, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, format_seconds, plural
from shapley2d._results.units import Units, figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._results.valuation import Valuation


_NOUNS = {
    "cells": ("cell", "row", "column"),
    "blocks": ("block", "group of rows", "group of columns"),
}


_NAMED = 3  # groups whose sign is certain, by name


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
    rows = (valuation.rows, factor * valuation.row_stderr, row)
    columns = (valuation.column_values, factor * valuation.column_stderr, column)
    parts = [(valuation.values, factor * valuation.stderr, noun), rows, columns]
    named, ranked = "", columns
    if noun == "block" and 1 in valuation.shape:  # groups of one axis
        ranked = columns if valuation.shape[0] == 1 else rows
        parts = [ranked]
        names = valuation.column_names if ranked is columns else valuation.row_names
        named = _surest(ranked[0], ranked[1], [str(name) for name in names])
    counts = [
        f"{n_known_signs(values, reach):,} of {_counted(values.size, name)}"
        for values, reach, name in parts
    ]
    listed = " and ".join([part for part in (", ".join(counts[:-1]), counts[-1]) if part])
    ranks = n_known_ranks(ranked[0], ranked[1])
    unit = Units.of(valuation).cells
    typical = unit.factor * float(np.median(valuation.stderr))
    limit = format_seconds(info["max_time"])
    first = (
        f"Stopped after {limit}, as asked. The sign is certain (95 %) of {listed}{named}; "
        f"so is the rank of {_counted(ranks, ranked[2]) if ranks else 'none'}."
    )
    after = f"{figure(typical / math.sqrt(2), 2)} {unit.words}".rstrip()
    then = (
        f"Twice the time would shrink the errors by about 30 %, a typical {noun} from "
        f"{figure(typical, 2)} to {after}; {_then(valuation, noun)}."
    )
    return [first, then]


def _surest(values: NDArray[np.float64], reach: NDArray[np.float64], names: list[str]) -> str:
    """The names of those whose sign is most certain, a few of them, in brackets.

    Examples
    --------
    >>> _surest(np.array([1.0, -3.0, 0.1]), np.array([0.9, 1.0, 0.4]), ["a", "b", "c"])
    " ('b' below 0, 'a' above)"
    """
    certain = np.flatnonzero(np.abs(values) > reach)
    if not certain.size:
        return ""
    with np.errstate(divide="ignore"):
        order = certain[np.argsort(-np.abs(values[certain]) / reach[certain], kind="stable")]
    sides = {False: "above", True: "below"}
    shown = [f"{names[k]!r} {sides[bool(values[k] < 0)]}" for k in order[:_NAMED]]
    shown[0] += " 0"
    more = ", ..." if order.size > _NAMED else ""
    return f" ({', '.join(shown)}{more})"


def _counted(count: int, noun: str) -> str:
    return counted(count, noun, noun.replace("group", "groups") if " of " in noun else "")


def _then(valuation: Valuation, noun: str) -> str:
    """How many signs would be certain with smaller errors, if the values stay what they are."""
    reach = valuation.interval_factor * valuation.stderr / math.sqrt(2)
    more = n_known_signs(valuation.values, reach)
    return f"about {more:,} {plural(more, noun)} would then have a certain sign"
