"""The flat baseline: what one training costs while cells join one by one, built in and by scikit-learn.

Run: python benchmarks/flat.py [PART ...]   (all by default)

trainings   one order of all cells, 241 rows x 9 columns, 242 validation rows: the built-in model follows the whole
            order, the scikit-learn estimator of that name a random part of it; both by turns, the
            best of three, in seconds of this process alone, which other work on the machine
            disturbs less
package     the package's path for any estimator against a bare loop of clone, fit and predict on the same tables
methods     one permutation of flat against one of mc with the same tree
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from shapley2d._methods.flat.cells import FlatDraws, flat_game
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shapley2d._estimation.draws import PermutationDraws
from shapley2d._games.sweeps import sweep_game
from shapley2d._tables.problem import make_problem

CASES = [
    ("tree", DecisionTreeClassifier(random_state=0)),
    ("tree", DecisionTreeRegressor(random_state=0)),
    ("gaussian_nb", GaussianNB()),
]


def table(*, regression=False, n=241, m=9, n_valid=242):
    """Whole numbers from 1 to 10, as breast cancer's table has them."""
    X, y = make_classification(n + n_valid, m, n_informative=m // 2, flip_y=0.05, random_state=0)
    X = np.clip(np.round(5 + 2 * X), 1, 10)
    if regression:
        y = X @ np.random.default_rng(0).normal(size=m) + np.random.default_rng(1).normal(
            size=len(X)
        )
    return X[:n], y[:n], X[n:], y[n:]


def seconds_of(run, *args) -> float:
    start = time.process_time()
    run(*args)
    return time.process_time() - start


def filled_tables(X, order, sizes):
    """Tables with the first cells of an order, and column means elsewhere."""
    for size in sizes:
        present = np.zeros(X.size, dtype=bool)
        present[order[:size]] = True
        yield np.where(present.reshape(X.shape), X, X.mean(axis=0))


def bare_loop(estimator, tables, y, X_valid):
    for part in tables:
        clone(estimator).fit(part, y).predict(X_valid)


def trainings(points: int = 200) -> None:
    print("\nOne training, 241 rows x 9 columns, 242 validation rows, 2,169 cells")
    print(
        f"{'model':26}{'built in':>12}{'scikit-learn':>14}{'ratio':>8}   largest difference in score"
    )
    for name, estimator in CASES:
        regression = is_regressor(estimator)
        X, y, X_valid, y_valid = table(regression=regression)
        (split,) = make_problem(X, y, X_valid, y_valid).splits
        rng = np.random.default_rng(1)
        order = rng.permutation(X.size)
        game = flat_game(split, model=name)
        utilities = game.along(order)  # compiles
        sizes = np.sort(rng.permutation(np.arange(1, X.size + 1))[:points])
        tables = list(filled_tables(X, order, sizes))
        pairs = [
            (seconds_of(game.along, order), seconds_of(bare_loop, estimator, tables, y, X_valid))
            for _ in range(3)
        ]
        ours, theirs = (min(pair[k] for pair in pairs) for k in (0, 1))
        ours, theirs = ours / order.size, theirs / points
        score = r2_score if regression else accuracy_score
        apart = max(
            abs(score(y_valid, clone(estimator).fit(part, y).predict(X_valid)) - utilities[size])
            for size, part in zip(sizes, tables, strict=True)
        )
        note = "(ties)" if name == "tree" else ""
        print(
            f"{type(estimator).__name__:26}{ours * 1e6:9.1f} us{theirs * 1e6:11.1f} us{theirs / ours:7.1f}x   {apart:.2g} {note}"
        )


def package(points: int = 200) -> None:
    print(
        "\nA scikit-learn estimator through the package against a bare loop of clone, fit, predict"
    )
    X, y, X_valid, y_valid = table()
    (split,) = make_problem(X, y, X_valid, y_valid).splits
    order = np.random.default_rng(1).permutation(X.size)[:points]
    tables = list(filled_tables(X, order, range(1, points + 1)))
    for estimator in (DecisionTreeClassifier(random_state=0), GaussianNB()):
        game = flat_game(split, model=estimator)
        pairs = [
            (seconds_of(game.along, order), seconds_of(bare_loop, estimator, tables, y, X_valid))
            for _ in range(3)
        ]
        ours, theirs = (min(pair[k] for pair in pairs) for k in (0, 1))
        print(
            f"{estimator!r:44}bare {theirs:6.2f}s   package {ours:6.2f}s   ratio {ours / theirs:.2f}"
        )


def methods() -> None:
    print(
        "\nOne permutation, 241 rows x 9 columns: 2,169 trees on all rows (flat), or on nested parts (mc)"
    )
    (split,) = make_problem(*table()).splits
    flat = FlatDraws(flat_game(split, model="tree"), "shapley", 0)
    both = PermutationDraws(sweep_game("tree", split), ("shapley", "shapley"), 0)
    flat(0), both(0)
    pairs = [(seconds_of(flat, k), seconds_of(both, k)) for k in range(1, 6)]
    ours, theirs = (float(np.median([pair[k] for pair in pairs])) for k in (0, 1))
    print(f"flat {ours:.3f}s   mc {theirs:.3f}s   ratio {ours / theirs:.1f}")


PARTS = {"trainings": trainings, "package": package, "methods": methods}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    for name in parser.parse_args().parts or PARTS:
        PARTS[name]()
