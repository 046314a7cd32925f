"""Values by the definition: a brute force written from the formula, and games to try it on."""

from __future__ import annotations

import itertools
import math

import numpy as np


def semivalue_weight(semivalue, s: int, n: int) -> float:
    """p(s; n) from its definition, with Python's own functions."""
    if semivalue == "shapley":
        return math.factorial(s) * math.factorial(n - s - 1) / math.factorial(n)
    if semivalue == "banzhaf":
        return 0.5 ** (n - 1)
    _, a, b = semivalue

    def beta(x: float, y: float) -> float:
        return math.exp(math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y))

    return beta(s + b, n - s - 1 + a) / beta(a, b)


def brute_force(h, n: int, m: int, rows="shapley", columns="shapley") -> np.ndarray:
    """The value of every cell by the definition: a loop over cells and over all subsets without them."""

    def subsets(players):
        for size in range(len(players) + 1):
            yield from (frozenset(c) for c in itertools.combinations(players, size))

    values = np.zeros((n, m))
    for i, j in itertools.product(range(n), range(m)):
        for S in subsets([r for r in range(n) if r != i]):
            for F in subsets([c for c in range(m) if c != j]):
                weight = semivalue_weight(rows, len(S), n) * semivalue_weight(columns, len(F), m)
                gain = h(S | {i}, F | {j}) + h(S, F) - h(S | {i}, F) - h(S, F | {j})
                values[i, j] += weight * gain
    return values


class RandomGame:
    """A game with a random utility for every pair of coalitions; 0 where one of them is empty."""

    def __init__(self, n: int, m: int, seed: int) -> None:
        self.n, self.m = n, m
        self.table = np.random.default_rng(seed).normal(size=(2**n, 2**m))
        self.table[0, :] = 0
        self.table[:, 0] = 0

    def of_sets(self, S, F) -> float:
        return float(self.table[sum(1 << i for i in S), sum(1 << j for j in F)])

    def __call__(self, S, F) -> float:
        return self.of_sets(np.flatnonzero(S).tolist(), np.flatnonzero(F).tolist())


def knn_utility(
    X, y, X_valid, y_valid, K, *, regression=False, baseline="zero", weights=None, votes="k"
):
    """h(S, F) from its definition: the vote of the K nearest rows, averaged over all orders of tied rows."""
    mean = np.mean(y) if regression else None

    def of_no_rows(target):
        if regression:
            return -((target - mean) ** 2) if votes == "share" else 0.0
        return (target in y) / len(set(y)) if votes == "share" else 0.0

    def one(S, F, x, target):
        distance = [sum((X[i][j] - x[j]) ** 2 for j in F) for i in S]
        levels = sorted(set(distance))
        groups = [[i for i, d in zip(S, distance, strict=True) if d == level] for level in levels]
        utilities = []
        for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
            nearest = [i for group in orders for i in group][:K]
            divisor = len(nearest) if votes == "share" else K
            if regression:
                guess = sum(y[i] - mean for i in nearest) / divisor
                utilities.append(-((guess - (target - mean)) ** 2))
            else:
                utilities.append(sum(y[i] == target for i in nearest) / divisor)
        return np.mean(utilities)

    known = {}

    def h(S, F):
        if not F and baseline == "zero":
            return 0.0
        if not S:
            return np.average([of_no_rows(target) for target in y_valid], weights=weights)
        if (S, F) not in known:
            scores = [one(sorted(S), F, x, t) for x, t in zip(X_valid, y_valid, strict=True)]
            known[S, F] = np.average(scores, weights=weights)
        return known[S, F]

    return h
