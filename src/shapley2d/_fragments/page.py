"""The page of a valuation of fragments: who holds what, what it is worth, which sets do well."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base import page as pages
from shapley2d._base.page_data import script_json
from shapley2d._fragments.best_sets import best_of_size, read_costs
from shapley2d._fragments.claims import claims, leaders, listed, share, word
from shapley2d._fragments.map import draw_map
from shapley2d._theory.axes import subsets
from shapley2d._valuation.wording.units import Score, points_of

if TYPE_CHECKING:
    import os

    from shapley2d._base.arrays import Ints
    from shapley2d._valuation.valuation import Valuation

_ASSETS = "_fragments/page_assets"
_COLOURS = 12  # contributors that colours and letters tell apart
_SHOWN = 15  # lines of a long table before the fold


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
    content = page_content(valuation, payments, costs)
    pages.write_page(
        path,
        f"{_ASSETS}/page.html.jinja",
        styles=[f"{_ASSETS}/page.css"],
        scripts=[f"{_ASSETS}/page.js"],
        info=valuation.info,
        facts=None,
        notes=[valuation.caveat] if valuation.caveat else [],
        title=title or content["claims"]["page"],
        **content,
    )


def page_content(
    valuation: Valuation, payments: list[dict[str, Any]] | None, costs: Any
) -> dict[str, Any]:
    """What the template shows; contributors by worth, columns in the order of the map."""
    f, info = valuation._fragments, valuation.info
    k, m = f.cells.shape
    order = np.argsort(-valuation.row_values, kind="stable")
    total, factor, unit = valuation.total, valuation._interval_factor, points_of(info)
    decimals = unit.decimals(valuation.row_values.tolist())
    decimals = 1 if decimals is None else decimals

    def num(value: float) -> str:
        text = f"{round(unit.factor * value, decimals) + 0.0:,.{decimals}f}"
        return text.replace("-", "\N{MINUS SIGN}")

    drawn = draw_map(f.patterns[:, order], f.pattern_rows) if k <= _COLOURS else None
    columns = np.arange(m) if drawn is None else np.array(drawn.columns)
    price = read_costs(costs, [str(name) for name in valuation.row_names])
    page: dict[str, Any] = {
        "f": f, "k": k, "m": m, "order": order, "map": drawn, "coloured": k <= _COLOURS,
        "columns": [f.columns[j] for j in columns], "by_column": f.by == "column",
        "union": f.union[columns] / f.n_rows, "overlap": f.overlap[columns] / f.n_rows,
        "nobody": 1 - f.held, "several": f.held_twice,
        "total": total, "total_half": factor * valuation.total_stderr, "factor": factor,
        "whole": f.whole, "costs": [] if price is None else price[order].tolist(),
        "shapley": info.get("semivalue", ["shapley"] * 2) == ["shapley"] * 2,
        "seconds": info.get("seconds") or 0.0, "shown": k if k <= _SHOWN + 5 else _SHOWN,
        "num": num, "unit": unit, "score": Score.of(info) or Score(f.score), "share": share,
        "word": word, "listed": listed,
        "points": lambda value: f"{num(value)} {unit.words}".rstrip(),
        "part": lambda value: f"{num(value)} of {num(total)} {unit.words}".rstrip(),
    }  # fmt: skip
    page["people"] = people = _people(valuation, page, columns, payments)
    page["pot"] = None
    if payments is not None:
        amount = sum(one["amount"] for one in payments)
        page["pot"] = f"{amount:,.2f}".removesuffix(".00")
    page["names_of"] = lambda who, key="name": [people[i][key] for i in who]
    page["best"] = best = _best_sets(page)
    page["enough"] = next(one for one in best if one["lost"] <= one["half"])
    page["tried"] = _all_sets(page, decimals)
    page["leaders"] = leaders(
        valuation.row_values[order], f.covariance[np.ix_(order, order)], factor
    )
    for key, scores, stderr, sets in (
        ("alone", f.alone, f.set_stderr, f.each_alone),
        ("missed", f.whole - f.without, f.set_lost_stderr, ~f.each_alone),
    ):
        values, errors = scores[order], f.of_sets(stderr, sets)[order]
        first = leaders(values, errors, factor)
        page[f"{key}_most"] = first if values[first[0]] > factor * errors[first[0]] else []
    if page["by_column"]:
        held = f.cells[order][:, columns] > 0
        values = np.where(held, valuation.values[order][:, columns], -np.inf).ravel()
        errors = valuation.stderr[order][:, columns].ravel()
        page["pieces"] = [divmod(i, m) for i in leaders(values, errors, factor)]
    return {**page, "claims": claims(page)}


def _people(
    valuation: Valuation, page: dict[str, Any], columns: Ints, payments: list[dict[str, Any]] | None
) -> list[dict[str, Any]]:
    """One record a contributor: what it holds, is worth, adds, and is paid, its bar in per cent."""
    f, each = page["f"], page["f"].each(valuation)
    low = float(min(0.0, *(one["low"] for one in each)))
    high = float(max(0.0, *(one["high"] for one in each)))

    def place(value: float) -> float:
        return round(1 + 98 * (value - low) / (high - low or 1.0), 1)

    people, paid = [], payments or [{}] * page["k"]
    for q, i in enumerate(page["order"].tolist()):
        one, cells = each[i], f.cells[i, columns]
        left, right = sorted((place(0), place(one["value"])))
        people.append(one | {
            "name": one["contributor"], "key": chr(65 + q) if page["coloured"] else str(q + 1),
            "bar": (left, round(right - left, 1)), "zero": place(0),
            "ends": (place(one["low"]), place(one["high"])),
            "held": cells, "cover": cells / f.n_rows,
            "columns": list(compress(page["columns"], cells)),
            "by_column": valuation.values[i, columns] if page["by_column"] else cells,
            "missed": page["whole"] - one["without"],
            **{f"paid_{end}": amount for end, amount in paid[i].items()},
        })  # fmt: skip
    return people


def _best_sets(page: dict[str, Any]) -> list[dict[str, Any]]:
    """The best of the sets of every size that were scored; the last one is all that hold cells."""
    f, place, best = page["f"], np.argsort(page["order"]), []
    for b in best_of_size(f.sets, f.set_scores).tolist():
        members = sorted(place[f.sets[b]].tolist())
        best.append({
            "size": len(members), "members": members, "score": float(f.set_scores[b]),
            "lost": round(page["whole"] - float(f.set_scores[b]), 12),
            "half": page["factor"] * float(f.set_lost_stderr[b]),
            "cost": sum(page["costs"][i] for i in members) if page["costs"] else None,
        })  # fmt: skip
    return best


def _all_sets(page: dict[str, Any], decimals: int) -> str:
    """The scores of all sets, for the script; empty where not all are known.

    Bit ``i`` of a place is the contributor of rank ``i``. ``halves`` are half widths of the
    interval of what is lost.
    """
    f, k = page["f"], page["k"]
    if k > _COLOURS or len(f.sets) + 1 != 1 << int(f.sets.any(axis=0).sum()):
        return ""
    every = subsets(k)[:, np.argsort(page["order"])]
    digits = decimals + 2  # than are shown: of differences, too
    numbers = {
        name: (page["unit"].factor * f.of_sets(one, every)).round(digits).tolist()
        for name, one in (("scores", f.set_scores), ("halves", page["factor"] * f.set_lost_stderr))
    }
    return script_json(
        numbers | {"decimals": decimals, "costs": page["costs"], "unit": page["unit"].words}
    )
