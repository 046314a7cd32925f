"""Cells and labels against what gradient-boosted trees predict from the rest of the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


_FOLDS = 5

_MAX_CATEGORIES = 255  # that scikit-learn's histogram trees take

_GAUSSIAN = 1.4826  # a normal distribution's standard deviation over its median absolute deviation


def column_predictor(
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],
    categorical: NDArray[np.bool_],
    *,
    max_iter: int = 100,
    seed: int = 0,
) -> NDArray[np.float64]:
    """How far a cell lies from what trees predict for it from the rest of its row and its label.

    Out of fold: the trees that predict a row have not seen it. Numbers: half the squared residual
    in units of the column's robust scale of residuals (minus the log-likelihood of a normal error,
    except for a constant). Categories: minus the logarithm of the predicted probability.

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
    scores = np.zeros(numbers.shape)
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
            scores[present, j] = _surprise(others, target, **settings)
        else:
            residuals = target - _predict_out_of_fold(others, target, **settings)
            scale = _GAUSSIAN * np.median(np.abs(residuals)) or residuals.std()
            scores[present, j] = (residuals / (scale or 1.0)) ** 2 / 2
    return scores


def label_surprise(
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],
    categorical: NDArray[np.bool_],
    *,
    max_iter: int = 100,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Minus the log probability that trees predict for the label of each row, out of fold."""
    entries = _category_codes(numbers, categorical)
    columns = _tree_categories(entries, categorical)
    return _surprise(
        entries, labels.astype(np.float64), categorical=columns, max_iter=max_iter, seed=seed
    )


def _category_codes(
    numbers: NDArray[np.float64], categorical: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The table with the codes of its categories renumbered from 0."""
    table = numbers.copy()
    for j in np.flatnonzero(categorical):
        present = ~np.isnan(table[:, j])
        table[present, j] = np.unique(table[present, j], return_inverse=True)[1]
    return table


def _tree_categories(
    table: NDArray[np.float64], categorical: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The columns that trees may split as categories; one with too many is split as a number."""
    few = [np.unique(column).size < _MAX_CATEGORIES for column in table.T]
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
                max_iter=max_iter,
                categorical_features=categorical,
                early_stopping=False,
                random_state=seed,
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
    """Predicted probability of the observed class; 1 / rows for a class absent from training."""
    place = np.searchsorted(model.classes_, target).clip(max=model.classes_.size - 1)
    chance = model.predict_proba(table)[np.arange(target.size), place]
    known = model.classes_[place] == target
    return np.where(known, np.maximum(chance, np.finfo(np.float64).tiny), 1 / (n_train + 1))
