"""The game of a tree ensemble from its definition: rows that fit a leaf in the columns that are there."""

from __future__ import annotations

import numpy as np


def tables(n=6, m=3, n_valid=5, seed=0, *, regression=False):
    """Small tables with ties, and a longer one of the same kind to fit models on."""
    random = np.random.default_rng(seed)
    parts = []
    for count in (n, n_valid, 60):
        X = random.integers(0, 5, (count, m)).astype(float)
        y = X[:, 0] + random.normal(size=count)
        parts += [X, y if regression else (y > 2).astype(int) + (y > 3.5)]
    if not regression:
        parts[1][:3] = [0, 1, 2]
    return parts


def path_of(tree, x):
    """The splits that a row passes: (feature, function that says whether an entry goes the same way)."""
    k, path = 0, []
    while tree.left[k] >= 0:
        left = goes_left(tree, k, x[tree.feature[k]])
        path.append((int(tree.feature[k]), k, left))
        k = tree.left[k] if left else tree.right[k]
    return path


def goes_left(tree, k, entry) -> bool:
    if np.isnan(entry):
        return bool(tree.missing_left[k])
    if tree.categories[k] < 0:
        return bool(entry <= tree.threshold[k])
    code = int(entry)
    if code < 0 or code >= 32 * tree.n_words[k]:
        return bool(tree.missing_left[k])
    word = int(tree.words[tree.categories[k] + code // 32])
    return bool(word >> (code % 32) & 1)


def forest_utility(
    trees,
    X,
    y,
    X_valid,
    y_valid,
    *,
    owners=None,
    regression=False,
    weights=None,
    baseline="labels",
    label=None,
):
    """h(S, F): the mean over trees and validation rows; ``label`` is the number of the label's column."""
    owners = range(len(X[0])) if owners is None else owners
    weights = np.ones(len(y_valid)) if weights is None else np.asarray(weights, dtype=float)
    weights = weights / weights.sum()
    mean = float(np.mean(y)) if regression else None
    paths = [[path_of(tree, x) for x in X_valid] for tree in trees]
    fits = {}  # by tree, validation row and training row: the columns on the path, and whether they fit
    for t, tree in enumerate(trees):
        for v, path in enumerate(paths[t]):
            for i, row in enumerate(X):
                ok = {}
                for feature, k, left in path:
                    same = goes_left(tree, k, row[feature]) == left
                    ok[owners[feature]] = ok.get(owners[feature], True) and same
                fits[t, v, i] = {column for column, fine in ok.items() if not fine}
    known = {}

    def h(S, F):
        if (S, F) in known:
            return known[S, F]
        learns = label is None or label in F
        columns = F - {label}
        if baseline == "zero" and (not S or not columns or not learns):
            return 0.0
        total = 0.0
        for t in range(len(trees)):
            for v, (wanted, weight) in enumerate(zip(y_valid, weights, strict=True)):
                rows = [i for i in S if not (fits[t, v, i] & columns)] if learns else []
                if regression:
                    guess = np.mean([y[i] for i in rows]) if rows else mean
                    utility = -((guess - wanted) ** 2)
                else:
                    utility = np.mean([y[i] == wanted for i in rows]) if rows else 0.0
                total += weight * utility / len(trees)
        known[S, F] = total
        return total

    return h


def plain_values(trees, X, y, X_valid, y_valid, *, regression=False):
    """Shapley values for tables of any length: all column subsets, rows in closed form, in plain numpy."""
    from math import factorial

    n, m = X.shape
    values = np.zeros((n, m))
    y = np.asarray(y, dtype=float)
    mean = y.mean() if regression else 0.0
    for tree in trees:
        for x, wanted in zip(X_valid, y_valid, strict=True):
            path = path_of(tree, x)
            columns = sorted({feature for feature, _, _ in path})
            d = len(columns)
            fits = np.ones((n, d), dtype=bool)
            for feature, k, left in path:
                same = np.array([goes_left(tree, k, entry) == left for entry in X[:, feature]])
                fits[:, columns.index(feature)] &= same
            for code in range(1 << d):
                chosen = [j for j in range(d) if code >> j & 1]
                rows = np.flatnonzero(fits[:, chosen].all(axis=1))
                phi = np.zeros(n)
                phi[rows] = row_values(y[rows], wanted, mean, regression=regression)
                for j in range(d):
                    s = len(chosen) - (j in chosen)
                    weight = factorial(s) * factorial(d - s - 1) / factorial(d)
                    values[:, columns[j]] += (1 if j in chosen else -1) * weight * phi
    return values / (len(trees) * len(y_valid))


def row_values(y, wanted, mean, *, regression):
    """Shapley values of rows that all predict, by sums over the number s of rows that were there before."""
    c = y.size
    found = np.zeros(c)
    for i in range(c):
        others = np.delete(y, i)
        for s in range(c):
            if regression:
                if s == 0:
                    step = (mean - wanted) ** 2 - (y[i] - wanted) ** 2
                else:
                    mu = others.mean()
                    v = others.var() / s * (c - 1 - s) / max(c - 2, 1)
                    # E (m + (y - m)/(s+1) - w)^2 and E (m - w)^2 over random means m
                    a = s / (s + 1)
                    after = (a * mu + y[i] / (s + 1) - wanted) ** 2 + a * a * v
                    step = (mu - wanted) ** 2 + v - after
            else:
                u = float(y[i] == wanted)
                step = u if s == 0 else (u - (others == wanted).mean()) / (s + 1)
            found[i] += step / c
    return found
