"""How well does "boosting" predict, the model that judges coalitions, and how fast is it?

Run: SHAPLEY2D_DATA=folder python benchmarks/judge.py [--seeds 5] [--first 500] [--tables census digits ...]

Real tables and made-up ones: few rows, noise, columns that work only together, numbers to predict. Each is drawn several times, whole and with 35 % of its entries
missing; the model is trained on one part and scored on another. Beside it scikit-learn's HistGradientBoosting (50 rounds, 5 rows a leaf where there are at most 300
rows) and a random forest (100 trees, missing entries as scikit-learn treats them, categories one-hot). Seconds are of one core, without coding the table.
The paper's tables are skipped without SHAPLEY2D_DATA. The model's constants were chosen on other draws (seeds 0 to 14).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn import datasets
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import roc_auc_score

from shapley2d._tables.encoding import encode_tables
from shapley2d._tables.problem import make_problem
from shapley2d._trees.boosting import Boosting

DATA = os.environ.get("SHAPLEY2D_DATA", "")
REGRESSIONS = ("diabetes", "linear numbers", "friedman")


def cut(X, y, n, n_valid, seed):
    """Random rows to train on and to validate."""
    order = np.random.default_rng(seed).permutation(len(X))
    parts = order[:n], order[n : n + n_valid]
    (X, V), (y, w) = ((x[parts[0]], x[parts[1]]) for x in (X.to_numpy(object), np.asarray(y)))
    return X, y, V, w


def from_paper(name, target, n, n_valid, drop=()):
    def table(seed):
        found = pd.read_csv(Path(DATA) / f"{name}.csv.gz").drop_duplicates()
        found = found[
            found[target].notna()
            & (found.groupby(target)[target].transform("size") > 600 * (n >= 600))
        ]
        X = found.drop(columns=[target, *drop])
        return [X.columns.tolist(), *cut(X, found[target], n, n_valid, seed)]

    return table


def bundled(load, n, n_valid, width=None):
    def table(seed):
        X, y = load(return_X_y=True)
        X = X[:, np.random.default_rng(seed).permutation(X.shape[1])[:width]]
        return [None, *cut(pd.DataFrame(X), y, n, n_valid, seed)]

    return table


def made(target, n=1000, width=6):
    def table(seed):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n + 1000, width))
        y = target(X, random)
        return [None, X[:n], y[:n], X[n:], y[n:]]

    return table


def odds(z, random):
    return (random.random(len(z)) < 1 / (1 + np.exp(-z))).astype(int)


def flipped(label, random):
    return (label ^ (random.random(len(label)) < 0.05)).astype(int)


def friedman(X, random):
    u = norm.cdf(X)
    waves = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
    return waves + 10 * u[:, 3] + 5 * u[:, 4] + random.normal(size=len(X))


PAPER = {
    "census": from_paper("census_train", "income", 1000, 1000),
    "census, 100 rows": from_paper("census_train", "income", 100, 1000),
    "occupation (14 classes)": from_paper("census_train", "occupation", 1000, 1000),
    "credit": from_paper("credit", "default_payment_next_month", 1000, 1000, ["ID"]),
    "education (3 classes)": from_paper("credit", "EDUCATION", 600, 1000, ["ID"]),
    "breast cancer": from_paper("breast_cancer", "class", 300, 390, ["id"]),
    "heart": from_paper("heart", "target", 180, 122),
}
OTHERS = {
    "wine (3 classes)": bundled(datasets.load_wine, 100, 78),
    "digits, 20 columns (10 classes)": bundled(datasets.load_digits, 800, 900, 20),
    "breast cancer, diagnostic": bundled(datasets.load_breast_cancer, 300, 269),
    "linear": made(lambda X, r: odds(X @ np.linspace(1.5, -1, 8), r), width=8),
    "linear, 100 rows": made(lambda X, r: odds(2 * X[:, 0] - X[:, 1] + X[:, 0] * X[:, 2], r), 100),
    "one in ten": made(lambda X, r: odds(2 * X[:, 0] + 1.5 * X[:, 1] * (X[:, 2] > 0) - 4, r)),
    "interactions": made(lambda X, r: odds(1.5 * X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3], r)),
    "exclusive or, 2 of 6": made(lambda X, r: flipped((X[:, 0] > 0) ^ (X[:, 1] > 0), r)),
    "exclusive or, 2 of 10": made(lambda X, r: flipped((X[:, 3] > 0) ^ (X[:, 7] > 0), r), width=10),
    "exclusive or, 3 of 6": made(lambda X, r: flipped((X[:, :3] > 0).sum(axis=1) % 2 == 1, r)),
    "noise": made(lambda X, r: r.integers(0, 2, len(X)), 300),
    "diabetes": bundled(datasets.load_diabetes, 250, 192),
    "linear numbers": made(lambda X, r: X @ np.linspace(2, -1, 6) + 1.5 * r.normal(size=len(X))),
    "friedman": made(friedman, 500, 8),
}


def split_of(name, seed, share):
    """The table's parts, read by the package, with a share of the training entries missing."""
    names, X, y, V, w = (PAPER | OTHERS)[name](seed)
    X = np.array(X, dtype=object)
    X[np.random.default_rng(seed).random(X.shape) < share] = None
    names = names or [f"x{j}" for j in range(X.shape[1])]
    X, V = (pd.DataFrame(list(map(list, part)), columns=names) for part in (X, V))
    kinds = {
        name: "text" for name in names if pd.api.types.infer_dtype(V[name], skipna=True) == "string"
    }
    task = "regression" if name in REGRESSIONS else "classification"
    return make_problem(X, y, V, w, task=task, kinds=kinds).splits[0]


