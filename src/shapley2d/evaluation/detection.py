"""How well a suspicion finds the errors: scores that do not depend on the order of equally suspect cells.

Cells are inspected from the most suspect on. Equally suspect ones come in random order, and every score is its exact
mean over these orders: nothing is drawn. (Average precision in scikit-learn treats tied cells as one step instead; the
two agree where nothing is tied.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SHARES = (0.01, 0.02, 0.05, 0.10)
"""The shares of the cells after which :func:`detection_scores` looks."""


@dataclass(frozen=True)
class _TieGroups:
    """Groups of equally suspect cells, the most suspect first: how many there are, and how many are errors."""

    sizes: NDArray[np.int64]
    errors: NDArray[np.int64]

    @property
    def n_cells(self) -> int:
        return int(self.sizes.sum())

    @property
    def n_errors(self) -> int:
        return int(self.errors.sum())


def auroc(suspicion: ArrayLike, truth: ArrayLike) -> float:
    """Area under the ROC curve: the chance that an error is more suspect than a sound cell, ties counting half.

    Examples
    --------
    >>> auroc([3, 2, 2, 0], [True, True, False, False])
    0.875
    """
    groups = _tie_groups(suspicion, truth)
    sound = groups.sizes - groups.errors
    if not sound.any():
        raise InputError("every cell is an error: nothing to tell them from")
    less_suspect = sound.sum() - np.cumsum(sound)
    return float((groups.errors * (less_suspect + sound / 2)).sum() / groups.n_errors / sound.sum())


def average_precision(suspicion: ArrayLike, truth: ArrayLike) -> float:
    """Mean over the errors of the share of errors among the cells inspected up to it.

    Examples
    --------
    >>> average_precision([3, 2, 1, 0], [True, False, True, False])
    0.8333333333333333
    """
    groups = _tie_groups(suspicion, truth)
    found = np.cumsum(groups.errors) - groups.errors  # before the group
    group = np.repeat(np.arange(groups.sizes.size), groups.sizes)
    place = np.arange(groups.n_cells)
    starts = np.cumsum(groups.sizes) - groups.sizes
    sizes, errors = groups.sizes[group], groups.errors[group]
    # an error at this place has each of the others of its group before it with the same chance
    others = (place - starts[group]) * (errors - 1) / np.maximum(sizes - 1, 1)
    precision = (found[group] + 1 + others) / (place + 1)
    return float((errors / sizes * precision).sum() / groups.n_errors)


def detection_curve(suspicion: ArrayLike, truth: ArrayLike, inspected: ArrayLike) -> NDArray[np.float64]:
    """Share of the errors among the first so many inspected cells.

    Parameters
    ----------
    suspicion : array
        Higher is more suspect.
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
    groups = _tie_groups(suspicion, truth)
    counts = np.asarray(inspected, dtype=np.float64)
    if ((counts < 0) | (counts > groups.n_cells)).any():
        raise InputError(f"inspected must lie between 0 and the {groups.n_cells} cells there are")
    ends = np.concatenate([[0], np.cumsum(groups.sizes)])
    found = np.concatenate([[0], np.cumsum(groups.errors)])
    return np.asarray(np.interp(counts, ends, found) / groups.n_errors)


def detection_scores(suspicion: ArrayLike, truth: ArrayLike) -> dict[str, float]:
    """All scores by name: ``auroc``, ``average_precision``, and the share found in the first 1, 2, 5 and 10 %.

    Examples
    --------
    >>> suspicion = np.arange(200.0)
    >>> scores = detection_scores(suspicion, suspicion >= 190)
    >>> scores["auroc"], scores["found_1"], scores["found_5"]
    (1.0, 0.2, 1.0)
    """
    n_cells = np.size(suspicion)
    # at least one cell, and never more than the share but for that
    inspected = [max(int(share * n_cells + 1e-9), 1) for share in SHARES]
    found = detection_curve(suspicion, truth, inspected)
    return {
        "auroc": auroc(suspicion, truth),
        "average_precision": average_precision(suspicion, truth),
        **{f"found_{100 * share:.0f}": float(one) for share, one in zip(SHARES, found, strict=True)},
    }


def _tie_groups(suspicion: Any, truth: Any) -> _TieGroups:
    suspicion, truth = np.asarray(suspicion, dtype=np.float64), np.asarray(truth, dtype=bool)
    if suspicion.shape != truth.shape:
        raise InputError(f"suspicion has shape {suspicion.shape}, truth {truth.shape}")
    if np.isnan(suspicion).any():
        raise InputError("suspicion must not be NaN: every cell needs a place in the order")
    if not truth.any():
        raise InputError("no cell is an error: nothing to find")
    _, group, sizes = np.unique(-suspicion.ravel(), return_inverse=True, return_counts=True)
    errors = np.bincount(group, weights=truth.ravel(), minlength=sizes.size)
    return _TieGroups(sizes, errors.astype(np.int64))
