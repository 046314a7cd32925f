"""What a valuation of fragments knows besides its values: the map, sets of contributors, files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.json_record import check_form
from shapley2d._base.words import counted, format_seconds, printable, shown
from shapley2d._fragments.best_sets import best_for_cost, best_of_size, read_costs
from shapley2d._fragments.payments import UNTRUSTED, divide, payment_interval, units_of
from shapley2d._tables.frames import make_frame
from shapley2d._valuation.units import Score, points_of
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._valuation.valuation import Valuation

_SHOWN = 20  # contributors in print


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
    which columns there, and in ``pattern_rows`` how many rows are like that; none where a map could
    not show them. ``sets``: those whose scores
    were computed, with everybody, each alone and all but one among them; scores are less the
    baseline, what the labels alone predict.
    """

    columns: list[str]
    n_rows: int
    cells: Ints
    union: Ints
    overlap: Ints
    patterns: Bools
    pattern_rows: Ints
    labels: list[str]  # who holds labels; nobody where they are everybody's
    target: str
    score: str
    baseline: float
    n_valid: int
    crossed: bool
    by: str
    covariance: Floats
    sets: Bools
    set_scores: Floats
    set_stderr: Floats
    set_lost_stderr: Floats
    how: str  # "all sets" or "orders"
    n_orders: int
    n_trained: int
    files: list[FileDigest]
    question: dict[str, Any]

    def arranged(self, order: Ints, columns: Ints) -> Fragments:
        """The same with contributors and columns in another order, but for the patterns."""
        return replace(
            self,
            columns=[self.columns[j] for j in columns],
            cells=self.cells[np.ix_(order, columns)],
            union=self.union[columns],
            overlap=self.overlap[columns],
            covariance=self.covariance[np.ix_(order, order)],
            sets=self.sets[:, order],
        )

    def of_sets(self, numbers: Floats, sets: Bools) -> Floats:
        """Numbers of the sets that were scored, for some sets; 0 for one that holds no entry."""
        known = {one.tobytes(): number for one, number in zip(self.sets, numbers, strict=True)}
        known[bytes(self.sets.shape[1])] = 0.0
        holding = self.sets.any(axis=0)
        return np.array([known[(one & holding).tobytes()] for one in sets])

    @property
    def whole(self) -> float:
        """The score of all contributors."""
        return float(self.set_scores[self.sets.sum(axis=1).argmax()])

    @property
    def held(self) -> float:
        """The share of the table's entries that anybody holds."""
        return float(self.union.sum()) / (self.n_rows * len(self.columns))

    @property
    def held_twice(self) -> float:
        """The share of the table's entries that two or more hold."""
        return float(self.overlap.sum()) / (self.n_rows * len(self.columns))

    @property
    def each_alone(self) -> Bools:
        """The sets of one contributor each."""
        return np.eye(len(self.cells), dtype=bool)

    @property
    def alone(self) -> Floats:
        """See :attr:`shapley2d.Valuation.alone`."""
        return self.of_sets(self.set_scores, self.each_alone)

    @property
    def without(self) -> Floats:
        """See :attr:`shapley2d.Valuation.without`."""
        return self.of_sets(self.set_scores, ~self.each_alone)

    def each(self, valuation: Valuation) -> list[dict[str, Any]]:
        """What is known of every contributor, in the order that they were given."""
        values, half = valuation.row_values, valuation._interval_factor * valuation.row_stderr
        columns = {
            "contributor": [str(name) for name in valuation.row_names],
            "value": values.tolist(),
            "half": half.tolist(),
            "low": (values - half).tolist(),
            "high": (values + half).tolist(),
            "alone": self.alone.tolist(),
            "without": self.without.tolist(),
            "cells": self.cells.sum(axis=1).tolist(),
        }
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def cents(self, valuation: Valuation, total: Any, *, trusted: bool = False) -> list[int]:
        """What everybody is paid of an amount, in cents."""
        if self.crossed and not trusted:
            raise InputError(UNTRUSTED)
        names = [str(name) for name in valuation.row_names]
        return divide(units_of(total), valuation.row_values.tolist(), names)

    def payments(self, valuation: Valuation, total: Any, *, trusted: bool = False) -> Any:
        """See :meth:`shapley2d.Valuation.payments`."""
        cents = self.cents(valuation, total, trusted=trusted)
        values, paid = valuation.row_values, np.array(cents) / 100
        low, high = payment_interval(values, self.covariance, valuation.dof)
        columns = {
            "owner": [str(name) for name in valuation.row_names],
            "value": values,
            "amount": paid,
            "low": np.minimum(np.round(low * sum(cents)) / 100, paid),
            "high": np.maximum(np.round(high * sum(cents)) / 100, paid),
        }
        return make_frame(columns, valuation._frame)

    def best_sets(self, valuation: Valuation, costs: Any = None, budget: Any = None) -> Any:
        """See :meth:`shapley2d.Valuation.best_sets`."""
        names = [str(name) for name in valuation.row_names]
        price = read_costs(costs, names, budget)
        if price is None:
            found = best_of_size(self.sets, self.set_scores)
        else:
            found = best_for_cost(self.sets, self.set_scores, price, budget)
            if not found.size:
                raise InputError(
                    f"budget={shown(budget)} pays for nobody: the cheapest costs "
                    f"{price.min():g}"
                )  # fmt: skip
        half, scores, sets = valuation._interval_factor, self.set_scores[found], self.sets[found]
        lost = self.whole - scores
        columns: dict[str, Any] = {
            "size": sets.sum(axis=1),
            "contributors": [", ".join(compress(names, line)) for line in sets],
            "score": scores,
            "low": scores - half * self.set_stderr[found],
            "high": scores + half * self.set_stderr[found],
            "lost": lost,
            "lost_low": lost - half * self.set_lost_stderr[found],
            "lost_high": lost + half * self.set_lost_stderr[found],
        }
        if price is not None:
            columns["cost"] = sets @ price
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
        unit, n = points_of(valuation.info), len(self.cells)
        each = sorted(self.each(valuation), key=lambda one: -one["value"])[:_SHOWN]
        values = [one["value"] for one in each]
        names = [printable(one["contributor"]) for one in each]
        width = max(map(len, names))
        halves = unit.spreads([one["half"] for one in each], values)
        worth = zip(names, unit.numbers(values, signed=True), halves, strict=True)
        labels = "everybody's: nobody is paid for them"
        if self.labels:
            labels = (
                f"held by {', '.join(self.labels)}: a row trains only where a set holds its label, "
                "so labels are valued too, and who holds all of them takes a large share"
            )
        rows, held, twice = counted(self.n_valid, "row"), 100 * self.held, 100 * self.held_twice
        sets = (
            f"all {len(self.sets):,} sets" if self.how == "all sets"
            else f"{self.n_orders:,} random orders"
        )  # fmt: skip
        seconds = format_seconds(valuation.info.get("seconds") or 0.0)
        size = f"{self.n_rows:,} rows x {counted(len(self.columns), 'column')}"
        return [
            f"Valuation of {counted(n, 'contributor')} of {size}, predicting {self.target!r}",
            f"  {self.score_words(valuation)}",
            *(
                f"  {name:<{width}}  {number:>7} ± {half or 0} {unit.words}".rstrip()
                for name, number, half in worth
            ),
            *([f"  and {n - _SHOWN} more"] if n > _SHOWN else []),
            f"  held     {held:.0f} % of the entries, {twice:.0f} % by two or more",
            f"  labels   {printable(labels)}",
            f"  scored   {'by cross-validation, on' if self.crossed else 'on'} {rows}",
            f"  took     {sets} of contributors, {self.n_trained:,} trainings, {seconds}",
        ]

    def score_words(self, valuation: Valuation) -> str:
        """The score, that of the labels alone, and what the contributors add."""
        total, score = valuation.total, Score.of(valuation.info) or Score(self.score)
        decimals = score.decimals(total)
        full, start = (score.level(one, decimals) for one in (self.baseline + total, self.baseline))
        gain = f"The contributors add {score.gain(total)}."
        return f"Score {full} ({score.name}); the labels alone give {start}. {gain}"

    def to_record(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        arrays = {name: np.asarray(getattr(self, name)).tolist() for name in _ARRAYS}
        return {**{name: getattr(self, name) for name in _FORM}, "arrays": arrays}

    @classmethod
    def of_record(cls, record: Any, n: int) -> Fragments:
        """What :meth:`to_record` gave for ``n`` contributors; a ValueError says what is off."""
        check_form(record, {**_FORM, "arrays": dict}, "its record of contributors")
        sizes, arrays = {"n": n, "m": len(record["columns"])}, dict[str, Any]()
        try:
            given = {name: np.array(one, float) for name, one in record["arrays"].items()}
            sizes |= {"s": len(given["sets"]), "p": len(given["pattern_rows"])}
            for name, (kind, axes) in _ARRAYS.items():
                arrays[name] = given[name].reshape([sizes[axis] for axis in axes]).astype(kind)
            plain = {name: record[name] for name in _FORM}
            plain["files"] = [FileDigest(*one) for one in plain["files"]]
            found = cls(**plain, **arrays)
            numbers: list[Any] = [*given.values(), found.baseline]
            numbers += [found.alone, found.without]  # whose sets are there
        except (KeyError, TypeError) as error:
            raise ValueError("its numbers of contributors do not fit") from error
        if not all(np.isfinite(one).all() for one in numbers):
            raise ValueError("its numbers of contributors are not all finite")
        return found


_FORM = {
    **dict.fromkeys(("target", "score", "by", "how"), str),
    **dict.fromkeys(("n_rows", "n_valid", "n_orders", "n_trained"), int),
    "columns": [str],
    "labels": [str],
    "crossed": bool,
    "baseline": int | float,
    "files": [(str, str, str)],
    "question": dict,
}
# types and axes: contributors (n), columns (m), patterns of rows (p), sets (s)
_ARRAYS = {
    "cells": (int, "nm"),
    "union": (int, "m"),
    "overlap": (int, "m"),
    "patterns": (bool, "pnm"),
    "pattern_rows": (int, "p"),
    "covariance": (float, "nn"),
    "sets": (bool, "sn"),
    **dict.fromkeys(("set_scores", "set_stderr", "set_lost_stderr"), (float, "s")),
}
