"""Made-up tables, and row values of nearest neighbours by definition: over all subsets of rows, and group by group in numpy."""

import itertools

import numpy as np

from shapley2d._knn.fixed_point import REACH, UNIT, Distances
from shapley2d._knn.kernels.rows import BINS, NEAR
from shapley2d._knn.metric import Columns
from shapley2d._knn.rank_weights import rank_weights
from shapley2d._theory.semivalues import marginal_weights

TASKS = ["classification", "regression"]
SEMIVALUES = ["shapley", "banzhaf", ("beta", 4.0, 1.0), ("beta", 1.5, 2.5)]


def random_table(rng, n, m, n_valid, *, levels=3, missing=0.1):
    """Small integers tie everywhere; half of the columns are categories; some entries are missing."""

    def entries(size):
        numbers = rng.integers(0, levels, size=size).astype(float)
        numbers[rng.random(size) < missing] = np.nan
        return numbers

    weight, gap = rng.integers(1, 5, m).astype(float), rng.integers(0, 5, m).astype(float)
    return Columns(entries((m, n)), entries((m, n_valid)), np.arange(m) % 2 == 1, weight, gap)


def random_labels(rng, task, n, n_valid, n_classes=3):
    if task == "regression":
        return rng.normal(2, 3, n).round(1), rng.normal(2, 3, n_valid)
    return rng.integers(0, n_classes, n), rng.integers(-1, n_classes, n_valid)


def all_subsets(m):
    return np.array(list(itertools.product([False, True], repeat=m)), dtype=bool).reshape(-1, m)


# ---- distances ----


def dissimilarities(columns):
    """As Columns defines them, (m, T, n); exact where entries and weights are small whole numbers."""
    u, v = columns.train[:, None, :], columns.valid[:, :, None]
    nominal, weight, gap = (
        part[:, None, None] for part in (columns.nominal, columns.weight, columns.missing)
    )
    apart = weight * np.where(nominal, u != v, (u - v) ** 2)
    return np.where(np.isnan(u) | np.isnan(v), gap, apart)


def table_distances(columns, subset, t):
    return dissimilarities(columns)[subset, t].sum(axis=0)


def fixed_point_distances(columns, subset, t):
    """Distances as the docstring of the module has them, and by how much equal ones may differ.

    From it come the units alone: their size is a choice.
    """
    total, slack, units = np.zeros(columns.n_rows), 0.0, Distances(columns).terms[t, :, UNIT]
    for j in np.flatnonzero(subset):
        u, v, weight, unit = columns.train[j], columns.valid[j, t], columns.weight[j], units[j]
        gone = np.isnan(u)
        if np.isnan(v) or gone.all():
            continue
        if columns.nominal[j]:
            x, gap = weight * (u != v), columns.missing[j]
        else:
            there = np.unique(u[~gone])
            near = there[np.argmin(np.abs(there - np.clip(v, there[0], there[-1])))]
            x = weight * (near - u) * ((2 * v - near) - u)
            gap = columns.missing[j] - weight * (near - v) ** 2
            if gap < 0 and gone.any():
                x, gap = x - gap, 0.0
        x = np.where(gone, gap, x)
        total += np.rint(x / unit) * unit if unit else x
        slack += 2 * unit
    return total, slack


def tie_groups(distances, slack=0.0):
    """The number of every row's group of equals, the nearest being 0."""
    order = np.argsort(distances, kind="stable")
    groups = np.empty(len(order), dtype=int)
    groups[order] = np.cumsum(np.append(0, np.diff(distances[order]) > slack))
    return groups


def binned_groups(columns, subset, t, near=NEAR, ranked=2 * NEAR):
    """The groups of the definition: near rows ranked, by whole bins, and the others by bin."""
    distances, slack = fixed_point_distances(columns, subset, t)
    groups = tie_groups(distances, slack)
    if columns.n_rows <= ranked:
        return groups
    farthest = np.sum(Distances(columns).terms[t, subset, REACH])

    def leading(numbers):  # sign, exponent and ten bits behind the point
        return np.asarray(numbers, dtype=float).view(np.int64) >> 42

    bins = np.maximum(leading(distances), leading(farthest) - (BINS - 1))
    last = np.sort(bins)[near - 1]  # the bin of the farthest row that must be ranked
    keys = np.where(bins <= last, groups, groups.max() + 1 + bins)
    return np.unique(keys, return_inverse=True)[1]


