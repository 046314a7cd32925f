"""How well anomaly scores find the errors of a table, with ties averaged exactly.

Cells are inspected from the highest score down. Ties come in random order, and every figure is the
exact mean over these orders. (scikit-learn's average precision treats ties as one step instead; the
two agree without ties.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SHARES = (0.01, 0.02, 0.05, 0.10)
"""Shares of inspected cells that :func:`detection_scores` reports."""


@dataclass(frozen=True)
class _TieGroups:
    """Groups of tied cells, highest score first: their sizes and numbers of errors."""

    sizes: NDArray[np.int64]
    errors: NDArray[np.int64]

    @property
    def n_cells(self) -> int:
        return int(self.sizes.sum())

    @property
    def n_errors(self) -> int:
        return int(self.errors.sum())


def average_precision(scores: ArrayLike, truth: ArrayLike) -> float:
    """Mean over the errors of the share of errors among the cells inspected up to it.

    Examples
    --------
    >>> average_precision([3, 2, 1, 0], [True, False, True, False])
    0.8333333333333333
    """
    groups = _tie_groups(scores, truth)
    found = np.cumsum(groups.errors) - groups.errors  # before the group
    group = np.repeat(np.arange(groups.sizes.size), groups.sizes)
    place = np.arange(groups.n_cells)
    starts = np.cumsum(groups.sizes) - groups.sizes
    sizes, errors = groups.sizes[group], groups.errors[group]
    # each other error of the group comes before this place with the same probability
    others = (place - starts[group]) * (errors - 1) / np.maximum(sizes - 1, 1)
    precision = (found[group] + 1 + others) / (place + 1)
    return float((errors / sizes * precision).sum() / groups.n_errors)


def detection_curve(
    scores: ArrayLike, truth: ArrayLike, inspected: ArrayLike
) -> NDArray[np.float64]:
    """Share of all errors found after inspecting given numbers of cells.

    Parameters
    ----------
    scores : array
        Anomaly scores; higher means more likely an error.
    truth : array of bool, same shape
        The errors.
    inspected : array of int, shape (k,)
        Numbers of cells, from 0 to all.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> detection_curve([3, 2, 2, 0], [True, True, False, False], [0, 1, 2, 3])
    array([0.  , 0.5 , 0.75, 1.  ])
    """
    groups = _tie_groups(scores, truth)
    counts = np.asarray(inspected, dtype=np.float64)
    if ((counts < 0) | (counts > groups.n_cells)).any():
        raise InputError(f"inspected must lie between 0 and {groups.n_cells}, the number of cells")
    ends = np.concatenate([[0], np.cumsum(groups.sizes)])
    found = np.concatenate([[0], np.cumsum(groups.errors)])
    return np.asarray(np.interp(counts, ends, found) / groups.n_errors)


def detection_scores(scores: ArrayLike, truth: ArrayLike) -> dict[str, float]:
    """AUROC, average precision, and the share of errors in the first 1, 2, 5 and 10 % of cells.

    Parameters
    ----------
    scores : array
        Anomaly scores: higher is more likely an error.
    truth : array of bool, same shape
        The errors.

    Examples
    --------
    >>> scores = np.arange(200.0)
    >>> found = detection_scores(scores, scores >= 190)
    >>> found["auroc"], found["found_1"], found["found_5"]
    (1.0, 0.2, 1.0)
    """
    from sklearn.metrics import roc_auc_score

    n_cells = np.size(scores)
    # at least one cell, otherwise rounded down
    inspected = [max(int(share * n_cells + 1e-9), 1) for share in SHARES]
    found = detection_curve(scores, truth, inspected)
    errors = np.asarray(truth, dtype=bool).ravel()
    if errors.all():
        raise InputError("every cell is an error: there is nothing to distinguish them from")
    # as ranks, since scikit-learn refuses infinite scores
    ranks = np.unique(scores, return_inverse=True)[1].ravel()
    return {
        "auroc": float(roc_auc_score(errors, ranks)),
        "average_precision": average_precision(scores, truth),
        **{f"found_{100 * part:.0f}": float(one) for part, one in zip(SHARES, found, strict=True)},
    }


def _tie_groups(scores: Any, truth: Any) -> _TieGroups:
    scores, truth = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    if scores.shape != truth.shape:
        raise InputError(f"scores has shape {scores.shape}, truth {truth.shape}")
    if np.isnan(scores).any():
        raise InputError("scores must not be NaN: every cell needs a place in the order")
    if not truth.any():
        raise InputError("no cell is an error: nothing to find")
    _, group, sizes = np.unique(-scores.ravel(), return_inverse=True, return_counts=True)
    errors = np.bincount(group, weights=truth.ravel(), minlength=sizes.size)
    return _TieGroups(sizes, errors.astype(np.int64))
