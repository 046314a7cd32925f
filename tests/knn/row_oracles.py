"""Made-up tables, and row values of nearest neighbours by definition: over all subsets, and rank by rank in numpy."""

from __future__ import annotations

import itertools

import numpy as np

from shapley2d._knn.distances import IntegerColumns
from shapley2d._knn.far_bins import largest_bin_error
from shapley2d._knn.rank_weights import rank_weights
from shapley2d._theory.semivalues import marginal_weights

TASKS = ["classification", "regression"]
SEMIVALUES = ["shapley", "banzhaf", ("beta", 4.0, 1.0), ("beta", 1.5, 2.5)]


def bin_bound(rows):
    """How far off a value of the fast form may be for one validation row."""
    return largest_bin_error(rows.axis.game) * rows.axis.game.magnitude**2


def random_table(rng, n, m, n_valid, *, levels=3, missing=0.1):
    """Small integers tie everywhere; half of the columns are categories; some entries are missing."""

    def entries(size):
        codes = rng.integers(0, levels, size=size)
        codes[rng.random(size) < missing] = np.iinfo(np.int64).min
        return codes

    nominal, weight = np.arange(m) % 2 == 1, rng.integers(1, 5, m)
    return IntegerColumns(
        entries((m, n)), entries((m, n_valid)), nominal, weight, rng.integers(0, 5, m)
    )


def random_labels(rng, task, n, n_valid, n_classes=3):
    if task == "regression":
        return rng.normal(2, 3, n).round(1), rng.normal(2, 3, n_valid)
    return rng.integers(0, n_classes, n), rng.integers(-1, n_classes, n_valid)


def table_distances(columns, coalition, t):
    """The definition of IntegerColumns, entry by entry."""
    total = np.zeros(columns.n_rows, dtype=np.int64)
    for j in np.flatnonzero(coalition):
        for i in range(columns.n_rows):
            u, v = int(columns.train[j, i]), int(columns.valid[j, t])
            if columns.missing_code in (u, v):
                total[i] += columns.missing[j]
            elif columns.nominal[j]:
                total[i] += columns.weight[j] * (u != v)
            else:
                total[i] += columns.weight[j] * (u - v) ** 2
    return total


def tie_averaged_utility(members, distances, k, score):
    """Mean of the score of the k nearest over all choices among those at the distance of the k-th."""
    if not members:
        return 0.0
    ranked = sorted(members, key=lambda i: distances[i])
    if len(ranked) <= k:
        return score(ranked)
    edge = distances[ranked[k - 1]]
    sure = [i for i in ranked if distances[i] < edge]
    tied = [i for i in ranked if distances[i] == edge]
    return float(
        np.mean([score([*sure, *some]) for some in itertools.combinations(tied, k - len(sure))])
    )


def brute_force(columns, y, y_valid, coalition, *, task, k, semivalue):
    n = columns.n_rows
    p = marginal_weights(semivalue, n)
    subsets = [s for size in range(n + 1) for s in itertools.combinations(range(n), size)]
    values = np.zeros(n)
    for t in range(columns.n_valid):
        distances = table_distances(columns, coalition, t)
        if task == "classification":

            def score(chosen, t=t):
                return sum(y[i] == y_valid[t] for i in chosen) / k
        else:

            def score(chosen, t=t):
                mean = sum(y[i] - y.mean() for i in chosen) / k
                return -((mean - (y_valid[t] - y.mean())) ** 2)

        utilities = {s: tie_averaged_utility(s, distances, k, score) for s in subsets}
        for s in subsets:
            for i in set(range(n)) - set(s):
                values[i] += p[len(s)] * (utilities[tuple(sorted((*s, i)))] - utilities[s])
    return values / columns.n_valid


def twin(columns, y, y_valid, coalition, *, task, k, semivalue):
    """Slow numpy twin: every tie group position by position, with binomial weights summed as they are defined."""
    n = columns.n_rows
    weights = rank_weights(semivalue, n, k)
    c, c2 = weights.single, weights.pair
    total = np.zeros(n)
    for t in range(columns.n_valid):
        distances = table_distances(columns, coalition, t)
        if task == "classification":
            total += twin_linear(distances, (y == y_valid[t]).astype(float), c)
        else:
            z, tau = y - y.mean(), y_valid[t] - y.mean()
            square = k * twin_linear(distances, z**2, c) + 2 * twin_pairs(distances, z, c2)
            total += 2 * tau * twin_linear(distances, z, c) - square / k**2 - weights.alone * tau**2
    return total / columns.n_valid


def twin_linear(distances, z, c):
    """Mean over tie orders of ``z_i c(r_i) - sum over farther s of z_s (c(r_s - 1) - c(r_s))``."""
    n = len(z)
    nearer = (distances[None, :] < distances[:, None]).sum(1)
    size = (distances[None, :] == distances[:, None]).sum(1)
    values = np.zeros(n)
    for i in range(n):
        ranks = np.arange(nearer[i] + 1, nearer[i] + size[i] + 1)
        values[i] = z[i] * c[ranks].mean()
        for s in range(n):
            ranks = np.arange(nearer[s] + 1, nearer[s] + size[s] + 1)
            drops = c[ranks - 1] - c[ranks]
            if distances[s] > distances[i]:
                values[i] -= z[s] * drops.mean()
            elif distances[s] == distances[i] and s != i:
                # s is at position q behind i with chance (q - 1) / (size - 1)
                values[i] -= z[s] * (drops * np.arange(size[i])).mean() / (size[i] - 1)
    return values


def twin_pairs(distances, z, c2):
    """Mean over tie orders of the values of all pairs, by the expected worth of every pair to every row."""
    n = len(z)
    values = np.zeros(n)
    by_distance = np.argsort(distances, kind="stable")
    for a, b in itertools.combinations(by_distance, 2):
        nearer = int((distances < distances[b]).sum())
        size = int((distances == distances[b]).sum())
        tied = distances[a] == distances[b]
        product = z[a] * z[b]
        positions = np.arange(1, size + 1)
        # the farther of the two at position q: uniform if only b is in the group, else with chance
        # ~ (q - 1)
        chance = (positions - 1) * 2 / (size * (size - 1)) if tied else np.full(size, 1 / size)
        ranks = nearer + positions
        worth = (chance * c2[ranks]).sum()
        values[a] += product * worth
        values[b] += product * worth
        drops = chance * (c2[ranks - 1] - c2[ranks])
        for i in set(range(n)) - {a, b}:
            if distances[i] < distances[b]:
                values[i] -= product * drops.sum()
            elif distances[i] == distances[b]:
                in_front = positions - 1 - int(tied)
                places = size - 1 - int(tied)
                values[i] -= product * (drops * in_front).sum() / places
    return values
