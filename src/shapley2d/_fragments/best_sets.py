"""Which contributors to sign: the best set of every size, or for a budget.

They are chosen among the sets whose scores were computed for the values anyway.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import is_number
from shapley2d._base.words import did_you_mean
from shapley2d.exceptions import InputError, Setting

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


def read_costs(costs: Any, names: Sequence[str]) -> Floats:
    """What every contributor costs, by name; or in their order."""
    if hasattr(costs, "items") and not hasattr(costs, "columns"):
        given = {str(name): cost for name, cost in costs.items()}
        lost = [name for name in names if name not in given]
        unknown = [name for name in given if name not in names]
        if unknown or lost:
            name = (unknown or lost)[0]
            raise InputError(
                Setting("costs"),
                f" names {name!r}, who is no contributor{did_you_mean(name, names)}"
                if unknown
                else f" has no cost for {name!r}",
            )
        items = [given[name] for name in names]
    else:
        items = list(costs)
        if len(items) != len(names):
            raise InputError(
                Setting("costs"), f" has {len(items)} entries for {len(names)} contributors"
            )
    for name, item in zip(names, items, strict=True):
        if not is_number(item) or not math.isfinite(item) or item < 0:
            raise InputError(
                Setting("costs"), f": the cost of {name!r} is {item!r}, not a number from 0 on"
            )
    return np.array(items, dtype=np.float64)


def check_budget(budget: Any) -> None:
    """Refuse what is not an amount of money."""
    if not is_number(budget) or not math.isfinite(budget) or budget < 0:
        raise InputError(Setting("budget", budget), " must be a number from 0 on")
