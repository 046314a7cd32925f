"""Small games for the kernels: ties, missing entries, a column of categories."""

from __future__ import annotations

import numpy as np

from shapley2d._knn.rank_weights import rank_weights
from shapley2d._knn.row_axis import RowGame


def make_game(task, *, n=700, n_valid=4, m=5, k=5, seed=0, wide=3000, semivalue="shapley"):
    rng = np.random.default_rng(seed)
    train, valid = rng.integers(0, wide, (m, n)), rng.integers(0, wide, (n_valid, m))
    train[0], valid[:, 0] = rng.integers(0, 4, n), rng.integers(0, 4, n_valid)
    absent = np.iinfo(np.int64).min
    train[1, ::7], valid[1, 1] = absent, absent
    nominal = np.arange(m) == 0
    weight = np.where(nominal, wide**2 // 6, rng.integers(1, 4, m))
    missing = np.full(m, wide**2 // 7)
    if task == "classification":
        y, y_valid = np.sort(rng.integers(0, 3, n)), rng.integers(-1, 3, n_valid)
    else:
        y, y_valid = np.sort(rng.normal(size=n)), rng.normal(size=n_valid)
        y_valid -= y.mean()
        y -= y.mean()
    return RowGame(
        task=task,
        n_neighbors=k,
        weights=rank_weights(semivalue, n, k),
        train=train,
        valid=valid,
        measures=(nominal, weight, missing),
        y=y,
        y_valid=y_valid,
        valid_weights=np.ones(n_valid),
    )


def some_coalitions(m, count=6, seed=1):
    coalitions = np.random.default_rng(seed).random((count, m)) < 0.5
    coalitions[0], coalitions[1] = False, True
    return coalitions


def all_coalitions(m):
    return (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(bool)


def walk_weights(m, seed=2):
    weights_in, weights_out = np.random.default_rng(seed).random((2, m + 1))
    weights_in[0] = weights_out[-1] = 0.0
    return weights_in, weights_out


def contracted(sums, weights_in, weights_out):
    """The values of all columns from the row values of all coalitions."""
    coalitions = all_coalitions(len(weights_in) - 1)
    size = coalitions.sum(axis=1)
    weights = np.where(coalitions, weights_in[size][:, None], -weights_out[size][:, None])
    return weights.T @ sums
