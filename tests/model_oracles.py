"""Models from their definitions or from scikit-learn, to compare fast ones with, and tables to try them on."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

from shapley2d._tables.encoding import encode_tables
from shapley2d._tables.problem import make_problem


def make_split(seed, n_classes=2, n=24, T=40, *, regression=False, plain=False):
    """A table with a number, small integers, a category, a constant and a missing entry (``plain``: numbers only)."""
    rng = np.random.default_rng(seed)
    size = n + T
    X = pd.DataFrame({"a": rng.normal(size=size), "b": rng.normal(2, 3, size=size)})
    if not plain:
        X["b"] = X["b"].round()
        X["c"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, size)]
        X["d"] = 4.0
        X.loc[rng.integers(0, size, 4), "a"] = np.nan
    X["e"] = rng.exponential(100, size=size)
    signal = X["a"].fillna(0) + 0.3 * X["b"] + rng.normal(size=size)
    y = signal.to_numpy()
    if not regression:
        y = np.array(["w", "x", "y", "z"])[
            np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        ]
    (split,) = make_problem(X[:n], y[:n], X[n:], y[n:]).splits
    return split


def encoded_tables(split):
    """The encoded tables, with missing numbers replaced by the mean of the training table, and the owners."""
    encoded = encode_tables(split.train, split.valid)
    means = np.nanmean(encoded.train, axis=0)
    filled = [np.where(np.isnan(x), means, x) for x in (encoded.train, encoded.valid)]
    return *filled, encoded.owners


def orders(split, seed=0):
    rng = np.random.default_rng(seed)
    return rng.permutation(split.train.n_rows), rng.permutation(split.train.n_columns)


def grid_points(split, rows, columns):
    """Training and validation data of every pair of prefixes, columns in the order of the table."""
    train, valid, owners = encoded_tables(split)
    for a in range(1, rows.size + 1):
        for b in range(1, columns.size + 1):
            width = np.flatnonzero(np.isin(owners, columns[:b]))
            yield a, b, train[np.ix_(rows[:a], width)], rows[:a], valid[:, width]


def surely_and_maybe_right(estimator, X, y, X_valid, y_valid):
    """Validation rows that scikit-learn gets right beyond rounding, and those that it cannot decide."""
    if np.unique(y).size == 1:
        return int(np.sum(y_valid == y[0])), 0
    with np.errstate(divide="ignore", invalid="ignore"):
        estimator.fit(X, y)
        right = estimator.predict(X_valid) == y_valid
        if isinstance(estimator, GaussianNB):
            scores = estimator.predict_joint_log_proba(X_valid)
        else:
            scores = estimator.decision_function(X_valid)
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    two = np.sort(scores, axis=1)[:, -2:]
    tied = two[:, 1] - two[:, 0] <= 1e-9 * np.maximum(
        1, np.abs(two[:, 1])
    )  # not so where there is NaN
    return int(np.sum(right & ~tied)), int(tied.sum())


def tree_by_hand(X, y, X_valid, *, classifies):
    """A CART from its definition, in fractions: the first of the best splits by column, then by threshold."""

    def spread(part):
        if classifies:
            return len(part) - Fraction(
                sum(np.sum(part == c).item() ** 2 for c in np.unique(part)), len(part)
            )
        total = sum(Fraction(one) for one in part.tolist())
        return sum(Fraction(one) ** 2 for one in part.tolist()) - total**2 / len(part)

    def predict(rows, asked):
        best = None
        if np.unique(y[rows]).size > 1 and asked.size:
            for j in range(X.shape[1]):
                values = np.unique(X[rows, j])
                for low, high in itertools.pairwise(values):
                    left = X[rows, j] <= low
                    cost = spread(y[rows[left]]) + spread(y[rows[~left]])
                    if best is None or cost < best[0]:
                        best = cost, j, low / 2 + high / 2
        if best is None:
            labels, counts = np.unique(y[rows], return_counts=True)
            predictions[asked] = labels[np.argmax(counts)] if classifies else y[rows].mean()
            return
        _, j, threshold = best
        left, asked_left = X[rows, j] <= threshold, X_valid[asked, j] <= threshold
        predict(rows[left], asked[asked_left])
        predict(rows[~left], asked[~asked_left])

    predictions = np.zeros(len(X_valid))
    predict(np.arange(len(X)), np.arange(len(X_valid)))
    return predictions
