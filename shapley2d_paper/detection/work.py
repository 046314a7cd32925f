"""One round of the detection benchmark: inject errors, look for them, repair what was found."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.evaluation import Corrupted, detection_scores, inject_errors
from shapley2d.exceptions import InputError
from shapley2d_paper.data.splits import TITLES, Parts, split_table
from shapley2d_paper.detectors.detectors import DETECTORS, DetectionTask
from shapley2d_paper.detectors.models import MODELS, accuracies
from shapley2d_paper.harness.experiment import Unavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.harness.records import Row

KINDS = ("unlikely", "tail", "swapped", "typo", "labels", "units")
"""The kinds of errors injected; all except ``"labels"`` change cells."""

CELL_SHARE = 0.02
"""How many of the cells are corrupted."""

LABEL_SHARE = 0.10
"""How many of the labels are flipped."""

REPAIRS = {"once": 1.0, "more": 2.5}
"""Cells inspected before a repair, as a multiple of the share corrupted: 2 % and 5 % of all."""

EXTRAS = ("ECOD", "DDC")
"""Methods of packages that may be missing, or that cannot score every table."""

_TREES = 5  # a tree's accuracy depends on its seed, so several are averaged


def work(
    dataset: str,
    kind: str,
    seed: int,
    methods: list[str],
    n_train: int,
    n_valid: int,
    n_test: int | None,
    budgets: dict[str, int],
) -> list[Row]:
    """Inject errors of one kind, have them looked for, and repair what was found.

    Parameters
    ----------
    dataset, kind : str
    seed : int
        Decides which rows train and what is injected, the same for all methods.
    methods : list of str
        Names of :data:`~shapley2d_paper.detectors.detectors.DETECTORS`.
    n_train, n_valid, n_test : int
        Rows that train, validate and test; ``n_test=None`` for all that are left, at most 4,000.
    budgets : dict
        Permutations of the methods that sample, by name.

    Returns
    -------
    list of dict
        One record per method.
    """
    parts, corrupted = corrupt(dataset, kind, seed, n_train, n_valid, n_test)
    truth = corrupted.rows if kind == "labels" else corrupted.cells
    ends = {
        f"{model}_{name}": _accuracy(model, parts, X, y, seed)
        for model in MODELS
        for name, (X, y) in (
            ("corrupted", (corrupted.numbers, corrupted.labels)),
            ("ceiling", (parts.X, parts.y)),
        )
    }
    records = []
    for method in methods:
        scores, seconds = anomaly_scores(
            method, kind, parts, corrupted, seed, budgets.get(method, 1)
        )
        record: Row = {"dataset": dataset, "kind": kind, "method": method}
        record |= {"rows": len(parts.y), "columns": parts.X.shape[1], "injected": int(truth.sum())}
        record |= {"seconds": seconds, **detection_scores(scores, truth)}
        suggest = DETECTORS[method].suggest
        new = None if suggest is None else suggest(_task(parts, corrupted, seed, 1))
        for name, times in REPAIRS.items():
            inspected = highest_scores(scores, times * share_of(kind), seed)
            X, y = repaired(parts, corrupted, inspected)
            record |= {f"{model}_{name}": _accuracy(model, parts, X, y, seed) for model in MODELS}
            if new is not None:
                X, y = repaired(replace(parts, X=new[0], y=new[1]), corrupted, inspected)
                record |= {
                    f"{model}_{name}_suggested": _accuracy(model, parts, X, y, seed)
                    for model in MODELS
                }
        records.append(record | ends)
    return records


def share_of(kind: str) -> float:
    """The share of a kind that is injected."""
    return LABEL_SHARE if kind == "labels" else CELL_SHARE


def corrupt(
    dataset: str, kind: str, seed: int, n_train: int, n_valid: int, n_test: int | None
) -> tuple[Parts, Corrupted]:
    """The rows of a seed, and the training rows with errors injected: the same for all methods."""
    parts = split_table(dataset, seed, n_train=n_train, n_valid=n_valid, n_test=n_test)
    stream = np.random.SeedSequence(
        seed, spawn_key=(list(TITLES).index(dataset), KINDS.index(kind))
    )
    rng = np.random.default_rng(stream)
    return parts, inject_errors(kind, parts.X, parts.y, parts.categorical, share_of(kind), rng)


def anomaly_scores(
    method: str, kind: str, parts: Parts, corrupted: Corrupted, seed: int, budget: int
) -> tuple[NDArray[np.float64], float]:
    """The anomaly score of every cell, or of every label, by a method, and its CPU seconds.

    Only the training rows are corrupted: the methods that validate get clean rows for it.
    """
    task = _task(parts, corrupted, seed, budget)
    detector = DETECTORS[method]
    started = time.process_time()
    try:
        scores = detector.labels(task) if kind == "labels" else detector(task)
    except InputError as error:
        if method in EXTRAS:
            raise Unavailable(str(error)) from error
        raise
    return scores, time.process_time() - started


def _task(parts: Parts, corrupted: Corrupted, seed: int, budget: int) -> DetectionTask:
    return DetectionTask(
        numbers=corrupted.numbers,
        labels=corrupted.labels,
        categorical=parts.categorical,
        valid_numbers=parts.X_valid,
        valid_labels=parts.y_valid,
        seed=seed,
        column_names=parts.column_names,
        budget=budget,
    )


def highest_scores(scores: NDArray[np.float64], share: float, seed: int) -> NDArray[np.bool_]:
    """Mark this share of the cells or rows, the highest scores first, equal ones in random order.

    Examples
    --------
    >>> highest_scores(np.array([[0.0, 2.0], [1.0, -1.0]]), 0.5, 0)
    array([[False,  True],
           [ True, False]])
    """
    flat = scores.ravel()
    shuffled = np.random.default_rng(seed).permutation(flat.size)
    order = shuffled[np.argsort(-flat[shuffled], kind="stable")]
    marked = np.zeros(flat.size, dtype=bool)
    marked[order[: round(share * flat.size)]] = True
    return marked.reshape(scores.shape)


def repaired(
    parts: Parts, corrupted: Corrupted, inspected: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The corrupted table and labels, with the true entry wherever one was inspected."""
    if inspected.ndim == 1:
        return corrupted.numbers, np.where(inspected, parts.y, corrupted.labels)
    return np.where(inspected, parts.X, corrupted.numbers), corrupted.labels


def _accuracy(
    model: str, parts: Parts, X: NDArray[np.float64], y: NDArray[np.intp], seed: int
) -> float:
    """Accuracy on the test rows, which neither the injection nor the methods have seen."""
    seeds = range(_TREES) if model == "tree" else range(1)
    test = [(parts.X_test, parts.y_test)]
    return float(np.mean([accuracies(model, X, y, test, _TREES * seed + k) for k in seeds]))
