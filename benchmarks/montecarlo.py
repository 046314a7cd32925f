"""Monte Carlo for models: whole-grid sweeps, the generic path, workers and truncation.

Run: python benchmarks/montecarlo.py [PART ...]   (all but memory by default)

sweeps      one grid of nested trainings, 1,000 rows x 14 columns, 500 validation rows: the sweep, and the same grid by
            fits of the scikit-learn estimator of that name, timed on a random sample of its points
generic     a scikit-learn estimator through the package against a bare loop of clone, fit and predict
workers     value_cells with two workers against one
overhead    what handing out work to two workers costs, with draws that only wait for 50 ms
memory      of all processes together, Census, naive Bayes, two workers, and its checkpoint (needs SHAPLEY2D_DATA)
truncation  how many models truncation saves, and how far it moves the values of the same permutations
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Draw, Draws, MonteCarlo, Stratum, value_cells
from shapley2d._estimation.run import run_draws
from shapley2d._models.model_game import ModelGame
from shapley2d._models.sweeps import SWEEPS
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import nested
from shapley2d_paper.baselines.tree import TreeGame


def seconds_of(run, *args, **options) -> float:
    start = time.perf_counter()
    run(*args, **options)
    return time.perf_counter() - start


def table(*, regression=False, n=1000, m=14, n_valid=500):
    X, y = make_classification(n + n_valid, m, n_informative=m // 2, flip_y=0.1, random_state=0)
    if regression:
        y = X @ np.random.default_rng(0).normal(size=m) + np.random.default_rng(1).normal(
            size=len(X)
        )
    return X[:n], y[:n], X[n:], y[n:]


def sweeps(points: int = 300) -> None:
    print("\nOne grid, 1,000 rows x 14 columns, 500 validation rows: 14,000 models")
    print(f"{'model':24}{'sweep':>10}{'fits':>10}{'ratio':>9}   largest difference in score")
    cases = [
        ("gaussian_nb", GaussianNB()), ("ridge", RidgeClassifier()), ("ridge", Ridge()),
    ]  # fmt: skip
    for name, estimator in cases:
        regression = is_regressor(estimator)
        X, y, X_valid, y_valid = table(regression=regression)
        rng = np.random.default_rng(1)
        rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
        (split,) = make_problem(X, y, X_valid, y_valid).splits
        game = SWEEPS[name](split)
        pair = nested(rows), nested(columns)
        grid = game.utilities(*pair)
        sweep = min(seconds_of(game.utilities, *pair) for _ in range(3))
        spent, apart = 0.0, 0.0
        sizes = rng.permutation(np.arange(20, 1001))[:points], rng.integers(1, 15, points)
        for a, b in zip(*sizes, strict=True):
            width = np.sort(columns[:b])
            start = time.perf_counter()
            fitted = clone(estimator).fit(X[np.ix_(rows[:a], width)], y[rows[:a]])
            predictions = fitted.predict(X_valid[:, width])
            spent += time.perf_counter() - start
            score = (r2_score if regression else accuracy_score)(y_valid, predictions)
            apart = max(apart, abs(score - grid[a, b]))
        fits = spent / points * 14_000
        print(
            f"{type(estimator).__name__:24}{sweep:9.3f}s{fits:9.1f}s{fits / sweep:8.0f}x   {apart:.2g}"
        )


def generic() -> None:
    print(
        "\nA scikit-learn estimator through the package against a bare loop of clone, fit, predict"
    )
    X, y, X_valid, y_valid = table()
    (split,) = make_problem(X, y, X_valid, y_valid).splits
    rng = np.random.default_rng(0)
    rows = nested(rng.permutation(len(X)))[20::40]
    columns = nested(rng.permutation(14))
    row_lists = [np.flatnonzero(mask) for mask in rows]
    for estimator in (GaussianNB(), DecisionTreeClassifier(random_state=0), LogisticRegression()):

        def bare():
            for mask in columns[1:]:
                members = np.flatnonzero(mask)
                for chosen in row_lists:
                    fitted = clone(estimator).fit(X[np.ix_(chosen, members)], y[chosen])  # noqa: B023
                    np.mean(fitted.predict(X_valid[:, members]) == y_valid)

        game = ModelGame(estimator, split)
        pairs = [(seconds_of(bare), seconds_of(game.utilities, rows, columns)) for _ in range(4)]
        loop, package = (min(pair[k] for pair in pairs) for k in (0, 1))
        print(
            f"{estimator!r:44}bare {loop:6.2f}s   package {package:6.2f}s   ratio {package / loop:.2f}"
        )


def workers() -> None:
    print("\nTwo workers against one, value_cells(method='mc')")
    for model, permutations, n in (
        ("tree", 24, 40),
        ("gaussian_nb", 150, 1000),
        ("ridge", 150, 1000),
    ):
        data = table(n=n)

        def value(n_jobs, count, data=data, model=model):
            method = MonteCarlo(model, max_draws=count, tolerance=0)
            return value_cells(*data, method=method, n_jobs=n_jobs, progress=False)

        value(2, 4)  # start the workers and compile
        spent, results = {}, {}
        for n_jobs in (1, 2, 1, 2):
            start = time.perf_counter()
            results[n_jobs] = value(n_jobs, permutations)
            spent[n_jobs] = min(spent.get(n_jobs, np.inf), time.perf_counter() - start)
        same = np.array_equal(results[1].values, results[2].values)
        print(
            f"{model:14}one {spent[1]:6.2f}s   two {spent[2]:6.2f}s   ratio {spent[1] / spent[2]:.2f}   same bits: {same}"
        )


class WaitingDraws(Draws):
    """Draws that only wait: all that two workers take longer than half of one is the handing out."""

    shape = (2, 2)

    def __init__(self, count):
        self.count, self.strata = count, [Stratum()]

    def __call__(self, number):
        time.sleep(0.05)
        return Draw(np.full((2, 3), float(number)))


def overhead(draws: int = 200) -> None:
    def spent(count, n_jobs):
        return seconds_of(run_draws, WaitingDraws(count), n_jobs=n_jobs)

    one, start = spent(draws // 2, 1), spent(20, 2)
    two = spent(20 + draws, 2) - start  # without the time in which workers start
    print(
        f"\n{draws} draws of 50 ms on two workers {two:.2f}s, half of them on one {one:.2f}s: {two / one - 1:.1%} more"
    )


def family_memory() -> float:
    """Gigabytes of this process and all below it; pages that several share count once (Linux)."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    family, size = {os.getpid()}, 0
    while size != len(family):
        size = len(family)
        family |= {child for child, parent in parents.items() if parent in family}
    total = 0
    for process in family:
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 2**20


