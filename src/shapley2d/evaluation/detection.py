"""How well anomaly scores find the errors of a table, with ties averaged exactly.

Cells are inspected from the highest score down. Ties come in random order, and every figure is the
exact mean over these orders. (scikit-learn's average precision treats ties as one step instead; the
two agree without ties.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shapley2d._base.arrays import Floats

SHARES = (0.01, 0.02, 0.05, 0.10)
"""Shares of inspected cells that :func:`detection_scores` reports."""


def average_precision(scores: ArrayLike, truth: ArrayLike) -> float:
    """Mean over the errors of the share of errors among the cells inspected up to it.

    Examples
    --------
    >>> average_precision([3, 2, 1, 0], [True, False, True, False])
    0.8333333333333333
    """
    all_sizes, all_errors = _tie_groups(scores, truth)
    found = np.cumsum(all_errors) - all_errors  # before the group
    group = np.repeat(np.arange(all_sizes.size), all_sizes)
    place = np.arange(group.size)
    starts = np.cumsum(all_sizes) - all_sizes
    sizes, errors = all_sizes[group], all_errors[group]
    # each other error of the group comes before this place with the same probability
    others = (place - starts[group]) * (errors - 1) / np.maximum(sizes - 1, 1)
    precision = (found[group] + 1 + others) / (place + 1)
    return float((errors / sizes * precision).sum() / all_errors.sum())


def detection_curve(scores: ArrayLike, truth: ArrayLike, inspected: ArrayLike) -> Floats:
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
    sizes, errors = _tie_groups(scores, truth)
    counts = np.asarray(inspected, dtype=np.float64)
    ends, found = (np.concatenate([[0], np.cumsum(one)]) for one in (sizes, errors))
    if ((counts < 0) | (counts > ends[-1])).any():
        raise InputError(f"inspected must lie between 0 and {ends[-1]}, the number of cells")
    return np.asarray(np.interp(counts, ends, found) / found[-1])


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


def _tie_groups(scores: Any, truth: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sizes and numbers of errors of groups of tied cells, highest score first."""
    scores, truth = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    if scores.shape != truth.shape:
        raise InputError(f"scores has shape {scores.shape}, truth {truth.shape}")
    if np.isnan(scores).any():
        raise InputError("scores must not be NaN: every cell needs a place in the order")
    if not truth.any():
        raise InputError("no cell is an error: nothing to find")
    _, group, sizes = np.unique(-scores.ravel(), return_inverse=True, return_counts=True)
    errors = np.bincount(group, weights=truth.ravel(), minlength=sizes.size)
    return sizes.astype(np.int64), errors.astype(np.int64)
