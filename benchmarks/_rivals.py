"""Other detectors of wrong cells, on a table of texts: every entry gets a score.

All of them see an entry as two numbers: what it says, NaN where it is no number, and how rare its
text is in the column. ECOD (pyod) and DDC run where their packages are installed.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)
from sklearn.model_selection import KFold
from sklearn.neighbors import LocalOutlierFactor
from threadpoolctl import threadpool_limits

from shapley2d_paper.detectors.detectors import DETECTORS, DetectionTask

NUMBERS = 0.9  # share of the entries of a column of numbers that are numbers
CLASSES = 5  # of a column of texts that are predicted: the others count as one


def read(frame: pd.DataFrame):
    """Numbers and rarities of all entries, and which columns are numbers."""
    numbers = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float, copy=True)
    filled = np.maximum((frame != "").to_numpy().sum(axis=0), 1)
    of_numbers = np.isfinite(numbers).sum(axis=0) > NUMBERS * filled
    numbers[:, ~of_numbers] = np.nan
    counts = np.column_stack([frame[one].map(frame[one].value_counts()) for one in frame])
    return numbers, -np.log(counts / len(frame)), of_numbers


def off(values):
    """Distances from the median in median distances."""
    away = np.abs(values - np.nanmedian(values))
    spread = 1.4826 * np.nanmedian(away) or np.nanstd(values) or 1.0
    return np.nan_to_num(away / spread, nan=0.0, posinf=0.0)


def z_score(numbers, rarity, of_numbers):
    """Robust z-scores of numbers; of texts those of their rarity; text among numbers comes first."""
    found = np.column_stack([off(numbers[:, j] if of_numbers[j] else rarity[:, j]) for j in range(rarity.shape[1])])  # fmt: skip
    return np.where(of_numbers & np.isnan(numbers), found.max(), found)


def rarest(numbers, rarity, of_numbers):  # noqa: ARG001
    return rarity


def by_column(model):
    """A detector of outlying points, on what an entry says and its rarity, column by column."""

    def score(numbers, rarity, of_numbers):
        found = []
        for j, is_number in enumerate(of_numbers):
            X = rarity[:, [j]]
            if is_number:
                X = np.column_stack([np.nan_to_num(numbers[:, j], nan=np.nanmedian(numbers[:, j])), X])  # fmt: skip
            X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
            fitted = model().fit(X)
            here = fitted.negative_outlier_factor_ if hasattr(fitted, "negative_outlier_factor_") else fitted.score_samples(X)  # fmt: skip
            found.append(off(np.minimum(-here, 1e6)))
        return np.column_stack(found)

    return score


def residuals(numbers, rarity, of_numbers):
    """How far boosted trees, fitted without the row, are from each entry."""
    found = np.zeros(rarity.shape)
    inputs = np.where(of_numbers, numbers, rarity)
    codes = [pd.factorize(column)[0] for column in rarity.T]  # texts of one count are alike
    for j, is_number in enumerate(of_numbers):
        X = np.delete(inputs, j, axis=1)
        for train, test in KFold(2, shuffle=True, random_state=0).split(X):
            if is_number:
                known = train[np.isfinite(numbers[train, j])]
                model = HistGradientBoostingRegressor(max_iter=50).fit(X[known], numbers[known, j])
                found[test, j] = np.abs(numbers[test, j] - model.predict(X[test]))
                continue
            frequent = np.argsort(-np.bincount(codes[j]), kind="stable")[:CLASSES]
            y = np.where(np.isin(codes[j], frequent), codes[j], -1)
            if np.unique(y[train]).size < 2:
                continue
            model = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=15).fit(
                X[train], y[train]
            )
            chances = model.predict_proba(X[test])
            place = np.searchsorted(model.classes_, y[test]).clip(max=chances.shape[1] - 1)
            own = np.where(model.classes_[place] == y[test], chances[np.arange(test.size), place], 0.0)  # fmt: skip
            found[test, j] = -np.log(own + 1e-3)
        found[:, j] = off(found[:, j])
    return np.where(of_numbers & np.isnan(numbers), found.max(), found)


def of_package(name):
    """A detector of the reproduction, with all rows in one class."""

    def score(numbers, rarity, of_numbers):
        entries = np.where(of_numbers, numbers, np.column_stack([pd.factorize(one)[0] for one in rarity.T]))  # fmt: skip
        labels = np.zeros(len(entries), dtype=np.intp)
        names = [str(j) for j in range(entries.shape[1])]
        task = DetectionTask(entries, labels, ~of_numbers, entries[:0], labels[:0], 0, names)
        return np.nan_to_num(DETECTORS[name](task), nan=0.0)

    return score


RIVALS = {
    "robust z-score": z_score,
    "rarity": rarest,
    "column predictor": residuals,
    "IsolationForest": by_column(lambda: IsolationForest(random_state=0)),
    "LOF": by_column(lambda: LocalOutlierFactor(20)),
    **({"ECOD": of_package("ECOD")} if find_spec("pyod") else {}),
}


def rival_scores(frame: pd.DataFrame):
    """The scores of all rivals, by name."""
    # one thread: for tables of this size more of them only wait for each other
    with warnings.catch_warnings(action="ignore"), threadpool_limits(1):
        seen = read(frame)
        for name, score in RIVALS.items():
            yield name, score(*seen)
