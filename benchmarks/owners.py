"""Error by number of utilities, of samplers of one axis with many owners, on known games.

    python benchmarks/owners.py                     # 20, 50 and 200 owners
    python benchmarks/owners.py --owners 20 --seeds 10

Rows of the printed tables: relative squared error ``|estimate - exact|^2 / |exact|^2``, mean over
seeds, and the share of the 95 % intervals of the sampler that ``value_blocks`` uses which hold the
exact value.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from shapley2d import value_cells
from shapley2d._base.precision import interval_factor
from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.pair_fit import fit_pairs, pair_parts
from shapley2d._knn.columns.semivalue import ColumnSemivalue
from shapley2d._methods.pairs.sampling import estimate_pairs


class Game:
    """A game of n players: utilities of lists of coalitions, and its exact values."""

    def __init__(self, name, n, utilities, exact):
        self.name, self.n, self.utilities, self.exact = name, n, utilities, np.asarray(exact)


def airport(n, rng):
    """A runway that serves all: the largest need counts."""
    need = np.sort(rng.lognormal(0, 1, n))
    steps = np.diff(need, prepend=0.0) / (n - np.arange(n))
    order = rng.permutation(n)
    exact = np.empty(n)
    exact[order] = np.cumsum(steps)
    place = np.empty(n)
    place[order] = need
    return Game("airport", n, lambda masks: np.where(masks, place, 0.0).max(axis=1), exact)


def of_sums(name, n, rng, worth):
    """``worth`` of a sum of integer weights: votes, or a learning curve; exact by counting."""
    weights = rng.integers(1, 11, n)
    total = int(weights.sum())
    exact_of = {}
    gains = worth(np.arange(total + 1)[:, None], total)[:, 0]
    for weight in np.unique(weights):
        others = list(weights)
        others.remove(weight)
        count = np.zeros(
            (n, total + 1)
        )  # by how many have joined, and their sum, as shares of all such coalitions
        count[0, 0] = 1.0
        for k, other in enumerate(others):
            joined = np.arange(1, k + 2)[:, None]
            here = count[: k + 2].copy()
            count[: k + 1] *= 1 - (np.arange(k + 1) / (k + 1))[:, None]
            count[k + 1] = 0.0
            count[1 : k + 2, other:] += here[: k + 1, : total + 1 - other] * joined / (k + 1)
        steps = np.append(gains[weight:], np.zeros(weight)) - gains
        exact_of[weight] = float((count @ steps).mean())
    exact = [exact_of[weight] for weight in weights]
    return Game(name, n, lambda masks: worth((masks @ weights)[:, None], total)[:, 0], exact)


def votes(n, rng):
    return of_sums("votes", n, rng, lambda sums, total: (sums > total / 2).astype(float))


def learning_curve(n, rng):
    return of_sums("learning curve", n, rng, lambda sums, total: 1 - np.exp(-6.0 * sums / total))


def unanimity(n, rng):
    """Teams that are worth something only when all are there."""
    teams = [rng.choice(n, rng.integers(2, 6), replace=False) for _ in range(2 * n)]
    worth = rng.normal(size=len(teams))
    exact = np.zeros(n)
    for team, amount in zip(teams, worth, strict=True):
        exact[team] += amount / team.size
    return Game(
        "teams",
        n,
        lambda masks: sum(a * masks[:, t].all(axis=1) for t, a in zip(teams, worth, strict=True)),
        exact,
    )


def nearly_additive(n, rng):
    """What each brings, and small interactions of all pairs."""
    own = rng.normal(1, 1, n)
    pairs = np.triu(rng.normal(0, 1 / math.sqrt(n), (n, n)), 1)
    exact = own + (pairs.sum(axis=0) + pairs.sum(axis=1)) / 2

    def utilities(masks):
        present = masks.astype(float)
        return present @ own + ((present @ pairs) * present).sum(axis=1)

    return Game("nearly additive", n, utilities, exact)


def neighbours(n, rng):
    """Every owner has one row of nearest neighbours."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rows = rng.permutation(len(y))
    train, valid = rows[:n], rows[n : n + 100]
    k = 5
    v = value_cells(
        X[train],
        y[train],
        X[valid],
        y[valid],
        n_neighbors=k,
        metric="sqeuclidean",
        subsets="sampled",
        n_subsets=256,
        progress=False,
    )
    far = ((X[valid][:, None] - X[train][None]) ** 2).sum(axis=2)
    order = np.argsort(far, axis=1)
    right = np.take_along_axis((y[valid][:, None] == y[train][None]).astype(float), order, axis=1)
    match = (y[valid][:, None] == y[train][None]).mean(axis=0)

    def utilities(masks):
        worth = np.zeros(len(masks))
        for t in range(len(valid)):
            present = masks[:, order[t]]
            votes = present & (np.cumsum(present, axis=1) <= k)
            worth += votes @ right[t] / k
        size = masks.sum(axis=1)
        blind = masks @ match / np.maximum(size, 1) * np.minimum(size, k) / k
        return worth / len(valid) - blind

    return Game("neighbours", n, utilities, v.row_values)


