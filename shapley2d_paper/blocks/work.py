"""Values of random blocks of Credit, and the performance of models trained on each alone."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Exact, value_cells
from shapley2d_paper.data.splits import split_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.data.splits import Parts
    from shapley2d_paper.harness.records import Row


SMALLEST_SHARE = 0.05  # of the rows, in a group of rows


def gini(model: Any, X: NDArray[np.float64], y: NDArray[np.intp]) -> float:
    """Twice the area under the ROC curve, less 1: 0 for guesses, whatever the class shares."""
    return float(2 * roc_auc_score(y, model.predict_proba(X)[:, 1]) - 1)


def work(
    *, measure: str, n_train: int, n_held_out: int, row_groups: int, column_groups: int, seed: int
) -> list[Row]:
    """One random split into blocks: their values, and the scores of models trained on each."""
    parts = split_table("credit", seed, n_train=n_train, n_valid=n_held_out, n_test=n_held_out)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    rows = random_groups(n_train, row_groups, int(SMALLEST_SHARE * n_train), rng)
    columns = random_groups(parts.X.shape[1], column_groups, 1, rng)
    model: Any = DecisionTreeClassifier(random_state=seed)
    scoring: Any = None if measure == "accuracy" else "balanced_accuracy"
    if measure == "Gini":
        model, scoring = (
            make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky")),
            gini,
        )
    valuation = value_cells(
        parts.X,
        parts.y,
        parts.X_valid,
        parts.y_valid,
        method=Exact(model),
        row_groups=rows,
        column_groups=columns,
        scoring=scoring,
        baseline="zero",
        n_jobs=1,
        progress=False,
    )
    alone = performance_alone(parts, rows, columns, model, scoring)
    # groups are listed in the order in which the table shows them
    group_of_row, group_of_column = (
        np.array(names).astype(int) for names in (valuation.row_names, valuation.column_names)
    )
    return [
        {
            "measure": measure,
            "row_group": int(i),
            "column_group": int(j),
            "n_rows": int((rows == i).sum()),
            "n_columns": int((columns == j).sum()),
            "value": float(valuation.values[a, b]),
            "performance": float(alone[i, j]),
            "total": valuation.total,
        }
        for a, i in enumerate(group_of_row)
        for b, j in enumerate(group_of_column)
    ]


def random_groups(
    n_members: int, n_groups: int, smallest: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Groups between random cuts, members in random order; at least ``smallest`` members each."""
    spare = n_members - n_groups * smallest
    cuts = np.sort(rng.integers(0, spare + 1, n_groups - 1))
    sizes = smallest + np.diff([0, *cuts, spare])
    return np.asarray(rng.permutation(np.repeat(np.arange(n_groups), sizes)))


def performance_alone(
    parts: Parts, rows: NDArray[np.intp], columns: NDArray[np.intp], model: Any, scoring: Any
) -> NDArray[np.float64]:
    """Test score of a model trained on each block alone; the values never saw the test rows."""
    score = check_scoring(model, scoring=scoring)
    alone = np.empty((rows.max() + 1, columns.max() + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models warn of blocks of few rows
        for i, j in np.ndindex(alone.shape):
            X, y = parts.X[np.ix_(rows == i, columns == j)], parts.y[rows == i]
            if np.unique(y).size > 1:
                fitted = clone(model).fit(X, y)
            else:  # rows of a single class, which many classifiers refuse, predict that class
                fitted = DummyClassifier(strategy="constant", constant=y[0]).fit(parts.X, parts.y)
            alone[i, j] = score(fitted, parts.X_test[:, columns == j], parts.y_test)
    return alone
