"""The page of a valuation of fragments: who holds what, what it is worth, which sets do well.

Here is what the page is about, contributors by worth; its words and layout are in the templates.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base import page as pages
from shapley2d._base.page_data import script_json
from shapley2d._fragments.best_sets import best_of_size, read_costs
from shapley2d._fragments.map import MOST_COLOURS, draw_map
from shapley2d._theory.axes import subsets
from shapley2d._valuation.units import Score, points_of

if TYPE_CHECKING:
    import os

    from shapley2d._base.arrays import Floats
    from shapley2d._valuation.valuation import Valuation

_ASSETS = "_fragments/page_assets"


def write_page(
    valuation: Valuation,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    pay: float | None = None,
    trusted: bool = False,
    costs: Any = None,
) -> None:
    """Write the page, one file that asks the network for nothing, whole or not at all.

    ``pay`` is divided as by :meth:`~shapley2d.Valuation.payments`; ``costs`` are prices of
    contributors, shown beside the sets.
    """
    payments = None
    if pay is not None:
        paid: Any = valuation.payments(pay, trusted=trusted)
        payments = nw.from_native(paid, eager_only=True).rows(named=True)
    pages.write_page(
        path,
        f"{_ASSETS}/page.html.jinja",
        styles=[f"{_ASSETS}/page.css"],
        scripts=[f"{_ASSETS}/page.js"],
        info=valuation.info,
        facts=None,
        notes=[valuation.caveat] if valuation.caveat else [],
        given_title=title,
        **page_content(valuation, payments, costs),
    )


def page_content(
    valuation: Valuation, payments: list[dict[str, Any]] | None = None, costs: Any = None
) -> dict[str, Any]:
    """What the templates show; contributors by worth, columns in the order of the map."""
    f, info, unit = valuation._fragments, valuation.info, points_of(valuation.info)
    order = np.argsort(-valuation.row_values, kind="stable")
    coloured = order.size <= MOST_COLOURS
    drawn = draw_map(f.patterns[:, order], f.pattern_rows) if coloured else None
    columns = np.arange(len(f.columns)) if drawn is None else np.array(drawn.columns)
    each = f.each(valuation)
    names = [one["contributor"] for one in each]
    price = read_costs(costs, names)
    f, factor = f.arranged(order, columns), valuation._interval_factor
    through, pieces = f.cells, []
    if f.by == "column":
        through = valuation.values[np.ix_(order, columns)]
        errors = valuation.stderr[np.ix_(order, columns)].ravel()
        held = np.where(f.cells > 0, through, -np.inf).ravel()
        pieces = [divmod(i, columns.size) for i in leaders(held, errors, factor)]
    lost, half = (f.whole - f.set_scores).round(12), factor * f.set_lost_stderr

    def clear_leaders(values: Floats, errors: Floats) -> list[int]:
        first = leaders(values, errors, factor)
        return first if values[first[0]] > factor * errors[first[0]] else []

    page = {
        "f": f, "map": drawn, "coloured": coloured,
        "people": [each[i] for i in order],
        "payments": payments and [payments[i] for i in order],
        "through": through,  # which columns: what they are worth, or else the entries
        "total": valuation.total, "total_half": factor * valuation.total_stderr,
        "best": [
            {
                "members": np.flatnonzero(f.sets[b]).tolist(), "score": f.set_scores[b],
                "lost": lost[b], "half": half[b], "enough": lost[b] <= half[b],
            }
            for b in best_of_size(f.sets, f.set_scores)
        ],
        "costs": [] if price is None else price[order].tolist(),
        "leaders": leaders(valuation.row_values[order], f.covariance, factor),
        "alone_most": clear_leaders(f.alone, f.of_sets(f.set_stderr, f.each_alone)),
        "missed_most": clear_leaders(
            f.whole - f.without, f.of_sets(f.set_lost_stderr, ~f.each_alone)
        ),
        "pieces": pieces,
        "shapley": info.get("semivalue", ["shapley"] * 2) == ["shapley"] * 2,
        "seconds": info.get("seconds") or 0.0,
        "score": Score.of(info) or Score(f.score), "unit": unit,
        "decimals": 1 if (known := unit.decimals(valuation.row_values.tolist())) is None else known,
        "names_of": lambda who: [names[order[i]] for i in who], "compress": compress,
    }  # fmt: skip
    return page | {"tried": _all_sets(page, factor)}


def leaders(values: Floats, errors: Floats, factor: float) -> list[int]:
    """The largest value, and those that are not clearly less, by the interval of the difference.

    ``errors`` are a covariance, or standard errors taken as independent.

    >>> leaders(np.array([1.0, 3.0, 2.9]), np.array([0.1, 0.1, 0.1]), 1.96)
    [1, 2]
    """
    first = int(np.argmax(values))
    variances, shared = errors**2, np.zeros(())
    if errors.ndim == 2:
        variances, shared = np.diag(errors), errors[first]
    apart = np.sqrt(np.maximum(variances[first] + variances - 2 * shared, 0.0))
    near = np.round(values[first] - values, 12) <= factor * apart
    return [int(i) for i in np.argsort(-values, kind="stable") if near[i]]


def _all_sets(page: dict[str, Any], factor: float) -> str:
    """The scores of all sets, for the script; empty where not all are known.

    Bit ``i`` of a place is the contributor of rank ``i``. ``halves`` are half widths of the
    interval of what is lost.
    """
    f, unit, decimals = page["f"], page["unit"], page["decimals"]
    if not page["coloured"] or len(f.sets) + 1 != 1 << int(f.sets.any(axis=0).sum()):
        return ""
    numbers = {
        # two digits more than are shown: of differences, too
        name: (unit.factor * f.of_sets(one, subsets(len(f.cells)))).round(decimals + 2).tolist()
        for name, one in (("scores", f.set_scores), ("halves", factor * f.set_lost_stderr))
    }
    return script_json(numbers | {"decimals": decimals, "costs": page["costs"], "unit": unit.words})
