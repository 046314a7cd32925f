"""Row values by plain numpy, from the definition: exact distances, bins of far rows, groups of equals."""

from itertools import pairwise

import numpy as np

from shapley2d._knn.game import RowGame
from shapley2d._knn.kernels.tie_groups import group_quadratic, group_values
from shapley2d._knn.metric import Columns


def make_game(task, *, n=300, n_valid=5, m=5, k=5, seed=0, values=None, semivalue="shapley"):
    """A random game: a column of categories, one with gaps, one mirrored, a far validation row."""
    rng = np.random.default_rng(seed)
    draw = rng.normal if values is None else lambda size: rng.integers(0, values, size) / 8.0
    train, valid = draw(size=(m, n)), draw(size=(m, n_valid))
    train[0], valid[0] = rng.integers(0, 4, n), rng.integers(0, 5, n_valid)
    weight = rng.uniform(0.5, 2.0, m)
    if m > 3:
        train[1, 3::7], valid[1, 1] = np.nan, np.nan
        train[3], valid[3], weight[3] = -train[2], -valid[2], weight[2]
        valid[2:4, -1] = [1000.0, -1000.0]
    if task == "classification":
        y, y_valid = rng.integers(0, 3, n), rng.integers(-1, 3, n_valid)
    else:
        y, y_valid = rng.normal(size=n) ** 3, rng.normal(size=n_valid)
    return RowGame.of(
        Columns(train, valid, np.arange(m) == 0, weight, np.full(m, 1.5)),
        y,
        y_valid,
        task=task,
        n_neighbors=k,
        semivalue=semivalue,
        valid_weights=rng.uniform(0.5, 2.0, n_valid),
    )


def distances(game, subset, t):
    total = np.zeros(game.n_rows)
    for j in np.flatnonzero(subset):
        u = game.by_row[:, j]
        near, mirror, scale, base, gap, unit, _ = game.lens[t, j]
        x = base + scale * (near - u) * (mirror - u)
        if game.nominal[j]:
            x = np.where(u == near, 0.0, scale)
        x = np.where(np.isnan(u), gap, x)
        total += np.rint(x / unit) * unit if unit else 0.0
    return total


def groups_of(game, subset, t, near):
    """Runs of equals, nearest first: lists of rows."""
    d = distances(game, subset, t)
    unit, reach = game.lens[t, subset, 5:7].sum(axis=0)
    keys = np.maximum((d.view(np.int64) >> 42) - ((reach.view(np.int64) >> 42) - 16383), 0)
    order = np.argsort(d, kind="stable")
    far = np.searchsorted(keys[order], keys) >= near  # enough rows are in the bins before
    groups = [[order[0]]]
    for before, row in pairwise(order):
        equal = keys[row] == keys[before] if far[row] else d[row] - d[before] <= 2.0 * unit
        if equal and far[row] == far[before]:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def row_values(game, subset, t, near):
    """Values of all rows beside one validation row."""
    n, weights = game.n_rows, game.weights
    values, tail, tails, end = np.empty(n), 0.0, (0.0, 0.0, 0.0), n
    nearer = game.y.sum()
    for group in groups_of(game, subset, t, near)[::-1]:
        start, z = end - len(group), game.y[group]
        if game.classifies:
            right = z == game.y_valid[t]
            other, match, tail = group_values.py_func(
                len(group), right.sum(), tail, weights.single[start], weights.single[end],
                weights.single_beyond[start] - weights.single_beyond[end], game.inverse,
            )  # fmt: skip
            values[group] = np.where(right, match, other)
        else:
            nearer -= z.sum()
            target, k, tables = game.y_valid[t], game.n_neighbors, (*weights[:5], game.inverse)
            alpha, beta, gamma, tails = group_quadratic.py_func(
                start, end, nearer, z.sum(), (z**2).sum(), tails, target, k, tables
            )
            values[group] = alpha + z * (beta + gamma * z) - weights.alone * target**2
        end = start
    return values


def mean_values(game, subsets, valid, near):
    """Row values under every subset, mean over validation rows, in the order of the table."""
    found = np.empty((len(subsets), game.n_rows))
    found[:, game.order] = [
        np.mean([game.valid_weights[t] * row_values(game, s, t, near) for t in valid], axis=0)
        for s in subsets
    ]
    return found
