"""How far the curves of a method are from random removal's, and which datasets have such curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.data.splits import DATASETS
from shapley2d_paper.removal.statistics import Interval, mean_gap, read_curve

if TYPE_CHECKING:
    from shapley2d_paper.harness.records import Records


MAIN = ("census", "credit", "breast_cancer")
"""The datasets of the paper's main text."""


def advantage(
    records: Records,
    dataset: str,
    method: str,
    direction: str,
    evaluated_on: str,
    model: str = "tree",
) -> Interval | None:
    """How much better a method orders the cells than chance does, as a mean gap of accuracy.

    From the lowest on the accuracy should stay above random's, from the highest on it should fall
    below.
    """
    ours = read_curve(records, dataset, method, direction, evaluated_on, model)
    chance = read_curve(records, dataset, "random", direction, evaluated_on, model)
    if ours is None or chance is None:
        return None
    return mean_gap(ours, chance) if direction == "lowest" else mean_gap(chance, ours)


def present(records: Records, *methods: str) -> list[str]:
    """The paper's datasets for which there are curves of all these methods."""
    curves = records.where(what="curve")
    have = {(row["dataset"], row["method"]) for row in curves}
    return [dataset for dataset in DATASETS if all((dataset, method) in have for method in methods)]


def repeated(records: Records, *methods: str) -> list[str]:
    """The paper's datasets with two seeds or more that all these methods have: without, there is no interval."""
    curves = records.where(what="curve")
    return [
        dataset
        for dataset in DATASETS
        if len(
            set.intersection(
                *(
                    set(curves.where(dataset=dataset, method=method).distinct("seed"))
                    for method in methods
                )
            )
        )
        > 1
    ]
