"""Row values by plain numpy, from the definition: exact distances, bins of far rows, groups of equals."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from shapley2d._kernels.knn_tie_groups import group_quadratic, group_values
from shapley2d._knn.rank_weights import rank_weights


@dataclass
class Game:
    """What a GPU is given."""

    train: np.ndarray
    lens: SimpleNamespace
    y: np.ndarray
    y_valid: np.ndarray
    valid_weights: np.ndarray
    weights: tuple
    n_neighbors: int
    task: str
    near: int

    def arguments(self):
        return {
            name: value for name, value in self.__dict__.items() if name not in ("train", "lens")
        }


def make_game(
    task, *, n=300, n_valid=5, m=5, k=5, near=32, seed=0, values=None, semivalue="shapley"
):
    """A random game: a column of categories, one with gaps, one twice, a far validation row."""
    rng = np.random.default_rng(seed)
    draw = rng.normal if values is None else lambda size: rng.integers(0, values, size) / 8.0
    train, valid = draw(size=(n, m)), draw(size=(n_valid, m))
    nominal = np.arange(m) == 0
    train[:, 0], valid[:, 0] = rng.integers(0, 4, n), rng.integers(0, 5, n_valid)
    if m > 3:
        train[3::7, 1], valid[1, 1] = np.nan, np.nan
        train[:, 3], valid[:, 3] = -train[:, 2], -valid[:, 2]
        valid[-1, 2:4] = [1000.0, -1000.0]
    weight = rng.uniform(0.5, 2.0, m)
    if m > 3:
        weight[3] = weight[2]
    if task == "classification":
        y, y_valid = np.sort(rng.integers(0, 3, n)), rng.integers(-1, 3, n_valid)
    else:
        y, y_valid = rng.normal(size=n) ** 3, rng.normal(size=n_valid)
        y -= y.mean()
    return Game(
        train=train,
        lens=look(train, valid, nominal, weight, missing=1.5),
        y=y,
        y_valid=y_valid,
        valid_weights=rng.uniform(0.5, 2.0, n_valid),
        weights=rank_weights(semivalue, n, k),
        n_neighbors=k,
        task=task,
        near=near,
    )


def look(train, valid, nominal, weight, missing):
    """The lens of every validation entry."""
    shape = valid.shape
    near, mirror, scale, base, gap, reach = (np.zeros(shape) for _ in range(6))
    unit = np.ones(shape)
    for t, j in np.ndindex(*shape):
        v, column = valid[t, j], train[:, j]
        there = column[~np.isnan(column)]
        if np.isnan(v):
            continue
        scale[t, j] = weight[j]
        if nominal[j]:
            near[t, j], gap[t, j] = v, missing
            reach[t, j] = max(weight[j], missing)
        else:
            near[t, j] = there[np.abs(there - v).argmin()]
            mirror[t, j] = 2 * v - near[t, j]
            off = missing - weight[j] * (near[t, j] - v) ** 2
            base[t, j], gap[t, j] = max(-off, 0.0), max(off, 0.0)
            far = weight[j] * (near[t, j] - there) * (mirror[t, j] - there)
            reach[t, j] = max(base[t, j] + far.max(), gap[t, j])
        if reach[t, j] > 0:
            unit[t, j] = 2.0 ** np.ceil(np.log2(reach[t, j] * 2.0**-40))
    return SimpleNamespace(
        near=near, mirror=mirror, scale=scale, base=base, gap=gap, unit=unit, reach=reach + 2 * unit, nominal=nominal
    )  # fmt: skip


def distances(game, subset, t):
    total = np.zeros(len(game.train))
    lens = game.lens
    for j in np.flatnonzero(subset):
        u = game.train[:, j]
        x = lens.base[t, j] + lens.scale[t, j] * (lens.near[t, j] - u) * (lens.mirror[t, j] - u)
        if lens.nominal[j]:
            x = np.where(u == lens.near[t, j], 0.0, lens.scale[t, j])
        x = np.where(np.isnan(u), lens.gap[t, j], x)
        total += np.rint(x / lens.unit[t, j]) * lens.unit[t, j]
    return total


def groups_of(game, subset, t):
    """Runs of equals, nearest first: lists of rows."""
    d = distances(game, subset, t)
    inside = np.flatnonzero(subset)
    slack = 2.0 * game.lens.unit[t, inside].sum()
    reach = np.array([game.lens.reach[t, inside].sum()])
    order = np.argsort(d, kind="stable")
    keys = np.maximum((d.view(np.int64) >> 42) - ((reach.view(np.int64)[0] >> 42) - 16383), 0)
    nearer = np.searchsorted(keys[order], keys)  # rows in the bins before a row's own
    far = nearer >= game.near
    groups = [[order[0]]]
    for before, row in zip(order, order[1:], strict=False):
        equal = keys[row] == keys[before] if far[row] else d[row] - d[before] <= slack
        if equal and far[row] == far[before]:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def row_values(game, subset, t):
    """Values of all rows beside one validation row."""
    n, weights = len(game.train), game.weights
    inverse = np.r_[0.0, 1.0 / np.arange(1, n + 1)]
    values, tail, tails, end = np.empty(n), 0.0, (0.0, 0.0, 0.0), n
    nearer = game.y.sum()
    for group in groups_of(game, subset, t)[::-1]:
        start, z = end - len(group), game.y[group]
        if game.task == "classification":
            right = z == game.y_valid[t]
            other, match, tail = group_values.py_func(
                len(group), right.sum(), tail, weights.single[start], weights.single[end],
                weights.single_beyond[start] - weights.single_beyond[end], inverse,
            )  # fmt: skip
            values[group] = np.where(right, match, other)
        else:
            nearer -= z.sum()
            target, k = game.y_valid[t], game.n_neighbors
            alpha, beta, gamma, tails = group_quadratic.py_func(
                start, end, nearer, z.sum(), (z**2).sum(), tails, target, k, (*weights[:5], inverse)
            )
            values[group] = alpha + z * (beta + gamma * z) - weights.alone * target**2
        end = start
    return values


def summed_values(game, subsets, valid):
    """Row values under every subset, summed over validation rows."""
    return np.array(
        [sum(game.valid_weights[t] * row_values(game, s, t) for t in valid) for s in subsets]
    )
