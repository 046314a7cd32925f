"""Other libraries' numbers beside ours: what the pages for their users say. Run by ``make test-elsewhere``."""

import re
from pathlib import Path

import numpy as np
import pytest

from shapley2d import KNN, value_cells, value_game

PAGES = Path(__file__).parent.parent / "docs" / "coming-from"


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


def test_row_sums_are_those_of_the_neighbour_explainer_of_shapiq():
    explainer = pytest.importorskip("shapiq.explainer")
    if not hasattr(explainer, "KNNExplainer"):
        pytest.skip("since shapiq 1.6, which needs Python 3.12")
    from sklearn.neighbors import KNeighborsClassifier

    random = np.random.default_rng(2)
    X, X_valid = random.normal(size=(40, 4)), random.normal(size=(9, 4))
    y, y_valid = random.integers(0, 3, 40), random.integers(0, 3, 9)
    model = KNeighborsClassifier(5).fit(X, y)
    theirs = [
        explainer.KNNExplainer(model, class_index=int(label)).explain(x).get_n_order_values(1)
        for x, label in zip(X_valid, y_valid, strict=True)
    ]
    method = KNN(n_neighbors=5, metric="sqeuclidean")
    ours = value_cells(X, y, X_valid, y_valid, method=method, baseline="zero")
    np.testing.assert_allclose(ours.row_values, np.mean(theirs, axis=0), rtol=0, atol=1e-12)


def test_the_page_for_users_of_shap():
    """Its code runs, from top to bottom, and gives what the page says."""
    pytest.importorskip("shap")
    page = (PAGES / "shap.md").read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(code, names)
    columns, wrong = names["X"].columns, names["wrong"]
    by_columns = dict(zip(columns, names["found"].values[0], strict=True))  # of malignant
    assert f"{-by_columns['worst concavity']:.2f} of the log odds" in page
    assert (
        f"`mean concave points`, {-by_columns['mean concave points']:.2f}".replace("0.", ".")
        in page
    )
    rows = names["why"].rows(5)
    first, last = rows["adds"].iloc[0], rows["adds"].iloc[-1]
    listed = [*map(str, rows["row"])]
    said = f"rows {', '.join(listed[:-1])} and {listed[-1]}: {first:.2f} to {last:.2f} each"
    assert said.replace("0.", ".") in page
    assert [row for row in rows["row"] if row in wrong] == [261, 223]
    used = columns[np.argsort(-np.abs(names["every"]).mean(axis=0))[:3]]
    adding = columns[np.argsort(-np.asarray(names["v"].column_values))[:3]]
    for three in (used, adding):
        assert ", ".join(f"`{name}`" for name in three) in page
    lowest = names["X_train"].index[np.argsort(names["v"].row_values)[: len(wrong)]]
    assert f"Of the {len(wrong)} rows of lowest value, {np.isin(lowest, wrong).sum()} are" in page


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


def test_lowest_rows_here_and_by_cleanlab():
    valuation = pytest.importorskip("cleanlab.data_valuation")
    from sklearn.datasets import load_wine
    from sklearn.preprocessing import StandardScaler

    found = []
    for seed in range(6):
        X, y = load_wine(return_X_y=True)
        wrong = np.random.default_rng(seed).choice(len(y), 9, replace=False)
        y[wrong] = (y[wrong] + 1) % 3
        numbers = StandardScaler().fit_transform(X)
        theirs = valuation.data_shapley_knn(y, features=numbers, k=10, metric="euclidean")
        both = theirs, value_cells(X, y).row_values
        found.append([int(np.isin(np.argsort(values)[:9], wrong).sum()) for values in both])
    theirs, ours = zip(*found, strict=True)
    page = (PAGES / "cleanlab.md").read_text(encoding="utf-8")
    assert (
        f"{min(theirs)} to {max(theirs)} of the nine are among the nine rows that cleanlab" in page
    )
    assert f"{min(ours)} or {max(ours)} among those of shapley2d" in page
