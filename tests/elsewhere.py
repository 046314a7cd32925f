"""Other libraries' numbers beside ours: what the pages for their users say. Run by ``make test-elsewhere``."""

import numpy as np
import pytest

from shapley2d import KNN, value_cells, value_game


@pytest.mark.parametrize("k", [1, 5])
def test_row_sums_are_the_row_values_of_pydvl(k):
    pytest.importorskip("pydvl")
    from pydvl.valuation.dataset import Dataset
    from pydvl.valuation.methods.knn_shapley import KNNShapleyValuation
    from sklearn.neighbors import KNeighborsClassifier

    random = np.random.default_rng(k)
    X, X_valid = random.normal(size=(60, 4)), random.normal(size=(15, 4))
    y, y_valid = random.integers(0, 3, 60), random.integers(0, 3, 15)
    theirs = KNNShapleyValuation(
        KNeighborsClassifier(n_neighbors=k), Dataset(X_valid, y_valid), progress=False
    )
    theirs.fit(Dataset(X, y))
    ours = value_cells(
        X,
        y,
        X_valid,
        y_valid,
        method=KNN(n_neighbors=k, metric="sqeuclidean", votes="k"),
        baseline="zero",
    )
    np.testing.assert_allclose(ours.row_values, theirs.result.values, rtol=0, atol=1e-12)


def test_column_sums_are_the_values_of_shapiq():
    pytest.importorskip("shapiq")
    from shapiq.game_theory.exact import ExactComputer

    worth = np.random.default_rng(0).normal(size=2**5)
    worth[0] = 0.0

    def game(coalitions):
        return worth[np.asarray(coalitions, dtype=int) @ (1 << np.arange(5))]

    theirs = ExactComputer(n_players=5, game=game)("SV", order=1)
    ours = value_game(
        lambda S, F: float(game(F[None, :])[0]) if S.all() else 0.0, n_rows=1, n_columns=5
    )
    expected = [theirs[(j,)] for j in range(5)]
    np.testing.assert_allclose(ours.column_values, expected, rtol=0, atol=1e-12)


def test_wrong_labels_come_first_here_and_with_cleanlab():
    pytest.importorskip("cleanlab")
    from cleanlab.filter import find_label_issues
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_wine(return_X_y=True)
    wrong = np.random.default_rng(0).choice(len(y), 9, replace=False)
    y[wrong] = (y[wrong] + 1) % 3
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    chances = cross_val_predict(model, X, y, method="predict_proba")
    theirs = find_label_issues(y, chances, return_indices_ranked_by="self_confidence")[:9]
    ours = np.argsort(value_cells(X, y, include_label=True).values[:, -1])[:9]
    assert np.isin(theirs, wrong).sum() >= 7
    assert np.isin(ours, wrong).sum() >= 7
