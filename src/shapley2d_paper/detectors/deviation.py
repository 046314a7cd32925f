"""What people use today to find bad cells: how much a cell deviates, whatever that does to a model.

Each detector takes an array of numbers (categories as whole-number codes, NaN where an entry is missing), the labels
of the rows and a mask of the columns that hold categories, and returns one suspicion per cell, higher for the more
suspect. A missing entry has suspicion 0, which is the lowest there is.

PyOD and robpy come with the extra ``rivals``; the other two detectors need nothing beyond the package.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rival = Callable[
        [NDArray[np.float64], NDArray[np.intp], NDArray[np.bool_]],
        NDArray[np.float64],
    ]

_FOLDS = 5
_MOST_CATEGORIES = 255  # that scikit-learn's histogram trees take
_SMALLEST_SCALE = 1e-12
_GAUSSIAN = 1.4826  # a normal distribution's standard deviation over its median absolute deviation


def class_z_score(
    numbers: NDArray[np.float64], labels: NDArray[np.intp], categorical: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """How many standard deviations a number lies from the mean of its class; how rare a category is in its class.

    Numbers: ``|x - mean| / standard deviation`` over the rows of the same label. Categories: minus the logarithm of
    the share of the rows of the same label that have it.

    Examples
    --------
    >>> numbers = np.array([[1.0], [1.0], [4.0], [9.0]])
    >>> class_z_score(numbers, np.array([0, 0, 0, 1]), np.array([False])).round(3).ravel().tolist()
    [0.707, 0.707, 1.414, 0.0]
    """
    suspicion = np.zeros(numbers.shape)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        for j in range(numbers.shape[1]):
            present = rows[~np.isnan(numbers[rows, j])]
            if not present.size:
                continue
            entries = numbers[present, j]
            if categorical[j]:
                _, place, counts = np.unique(entries, return_inverse=True, return_counts=True)
                suspicion[present, j] = -np.log(counts[place] / entries.size)
            else:
                spread = entries.std()
                if spread > _SMALLEST_SCALE * np.abs(entries).max():
                    suspicion[present, j] = np.abs(entries - entries.mean()) / spread
    return suspicion


def ecod(
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],  # noqa: ARG001 - it does not look at them
    categorical: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """PyOD's ECOD: minus the logarithm of the tail beyond the cell in its column.

    A category counts as the rank of its frequency, so that the rare ones are the tail. A missing entry takes the
    column's median while the others are judged.
    """
    detector = _rival_module("pyod.models.ecod").ECOD()
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

    The absolute standardised residual. DDC is made for continuous columns: those of categories, of three values or
    fewer, or with one value in half of the rows (whose robust scale is 0) it cannot judge. They get suspicion 0.
    Where it has no prediction, because a correlation cannot be computed, the robust z-score of the column stands in.
    """
    frame = _rival_module("pandas").DataFrame
    method = _rival_module("robpy.outliers").DDC()
    suspicion = np.zeros(numbers.shape)
    usable = np.array([not categorical[j] and _continuous(numbers[:, j]) for j in range(numbers.shape[1])])
    if not usable.any():
        return suspicion
    entries = numbers[:, usable]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            method.fit(frame(entries))
        except (ValueError, np.linalg.LinAlgError) as error:
            raise InputError(f"robpy's DDC cannot judge this table: {error}") from error
    z_scores = (entries - np.array(method.location_)) / np.array(method.scale_)
    residuals = z_scores - method.predictions_
    # more than half of the residuals are 0: in units of the column's own scale then
    scales = np.where(method.residual_scales > _SMALLEST_SCALE, method.residual_scales, 1.0)
    found = np.abs(np.where(np.isnan(residuals), z_scores, residuals / scales))
    suspicion[:, usable] = np.where(np.isnan(entries), 0.0, found)
    return suspicion


def column_predictor(
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],
    categorical: NDArray[np.bool_],
    *,
    max_iter: int = 100,
    seed: int = 0,
) -> NDArray[np.float64]:
    """How far a cell lies from what gradient-boosted trees predict for it from the rest of its row and its label.

    Out of fold: the trees that predict a row have not seen it. Numbers: half the squared residual in units of the
    column's robust scale of residuals (minus the log-likelihood of a normal error, but for a constant). Categories:
    minus the logarithm of the predicted probability.

    Parameters
    ----------
    numbers, labels, categorical
    max_iter : int
        Rounds of boosting.
    seed : int
        Of the folds.
    """
    table = np.column_stack([_category_codes(numbers, categorical), labels])
    kinds = np.append(categorical, True)  # the label is a category
    suspicion = np.zeros(numbers.shape)
    for j in range(numbers.shape[1]):
        present = np.flatnonzero(~np.isnan(table[:, j]))
        target = table[present, j]
        if np.unique(target).size < 2:
            continue
        others = np.delete(table, j, axis=1)[present]
        settings: dict[str, Any] = {
            "categorical": _tree_categories(others, np.delete(kinds, j)),
            "max_iter": max_iter,
            "seed": seed,
        }
        if categorical[j]:
            suspicion[present, j] = _surprise(others, target, **settings)
        else:
            residuals = target - _predict_out_of_fold(others, target, **settings)
            scale = _GAUSSIAN * np.median(np.abs(residuals)) or residuals.std()
            suspicion[present, j] = (residuals / (scale or 1.0)) ** 2 / 2
    return suspicion