def memory(permutations: int = 6, n_valid: int = 500) -> None:
    train, test = census()
    X, y, X_valid, y_valid = (
        train.iloc[:, :-1],
        train.iloc[:, -1],
        test.iloc[:n_valid, :-1],
        test.iloc[:n_valid, -1],
    )
    peak, done = [0.0], threading.Event()

    def watch():
        while not done.wait(0.2):
            peak[0] = max(peak[0], family_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.npz"
        method = MonteCarlo("gaussian_nb", max_draws=permutations, tolerance=0)
        seconds = seconds_of(
            value_cells, X, y, X_valid, y_valid, method=method, n_jobs=2, checkpoint=path, progress=False,
        )  # fmt: skip
        size = path.stat().st_size / 1e6
    done.set()
    watcher.join()
    print(
        f"\nCensus, {X.shape[0]:,} x {X.shape[1]}, {n_valid} validation rows, naive Bayes, two workers, {permutations} "
        f"permutations: {peak[0]:.2f} GB at most in all, {seconds:.0f}s, checkpoint {size:.1f} MB"
    )


def truncated(grid, limit):
    """The grid that truncation gives, from the whole one, and the number of models that it trains."""
    grid, trained = grid.copy(), 0
    for b in range(1, grid.shape[1]):
        stop = 1 + int(np.argmax(np.abs(grid[1:, b] - grid[-1, b]) <= limit))
        grid[stop + 1 :, b] = grid[-1, b]
        trained += min(stop + 1, len(grid) - 1)
    return grid, trained


def values_of(grid, rows, columns):
    """The values of the cells that one pair of orders gives them."""
    gains = np.diff(np.diff(grid, axis=0), axis=1)
    return gains[np.ix_(np.argsort(rows), np.argsort(columns))]


def truncation(draws: int = 1000) -> None:
    print(
        f"\nTruncation, decision tree, 60 rows x 5 columns, 300 validation rows, the same {draws:,} permutations"
    )
    print(
        "bias: of the values, root mean square, as part of their spread; with the standard error of that bias"
    )
    (split,) = make_problem(*table(n=60, m=5, n_valid=300)).splits
    game = TreeGame(split)
    rng = np.random.default_rng(0)
    pairs = [(rng.permutation(60), rng.permutation(5)) for _ in range(draws)]
    grids = [game.utilities(*map(nested, pair)) for pair in pairs]
    whole = np.array([values_of(grid, *pair) for grid, pair in zip(grids, pairs, strict=True)])
    spread = np.ptp(whole.mean(axis=0))
    error = whole.std(axis=0).mean() / np.sqrt(draws) / spread
    print(f"none    300 models per permutation, standard error of the values {error:.3f}")
    for limit in (0.0, 0.005, 0.01, 0.02, 0.05):
        cut = [truncated(grid, limit) for grid in grids]
        values = np.array(
            [values_of(grid, *pair) for (grid, _), pair in zip(cut, pairs, strict=True)]
        )
        off = values - whole
        noise = off.var(axis=0, ddof=1).mean() / draws
        bias = np.sqrt(max(np.mean(off.mean(axis=0) ** 2) - noise, 0.0)) / spread
        models = np.mean([trained for _, trained in cut])
        alike = np.corrcoef(values.mean(axis=0).ravel(), whole.mean(axis=0).ravel())[0, 1]
        print(
            f"{limit:<8}{models:3.0f} models per permutation ({300 / models:4.1f}x fewer)   bias {bias:.3f} "
            f"({np.sqrt(noise) / spread:.3f})   correlation {alike:.3f}"
        )


def census():
    import pandas as pd

    folder = os.environ.get("SHAPLEY2D_DATA")
    if not folder:
        raise SystemExit("this part needs SHAPLEY2D_DATA, the folder with the paper's datasets")
    train, test = (
        pd.read_csv(Path(folder) / f"census_{part}.csv.gz") for part in ("train", "test")
    )
    for column in train.columns[:-1]:
        if not pd.api.types.is_numeric_dtype(
            train[column]
        ):  # numbers for categories, so that a column is one column
            names = sorted(set(train[column].dropna()) | set(test[column].dropna()))
            for part in (train, test):
                part[column] = pd.Categorical(part[column], names).codes.astype(float)
    return (part.sample(frac=1, random_state=0) for part in (train, test))


PARTS = {
    "sweeps": sweeps,
    "generic": generic,
    "workers": workers,
    "overhead": overhead,
    "memory": memory,
    "truncation": truncation,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="part",
        help=f"of {', '.join(PARTS)}; all but memory by default",
    )
    chosen = parser.parse_args().parts or [name for name in PARTS if name != "memory"]
    for name in chosen:
        if name not in PARTS:
            parser.error(f"{name!r} is not a part: use {', '.join(PARTS)}")
    for name in chosen:
        PARTS[name]()


if __name__ == "__main__":
    main()
