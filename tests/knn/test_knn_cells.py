"""Values by K nearest neighbours: the definition on tiny tables, the paper's table, and what users rely on."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score

from shapley2d import KNN, InputError, value_cells
from shapley2d._knn.kriging import pair_counts
from shapley2d._knn.method import MAX_SAMPLED_COLUMNS
from shapley2d.exceptions import InputWarning, PrecisionWarning, UnseenLabelWarning
from tests.comparing import same_bits

from oracles import brute_force, knn_utility

CASES = [
    # rows, columns, classes, K, semivalue, baseline
    (5, 2, 2, 1, "shapley", "zero"),
    (5, 3, 3, 2, "shapley", "labels"),
    (6, 2, 2, 3, "banzhaf", "zero"),
    (5, 2, 4, 9, "shapley", "zero"),
    (5, 3, 2, 2, ("beta", 4, 1), "zero"),
    (5, 2, 3, 2, ("shapley", "banzhaf"), "zero"),
]


@pytest.mark.parametrize("votes", ["share", "k"])
@pytest.mark.parametrize(("n", "m", "classes", "K", "semivalue", "baseline"), CASES)
def test_classification_equals_brute_force(n, m, classes, K, semivalue, baseline, votes):
    rng = np.random.default_rng(n * 100 + m * 10 + K)
    X, X_valid = rng.integers(0, 3, (n, m)), rng.integers(0, 3, (3, m))
    y, y_valid = np.arange(n) % classes, rng.integers(0, classes, 3)
    rows, columns = (
        semivalue
        if isinstance(semivalue, tuple) and len(semivalue) == 2
        else (semivalue, semivalue)
    )
    data, method = (X, y, X_valid, y_valid), KNN(K, metric="sqeuclidean", votes=votes)
    h = knn_utility(*(part.tolist() for part in data), K, baseline=baseline, votes=votes)
    v = value_cells(*data, method=method, semivalue=semivalue, baseline=baseline)
    np.testing.assert_allclose(v.values, brute_force(h, n, m, rows, columns), rtol=0, atol=1e-10)
    assert v.exact


@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
@pytest.mark.parametrize("votes", ["share", "k"])
@pytest.mark.parametrize("baseline", ["zero", "labels"])
@pytest.mark.parametrize(
    ("K", "semivalue"), [(1, "shapley"), (2, "shapley"), (3, "banzhaf"), (8, "shapley")]
)
def test_regression_equals_brute_force(K, semivalue, baseline, votes):
    rng = np.random.default_rng(K)
    X, X_valid = rng.integers(0, 3, (5, 2)), rng.integers(0, 3, (3, 2))
    y, y_valid = rng.normal(size=5).round(2), rng.normal(size=3).round(2)
    data, method = (X, y, X_valid, y_valid), KNN(K, metric="sqeuclidean", votes=votes)
    counted = {"baseline": baseline, "votes": votes}
    h = knn_utility(*(part.tolist() for part in data), K, regression=True, **counted)
    v = value_cells(*data, method=method, semivalue=semivalue, baseline=baseline)
    assert v.info["task"] == "regression"
    np.testing.assert_allclose(
        v.values, brute_force(h, 5, 2, semivalue, semivalue), rtol=0, atol=1e-10
    )


def test_regression_sums_to_minus_the_squared_error_of_scikit_learn():
    from sklearn.datasets import load_diabetes
    from sklearn.neighbors import KNeighborsRegressor

    X, y = load_diabetes(return_X_y=True)
    X, y = X[:, :4], y + np.random.default_rng(0).normal(size=y.size)
    data = X[:300], y[:300], X[300:], y[300:]
    method = KNN(n_neighbors=7, metric="sqeuclidean")
    with pytest.warns(InputWarning, match="minus the squared error is 0 for a perfect model"):
        v = value_cells(*data, method=method, baseline="zero")
    guess = KNeighborsRegressor(7).fit(X[:300], y[:300]).predict(X[300:])
    # the table has tied neighbours at the seventh rank, which scikit-learn breaks and we average
    assert v.total == pytest.approx(-np.mean((guess - y[300:]) ** 2), rel=0.02)
    saved = value_cells(*data, method=method)
    assert (
        saved.total == pytest.approx(v.total - saved.info["baseline_utility"]) and saved.total > 0
    )


def test_unknown_validation_labels_never_match():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    with pytest.warns(UnseenLabelWarning):
        v = value_cells(X, y, X[:3], [7, 7, 7], method=KNN(n_neighbors=2))
    assert (v.values == 0).all()


@pytest.fixture(scope="module")
def wine():
    from sklearn.model_selection import train_test_split

    X, y = load_wine(return_X_y=True)
    return train_test_split(X, y, test_size=0.4, random_state=0)


def test_auto_samples_to_the_tolerance_and_says_so(wine):
    X, X_valid, y, y_valid = wine
    all_of_them = value_cells(X, y, X_valid, y_valid, method=KNN(n_neighbors=5))
    assert all_of_them.info["subsets"] == "all"  # 63 million triples are done in seconds
    X, X_valid, y, y_valid = (np.concatenate([one, one]) for one in wine)
    v = value_cells(X, y, X_valid, y_valid, method=KNN(n_neighbors=5))
    assert v.info["subsets"] == "sampled"
    assert v.info["converged"]
    assert v.stderr.max() <= 0.025 * np.ptp(v.values)
    assert v.info["n_subsets"] < 2**13
    few = X[:30], y[:30], X_valid[:9], y_valid[:9]
    tight = value_cells(*few, method=KNN(n_neighbors=5, tolerance=1e-9))
    assert tight.info["subsets"] == "all"
    assert tight.exact


def test_interrupting_the_exact_axis_keeps_the_validation_rows_done(wine):
    X, X_valid, y, y_valid = wine
    X, X_valid = X[:, :8], X_valid[:, :8]
    exact = value_cells(X, y, X_valid, y_valid)

    def interrupt(fraction, note):
        if note.startswith("40 of 72"):
            raise KeyboardInterrupt

    with pytest.warns(PrecisionWarning, match="interrupted"):
        partial = value_cells(X, y, X_valid, y_valid, progress=interrupt)
    assert partial.info["interrupted"]
    assert partial.info["n_valid_used"] < len(y_valid)
    assert not partial.exact
    z = (partial.values - exact.values) / np.maximum(partial.stderr, 1e-12)
    assert np.mean(np.abs(z) <= partial._interval_factor) > 0.85
    assert np.mean(np.abs(z) <= partial._interval_factor) < 1

    def at_once(fraction, note):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        value_cells(X, y, X_valid, y_valid, progress=at_once)


@pytest.mark.parametrize(
    ("n_columns", "method", "last"),
    [
        (5, KNN(), "72 of 72 validation rows"),
        (13, KNN(n_subsets=100), "72 of 72 validation rows, 100 column subsets each"),
    ],
)
def test_progress_rises_to_the_end(wine, n_columns, method, last):
    X, X_valid, y, y_valid = wine
    reports = []
    data = X[:, :n_columns], y, X_valid[:, :n_columns], y_valid
    value_cells(*data, method=method, progress=lambda *report: reports.append(report))
    assert reports[-1] == (1.0, last)
    assert reports == sorted(reports, key=lambda report: report[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "cosine"}, "metric='cosine' is not known: use 'auto' or 'sqeuclidean'"),
        ({"subsets": "some"}, "subsets='some' is not known"),
        ({"device": "tpu"}, "device='tpu' is not known"),
        ({"n_subsets": 5}, "n_subsets=5 must be a whole number of at least 8"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        KNN(**options)


def test_exact_axis_of_many_columns_is_refused():
    with pytest.raises(
        InputError, match=r"needs 2\^30 column subsets for 30 columns: use subsets='sampled'"
    ):
        value_cells(np.eye(30), [0, 1] * 15, method=KNN(subsets="all"))


# ---- the authors' table


@pytest.fixture(scope="module")
def authors(paper_data):
    with np.load(paper_data / "breast_cancer_paper_split.npz", allow_pickle=False) as split:
        return dict(split)


def test_the_injected_cells_of_the_authors_table_are_found(authors):
    """43 changed cells, K = 10, raw metric: the figures that tie averaging must reach."""
    tables = (authors[name] for name in ("X_train_outlier", "y_train", "X_test", "y_test"))
    v = value_cells(*tables, method=KNN(10, metric="sqeuclidean"), baseline="zero")
    injected = authors["X_train"] != authors["X_train_outlier"]
    assert injected.sum() == 43
    assert roc_auc_score(injected.ravel(), -v.values.ravel()) >= 0.905
    benign = authors["y_train"] == 2
    cells, marks = v.values[benign].ravel(), injected[benign].ravel()
    lowest = np.argsort(cells, kind="stable")[: int(np.ceil(0.05 * cells.size))]
    assert marks[lowest].sum() / marks.sum() >= 0.95
    assert v.total == pytest.approx(0.9583, abs=1e-4)


_AUTHORS = """
import sys, numpy as np
X, y, X_test, y_test = (np.load(f)[k] for f in [sys.argv[1]] for k in sys.argv[2:6])
n, m, K = len(X), X.shape[1], 10
total, counted = np.zeros((n, m)), np.zeros(m)

