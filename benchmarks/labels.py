"""AUROC of finding 10 % flipped labels by the values of the label column, over five seeds.

Run: python benchmarks/labels.py

Cross-valued, so the labels that validate are as dirty as those that are valued. For comparison, the
sum of the row's other cells. The paper's breast-cancer table needs SHAPLEY2D_DATA.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from shapley2d import KNN, value_cells


def flipped(y, seed, share=0.1):
    random = np.random.default_rng(seed)
    rows = random.choice(y.size, round(share * y.size), replace=False)
    classes = np.unique(y)
    y = y.copy()
    for i in rows:
        y[i] = random.choice(classes[classes != y[i]])
    return y, np.isin(np.arange(y.size), rows)


def measure(name, X, y, method):
    found = []
    for seed in range(5):
        labels, injected = flipped(np.asarray(y), seed)
        values = value_cells(X, labels, method=method, include_label=True, progress=False).values
        found.append(
            [
                roc_auc_score(injected, -values[:, -1]),
                roc_auc_score(injected, -values[:, :-1].sum(axis=1)),
            ]
        )
    label, features = np.array(found).T
    print(
        f"{name:45} label cells {label.mean():.3f}, least {label.min():.3f}   "
        f"other cells {features.mean():.3f}"
    )


def against_clean_rows(X, y) -> None:
    """The same with a clean validation table: a third of the rows, another third for every seed."""
    found = []
    for seed in range(5):
        X_train, X_valid, y_train, y_valid = train_test_split(
            X, y, test_size=1 / 3, random_state=seed, stratify=y
        )
        labels, injected = flipped(y_train, seed)
        values = value_cells(
            X_train,
            labels,
            X_valid,
            y_valid,
            method=KNN(subsets="all"),
            include_label=True,
            progress=False,
        ).values
        found.append(roc_auc_score(injected, -values[:, -1]))
    print(
        f"{'wine, a clean third validates':45} label cells {np.mean(found):.3f}, "
        f"least {np.min(found):.3f}"
    )


def main() -> None:
    measure("wine, all column subsets", *load_wine(return_X_y=True), KNN(subsets="all"))
    measure(
        "breast cancer (diagnostic), 400 subsets",
        *load_breast_cancer(return_X_y=True),
        KNN(n_subsets=400),
    )
    against_clean_rows(*load_wine(return_X_y=True))
    folder = os.environ.get("SHAPLEY2D_DATA")
    if folder:
        table = pd.read_csv(Path(folder) / "breast_cancer.csv.gz")
        measure(
            "breast cancer (the paper's), all subsets",
            table.drop(columns=["id", "class"]),
            table["class"],
            KNN(),
        )


if __name__ == "__main__":
    main()