# ---- values ----


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


def score_of(y, target, k, task):
    """The utility of chosen neighbours, of which there may be fewer than k."""
    if task == "classification":
        return lambda chosen: sum(y[i] == target for i in chosen) / k
    centre = y.mean()
    return lambda chosen: -((sum(y[i] - centre for i in chosen) / k - (target - centre)) ** 2)


def brute_force(columns, y, y_valid, subset, *, task, k, semivalue):
    n = columns.n_rows
    p = marginal_weights(semivalue, n)
    coalitions = [s for size in range(n + 1) for s in itertools.combinations(range(n), size)]
    values = np.zeros(n)
    for t in range(columns.n_valid):
        distances = table_distances(columns, subset, t)
        score = score_of(y, y_valid[t], k, task)
        utilities = {s: tie_averaged_utility(s, distances, k, score) for s in coalitions}
        for s in coalitions:
            for i in set(range(n)) - set(s):
                values[i] += p[len(s)] * (utilities[tuple(sorted((*s, i)))] - utilities[s])
    return values / columns.n_valid


def ranked_groups(columns, subset, t):
    """The groups of full ranks."""
    return tie_groups(table_distances(columns, subset, t))


def twin(columns, y, y_valid, subset, *, task, k, semivalue="shapley", groups_of=ranked_groups):
    """Slow numpy twin: every tie group position by position."""
    weights = rank_weights(semivalue, columns.n_rows, k)
    total = np.zeros(columns.n_rows)
    for t in range(columns.n_valid):
        groups = groups_of(columns, subset, t)
        if task == "classification":
            total += twin_linear(groups, (y == y_valid[t]).astype(float), weights.single)
        else:
            z, tau = y - y.mean(), y_valid[t] - y.mean()
            square = k * twin_linear(groups, z**2, weights.single)
            square += 2 * twin_pairs(groups, z, weights.pair)
            total += 2 * tau * twin_linear(groups, z, weights.single) - square / k**2
            total -= weights.alone * tau**2
    return total / columns.n_valid


def places(groups):
    """Groups from the farthest to the nearest: members, their ranks, and positions from 0."""
    order, end = np.argsort(groups, kind="stable"), len(groups)
    for size in np.bincount(groups)[::-1]:
        position, start = np.arange(size), end - size
        yield order[start:end], start + 1 + position, position
        end = start


def twin_linear(groups, z, c):
    """Mean over tie orders of ``z_i c(r_i) - sum over farther s of z_s (c(r_s - 1) - c(r_s))``."""
    values, farther = np.zeros(len(z)), 0.0
    for rows, ranks, position in places(groups):
        own, drops = z[rows], c[ranks - 1] - c[ranks]
        # another one at position q is behind a given one with chance q / (size - 1)
        behind = (drops * position).mean() / max(len(rows) - 1, 1)
        values[rows] = own * c[ranks].mean() - farther - (own.sum() - own) * behind
        farther += own.sum() * drops.mean()
    return values


def twin_pairs(groups, z, c2):
    """Mean over tie orders of the values of all pairs: what each gives its two rows and takes from nearer ones."""
    values, partners, taken, taken_per_z = np.zeros(len(z)), 0.0, 0.0, 0.0
    up_to = np.cumsum(np.bincount(groups, z))
    for rows, ranks, position in places(groups):
        own, size = z[rows], len(rows)
        total = own.sum()
        nearer = up_to[groups[rows[0]]] - total
        others, drops = total - own, c2[ranks - 1] - c2[ranks]
        # the farther of two members of the group is at position q with a chance ~ q
        chance = 2 * position / max(size * (size - 1), 1)
        pairs = (total**2 - (own**2).sum()) / 2
        pairs_of_others = (others**2 - ((own**2).sum() - own**2)) / 2
        values[rows] = own * (nearer * c2[ranks].mean() + others * (chance * c2[ranks]).sum())
        values[rows] += own * partners - (taken - own * taken_per_z)
        values[rows] -= nearer * others * (drops * position).mean() / max(size - 1, 1)
        in_front = (chance * drops * (position - 1)).sum() / max(size - 2, 1)
        values[rows] -= pairs_of_others * in_front
        partners += total * c2[ranks].mean()
        taken += nearer * total * drops.mean() + pairs * (chance * drops).sum()
        taken_per_z += total * drops.mean()
    return values
