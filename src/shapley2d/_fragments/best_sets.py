"""Which contributors to sign: the best set of every size, or for a budget.

They are chosen among the sets whose scores were computed for the values anyway.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import is_number
from shapley2d._base.words import did_you_mean, shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints


def best_of_size(sets: Bools, scores: Floats) -> Ints:
    """Positions of the best set of every size, from one contributor to all."""
    sizes = sets.sum(axis=1)
    order = np.lexsort((np.arange(len(sets)), -scores, sizes))
    first = np.flatnonzero(np.diff(sizes[order], prepend=0))
    return np.asarray(order[first])


def best_for_cost(sets: Bools, scores: Floats, costs: Floats, budget: float | None) -> Ints:
    """Positions of the sets that no cheaper one equals, from the cheapest on; the last is the best.

    With a budget only the sets that it pays for.
    """
    price = sets @ costs
    order = np.lexsort((-scores, price))
    better = np.maximum.accumulate(scores[order])
    first = np.append(True, better[1:] > better[:-1])
    found: Ints = order[first]
    return found if budget is None else found[price[found] <= budget * (1 + 1e-12)]


def read_costs(costs: Any, names: Sequence[str], budget: Any = None) -> Floats | None:
    """What every contributor costs, by name or in their order; None where nobody said."""
    if budget is not None:
        if not _is_price(budget):
            raise InputError(f"budget={shown(budget)} must be a number from 0 on")
        if costs is None:
            raise InputError("budget needs costs: what each contributor costs")
    if costs is None:
        return None
    if hasattr(costs, "items") and not hasattr(costs, "columns"):
        given = {str(name): cost for name, cost in costs.items()}
        for name in given:
            if name not in names:
                raise InputError(
                    f"costs names {name!r}, who is no contributor{did_you_mean(name, names)}"
                )  # fmt: skip
        for name in names:
            if name not in given:
                raise InputError(f"costs has no cost for {name!r}")
        costs = [given[name] for name in names]
    items = list(costs)
    if len(items) != len(names):
        raise InputError(f"costs has {len(items)} entries for {len(names)} contributors")
    for name, item in zip(names, items, strict=True):
        if not _is_price(item):
            raise InputError(f"costs: the cost of {name!r} is {item!r}, not a number from 0 on")
    return np.array(items, dtype=np.float64)


def _is_price(item: Any) -> bool:
    return is_number(item) and math.isfinite(item) and item >= 0