def label_suspicion(
    name: str,
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],
    categorical: NDArray[np.bool_],
    *,
    seed: int = 0,
) -> NDArray[np.float64]:
    """How suspect the label of each row is to a detector.

    ``"column predictor"``: minus the logarithm of the probability that trees predict for it, out of fold. The others
    have no notion of a wrong label. They judge how unlike the rows of its own label a row is: the mean suspicion of
    its cells among those rows alone.

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
    >>> int(label_suspicion("z-score", numbers, labels, np.array([False])).argmax())
    3
    """
    if name == "column predictor":
        entries = _category_codes(numbers, categorical)
        columns = _tree_categories(entries, categorical)
        return _surprise(entries, labels.astype(np.float64), categorical=columns, max_iter=100, seed=seed)
    if name not in RIVALS:
        raise InputError(f"name={name!r} is not a rival: use one of {', '.join(map(repr, RIVALS))}")
    suspicion = np.zeros(labels.size)
    for label in np.unique(labels):
        rows = labels == label
        suspicion[rows] = RIVALS[name](numbers[rows], labels[rows], categorical).mean(axis=1)
    return suspicion


RIVALS: dict[str, Rival] = {
    "z-score": class_z_score,
    "ECOD": ecod,
    "DDC": ddc,
    "column predictor": column_predictor,
}
"""The detectors by name."""


def _rival_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise InputError(f'this detector needs {package}: pip install "shapley2d[rivals]"') from error


def _continuous(column: NDArray[np.float64]) -> bool:
    """Whether DDC takes a column: more than three values, and a median absolute deviation above 0."""
    entries = column[~np.isnan(column)]
    if np.unique(entries).size <= 3:
        return False
    return bool(np.median(np.abs(entries - np.median(entries))) > _SMALLEST_SCALE)


def _category_codes(numbers: NDArray[np.float64], categorical: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The table with the codes of its categories renumbered from 0."""
    table = numbers.copy()
    for j in np.flatnonzero(categorical):
        present = ~np.isnan(table[:, j])
        table[present, j] = np.unique(table[present, j], return_inverse=True)[1]
    return table


def _tree_categories(table: NDArray[np.float64], categorical: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The columns that trees may split as categories; one with too many is split as a number."""
    few = [np.unique(column).size < _MOST_CATEGORIES for column in table.T]
    return np.logical_and(categorical, few)


def _surprise(
    table: NDArray[np.float64], target: NDArray[np.float64], **settings: Any
) -> NDArray[np.float64]:
    """Minus the logarithm of the probability predicted for what is there, out of fold."""
    return -np.log(_predict_out_of_fold(table, target, classes=True, **settings))


def _predict_out_of_fold(
    table: NDArray[np.float64],
    target: NDArray[np.float64],
    *,
    categorical: NDArray[np.bool_],
    max_iter: int,
    seed: int,
    classes: bool = False,
) -> NDArray[np.float64]:
    """Predicted numbers, or the predicted probability of the class that is there."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.model_selection import KFold
    from threadpoolctl import threadpool_limits

    predicted = np.empty(target.size)
    estimator = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    folds = KFold(min(_FOLDS, target.size), shuffle=True, random_state=seed)
    with threadpool_limits(1):
        for train, test in folds.split(table):
            # stopping early would set rows aside, which fails for classes of a single row
            model = estimator(
                max_iter=max_iter, categorical_features=categorical, early_stopping=False, random_state=seed
            )
            model.fit(table[train], target[train])
            if classes:
                predicted[test] = _probability(model, table[test], target[test], train.size)
            else:
                predicted[test] = model.predict(table[test])
    return predicted


def _probability(
    model: Any, table: NDArray[np.float64], target: NDArray[np.float64], n_train: int
) -> NDArray[np.float64]:
    """Predicted probability of the class that is there; for one that training never showed, one in all its rows."""
    place = np.searchsorted(model.classes_, target).clip(max=model.classes_.size - 1)
    chance = model.predict_proba(table)[np.arange(target.size), place]
    known = model.classes_[place] == target
    return np.where(known, np.maximum(chance, np.finfo(np.float64).tiny), 1 / (n_train + 1))
