"""The game of tree ensembles from its definition, in plain Python; of the package it takes the splits alone."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from math import factorial
from typing import Any

import numpy as np
from scipy.integrate import quad_vec
from sklearn.utils.class_weight import compute_sample_weight

from boosted_tables import read


def tables(n=6, m=3, n_valid=5, seed=0, *, regression=False, n_classes=3):
    """Small tables with ties, to train and to validate."""
    random = np.random.default_rng(seed)
    parts = []
    for count in (n, n_valid):
        X = random.integers(0, 5, (count, m)).astype(float)
        y = X[:, 0] + random.normal(size=count)
        parts += [X, y if regression else np.searchsorted([2, 3.5][: n_classes - 1], y)]
    if not regression:
        parts[1][:n_classes] = np.arange(n_classes)
    return parts


def goes_left(tree, k, entry) -> bool:
    if np.isnan(entry):
        return bool(tree.missing_left[k])
    goes = tree.members[tree.sets[k] : tree.sets[k + 1]]
    if not goes.size:
        return bool(entry <= tree.threshold[k])
    return 0 <= entry < goes.size and bool(goes[int(entry)])


def leaf_of(tree, x) -> int:
    k = 0
    while tree.left[k] >= 0:
        k = tree.left[k] if goes_left(tree, k, x[tree.feature[k]]) else tree.right[k]
    return int(k)


def misses(tree, leaf, x, owners) -> set[int]:
    """The columns on the path of a leaf whose splits a row does not pass."""
    found, k = set(), leaf
    while k:
        parent = int(np.flatnonzero((tree.left == k) | (tree.right == k))[0])
        if goes_left(tree, parent, x[tree.feature[parent]]) != (tree.left[parent] == k):
            found.add(owners[tree.feature[parent]])
        k = parent
    return found


@dataclass
class Part:
    """One leaf: for every row the columns that it misses, and its number; only ``rows`` play."""

    missed: list[set[int]]
    numbers: Any
    rows: Any


def utility(parts, blind=0.0, *, baseline="labels", label=None):
    """h(S, F): ``blind`` plus the mean, in every leaf, over the rows of S that fit F; 0 where none does.

    ``label`` is the number of the label's column.
    """
    known = {}

    def h(S, F):
        if (S, F) not in known:
            columns = F - {label}
            learns = label is None or label in F
            total = blind
            for part in parts if learns else []:
                rows = [i for i in part.rows if i in S and not part.missed[i] & columns]
                total += float(np.mean(part.numbers[rows])) if rows else 0.0
            nothing = baseline == "zero" and (not S or not columns or not learns)
            known[S, F] = 0.0 if nothing else total
        return known[S, F]

    return h


def plain_values(parts, n, m):
    """Shapley values for tables of any length: all column subsets of a leaf, rows in closed form."""
    values = np.zeros((n, m))
    for part in parts:
        columns = sorted(set().union(*part.missed))  # others constrain no row
        d = len(columns)
        for code in range(1 << d):
            chosen = {columns[j] for j in range(d) if code >> j & 1}
            rows = [i for i in part.rows if not part.missed[i] & chosen]
            phi = np.zeros(n)
            phi[rows] = row_values(part.numbers[rows])
            for j in columns:
                s = len(chosen - {j})
                weight = factorial(s) * factorial(d - s - 1) / factorial(d)
                values[:, j] += (1 if j in chosen else -1) * weight * phi
    return values


def row_values(numbers):
    """Shapley values of rows in a mean, by sums over the number s of rows that were there before."""
    c = numbers.size
    others = (numbers.sum() - numbers) / max(c - 1, 1)
    return numbers / c + (numbers - others) * sum(1 / (s + 1) for s in range(1, c)) / c


@dataclass
class Loss:
    """A loss of one row: y, and a vector of raw outputs; ``residual`` is minus its gradient."""

    each: Any
    residual: Any
    bend: Any = lambda f: np.ones(f.size)
    best: Any = None
    curved: bool = True

    def slope(self, y, start, f):
        """The residual, averaged over the straight line from the start."""
        if f.size == 1 and abs(f - start)[0] > 1e-9:
            return np.array([self.each(y, start) - self.each(y, f)]) / (f - start)
        return quad_vec(lambda u: self.residual(y, start + u * (f - start)), 0, 1, epsabs=1e-14)[0]


def _share(f):
    return np.exp(f - f.max()) / np.exp(f - f.max()).sum()


def _right(f):
    return 1 / (1 + np.exp(-f))


def _is(y, f):
    return (np.arange(f.size) == y).astype(float)


def quantile(q):
    return Loss(
        lambda y, f: max(q * (y - f[0]), (q - 1) * (y - f[0])),
        lambda y, f: np.where(y >= f, q, q - 1.0),
        best=lambda y: [np.sort(y)[int(np.ceil(q * len(y) - 1e-9)) - 1]],
        curved=False,
    )


PROBABILITY = Loss(lambda y, f: -f[y] if y >= 0 else 0.0, _is, curved=False)
SQUARED = Loss(lambda y, f: (y - f[0]) ** 2, lambda y, f: y - f, best=lambda y: [np.mean(y)])
LOG = Loss(
    lambda y, f: np.log1p(np.exp(f[0])) - y * f[0],
    lambda y, f: y - _right(f),
    lambda f: _right(f) * _right(-f),
    lambda y: [np.log(np.mean(y) / np.mean(1 - y))],
)
SOFTMAX = Loss(
    lambda y, f: -np.log(_share(f)[y]),
    lambda y, f: _is(y, f) - _share(f),
    lambda f: _share(f) * (1 - _share(f)),
    lambda y: np.log(np.bincount(y) / len(y)),
)
POISSON = Loss(
    lambda y, f: np.exp(f[0]) - y * f[0] + (y * np.log(y) if y else 0.0) - y,
    lambda y, f: y - np.exp(f),
    np.exp,
    lambda y: [np.log(np.mean(y))],
)


@dataclass
class _Grown:
    """A tree: its output, what its rows had been predicted before, and its leaves as fitted."""

    tree: Any
    output: int
    before: Any
    bag: Any
    scale: dict[int, float]
    rest: dict[int, float]


class Fitted:
    """A fitted model by its definition.

    Parameters
    ----------
    loss : Loss
    trees : list
        Splits of one tree per round and output.
    X, y : ndarray
        Features of the training rows, and their targets or classes.
    start : ndarray of shape (outputs,)
    stages : sequence of ndarray of shape (n, outputs)
        What the library itself predicts for the training rows after every round.
    bags : sequence of ndarray, optional
        Weights of the rows in every tree, 0 where it was grown without one.

    A leaf without training rows adds nothing: CatBoost has such ones.
    """

    def __init__(
        self, loss, trees, X, y, start, stages, *, bags=None, penalty=0.0, owners=None, boosted=True
    ):
        self.loss, self.X, self.y, self.start = loss, X, y, np.asarray(start, dtype=float)
        self.owners = list(range(len(X[0]))) if owners is None else list(owners)
        self.trees, found = [], []
        whole = [np.broadcast_to(self.start, (len(y), self.start.size)), *stages]
        steps = [(a, b, k) for a, b in pairwise(whole) for k in range(self.start.size)]
        for t, (tree, (before, after, k)) in enumerate(zip(trees, steps, strict=True)):
            bag = np.ones(len(y)) if bags is None else np.asarray(bags[t], dtype=float)
            one = _Grown(tree, k, before if boosted else whole[0], bag, {}, {})
            self.trees.append(one)
            r = self.numbers(one)
            bend = bag * [loss.bend(f)[k] for f in one.before]
            for leaf, rows in self.rows_by_leaf(one).items():
                mean = np.mean(r[rows])
                step = len(rows) / (sum(bend[rows]) + penalty)
                added = (after - before)[rows[0], k]
                ratio = added / mean if abs(mean) > 1e-12 else 0.0
                found.append((one, leaf, added, mean, step, ratio))
        positive = [ratio / step for *_, step, ratio in found if ratio / step > 0]
        rate = np.median(positive) if positive else 0.0
        for one, leaf, added, mean, step, ratio in found:
            most = 2 * rate * step if loss.curved else np.inf
            one.scale[leaf] = ratio if 0 < ratio <= most else rate * step
            one.rest[leaf] = added - one.scale[leaf] * mean

    def numbers(self, one):
        """What a tree was fitted on."""
        pairs = zip(self.y, one.before, strict=True)
        return one.bag * [self.loss.residual(y, f)[one.output] for y, f in pairs]

    def rows_by_leaf(self, one):
        found = {}
        for i in np.flatnonzero(one.bag):
            found.setdefault(leaf_of(one.tree, self.X[i]), []).append(i)
        return found

    def changed(self, X, y):
        """The same model with other training rows; residuals and scales are held."""
        other = copy(self)
        other.X, other.y = X, y
        return other

    def predict(self, X):
        raw = np.tile(self.start, (len(X), 1))
        for one in self.trees:
            r, rows = self.numbers(one), self.rows_by_leaf(one)
            for f, x in zip(raw, X, strict=True):
                leaf = leaf_of(one.tree, x)
                mean = np.mean(r[rows[leaf]]) if leaf in rows else 0.0
                f[one.output] += one.scale.get(leaf, 0.0) * mean + one.rest.get(leaf, 0.0)
        return raw

    def unit(self, y, weights):
        """The shift and the factor of the score."""
        if self.loss is PROBABILITY:
            return 0.0, 1.0
        if self.loss is SQUARED:
            return 1.0, 1 / np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
        best = np.array(self.loss.best(self.y), dtype=float)
        return 1.0, 1 / np.average([self.loss.each(v, best) for v in y], weights=weights)

    def score(self, raw, y, weights=None, unit=None):
        shift, factor = unit or self.unit(y, weights)
        each = [self.loss.each(v, f) for v, f in zip(y, raw, strict=True)]
        return shift - factor * np.average(each, weights=weights)

    def parts(self, X, y, weights=None, unit=None):
        """The leaves of the validation rows, weighed by the slopes of their losses."""
        weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
        _, factor = unit or self.unit(y, weights)
        raw = self.predict(X)
        slopes = [self.loss.slope(v, self.start, f) for v, f in zip(y, raw, strict=True)]
        slopes = factor * (weights / weights.sum())[:, None] * slopes
        found = []
        for one in self.trees:
            mass = {}
            for x, slope in zip(X, slopes, strict=True):
                leaf = leaf_of(one.tree, x)
                mass[leaf] = mass.get(leaf, 0.0) + slope[one.output]
            r, rows = self.numbers(one), np.flatnonzero(one.bag)
            for leaf, weight in mass.items():
                missed = [misses(one.tree, leaf, row, self.owners) for row in self.X]
                found.append(Part(missed, weight * one.scale.get(leaf, 0.0) * r, rows))
        return found

    def utility(self, X, y, weights=None, unit=None, **asked):
        """h(S, F) of the score that is linear in the predictions."""
        blind = self.score(np.tile(self.start, (len(X), 1)), y, weights, unit)
        return utility(self.parts(X, y, weights, unit), blind, **asked)

    def values(self, X, y, weights=None, unit=None):
        """Shapley values of all cells, for tables of any length."""
        return plain_values(self.parts(X, y, weights, unit), len(self.X), max(self.owners) + 1)


def mean_forest(trees, X, y, *, regression=False, owners=None):
    """A forest whose leaves are the means of all rows, as those that are grown here."""
    loss, targets = (SQUARED, y[:, None]) if regression else (PROBABILITY, np.eye(max(y) + 1)[y])
    start = targets.mean(axis=0) if regression else np.zeros(targets.shape[1])
    stages = [np.tile(start, (len(y), 1))]
    for tree in trees:
        leaves = np.array([leaf_of(tree, x) for x in X])
        mean = np.array([targets[leaves == leaf].mean(axis=0) for leaf in leaves])
        stages.append(stages[-1] + (mean - start) / len(trees))
    trees = [tree for tree in trees for _ in start]
    return Fitted(loss, trees, X, y, start, stages[1:], owners=owners, boosted=False)


def forest_utility(trees, X, y, X_valid, y_valid, *, owners=None):
    """h(S, F) of a classifying forest whose leaves are the means of all rows."""
    return mean_forest(trees, X, y, owners=owners).utility(X_valid, y_valid)


def sklearn_model(model, X, y):
    """A fitted model of scikit-learn by its definition, from what it says of itself."""
    ensemble = read(model, X, y, X)
    trees, features = ensemble.model.trees, ensemble.train.T
    owners, classifies = ensemble.model.owners, hasattr(model, "classes_")
    codes = np.searchsorted(model.classes_, y) if classifies else np.asarray(y)
    if hasattr(model, "learning_rate"):
        stages = staged(model, X)
        several = len(stages[0][0]) > 1
        loss = {
            "log_loss": SOFTMAX if several else LOG, "squared_error": SQUARED, "poisson": POISSON,
            "absolute_error": quantile(0.5), "quantile": quantile(0.8),
        }[model.loss]  # fmt: skip
        if hasattr(model, "estimators_"):
            first = [one.predict(X[:1])[0] for one in model.estimators_[0]]
            start = stages[0][0] - model.learning_rate * np.array(first)
        else:
            start = np.ravel(model._baseline_prediction)  # it is in no public prediction
        bags = None
        if getattr(model, "class_weight", None) is not None:
            bags = [compute_sample_weight(model.class_weight, y)] * len(trees)
        penalty = getattr(model, "l2_regularization", 0.0)
        return Fitted(
            loss, trees, features, codes, start, stages, bags=bags, penalty=penalty, owners=owners
        )
    single = getattr(model, "estimators_", [model])
    drawn = getattr(model, "estimators_samples_", [np.arange(len(y))] * len(single))
    given = getattr(model, "class_weight", None)

    def weigh(rows):
        if given == "balanced_subsample":
            return compute_sample_weight("balanced", y, indices=rows)
        return compute_sample_weight(given, y)

    bags = [np.isin(np.arange(len(y)), rows) * weigh(rows) for rows in drawn]
    each = [np.asarray(one.predict_proba(X) if classifies else one.predict(X)) for one in single]
    start = np.zeros(len(model.classes_)) if classifies else np.array([np.mean(y)])
    added = [(one.reshape(len(y), -1) - start) / len(single) for one in each]
    stages = start + np.cumsum(added, axis=0)
    trees, bags = ([one for one in several for _ in start] for several in (trees, bags))
    loss = PROBABILITY if classifies else SQUARED
    return Fitted(
        loss, trees, features, codes, start, stages, bags=bags, owners=owners, boosted=False
    )


def staged(model, X):
    """Raw predictions after every round, by scikit-learn."""
    if hasattr(model, "classes_"):
        found = model.staged_decision_function(X)
    else:
        found = model.staged_predict(X)
        found = map(np.log, found) if model.loss == "poisson" else found
    return [np.reshape(one, (len(X), -1)) for one in found]
