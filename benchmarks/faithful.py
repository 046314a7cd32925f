"""Faithful to a model? Cells and rows are removed by their values, and the model that was valued is trained anew.

Run: SHAPLEY2D_DATA=folder python benchmarks/faithful.py [--quick] [--labels] [--jobs -1] [--seeds 5] [--save records.json]

On 8 tables (up to 300 rows to train, 300 to validate and 600 to test), as they are and with planted errors (10 % of the labels and 5 % of the cells wrong), a
random forest and boosted trees are fitted. The cells of the training rows are valued by

    forest    method "forest" with the fitted model
    own       method "forest" with a forest of its own
    knn, oob  nearest neighbours, 2D-OOB
    mc        one permutation with the paper's decision tree: the least that Monte Carlo can do, and more time than the forest takes.
              With the model itself at equal time it could train a few times (see the line "seconds of a training") of the rows times
              columns that one permutation trains
    trust     no values: the out-of-fold probability that the same model gives to a row's own label (rows only)
    random    random numbers

Then 10, 20 and 30 % of the cells, highest first or lowest first, are replaced by the means of their columns, or left empty; or as many rows
are removed, by the sums of their cells. The model is trained anew each time; the figure is its balanced accuracy on the test rows, the mean over
the three shares. Removing the highest should hurt, removing the lowest should not. Last come wrong labels: the average precision of the rows' sums.

Each line has the means over tables, seeds, and tables with and without errors; in brackets, the half width of a 95 % interval of the difference to
``random``, by Student's t over the tables. Without the data of SHAPLEY2D_DATA three of the tables are left out.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn import datasets as toys
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import KFold

from shapley2d import KNN, Forest, value_cells
from shapley2d._base.precision import interval_factor
from shapley2d.datasets import load_breast_cancer_original, load_census, load_credit, load_heart
from shapley2d_paper.baselines import OOB, Random, TreeMC

SHARES = (0.1, 0.2, 0.3)
MODELS = {
    "random forest": lambda seed: RandomForestClassifier(50, random_state=seed),
    "boosted trees": lambda seed: HistGradientBoostingClassifier(max_iter=30, random_state=seed),
}
COSTS = ("seconds", "seconds of a training", "cells")
METHODS = ("forest", "own", "knn", "oob", "mc", "trust", "random")


def numbered(frame, y):
    """A frame whose words are codes."""
    words = frame.select_dtypes(exclude="number").columns
    frame = frame.copy()
    frame[words] = frame[words].apply(lambda column: column.astype("category").cat.codes)
    return frame.to_numpy(dtype=float), np.unique(np.asarray(y), return_inverse=True)[1]


TABLES = {
    "iris": lambda: toys.load_iris(return_X_y=True),
    "wine": lambda: toys.load_wine(return_X_y=True),
    "breast cancer": lambda: toys.load_breast_cancer(return_X_y=True),
    "digits": lambda: toys.load_digits(return_X_y=True),
    "breast cancer, original": lambda: numbered(*load_breast_cancer_original("pandas")),
    "heart": lambda: numbered(*load_heart("pandas")),
    "credit": lambda: numbered(*load_credit("pandas")),
    "census": lambda: numbered(*load_census("train", frame="pandas")),
}
QUICK = ("wine", "breast cancer, original")


def parts(name, seed):
    """Training, validation and test rows of a table, drawn at random."""
    X, y = TABLES[name]()
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    random = np.random.default_rng(seed)
    _, first = np.unique(X, axis=0, return_index=True)  # copies would tell the answer
    rows = random.permutation(first)
    third = len(rows) // 3
    train = min(third, 300)
    cut = (train, 2 * train, min(2 * train + max(third, 100), 2 * train + 600))
    return [
        (X[part], y[part])
        for part in (rows[: cut[0]], rows[cut[0] : cut[1]], rows[cut[1] : cut[2]])
    ]


def plant(X, y, seed):
    """A tenth of the labels and a twentieth of the cells wrong; which labels are."""
    random = np.random.default_rng([seed, 1])
    X, y, classes = X.copy(), y.copy(), np.unique(y)
    wrong = random.choice(len(y), len(y) // 10, replace=False)
    for i in wrong:
        y[i] = random.choice(classes[classes != y[i]])
    cells = random.random(X.shape) < 0.05
    for j in range(X.shape[1]):
        X[cells[:, j], j] = random.choice(X[:, j], cells[:, j].sum())
    return X, y, np.isin(np.arange(len(y)), wrong)


def trusted_rows(model, X, y):
    """The out-of-fold probability of every row's own label, spread over its cells."""
    own = np.zeros(len(y))
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        fitted = clone(model).fit(X[train], y[train])
        places = np.searchsorted(fitted.classes_, y[test]).clip(max=len(fitted.classes_) - 1)
        found = fitted.predict_proba(X[test])[np.arange(test.size), places]
        own[test] = np.where(fitted.classes_[places] == y[test], found, 0.0)
    return np.repeat(own[:, None] / X.shape[1], X.shape[1], axis=1)


