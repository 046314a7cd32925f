"""Baselines for finding bad cells: how much a cell deviates, whatever that does to a model.

Each detector takes an array of numbers (categories as whole-number codes, NaN where an entry is
missing), the labels of the rows and a mask of the columns that hold categories, and returns one
anomaly score per cell, higher for the more likely error. A missing entry has score 0, which is the
lowest there is.

PyOD and robpy come with the extra ``baselines``; the other two detectors need nothing beyond the
package.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.exceptions import InputError
from shapley2d_paper.detectors.column_predictor import column_predictor, label_surprise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Baseline = Callable[
        [NDArray[np.float64], NDArray[np.intp], NDArray[np.bool_]],
        NDArray[np.float64],
    ]


_SMALLEST_SCALE = 1e-12


def class_z_score(
    numbers: NDArray[np.float64], labels: NDArray[np.intp], categorical: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Standard deviations from the mean of the class; for a category, its rarity in the class.

    Numbers: ``|x - mean| / standard deviation`` over the rows of the same label. Categories: minus
    the logarithm of the share of the rows of the same label that have it.

    Examples
    --------
    >>> numbers = np.array([[1.0], [1.0], [4.0], [9.0]])
    >>> class_z_score(numbers, np.array([0, 0, 0, 1]), np.array([False])).round(3).ravel().tolist()
    [0.707, 0.707, 1.414, 0.0]
    """
    scores = np.zeros(numbers.shape)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        for j in range(numbers.shape[1]):
            present = rows[~np.isnan(numbers[rows, j])]
            if not present.size:
                continue
            entries = numbers[present, j]
            if categorical[j]:
                _, place, counts = np.unique(entries, return_inverse=True, return_counts=True)
                scores[present, j] = -np.log(counts[place] / entries.size)
            else:
                spread = entries.std()
                if spread > _SMALLEST_SCALE * np.abs(entries).max():
                    scores[present, j] = np.abs(entries - entries.mean()) / spread
    return scores


def ecod(
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],  # noqa: ARG001 - it does not look at them
    categorical: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """PyOD's ECOD: minus the logarithm of the tail beyond the cell in its column.

    A category counts as the rank of its frequency, so that the rare ones are the tail. A missing
    entry takes the column's median while the others are scored.
    """
    detector = _optional_module("pyod.models.ecod").ECOD()
    filled = np.empty(numbers.shape)
    missing = np.isnan(numbers)
    for j in range(numbers.shape[1]):
        entries = numbers[~missing[:, j], j]
        if categorical[j]:
            _, place, counts = np.unique(entries, return_inverse=True, return_counts=True)
            entries = counts[place].astype(np.float64)
        filled[~missing[:, j], j] = entries
        filled[missing[:, j], j] = np.median(entries) if entries.size else 0.0
    with warnings.catch_warnings():
        # constant columns have no skewness; PyOD takes it for 0
        warnings.simplefilter("ignore", RuntimeWarning)
        detector.fit(filled)
    return np.where(missing, 0.0, detector.O)


def ddc(
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],  # noqa: ARG001 - it does not look at them
    categorical: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """DDC of robpy: how far a cell lies from what the columns correlated with its own predict.

    The absolute standardised residual. DDC is made for continuous columns: those of categories, of
    three values or fewer, or with one value in half of the rows (whose robust scale is 0) it cannot
    score. They get score 0. Where it has no prediction, because a correlation cannot be computed,
    the robust z-score of the column stands in.
    """
    frame = _optional_module("pandas").DataFrame
    method = _optional_module("robpy.outliers").DDC()
    scores = np.zeros(numbers.shape)
    usable = np.array(
        [not categorical[j] and _continuous(numbers[:, j]) for j in range(numbers.shape[1])]
    )
    if not usable.any():
        return scores
    entries = numbers[:, usable]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            method.fit(frame(entries))
        except (ValueError, np.linalg.LinAlgError) as error:
            raise InputError(f"robpy's DDC cannot score this table: {error}") from error
    z_scores = (entries - np.array(method.location_)) / np.array(method.scale_)
    residuals = z_scores - method.predictions_
    # more than half of the residuals are 0: in units of the column's own scale then
    scales = np.where(method.residual_scales > _SMALLEST_SCALE, method.residual_scales, 1.0)
    found = np.abs(np.where(np.isnan(residuals), z_scores, residuals / scales))
    scores[:, usable] = np.where(np.isnan(entries), 0.0, found)
    return scores


def label_scores(
    name: str,
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],
    categorical: NDArray[np.bool_],
    *,
    seed: int = 0,
) -> NDArray[np.float64]:
    """The anomaly score that a detector gives the label of each row.

    ``"column predictor"``: minus the logarithm of the probability that trees predict for it, out of
    fold. The others have no notion of a wrong label. They score how unlike the rows of its own
    label a row is: the mean score of its cells among those rows alone.

    Parameters
    ----------
    name : {"z-score", "ECOD", "DDC", "column predictor"}
    numbers, labels, categorical
    seed : int
        Of the folds.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> numbers = np.array([[1.0], [1.1], [0.9], [9.0], [9.0], [9.1], [8.9], [9.2]])
    >>> labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> int(label_scores("z-score", numbers, labels, np.array([False])).argmax())
    3
    """
    if name == "column predictor":
        return label_surprise(numbers, labels, categorical, seed=seed)
    if name not in BASELINES:
        raise InputError(
            f"name={name!r} is not a baseline: use one of {', '.join(map(repr, BASELINES))}"
        )
    scores = np.zeros(labels.size)
    for label in np.unique(labels):
        rows = labels == label
        scores[rows] = BASELINES[name](numbers[rows], labels[rows], categorical).mean(axis=1)
    return scores


BASELINES: dict[str, Baseline] = {
    "z-score": class_z_score,
    "ECOD": ecod,
    "DDC": ddc,
    "column predictor": column_predictor,
}
"""The detectors by name."""


def _optional_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise InputError(f"this detector needs {package}: pip install --group baselines") from error


def _continuous(column: NDArray[np.float64]) -> bool:
    """Whether DDC takes a column: over three values, and a median absolute deviation above 0."""
    entries = column[~np.isnan(column)]
    if np.unique(entries).size <= 3:
        return False
    return bool(np.median(np.abs(entries - np.median(entries))) > _SMALLEST_SCALE)
