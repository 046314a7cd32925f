"""What a valuation of fragments knows besides its values: the map, sets of contributors, files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.json_record import Maybe, check_form, infinite_if_none, none_if_infinite
from shapley2d._base.precision import interval_factor
from shapley2d._base.words import counted, format_seconds, printable
from shapley2d._fragments.best_sets import best_for_cost, best_of_size, check_budget, read_costs
from shapley2d._fragments.payments import UNTRUSTED, divide, payment_interval, units_of
from shapley2d._tables.frames import make_frame
from shapley2d._valuation.wording.units import Score, points_of
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._valuation.valuation import Valuation

_SHOWN = 20  # contributors in print

MOST_PATTERNS = 900
"""Different kinds of rows that a map can show."""


class FileDigest(NamedTuple):
    """A file or frame that the values were computed from."""

    role: str  # the name of a contributor, "labels" or "validation"
    path: str  # its name without folders; empty for a frame
    digest: str  # SHA-256 of its bytes, or of the content of a frame


@dataclass(frozen=True, eq=False)
class Fragments:
    """What is known of the contributors of a valuation.

    ``cells``: entries that each contributor holds in each column; ``union``: that anybody holds;
    ``overlap``: that at least two hold. ``patterns``: the different rows of the map, who holds
    which columns there, and in ``pattern_rows`` how many rows are like that; none where there are
    more than :data:`MOST_PATTERNS`. Scores of sets are less the baseline, what the labels alone
    predict.
    """

    columns: list[str]
    n_rows: int
    cells: Ints
    union: Ints
    overlap: Ints
    patterns: Bools
    pattern_rows: Ints
    labels: tuple[str, ...]  # who holds labels; nobody where they are everybody's
    target: str
    score: str
    baseline: float
    n_valid: int
    crossed: bool
    by: str
    alone: Floats
    alone_stderr: Floats
    without: Floats
    without_stderr: Floats
    covariance: Floats
    dof: float
    orders_stderr: Floats
    sets: Bools
    set_scores: Floats
    set_stderr: Floats
    set_lost_stderr: Floats
    how: str  # "all sets" or "orders"
    n_orders: int
    n_trained: int
    seconds: float
    files: tuple[FileDigest, ...] = ()
    question: dict[str, Any] = field(default_factory=dict)

    def payments(self, valuation: Valuation, total: Any, *, trusted: bool = False) -> Any:
        """See :meth:`shapley2d.Valuation.payments`."""
        if self.crossed and not trusted:
            raise InputError(*UNTRUSTED)
        names, values = [str(name) for name in valuation.row_names], valuation.row_values
        units = units_of(total)
        amounts = divide(units, values.tolist(), names)
        low, high = payment_interval(values, self.covariance, self.dof)
        ends = (np.round(end * units) / 100 for end in (low, high))
        paid = np.array(amounts) / 100
        columns = {"owner": names, "value": values, "amount": paid}
        for name, pick, end in zip(("low", "high"), (np.minimum, np.maximum), ends, strict=True):
            columns[name] = pick(end, paid)
        return make_frame(columns, valuation._frame)

    def best_sets(self, valuation: Valuation, costs: Any = None, budget: Any = None) -> Any:
        """See :meth:`shapley2d.Valuation.best_sets`."""
        names = [str(name) for name in valuation.row_names]
        if budget is not None:
            check_budget(budget)
            if costs is None:
                raise InputError(
                    Setting("budget"), " needs ", Setting("costs"), ": what each contributor costs"
                )
        price = None if costs is None else read_costs(costs, names)
        if price is None:
            found = best_of_size(self.sets, self.set_scores)
        else:
            found = best_for_cost(self.sets, self.set_scores, price, budget)
        if not found.size:
            raise InputError(
                Setting("budget", budget), " pays for nobody: the cheapest costs "
                f"{0.0 if price is None else float(price.min()):g}",
            )  # fmt: skip
        half, scores = interval_factor(self.dof), self.set_scores[found]
        lost = self.set_scores[self.sets.sum(axis=1).argmax()] - scores
        columns: dict[str, Any] = {
            "size": self.sets[found].sum(axis=1),
            "contributors": [
                ", ".join(name for name, inside in zip(names, line, strict=True) if inside)
                for line in self.sets[found]
            ],
            "score": scores,
            "low": scores - half * self.set_stderr[found],
            "high": scores + half * self.set_stderr[found],
            "lost": lost,
            "lost_low": lost - half * self.set_lost_stderr[found],
            "lost_high": lost + half * self.set_lost_stderr[found],
        }
        if price is not None:
            columns["cost"] = self.sets[found] @ price
        return make_frame(columns, valuation._frame)

    def report(self, valuation: Valuation, path: Any, **options: Any) -> None:
        """Write the page; see :meth:`shapley2d.Valuation.to_html`."""
        from shapley2d._fragments.page import write_page

        write_page(valuation, path, **options)

    def receipt(
        self, valuation: Valuation, path: str | os.PathLike[str] | None, **options: Any
    ) -> dict[str, Any]:
        """See :meth:`shapley2d.Valuation.receipt`."""
        from shapley2d._fragments.receipt import make_receipt

        return make_receipt(valuation, path, **options)

    def lines(self, valuation: Valuation) -> list[str]:
        """What Python prints: who is worth what, and how that was found."""
        unit = points_of(valuation.info)
        order = np.argsort(-valuation.row_values, kind="stable")[:_SHOWN].tolist()
        values = [float(valuation.row_values[k]) for k in order]
        reach = [float(interval_factor(self.dof) * valuation.row_stderr[k]) for k in order]
        names = [printable(str(valuation.row_names[k])) for k in order]
        width = max(map(len, names))
        worth = zip(
            names, unit.numbers(values, signed=True), unit.spreads(reach, values), strict=True
        )
        left = len(self.alone) - len(order)
        labels = (
            f"held by {', '.join(self.labels)}, and valued too" if self.labels else "everybody's"
        )
        total, score = valuation.total, Score.of(valuation.info) or Score(self.score)
        decimals = score.decimals(total)
        full, start = (score.level(one, decimals) for one in (self.baseline + total, self.baseline))
        gain = f"The contributors add {score.gain(total, decimals)}."
        size = f"{self.n_rows:,} rows x {counted(len(self.columns), 'column')}"
        return [
            f"Valuation of {counted(len(self.alone), 'contributor')} of {size}",
            f"  Score {full} ({score.name}); the labels alone give {start}. {gain}",
            *(
                f"  {name:<{width}}  {number:>7} ± {half or 0} {unit.words}".rstrip()
                for name, number, half in worth
            ),
            *([f"  and {left} more"] if left else []),
            f"  labels   {labels}",
            f"  took     {self.ways}, {self.n_trained:,} trainings, {format_seconds(self.seconds)}",
        ]

    @property
    def ways(self) -> str:
        """Which sets of contributors were scored, in words."""
        if self.how == "all sets":
            return f"all {len(self.sets):,} sets of contributors"
        return f"{self.n_orders:,} random orders of contributors"

    def to_record(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        arrays = {name: (np.asarray(getattr(self, name)) * 1).tolist() for name in _ARRAYS}
        dof = none_if_infinite(self.dof)
        return {**{name: getattr(self, name) for name in _FORM}, "dof": dof, "arrays": arrays}

    @classmethod
    def of_record(cls, record: Any, n: int) -> Fragments:
        """What :meth:`to_record` gave for ``n`` contributors; a ValueError says what is off."""
        check_form(
            record, {**_FORM, "dof": Maybe(float), "arrays": dict}, "its record of contributors"
        )
        sizes, arrays = {"n": n, "m": len(record["columns"])}, dict[str, Any]()
        try:
            given = {name: np.array(one, float) for name, one in record["arrays"].items()}
            sizes |= {"s": len(given["sets"]), "p": len(given["pattern_rows"])}
            for name, (kind, axes) in _ARRAYS.items():
                arrays[name] = given[name].reshape([sizes[axis] for axis in axes]).astype(kind)
        except (KeyError, TypeError) as error:
            raise ValueError("its numbers of contributors do not fit") from error
        if not all(np.isfinite(one).all() for one in given.values()):
            raise ValueError("its numbers of contributors are not all finite")
        plain = {name: record[name] for name in _FORM}
        plain["files"] = tuple(FileDigest(*one) for one in plain["files"])
        plain["labels"] = tuple(plain["labels"])
        baseline = float(arrays.pop("baseline"))
        return cls(**plain, **arrays, baseline=baseline, dof=infinite_if_none(record["dof"]))


_FORM = {
    **dict.fromkeys(("target", "score", "by", "how"), str),
    **dict.fromkeys(("n_rows", "n_valid", "n_orders", "n_trained"), int),
    "columns": [str],
    "labels": [str],
    "crossed": bool,
    "seconds": float,
    "files": [(str, str, str)],
    "question": dict,
}
# types and axes: contributors (n), columns (m), patterns of rows (p), sets (s)
_ARRAYS = {
    "baseline": (float, ""),
    "cells": (int, "nm"),
    "union": (int, "m"),
    "overlap": (int, "m"),
    "patterns": (bool, "pnm"),
    "pattern_rows": (int, "p"),
    "covariance": (float, "nn"),
    **dict.fromkeys(("alone", "alone_stderr", "without", "without_stderr"), (float, "n")),
    "orders_stderr": (float, "n"),
    "sets": (bool, "sn"),
    **dict.fromkeys(("set_scores", "set_stderr", "set_lost_stderr"), (float, "s")),
}
