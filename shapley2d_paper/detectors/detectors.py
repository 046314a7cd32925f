"""Detectors of bad cells by name, ours and the baselines, behind one call.

``DETECTORS[name](task)`` is one anomaly score per cell, higher for the more likely error;
``DETECTORS[name].labels(task)`` is one per row, for its label. A cell's value turns into a score by
its sign: what harms most has the highest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shapley2d import KNN, Method, MonteCarlo, value_cells
from shapley2d_paper.baselines.flat import Flat
from shapley2d_paper.baselines.loo import LOO
from shapley2d_paper.baselines.oob import OOB
from shapley2d_paper.baselines.random import Random
from shapley2d_paper.detectors.column_predictor import column_predictor
from shapley2d_paper.detectors.deviation import BASELINES, label_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True)
class DetectionTask:
    """A corrupted table to look for errors in, and sound rows to validate on.

    Attributes
    ----------
    numbers : ndarray of shape (n, m)
        Categories as whole-number codes, NaN where an entry is missing.
    labels : ndarray of shape (n,)
    categorical : ndarray of bool, shape (m,)
    valid_numbers, valid_labels : ndarray
        Rows to validate on. The baselines and 2D-OOB do not look at them.
    seed : int
    column_names : sequence of str
    budget : int
        Permutations of the methods that sample (``"2D-MC"`` and ``"1D"``).
    """

    numbers: NDArray[np.float64]
    labels: NDArray[np.intp]
    categorical: NDArray[np.bool_]
    valid_numbers: NDArray[np.float64]
    valid_labels: NDArray[np.intp]
    seed: int
    column_names: tuple[str, ...] | list[str]
    budget: int = 100


@dataclass(frozen=True)
class Detector:
    """A detector of bad cells and of bad labels.

    Attributes
    ----------
    cells : callable
        From a task to the anomaly score of every cell, shape (n, m).
    labels : callable
        From a task to that of every row's label, shape (n,).
    suggest : callable or None
        From a task to what the cells and the labels should be, shapes (n, m) and (n,), where the
        detector says that.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [9.0], [8.0], [7.0]]), np.array([0, 0, 0, 1, 1])
    >>> task = DetectionTask(X, y, np.array([False]), X, y, seed=0, column_names=["size"])
    >>> int(DETECTORS["z-score"](task).argmax())
    2
    """

    cells: Callable[[DetectionTask], NDArray[np.float64]]
    labels: Callable[[DetectionTask], NDArray[np.float64]]
    suggest: Callable[[DetectionTask], tuple[NDArray[np.float64], NDArray[np.intp]]] | None = None

    def __call__(self, task: DetectionTask) -> NDArray[np.float64]:
        """The anomaly score of every cell."""
        return self.cells(task)


def _values(
    task: DetectionTask, method: Method, *, include_label: bool = False
) -> NDArray[np.float64]:
    """Values of the cells by a method, on one core; as in the paper, no columns are worth 0."""
    return value_cells(
        _frame(task, task.numbers),
        task.labels,
        _frame(task, task.valid_numbers),
        task.valid_labels,
        method=method,
        task="classification",
        include_label=include_label,
        baseline="zero",
        random_state=task.seed,
        n_jobs=1,
        progress=False,
    ).values


def _frame(task: DetectionTask, numbers: NDArray[np.float64]) -> Any:
    """The table as a frame in which categories are text."""
    columns: dict[str, Any] = {}
    for name, column, is_category in zip(
        task.column_names, numbers.T, task.categorical, strict=True
    ):
        texts = (
            [None if np.isnan(code) else f"code {code:.0f}" for code in column]
            if is_category
            else None
        )
        columns[name] = np.ascontiguousarray(column) if texts is None else texts
    return pa.table(columns)


def _ours(method: Callable[[int], Method], *, label_column: bool = False) -> Detector:
    """A detector from a method with a budget; a label's score is its cell's, or its whole row's."""

    def cells(task: DetectionTask) -> NDArray[np.float64]:
        return -_values(task, method(task.budget))

    def labels(task: DetectionTask) -> NDArray[np.float64]:
        if label_column:
            return -_values(task, method(task.budget), include_label=True)[:, -1]
        return np.asarray(cells(task).sum(axis=1))

    return Detector(cells, labels)


def _inspect(task: DetectionTask) -> Any:
    """The package's inspection of a task's training rows, on one core."""
    from shapley2d import inspect_cells

    return inspect_cells(
        _frame(task, task.numbers),
        task.labels,
        task="classification",
        random_state=task.seed,
        n_jobs=1,
        progress=False,
    )


def _inspected_cells(task: DetectionTask) -> NDArray[np.float64]:
    return np.asarray(_inspect(task).scores)


def _inspected_labels(task: DetectionTask) -> NDArray[np.float64]:
    return np.asarray(_inspect(task).label_scores)


def _suggested(task: DetectionTask) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The entries and labels that an inspection suggests; the old ones where it suggests none."""
    inspection = _inspect(task)
    numbers = task.numbers.copy()
    for j, name in enumerate(task.column_names):
        for i, entry in enumerate(inspection.expected.column(name).to_pylist()):
            if entry is not None:
                numbers[i, j] = float(str(entry).removeprefix("code "))
    numbers = np.where(np.isnan(numbers), task.numbers, numbers)
    return numbers, np.array(
        [int(float(label)) for label in inspection.label_expected], dtype=np.intp
    )


def _baseline(name: str) -> Detector:
    def cells(task: DetectionTask) -> NDArray[np.float64]:
        detect = (
            partial(column_predictor, seed=task.seed)
            if name == "column predictor"
            else BASELINES[name]
        )
        return detect(task.numbers, task.labels, task.categorical)

    def labels(task: DetectionTask) -> NDArray[np.float64]:
        return label_scores(name, task.numbers, task.labels, task.categorical, seed=task.seed)

    return Detector(cells, labels)


DETECTORS: dict[str, Detector] = {
    "2D-KNN": _ours(lambda _: KNN(), label_column=True),
    "2D-MC": _ours(
        lambda budget: MonteCarlo("gaussian_nb", max_draws=budget, tolerance=0),
        label_column=True,
    ),
    "1D": _ours(lambda budget: Flat(max_draws=budget, tolerance=0)),
    "2D-LOO": _ours(lambda _: LOO()),
    "2D-OOB": _ours(lambda _: OOB(max_draws=1000)),
    "2D-OOB distance": _ours(lambda _: OOB(max_draws=1000, oob_score="distance")),
    "random": _ours(lambda _: Random()),
    "inspection": Detector(_inspected_cells, _inspected_labels, _suggested),
    **{name: _baseline(name) for name in BASELINES},
}
"""The detectors by name."""