GAMES = (airport, votes, learning_curve, unanimity, nearly_additive, neighbours)


def by_permutations(game, budget, seed):
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(max(1, budget // game.n)):
        order = rng.permutation(game.n)
        masks = np.zeros((game.n + 1, game.n), dtype=bool)
        for k, player in enumerate(order):
            masks[k + 1 :, player] = True
        step = np.empty(game.n)
        step[order] = np.diff(game.utilities(masks))
        draws.append(step)
    return np.mean(draws, axis=0)


def by_strata(game, budget, seed):
    """Complement pairs, every size by itself, nothing fitted (maximum sample reuse)."""
    target = ColumnSemivalue(game.n, "shapley")
    pairs = PairSequence(game.n, np.random.SeedSequence(seed)).take((budget - 2) // 2)
    odd = (game.utilities(pairs) - game.utilities(~pairs)) / 2
    size = pairs.sum(axis=1)
    share = target.counts[size] / np.bincount(size, minlength=target.counts.size)[size]
    ends = game.utilities(np.array([[False] * game.n, [True] * game.n]))
    values = target.exact_weights(pairs)[0] @ (share * odd)
    return values + (ends[1] - ends[0] - values.sum()) / game.n


def by_estimator(name):
    def run(game, budget, seed):
        target = ColumnSemivalue(game.n, "shapley")
        pairs = PairSequence(game.n, np.random.SeedSequence(seed)).take((budget - 2) // 2)
        ends = np.array([[False] * game.n, [True] * game.n])
        small, large, ends = (game.utilities(masks)[:, None] for masks in (pairs, ~pairs, ends))
        parts = pair_parts(target, small, large)
        return fit_pairs(target, pairs, parts, ends, estimator=name, penalised=True).values[0]

    return run


def chosen(game, budget, seed):
    return estimate_pairs(
        lambda masks: game.utilities(masks)[:, None], game.n, n_subsets=budget, seed=seed
    )


SAMPLERS = {
    "permutations": by_permutations,
    "pairs by size": by_strata,
    "A": by_estimator("A"),
    "B": by_estimator("B"),
    "chosen": chosen,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owners", type=int, nargs="*", default=[20, 50, 200])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--utilities", type=int, nargs="*", default=[4, 10, 20, 50], help="per owner"
    )
    parser.add_argument("--samplers", nargs="*", default=list(SAMPLERS))
    parser.add_argument("--games", nargs="*", default=[make.__name__ for make in GAMES])
    given = parser.parse_args()
    for n in given.owners:
        budgets = [k * n for k in given.utilities]
        print(f"\n{n} owners; utilities: {', '.join(f'{budget:,}' for budget in budgets)}")
        for make in GAMES:
            if make.__name__ not in given.games:
                continue
            game = make(n, np.random.default_rng(n))
            scale = float((game.exact**2).sum())
            for name in given.samplers:
                sampler = SAMPLERS[name]
                line, start = [], time.perf_counter()
                covered = []
                for budget in budgets:
                    errors, inside = [], []
                    for seed in range(given.seeds):
                        found = sampler(game, budget, seed)
                        values = found if isinstance(found, np.ndarray) else found.values[0]
                        errors.append(float(((values - game.exact) ** 2).sum()) / scale)
                        if not isinstance(found, np.ndarray):
                            reach = interval_factor(found.dof) * found.stderr[0]
                            inside.append(
                                float((np.abs(values - game.exact) <= reach + 1e-12).mean())
                            )
                    line.append(f"{np.mean(errors):9.2g}")
                    covered += [f"{np.mean(inside):.0%}"] if inside else []
                seconds = (time.perf_counter() - start) / len(budgets) / given.seeds
                print(
                    f"{game.name:16} {name:14}",
                    *line,
                    "  ",
                    *covered,
                    f"  {seconds:.1f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
