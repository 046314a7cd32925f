"""Shares of 95 % intervals that hold the exact value, where few columns, rows or draws decide.

    python benchmarks/intervals.py [subsets] [stopped] [draws] [--runs 200]

``subsets``: sampled column subsets. ``stopped``: nearest neighbours that a time limit ends after their first
answer or 8 chunks more, with chunks of one validation row and of many, and sampled validation rows. ``draws``: Monte Carlo at 10
draws. Every line: intervals of cells, sums of rows, sums of columns, and the total.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from unittest import mock

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shapley2d import KNN, MonteCarlo, value_cells, value_game
from shapley2d._base.time_limit import TimeLimit
from shapley2d._knn import draws as knn_draws

NEAR = KNN(n_neighbors=5, device="cpu")
QUIET = {"progress": False, "n_jobs": 1}


class After(TimeLimit):
    """A time limit that is over after the first answer and some draws more."""

    def __init__(self, count):
        super().__init__(60.0, 0.0)
        object.__setattr__(self, "counts", [count])

    def left(self):
        return 1e9

    def at_latest(self):
        return TimeLimit.of(self.left())

    def check(self, _needed_s=0.0):
        self.counts[0] -= 1
        if self.counts[0] < 0:
            TimeLimit(60.0, 0.0).check()


def held(v, exact):
    """Whether the intervals of a run hold the values of another."""
    off = [
        getattr(v, name) - getattr(exact, name)
        for name in ("values", "row_values", "column_values", "total")
    ]
    errors = v.stderr, v.row_stderr, v.column_stderr, v.total_stderr
    return [
        np.mean(np.abs(one) <= v._interval_factor * stderr + 1e-9)
        for one, stderr in zip(off, errors, strict=True)
    ]


def show(name, shares):
    words = ("cells", "row sums", "column sums", "total")
    found = np.mean(shares, axis=0)
    low = " <" if found.min() < 0.93 else ""
    print(
        f"{name:<50}"
        + ", ".join(f"{word} {one:.3f}" for word, one in zip(words, found, strict=True))
        + low,
        flush=True,
    )


def corner(name, seed):
    """Small tables in which few columns or rows decide: training and validation tables, the method, and the task."""
    random = np.random.default_rng((7, seed))
    m, n_neighbors, task, n_valid = int(random.integers(5, 13)), 5, "classification", 24
    X = random.normal(size=(64, m)).round(1)
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * random.normal(size=64)
    if name == "one column decides":
        score = X[:, 0]
    elif name == "copied columns":
        X[:, 1] = X[:, 2] = X[:, 0]
    elif name == "K = 1, 8 validation rows":
        n_neighbors, n_valid = 1, 8
    y = (score > np.quantile(score, 0.9 if name == "rare class" else 0.5)).astype(int)
    if name == "regression":
        task, y = "regression", score
    elif name == "rare class":
        y[[0, 40]] = 1
    train, valid = slice(0, 40), slice(40, 40 + n_valid)
    tables = X[train], y[train], X[valid], y[valid]
    return tables, KNN(n_neighbors=n_neighbors, device="cpu"), task


CORNERS = (
    "plain",
    "one column decides",
    "copied columns",
    "rare class",
    "K = 1, 8 validation rows",
    "regression",
)


def subsets(n_runs):
    for name in CORNERS:
        found = {per_column: [] for per_column in (3, 6)}
        for seed in range(n_runs):
            tables, method, task = corner(name, seed)
            options = {"task": task, "random_state": seed, **QUIET}
            exact = value_cells(*tables, method=replace(method, subsets="all"), **options)
            for per_column, shares in found.items():
                count = per_column * tables[0].shape[1]
                sampled = replace(method, subsets="sampled", n_subsets=count)
                shares.append(held(value_cells(*tables, method=sampled, **options), exact))
        for per_column, shares in found.items():
            show(f"{name}, {per_column} subsets to a column", shares)


def stopped_table(name, n=60, m=4, n_valid=400):
    """A table, and the question, in which few of 400 validation rows decide."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n + n_valid, m)).round(2)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n + n_valid)
    y, own = (score > 0).astype(int), {}
    if name == "rare class":
        y[score > np.quantile(score, 0.95)] = 2
    elif name == "one class of 97 %":
        y = (score > np.quantile(score, 0.97)).astype(int)
    elif name == "single rare row":
        y[:3], y[n] = 2, 2
        own = {"scoring": "balanced_accuracy"}
    elif name == "regression":
        y = score
    return (X[:n], y[:n], X[n:], y[n:]), own