def row_values(distances, match):  # Jia et al.'s recursion from the farthest row on, ties as argsort leaves them
    order = np.argsort(-distances, axis=1)  # farthest first, as the authors sort
    match = np.take_along_axis(match, order, axis=1).astype(float)
    values = np.empty_like(match)
    values[:, 0] = match[:, 0] / n
    for k in range(1, n):
        rank = n - k  # the row's rank counted from the nearest
        values[:, k] = values[:, k - 1] + (match[:, k] - match[:, k - 1]) / K * min(K, rank) / rank
    placed = np.empty_like(values)
    np.put_along_axis(placed, order, values, axis=1)
    return placed.mean(axis=0)

match = y_test[:, None] == y[None, :]
squares = (X_test[:, None, :] - X[None, :, :]).astype(float) ** 2
known = {}
for seed in range(1000):
    order = np.random.RandomState(seed).permutation(m)
    before = None
    for k in range(m):
        key = frozenset(order[: k + 1])
        if key not in known:  # whole numbers: the order of the additions does not matter
            known[key] = row_values(squares[:, :, order[: k + 1]].sum(axis=2), match)
        after = known[key]
        if k > 0:
            total[:, order[k]] += after - before
            counted[order[k]] += 1
        before = after
np.save(sys.argv[6], total / counted)
"""


@pytest.mark.slow
def test_the_published_values_are_reproduced(authors, paper_data, tmp_path):
    """With ties broken as numpy's scalar sort breaks them, and the step from no column left out."""
    published = np.load(paper_data / "breast_2d_values_paper.npz")
    environment = dict(os.environ)
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    simd = [
        f
        for f in __cpu_dispatch__
        if __cpu_features__.get(f) and not f.startswith(("ASIMD", "NEON", "VSX"))
    ]
    environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(simd)
    for table, name in (("X_train", "values_clean"), ("X_train_outlier", "values_outlier")):
        result = tmp_path / f"{name}.npy"
        split = paper_data / "breast_cancer_paper_split.npz"
        subprocess.run(
            [sys.executable, "-c", _AUTHORS, split, table, "y_train", "X_test", "y_test", result],
            check=True,
            env=environment,
        )
        np.testing.assert_allclose(np.load(result), published[name].T, rtol=0, atol=1e-12)


