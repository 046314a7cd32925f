"""Ten per cent of flipped labels, found by the lowest cells of the label column: AUROC over five choices of them.

Run: python benchmarks/labels.py
Cross-valued, so the labels that judge are as dirty as those that are judged. The peer is the sum of the row's other
cells. The paper's breast-cancer table needs SHAPLEY2D_DATA.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score

from shapley2d import value_cells


def flipped(y, seed, share=0.1):
    random = np.random.default_rng(seed)
    rows = random.choice(y.size, round(share * y.size), replace=False)
    classes = np.unique(y)
    y = y.copy()
    for i in rows:
        y[i] = random.choice(classes[classes != y[i]])
    return y, np.isin(np.arange(y.size), rows)


def measure(name, X, y, **options):
    found = []
    for seed in range(5):
        labels, planted = flipped(np.asarray(y), seed)
        values = value_cells(X, labels, include_label=True, progress=False, **options).values
        found.append(
            [roc_auc_score(planted, -values[:, -1]), roc_auc_score(planted, -values[:, :-1].sum(axis=1))]
        )
    label, features = np.array(found).T
    print(
        f"{name:45} label cells {label.mean():.3f}, least {label.min():.3f}   other cells {features.mean():.3f}"
    )


def main() -> None:
    measure("wine, all column subsets", *load_wine(return_X_y=True), columns="exact")
    measure("breast cancer (diagnostic), 400 subsets", *load_breast_cancer(return_X_y=True), n_coalitions=400)
    folder = os.environ.get("SHAPLEY2D_DATA")
    if folder:
        table = pd.read_csv(Path(folder) / "breast_cancer.csv.gz")
        measure(
            "breast cancer (the paper's), all subsets", table.drop(columns=["id", "class"]), table["class"]
        )


if __name__ == "__main__":
    main()