def by_boosting(split, seed):
    judge = Boosting.coded(split.train, split.y, split.valid)
    held = np.ones(judge.codes.shape, dtype=bool)
    judge.predict(held, seed)  # compiles
    start = time.process_time()
    return judge.predict(held, seed), start


def by_histograms(split, seed):
    small = split.y.y.size <= 300
    model = (
        HistGradientBoostingClassifier if split.y.classes.size else HistGradientBoostingRegressor
    )
    text = np.array([column.kind == "category" for column in split.train.columns])
    X, V = (
        np.stack([column.entries for column in table.columns], axis=1)
        for table in (split.train, split.valid)
    )
    for j in np.flatnonzero(text):  # at most 255 categories
        V[:, j] = np.where(np.isin(V[:, j], X[:, j]), V[:, j], np.nan)
    model = model(
        max_iter=50,
        early_stopping=False,
        min_samples_leaf=5 if small else 20,
        categorical_features=text,
        random_state=seed,
    )
    start = time.process_time()
    return predicted(model.fit(X, split.y.codes), V), start


def by_forest(split, seed):
    encoded = encode_tables(split.train, split.valid)
    model = RandomForestClassifier if split.y.classes.size else RandomForestRegressor
    start = time.process_time()
    return predicted(
        model(random_state=seed).fit(encoded.train, split.y.codes), encoded.valid
    ), start


def predicted(model, V):
    return model.predict_proba(V).T if hasattr(model, "predict_proba") else model.predict(V)[None]


JUDGES = {
    "boosting": by_boosting,
    "HistGradientBoosting": by_histograms,
    "random forest": by_forest,
}


def measured(name, share, seed):
    """AUC (none for numbers), log score or R squared, and milliseconds, of every judge."""
    split = split_of(name, seed, share)
    z, found = split.y_valid.codes, []
    for judge in JUDGES.values():
        p, start = judge(split, seed)
        took = 1e3 * (time.process_time() - start)
        if not split.y.classes.size:
            found.append((np.nan, 1 - np.mean((p[0] - z) ** 2) / np.var(z), took))
            continue
        known = z >= 0
        right = np.maximum(p[z[known], np.flatnonzero(known)], 1e-6)
        classes = p[1, known] if len(p) == 2 else p[:, known].T
        auc = roc_auc_score(z[known], classes, multi_class="ovr", labels=np.arange(len(p)))
        found.append((auc, np.log(right).mean(), took))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--tables", nargs="+", choices=[*PAPER, *OTHERS], default=[*PAPER, *OTHERS])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in given.tables if DATA or name not in PAPER]
    if len(names) < len(given.tables):
        print("SHAPLEY2D_DATA does not name the folder of the paper's tables: they are skipped\n")
    print(
        f"AUC, log score (numbers: R squared) and milliseconds; means over {given.seeds} draws, each whole and with 35 % missing\n"
    )
    print("| table |", " | ".join(JUDGES), "|\n|---" + "|--:" * len(JUDGES) + "|")
    rows = []
    for name in names:
        seeds = range(given.first, given.first + given.seeds)
        found = np.mean(
            [measured(name, share, seed) for share in (0, 0.35) for seed in seeds], axis=0
        )
        rows.append(found)
        print(
            f"| {name} |",
            " | ".join(
                f"{'' if np.isnan(a) else f'{a:.3f} / '}{s:.3f} / {t:.0f}" for a, s, t in found
            ),
            "|",
            flush=True,
        )
    mean = np.mean(rows, axis=0)
    print(
        "| log score or R squared, mean |", " | ".join(f"{score:.3f}" for score in mean[:, 1]), "|"
    )


if __name__ == "__main__":
    main()
