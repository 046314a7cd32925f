"""Means of the detection benchmark's lines: by method and kind of error, and what a repair gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d.paper.models import MODELS
from shapley2d.paper.records import Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

CELL_VALUES = ("2D-KNN", "2D-MC", "1D", "2D-LOO", "2D-OOB", "2D-OOB distance")
"""Methods that say what a cell is worth to a model."""

DEVIATION = ("z-score", "ECOD", "DDC", "column predictor")
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


def methods_of(records: Records) -> list[str]:
    """The methods that have lines, in the order of the tables."""
    there = records.distinct("method")
    return [method for method in METHODS if method in there]


def kinds_of(records: Records) -> list[str]:
    """The kinds of errors that have lines, in the order of the tables."""
    there = records.distinct("kind")
    return [kind for kind in KIND_TITLES if kind in there]


def best(records: Records, kind: str, methods: tuple[str, ...]) -> tuple[str, float]:
    """Which of some methods has the highest mean AUROC for a kind, and how high; the name is empty without lines."""
    means = {
        method: part.mean("auroc")
        for (method,), part in records.where(lambda row: row["method"] in methods, kind=kind).groups("method")
    }
    return max(means.items(), key=lambda pair: pair[1]) if means else ("", float("nan"))


def plantings(records: Records) -> Records:
    """One line per spoiled table, whoever looked for its errors: for what does not depend on the method."""
    return Records([part.rows[0] for _, part in records.groups("dataset", "kind", "seed")])


def gains(records: Records, to: str) -> NDArray[np.float64]:
    """Points of accuracy between the spoiled table and a repair, by line: the mean over the models.

    Parameters
    ----------
    records : Records
    to : {"once", "more", "ceiling"}
        After as many cells were inspected as are spoiled, after two and a half times as many, or after all.
    """
    by_model = [records.numbers(f"{model}_{to}") - records.numbers(f"{model}_spoiled") for model in MODELS]
    return np.asarray(100 * np.mean(by_model, axis=0))


def gain(records: Records, to: str) -> float:
    """The mean of :func:`gains`; NaN without lines."""
    return float(gains(records, to).mean()) if len(records) else float("nan")


def gain_error(records: Records, to: str) -> float:
    """The standard error of :func:`gain` over the lines; NaN for fewer than two."""
    return float(gains(records, to).std(ddof=1) / np.sqrt(len(records))) if len(records) > 1 else float("nan")


def typical_seconds(records: Records) -> float:
    """CPU seconds for one table: the median over kinds and seeds, averaged over the datasets.

    The median, because the first call of a method in a process also loads what it needs.
    """
    medians = [float(np.median(part.numbers("seconds"))) for _, part in records.groups("dataset")]
    return float(np.mean(medians)) if medians else float("nan")
