"""Cells of a table with injected outliers, ranked by some methods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shapley2d import value_cells
from shapley2d_paper.detectors.detectors import DETECTORS
from shapley2d_paper.outliers.scoring import range_records, rarity, score_records, value_records
from shapley2d_paper.outliers.tables import authors_table, injected_table, published_values

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d_paper.detectors.detectors import DetectionTask
    from shapley2d_paper.harness.records import Row
    from shapley2d_paper.outliers.tables import InjectedTable


RAW = "2D-KNN raw"
"""2D-KNN on squared differences of the raw numbers, as in the paper; "2D-KNN" is the package's default metric."""


def work(
    *, seed: int, table: str, methods: list[str], share: float, permutations: int
) -> list[Row]:
    """Rank the cells of one table by some methods, and score the ranks."""
    injected = authors_table(seed) if table == "authors" else injected_table(table, seed, share)
    injected = replace(injected, task=replace(injected.task, budget=permutations))
    records: list[Row] = []
    for method in methods:
        scores = _scores(method, injected.task)
        mark: Row = {"table": table, "method": method, "permutations": permutations or None}
        records += score_records(scores, injected, mark)
        if method in (RAW, "published"):
            clean = _clean_values(method, injected)
            records += range_records(clean, -scores, injected, mark)
            if method == RAW:
                records.append({"what": "rarity", "table": table, **rarity(injected)})
            if table == "authors" and method == RAW:
                records += value_records(-scores, injected, method, clean)
        if table == "authors" and method == "1D":
            records += value_records(-scores, injected, method)
    return records


def _scores(method: str, task: DetectionTask) -> NDArray[np.float64]:
    if method == "published":
        return -published_values()[1]
    return -_raw_values(task, task.numbers) if method == RAW else DETECTORS[method](task)


def _raw_values(task: DetectionTask, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    valid = task.valid_numbers, task.valid_labels
    options: dict[str, Any] = {
        "metric": "sqeuclidean",
        "baseline": "zero",
        "n_jobs": 1,
        "progress": False,
    }
    return value_cells(numbers, task.labels, *valid, **options).values


def _clean_values(method: str, injected: InjectedTable) -> NDArray[np.float64]:
    if method == "published":
        return published_values()[0]
    return _raw_values(injected.task, injected.clean)