def values_of(method, model, X, y, Xv, yv, seed):
    """The values of cells by a method."""
    given = (X, y, Xv, yv)
    options = {"random_state": seed, "progress": False, "n_jobs": 1, "task": "classification"}
    if method == "trust":
        return trusted_rows(model, X, y)
    made = {
        "forest": Forest(model, max_draws=20),
        "own": Forest(max_draws=100, tolerance=0),
        "knn": KNN(),
        "oob": OOB(),
        "mc": TreeMC(max_draws=1, tolerance=0),
        "random": Random(),
    }[method]
    scoring = "balanced_accuracy" if isinstance(made, (Forest, KNN)) else None
    return value_cells(*given, method=made, scoring=scoring, **options).values


def score(model, X, y, test):
    if len(np.unique(y)) < 2:
        return 1 / len(np.unique(test[1]))
    fitted = clone(model).fit(X, y)
    return balanced_accuracy_score(test[1], fitted.predict(test[0]))


def removed_cells(values, X, share, order, how):
    """The table without some of its cells."""
    count = round(share * values.size)
    ranked = np.argsort(values, axis=None, kind="stable")
    chosen = ranked[-count:] if order == "highest" else ranked[:count]
    X = X.copy()
    i, j = np.unravel_index(chosen, X.shape)
    X[i, j] = np.nanmean(X, axis=0)[j] if how == "mean" else np.nan
    return X


def case(name, seed, planted, kind, methods, labels):
    """All figures of one table, seed and model."""
    warnings.simplefilter("ignore")
    train, valid, test = parts(name, seed)
    X, y = train
    wrong = None
    if planted:
        X, y, wrong = plant(X, y, seed)
    start = time.perf_counter()
    model = MODELS[kind](seed).fit(X, y)
    training = time.perf_counter() - start
    known = np.isin(valid[1], y)
    records = []
    for method in methods:
        start = time.perf_counter()
        values = values_of(method, model, X, y, valid[0][known], valid[1][known], seed)
        found = {"seconds": time.perf_counter() - start, "seconds of a training": training}
        found["cells"] = float(values.size)
        for order in () if labels else ("highest", "lowest"):
            for how in () if method == "trust" else ("mean", "missing"):
                found[f"cells, {order}, {how}"] = np.mean(
                    [
                        score(model, removed_cells(values, X, share, order, how), y, test)
                        for share in SHARES
                    ]
                )
            ranked = np.argsort(values.sum(axis=1), kind="stable")
            ranked = ranked[::-1] if order == "highest" else ranked
            found[f"rows, {order}"] = np.mean(
                [
                    score(model, X[left], y[left], test)
                    for left in (np.sort(ranked[round(share * len(y)) :]) for share in SHARES)
                ]
            )
        if wrong is not None:
            found["wrong labels"] = average_precision_score(wrong, -values.sum(axis=1))
        records.append(
            {
                "table": name,
                "seed": seed,
                "planted": planted,
                "model": kind,
                "method": method,
                **found,
            }
        )
    return records


def show(records, kind):
    """A table in Markdown: means, and how far each is from ``random``."""
    mine = [one for one in records if one["model"] == kind]
    methods = [method for method in METHODS if any(one["method"] == method for one in mine)]
    measures = [
        key
        for key in dict.fromkeys(k for one in mine for k in one)
        if isinstance(mine[0].get(key, 0.0), float) and key not in COSTS
    ]
    print(
        f"\n{kind}: {len({one['table'] for one in mine})} tables, {len({one['seed'] for one in mine})} seeds"
    )
    print("| | " + " | ".join(methods) + " |\n|---|" + "--:|" * len(methods))
    for measure in [*measures, *COSTS]:
        cells = []
        for method in methods:
            means, apart = [], []
            for table in dict.fromkeys(one["table"] for one in mine):
                here = [one for one in mine if one["table"] == table and measure in one]
                own = [one[measure] for one in here if one["method"] == method]
                others = [one[measure] for one in here if one["method"] == "random"]
                if own:
                    means.append(np.mean(own))
                    apart.append(np.mean(own) - np.mean(others))
            if not means:
                cells.append("")
                continue
            half = (
                interval_factor(len(apart) - 1) * np.std(apart, ddof=1) / np.sqrt(len(apart))
                if len(apart) > 1
                else np.nan
            )
            words = (
                f"{np.mean(means):.2f}"
                if measure in COSTS
                else f"{np.mean(means):.3f} (±{half:.3f})"
            )
            plain = method == "random" and measure not in COSTS
            cells.append(f"{np.mean(means):.3f}" if plain else words)
        print(f"| {measure} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two tables, two seeds")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", nargs="+", choices=TABLES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument(
        "--labels", action="store_true", help="wrong labels only: nothing is trained anew"
    )
    parser.add_argument("--save", help="a JSON file for all records")
    given = parser.parse_args()
    names = []
    for name in given.tables or (QUICK if given.quick else TABLES):
        try:
            TABLES[name]()
            names.append(name)
        except Exception as error:  # data that is not on this machine
            print(f"without {name}: {error}")
    seeds = range(2 if given.quick else given.seeds)
    cases = [
        (name, seed, planted, kind, given.methods, given.labels)
        for kind in MODELS
        for name in names
        for seed in seeds
        for planted in ((True,) if given.labels else (False, True))
    ]
    found = Parallel(n_jobs=given.jobs, verbose=5)(delayed(case)(*one) for one in cases)
    records = [record for part in found for record in part]
    if given.save:
        Path(given.save).write_text(json.dumps(records))
    for kind in MODELS:
        show(records, kind)


if __name__ == "__main__":
    main()