def stopped(n_runs):
    for name in ("plain", "rare class", "one class of 97 %", "single rare row", "regression"):
        tables, own = stopped_table(name)
        asked = {**own, **QUIET}
        exact = value_cells(*tables, method=replace(NEAR, subsets="all"), **asked)
        for work, words in ((1, "one row each"), (knn_draws.DRAW_WORK, "many rows")):
            with mock.patch.object(knn_draws, "DRAW_WORK", work):
                for count in (0, 8):
                    runs = (
                        value_cells(
                            *tables, method=NEAR, max_time=After(count), random_state=seed, **asked
                        )
                        for seed in range(n_runs)
                    )
                    show(f"{name}, {words}, {count} more", [held(v, exact) for v in runs])
        method = replace(NEAR, valid_rows="auto", tolerance=0.1)
        runs = (
            value_cells(*tables, method=method, random_state=seed, **asked)
            for seed in range(n_runs)
        )
        show(f"{name}, valid_rows='auto'", [held(v, exact) for v in runs])


def model_game(name, n=8, m=3, n_valid=40):
    """Scores of a model on all subsets of a small table, less what the labels alone predict."""
    random = np.random.default_rng(1)
    X = random.normal(size=(n + n_valid, m))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n + n_valid)
    y = score if name == "ridge" else (score > 0).astype(int)
    if "rare" in name:
        y = (score > np.quantile(score, 0.8)).astype(int)
        y[:n] = np.arange(n) < 2
    model = (
        Ridge()
        if name == "ridge"
        else GaussianNB()
        if "Bayes" in name
        else DecisionTreeClassifier(random_state=0)
    )
    known = np.zeros((2**n, 2**m))
    for rows in range(1, 2**n):
        chosen = np.flatnonzero(rows >> np.arange(n) & 1)
        for columns in range(2**m):
            some = np.flatnonzero(columns >> np.arange(m) & 1)
            if name != "ridge" and (not some.size or len(set(y[chosen])) == 1):
                said = np.full(n_valid, np.bincount(y[chosen]).argmax())
            elif not some.size:
                said = np.full(n_valid, y[chosen].mean())
            else:
                said = model.fit(X[np.ix_(chosen, some)], y[chosen]).predict(X[n:, some])
            known[rows, columns] = -np.mean(
                (said - y[n:]) ** 2
            )  # of labels 0 and 1: the share of wrong ones
    known[1:] -= known[1:, :1]
    return lambda S, F: known[int(S @ (1 << np.arange(n))), int(F @ (1 << np.arange(m)))]


def draws(n_runs):
    for name in ("tree", "naive Bayes", "rare class, tree", "rare class, naive Bayes", "ridge"):
        game = model_game(name)
        exact = value_game(game, 8, 3, progress=False)
        for count in (10, 20):
            method = MonteCarlo(max_draws=count, tolerance=0)
            runs = (
                value_game(game, 8, 3, method=method, random_state=seed, **QUIET)
                for seed in range(n_runs)
            )
            show(f"{name}, {count} draws", [held(v, exact) for v in runs])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"subsets": subsets, "stopped": stopped, "draws": draws}
    parser.add_argument("parts", nargs="*", default=list(parts), choices=[*parts, []])
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts:
        parts[part](options.runs)


if __name__ == "__main__":
    main()
