"""Means of the detection benchmark: by method and kind of error, and what a repair gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d_paper.detectors.models import MODELS
from shapley2d_paper.harness.records import Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.harness.records import Row

CELL_VALUES = ("2D-KNN", "2D-MC", "1D", "2D-LOO", "2D-OOB", "2D-OOB distance")
"""Methods that say what a cell is worth to a model."""

DEVIATION = ("z-score", "ECOD", "DDC", "column predictor", "inspection")
"""Methods that say how far a cell is from what one expects."""

METHODS = (*CELL_VALUES, *DEVIATION, "random")
"""All of them, in the order of the tables."""

KIND_TITLES = {
    "unlikely": "unlikely for class",
    "tail": "tail",
    "swapped": "swapped",
    "typo": "typo",
    "units": "units",
    "labels": "labels",
}
"""The kinds of errors, in the order of the tables."""

SIGN = "†"
"""Marks means of a method over fewer tables than the others'."""


def methods_of(records: Records) -> list[str]:
    """The methods that have records, in the order of the tables."""
    there = records.distinct("method")
    return [method for method in METHODS if method in there]


def kinds_of(records: Records) -> list[str]:
    """The kinds of errors that have records, in the order of the tables."""
    there = records.distinct("kind")
    return [kind for kind in KIND_TITLES if kind in there]


def complete(records: Records) -> list[str]:
    """The methods with a record for every corrupted table, in the order of the tables."""
    return [method for method in methods_of(records) if not lacking(records, method)]


def lacking(records: Records, method: str) -> int:
    """How many corrupted tables a method was not run on, though another was."""
    return len(_tables(records) - _tables(records.where(method=method)))


def marked(records: Records, method: str) -> str:
    """The name of a method, with a sign where it lacks some tables."""
    return f"{method}{SIGN}" if lacking(records, method) else method


def best(records: Records, kind: str, methods: tuple[str, ...]) -> tuple[str, float]:
    """The method with the highest mean AUROC for a kind, and that AUROC; empty without records.

    Of the methods that were run on every table, so that all means are over the same ones.
    """
    of_kind = records.where(kind=kind)
    means = {
        method: of_kind.where(method=method).mean("auroc")
        for method in complete(of_kind)
        if method in methods
    }
    return max(means.items(), key=lambda pair: pair[1]) if means else ("", float("nan"))


@dataclass(frozen=True)
class Comparison:
    """Two methods and their mean AUROC over the tables that both were run on."""

    method: str
    auroc: float
    other: str
    other_auroc: float

    @property
    def lead(self) -> float:
        """How far the method is above the other."""
        return self.auroc - self.other_auroc


def comparisons(
    records: Records, kind: str, method: str, others: tuple[str, ...]
) -> list[Comparison]:
    """A method beside each of some others on a kind of error, where they share tables."""
    of_kind = records.where(kind=kind)
    found = []
    for other in others:
        shared = _tables(of_kind.where(method=method)) & _tables(of_kind.where(method=other))
        if shared:
            auroc, other_auroc = (_on(of_kind.where(method=one), shared) for one in (method, other))
            found.append(Comparison(method, auroc, other, other_auroc))
    return found


def _on(records: Records, tables: set[tuple[Any, ...]]) -> float:
    return records.where(lambda row: _table(row) in tables).mean("auroc")


def best_comparison(
    records: Records, kind: str, methods: tuple[str, ...], others: tuple[str, ...]
) -> Comparison | None:
    """The method whose smallest lead over the others is largest; None without any."""
    lowest = [
        min(made, key=lambda comparison: comparison.lead)
        for made in (comparisons(records, kind, method, others) for method in methods)
        if made
    ]
    return max(lowest, key=lambda comparison: comparison.lead) if lowest else None


def _tables(records: Records) -> set[tuple[Any, ...]]:
    return {_table(row) for row in records}


def _table(row: Row) -> tuple[Any, ...]:
    """What names a corrupted table."""
    return row["dataset"], row["kind"], row["seed"]


def corrupted_tables(records: Records) -> Records:
    """One record per corrupted table, for facts that do not depend on the method."""
    return Records([part.rows[0] for _, part in records.groups("dataset", "kind", "seed")])


def gains(records: Records, to: str) -> NDArray[np.float64]:
    """Points of accuracy that a repair gains, by record: the mean over the models.

    Parameters
    ----------
    records : Records
    to : {"once", "more", "once_suggested", "more_suggested", "ceiling"}
        After as many cells were inspected as are corrupted, after two and a half times as many,
        with the entries that the method suggests in the place of the true ones, or after all.
    """
    by_model = [
        records.numbers(f"{model}_{to}") - records.numbers(f"{model}_corrupted") for model in MODELS
    ]
    return np.asarray(100 * np.mean(by_model, axis=0))


def gain(records: Records, to: str) -> float:
    """The mean of :func:`gains`; NaN without records."""
    return float(gains(records, to).mean()) if len(records) else float("nan")


def gain_error(records: Records, to: str) -> float:
    """The standard error of :func:`gain` over dataset and seed means; NaN for fewer than two.

    The kinds of errors are injected into the same rows, so that their gains are not independent.
    """
    means = [gain(part, to) for _, part in records.groups("dataset", "seed")]
    return float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("nan")


def typical_seconds(records: Records) -> float:
    """CPU seconds for one table: the median over kinds and seeds, averaged over the datasets.

    The median, because the first call of a method in a process also loads what it needs.
    """
    medians = [float(np.median(part.numbers("seconds"))) for _, part in records.groups("dataset")]
    return float(np.mean(medians)) if medians else float("nan")
