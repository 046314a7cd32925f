"""Whether balanced accuracy finds and removes errors as well as accuracy, also with a rare class.

Run: python benchmarks/balanced.py [--seeds 5]

Three tables of scikit-learn with two classes, as they are and with 5 % of the rarer one; a third of
the rows validates, a third tests. In the training rows 10 % of the labels are flipped. AUROC of
finding them by the label's cells and by the rows' other cells; then the tenth of the rows with the
lowest values is removed, and a logistic regression trained on the rest: its accuracy and its
balanced accuracy on the test rows, less those with random rows removed.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shapley2d import value_cells

MOST = 360  # rows, so that a run takes a second
COLUMNS = 6


def tables():
    """Two classes each, six columns."""
    wine, kind = load_wine(return_X_y=True)
    yield "wine", wine[:, :COLUMNS], (kind == 2).astype(int)
    cancer, bad = load_breast_cancer(return_X_y=True)
    yield "breast cancer", cancer[:, :COLUMNS], 1 - bad
    X, y = make_classification(
        900, COLUMNS, n_informative=4, n_redundant=0, weights=[0.7], flip_y=0.02, random_state=0
    )
    yield "made up", X, y


def with_share(X, y, share, random):
    """At most MOST rows, of which a share has label 1; all that there are if share is None."""
    ones, zeros = (random.permutation(np.flatnonzero(y == one)) for one in (1, 0))
    if share is not None:
        n = min(MOST, int(zeros.size / (1 - share)))
        ones, zeros = ones[: round(share * n)], zeros[: n - round(share * n)]
    rows = random.permutation(np.concatenate([ones, zeros]))[:MOST]
    return X[rows], y[rows]


def one(X, y, scoring, seed):
    """Two AUROCs, then accuracy and balanced accuracy without the lowest rows, less at random."""
    X_train, X_rest, y_train, y_rest = train_test_split(
        X, y, test_size=2 / 3, random_state=seed, stratify=y
    )
    X_valid, X_test, y_valid, y_test = train_test_split(
        X_rest, y_rest, test_size=1 / 2, random_state=seed, stratify=y_rest
    )
    random = np.random.default_rng(seed)
    flipped = np.isin(
        np.arange(y_train.size), random.choice(y_train.size, y_train.size // 10, replace=False)
    )
    labels = np.where(flipped, 1 - y_train, y_train)
    values = value_cells(
        X_train, labels, X_valid, y_valid, include_label=True, scoring=scoring, progress=False
    ).values
    found = [
        roc_auc_score(flipped, -values[:, -1]),
        roc_auc_score(flipped, -values[:, :-1].sum(axis=1)),
    ]
    size = y_train.size // 10
    lowest = np.argsort(values.sum(axis=1), kind="stable")[:size]
    scores = []
    for gone in (lowest, random.choice(y_train.size, size, replace=False)):
        left = np.setdiff1d(np.arange(y_train.size), gone)
        model = make_pipeline(StandardScaler(), LogisticRegression())
        predicted = model.fit(X_train[left], labels[left]).predict(X_test)
        scores.append(
            [accuracy_score(y_test, predicted), balanced_accuracy_score(y_test, predicted)]
        )
    return [*found, *np.subtract(*scores)]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    print(f"{'table':15} {'rare':>5} {'by':18} label cells  other cells  accuracy  balanced")
    for name, X, y in tables():
        for share in (None, 0.05):
            for scoring in ("accuracy", "balanced_accuracy"):
                found = []
                for seed in range(seeds):
                    part = with_share(X, y, share, np.random.default_rng(seed))
                    found.append(one(*part, scoring, seed))
                means = np.mean(found, axis=0)
                rare = f"{100 * part[1].mean():.0f} %"
                print(
                    f"{name:15} {rare:>5} {scoring:18} {means[0]:11.3f} {means[1]:12.3f} "
                    f"{100 * means[2]:+9.1f} {100 * means[3]:+9.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