def test_text_is_refused_even_where_it_is_the_same_in_every_row():
    X, y = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": ["x"] * 4}), [0, 1, 0, 1]
    for baseline in ("labels", "zero"):
        with pytest.raises(InputError, match=r"column 'b' holds text"):
            value_cells(
                X, y, X, y, method=KNN(metric="sqeuclidean", n_neighbors=1), baseline=baseline
            )


def test_all_rows_as_neighbours_say_that_nothing_depends_on_a_column():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    data = X[:20], y[:20], X[20:], y[20:]
    with pytest.warns(InputWarning, match=r"n_neighbors=20 is not below the 20 rows that train"):
        v = value_cells(*data, method=KNN(n_neighbors=20))
    assert not v.values.any()
    assert v.info["about"]["total"] == "as all rows are always neighbours and no column matters"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value_cells(*data, method=KNN(n_neighbors=19)).values.any()
        value_cells(*data, method=KNN(n_neighbors=20), baseline="zero")


def test_constant_columns_do_not_count():
    X = np.zeros((8, MAX_SAMPLED_COLUMNS + 5))
    X[:, 3] = np.arange(8)
    v = value_cells(X, [0, 1] * 4, X, [0, 1] * 4, method=KNN(n_neighbors=1))
    assert (v.column_values != 0).sum() <= 1


def test_numbers_of_coalitions_beyond_float64():
    assert np.isfinite(pair_counts(1500)).all()


def test_thread_count_changes_no_bit(wine):
    X, X_valid, y, y_valid = wine
    data = X[:, :11], y, X_valid[:, :11], y_valid
    for method in (KNN(subsets="all"), KNN(subsets="sampled", n_subsets=100)):
        one, two = (
            value_cells(*data, method=method, n_jobs=jobs, progress=False) for jobs in (1, 2)
        )
        assert same_bits(one, two)
