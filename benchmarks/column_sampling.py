"""Error against evaluations for samplers of the column axis, on the nearest-neighbour game of real tables.

    python benchmarks/column_sampling.py                # wine, m = 13, against all 8,192 coalitions
    python benchmarks/column_sampling.py --diagnostic   # breast cancer diagnostic, m = 30, against a long run

Rows of the printed table: relative squared error ``|estimate - exact|^2 / |exact|^2``, mean over
seeds.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from shapley2d import KNN, value_cells
from shapley2d._base.precision import interval_factor
from shapley2d._knn.kriging import sample_pairs
from shapley2d_paper.convergence.runs import kernel_fit, ridge_fit


class NeighbourGame:
    """Row values of K nearest neighbours (Jia et al. 2019), in plain numpy; results are remembered."""

    def __init__(self, load, n_neighbors=5, n_valid=None):
        X, y = load(return_X_y=True)
        X, X_valid, y, y_valid = train_test_split(X, y, test_size=0.4, random_state=0)
        X_valid, y_valid = X_valid[:n_valid], y_valid[:n_valid]
        scaler = StandardScaler().fit(X)
        X, X_valid = scaler.transform(X), scaler.transform(X_valid)
        self.n, self.m = X.shape
        self.data, self.n_neighbors = (X, y, X_valid, y_valid), n_neighbors
        self.by_column = np.square(X_valid.T[:, :, None] - X.T[:, None, :]).reshape(self.m, -1)
        self.match = (y_valid[:, None] == y).astype(float)
        rank = np.arange(1, self.n)
        self.step = np.minimum(n_neighbors, rank) / (n_neighbors * rank)
        self.known = {bytes(np.packbits(np.zeros(self.m, dtype=bool))): np.zeros(self.n)}

    def __call__(self, coalitions):
        return np.array([self._one(coalition) for coalition in coalitions])

    def _one(self, coalition):
        key = bytes(np.packbits(coalition))
        if key not in self.known:
            distance = (coalition.astype(float) @ self.by_column).reshape(self.match.shape)
            order = np.argsort(distance, axis=1, kind="stable")
            matched = np.take_along_axis(self.match, order, axis=1)
            steps = (matched[:, :-1] - matched[:, 1:]) * self.step
            last = matched[:, -1:] / self.n
            by_rank = np.hstack([last + np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], last])
            values = np.empty_like(by_rank)
            np.put_along_axis(values, order, by_rank, axis=1)
            self.known[key] = values.mean(axis=0).astype(np.float32)
        return self.known[key].astype(float)


def by_permutations(game, n_subsets, seed):
    """The paper's estimator: m evaluations a permutation."""
    rng = np.random.default_rng(seed)
    values = np.zeros((game.n, game.m))
    n_permutations = max(n_subsets // game.m, 1)
    for _ in range(n_permutations):
        order = rng.permutation(game.m)
        nested = np.tri(game.m + 1, game.m, -1, dtype=bool)[:, np.argsort(order)]
        values[:, order] += np.diff(game(nested), axis=0).T / n_permutations
    return values


def by_leverage(game, n_subsets, seed):
    """Like LeverageSHAP: complement pairs, sizes alike, and a regression forced through {} and all columns."""
    m = game.m
    pairs = sample_pairs(m, n_subsets // 2 - 1, np.random.default_rng(seed))
    size = pairs.sum(axis=1)
    weight = np.where(2 * size == m, 0.5, 1.0) / (size * (m - size) * np.bincount(size)[size])
    total = game(np.ones((1, m), dtype=bool))[0] - game(np.zeros((1, m), dtype=bool))[0]
    odd = (game(pairs) - game(~pairs)) / 2
    features = pairs - 0.5
    centred = features - features.mean(axis=1, keepdims=True)  # coefficients that sum to 0
    root = np.sqrt(weight)[:, None]
    free = np.linalg.lstsq(
        root * centred, root * (odd - np.outer(features.sum(axis=1), total / m)), rcond=1e-9
    )[0]
    return (free - free.mean(axis=0) + total / m).T


def run(game, n_subsets, seed=0, subsets="sampled"):
    """What users get: subsets of its own for every chunk of validation rows, estimator B."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return value_cells(
            *game.data,
            method=KNN(
                n_neighbors=game.n_neighbors,
                metric="sqeuclidean",
                subsets=subsets,
                n_subsets=n_subsets,
            ),
            baseline="zero",
            random_state=seed,
            progress=False,
        )


SAMPLERS = {
    "permutations": by_permutations,
    "LeverageSHAP-like": by_leverage,
    "A: pair ridge": lambda game, *given: ridge_fit(game, game.m, *given).values,
    "B: odd kernel": lambda game, *given: kernel_fit(game, game.m, *given).values,
    "B, own subsets": lambda *given: run(*given).values,
}


def table(game, exact, budgets, n_seeds):
    print(f"{'evaluations':20}" + "".join(f"{budget:>9}" for budget in budgets))
    for name, sampler in SAMPLERS.items():
        cells = []
        for budget in budgets:
            errors = [
                np.square(sampler(game, budget, seed) - exact).sum() for seed in range(n_seeds)
            ]
            cells.append(np.mean(errors) / np.square(exact).sum())
        print(f"{name:20}" + "".join(f"{cell:9.2g}" for cell in cells), flush=True)


def coverage(game, exact, budgets, n_seeds):
    fits = {
        "A": lambda game, *given: ridge_fit(game, game.m, *given),
        "B": lambda game, *given: kernel_fit(game, game.m, *given),
        "B, own": run,
    }
    for name, fit in fits.items():
        cells = []
        for budget in budgets:
            inside = []
            for seed in range(n_seeds):
                found = fit(game, budget, seed)
                reach = interval_factor(found.dof) * found.stderr
                inside.append(np.abs(found.values - exact) <= reach)
            cells.append(np.mean(inside))
        print(
            f"{'95 % covers, ' + name:20}" + "".join(f"{cell:9.3f}" for cell in cells), flush=True
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--diagnostic", action="store_true", help="breast cancer diagnostic, m = 30 (minutes)"
    )
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    if options.diagnostic:
        game = NeighbourGame(load_breast_cancer, n_valid=60)
        runs = [run(game, 4000, seed).values for seed in range(1000, 1008)]
        exact = np.mean(runs, axis=0)
        error = np.var(runs, axis=0, ddof=1).sum() / len(runs) / np.square(exact).sum()
        print(f"reference: mean of {len(runs)} runs of 4,000 subsets, squared error {error:.1e}")
        budgets = [times * game.m for times in (4, 10, 20, 50)]
    else:
        game = NeighbourGame(load_wine)
        exact = run(game, None, subsets="all").values
        budgets = [26, 52, 130, 260, 650, 1300]
    table(game, exact, budgets, options.seeds)
    coverage(game, exact, budgets, options.seeds)


if __name__ == "__main__":
    main()
