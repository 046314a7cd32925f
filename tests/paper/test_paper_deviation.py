"""Baseline detectors: each against its own formula, and all detectors behind one call."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from shapley2d import KNN, InputError, MonteCarlo, value_cells
from shapley2d.evaluation import inject_errors
from shapley2d_paper.baselines import LOO, OOB, Flat
from shapley2d_paper.detectors.column_predictor import column_predictor
from shapley2d_paper.detectors.detectors import DETECTORS, DetectionTask
from shapley2d_paper.detectors.deviation import BASELINES, class_z_score, ddc, ecod, label_scores

INSTALLED_BY_EXTRA = {"ECOD": "pyod", "DDC": "robpy"}


def factor_table(n=150, m=5, seed=0):
    """Correlated columns whose first factor decides the label."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=n)
    numbers = factor[:, None] + 0.4 * rng.normal(size=(n, m))
    return numbers, (factor > 0).astype(int), np.zeros(m, dtype=bool)


def mixed_table(n=120, seed=0):
    """Numbers, a constant, a category with a rare code, missing entries."""
    numbers, labels, _ = factor_table(n, 3, seed)
    rng = np.random.default_rng(seed)
    categories = (labels + (rng.uniform(size=n) < 0.1)) % 2 * 3.0
    categories[5] = 9  # once only
    numbers = np.column_stack([numbers, np.full(n, 4.0), categories])
    numbers[[0, 1, 2], [0, 4, 1]] = np.nan
    return numbers, labels, np.array([False] * 4 + [True])


def needs(name):
    if name in INSTALLED_BY_EXTRA:
        pytest.importorskip(INSTALLED_BY_EXTRA[name])


def test_the_z_score_by_its_formula():
    numbers, labels, categorical = mixed_table()
    scores = class_z_score(numbers, labels, categorical)
    frame = pd.DataFrame(numbers).groupby(labels)
    expected = (
        ((numbers - frame.transform("mean")) / frame.transform("std", ddof=0)).abs().fillna(0)
    )
    np.testing.assert_allclose(scores[:, :4], expected.to_numpy()[:, :4], atol=1e-12)
    same = (labels == labels[7]) & ~np.isnan(numbers[:, 4])
    share = (numbers[same, 4] == numbers[7, 4]).mean()
    assert scores[7, 4] == pytest.approx(-np.log(share))
    assert scores[:, 4].argmax() == 5


def test_ecod_is_the_surprise_of_the_tail():
    pytest.importorskip("pyod")
    rng = np.random.default_rng(0)
    column = rng.exponential(size=80)  # skewed to the right, so that ECOD looks at the right tail
    scores = ecod(column[:, None], np.zeros(80, int), np.array([False]))[:, 0]
    right = np.array([(column >= x).mean() for x in column])
    left = np.array([(column <= x).mean() for x in column])
    assert scores == pytest.approx(np.maximum(-np.log(right), -np.log(left)))
    # a rare category is in the tail whatever its code
    codes = np.array([1.0] * 50 + [2.0] + [3.0] * 29)
    scores = ecod(codes[:, None], np.zeros(80, int), np.array([True]))[:, 0]
    assert scores.argmax() == 50 and scores[50] == pytest.approx(np.log(80))


def test_ddc_finds_what_breaks_a_correlation():
    outliers = pytest.importorskip("robpy.outliers")
    numbers, labels, categorical = factor_table()
    corrupted = inject_errors(
        "swapped", numbers, labels, categorical, 0.04, np.random.default_rng(0)
    )
    scores = ddc(corrupted.numbers, labels, categorical)
    theirs = outliers.DDC().fit(pd.DataFrame(corrupted.numbers)).standardized_residuals_
    np.testing.assert_allclose(scores, np.abs(theirs))
    assert roc_auc_score(corrupted.cells.ravel(), scores.ravel()) > 0.85
    assert (
        roc_auc_score(corrupted.cells.ravel(), np.abs(corrupted.numbers).ravel()) < 0.7
    )  # nothing is extreme


def test_ddc_says_nothing_of_columns_it_cannot_score():
    pytest.importorskip("robpy")
    numbers, labels, _ = factor_table(n=100)
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, 100)
    mostly_zero = np.where(rng.uniform(size=100) < 0.7, 0, rng.uniform(size=100))
    wide = np.column_stack([numbers, grades, mostly_zero, np.ones(100), rng.integers(0, 9, 100)])
    scores = ddc(wide, labels, np.array([False] * 8 + [True]))
    assert (scores[:, 5:] == 0).all()
    np.testing.assert_array_equal(scores[:, :5], ddc(numbers, labels, np.zeros(5, bool)))
    only_grades = grades[:, None].astype(float)
    assert (ddc(only_grades, labels, np.array([False])) == 0).all()


def test_ddc_on_columns_that_repeat_each_other():
    pytest.importorskip("robpy")
    numbers, labels, _ = factor_table(n=100, m=1)
    twice = np.repeat(numbers, 2, axis=1)
    twice[3, 1] += 2.0
    scores = ddc(twice, labels, np.zeros(2, bool))
    assert np.isfinite(scores).all()
    assert scores[3].min() > np.delete(scores, 3, axis=0).max()


def test_the_column_predictor_finds_swaps_and_odd_categories():
    numbers, labels, categorical = factor_table()
    corrupted = inject_errors(
        "swapped", numbers, labels, categorical, 0.04, np.random.default_rng(0)
    )
    scores = column_predictor(corrupted.numbers, labels, categorical, max_iter=15)
    assert roc_auc_score(corrupted.cells.ravel(), scores.ravel()) > 0.8
    codes = 10.0 + 5 * labels  # the label gives the category away
    codes[[4, 90]] = 25 - codes[[4, 90]]
    table = np.column_stack([numbers, codes])
    scores = column_predictor(table, labels, np.append(categorical, True), max_iter=15)
    assert set(np.argsort(scores[:, 5])[-2:]) == {4, 90}


def test_a_category_seen_once_has_the_chance_of_one_row():
    numbers, labels, categorical = mixed_table(n=60)
    scores = column_predictor(numbers, labels, categorical, max_iter=3)
    # 59 rows have a category: 47 or 48 of them train, and none has this one
    assert min(abs(scores[5, 4] - np.log([48, 49]))) < 1e-12


def test_the_column_predictor_has_not_seen_what_it_predicts():
    rng = np.random.default_rng(0)
    numbers, labels = rng.normal(size=(100, 2)), rng.integers(2, size=100)
    codes = rng.integers(2, size=100).astype(float)[:, None]
    scores = column_predictor(
        np.hstack([numbers, codes]), labels, np.array([False, False, True]), max_iter=40
    )
    # pure chance cannot be predicted: worse than the log 2 of a coin, where a model that had seen
    # it would be better
    assert scores[:, 2].mean() > np.log(2)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_takes_mixed_tables(name):
    needs(name)
    numbers, labels, categorical = mixed_table(n=70)
    before = numbers.copy()
    scores = BASELINES[name](numbers, labels, categorical)
    assert scores.shape == numbers.shape and np.isfinite(scores).all()
    assert (scores >= 0).all() and (scores[np.isnan(numbers)] == 0).all()
    assert (scores[:, 3] == 0).all()  # nothing deviates in a constant column
    np.testing.assert_array_equal(numbers, before)
    order = np.random.default_rng(1).permutation(len(numbers))
    if name != "column predictor":  # whose folds follow the order of the rows
        np.testing.assert_allclose(
            BASELINES[name](numbers[order], labels[order], categorical), scores[order]
        )


@pytest.mark.parametrize("name", BASELINES)
def test_flipped_labels_score_high(name):
    needs(name)
    numbers, labels, categorical = factor_table()
    numbers += 3 * labels[:, None]
    corrupted = inject_errors(
        "labels", numbers, labels, categorical, 0.06, np.random.default_rng(0)
    )
    scores = label_scores(name, numbers, corrupted.labels, categorical)
    assert scores.shape == labels.shape
    assert roc_auc_score(corrupted.rows.ravel(), scores.ravel()) > 0.9


@pytest.mark.parametrize(("baseline", "package"), [(ecod, "pyod"), (ddc, "robpy"), (ddc, "pandas")])
def test_a_missing_package_is_named_with_its_extra(baseline, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    for module in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, module)
    if package == "robpy":
        pytest.importorskip("pandas")
    with pytest.raises(InputError, match=f"needs {package}: pip install --group baselines"):
        baseline(np.eye(5), np.zeros(5, int), np.zeros(5, bool))


def test_an_unknown_baseline_is_named():
    with pytest.raises(
        InputError, match="name='LOF' is not a baseline: use one of 'z-score', 'ECOD', 'DDC'"
    ):
        label_scores("LOF", np.eye(3), np.zeros(3, int), np.zeros(3, bool))


def detection_task(seed=3, budget=4):
    numbers, labels, categorical = mixed_table(n=36)
    valid, valid_labels, _ = mixed_table(n=30, seed=1)
    names = ("a", "b", "c", "flat", "kind")
    return DetectionTask(numbers, labels, categorical, valid, valid_labels, seed, names, budget)


def frame(numbers):
    columns = dict(zip(("a", "b", "c", "flat"), numbers.T, strict=False))
    kinds = [None if np.isnan(code) else str(code) for code in numbers[:, 4]]
    return pd.DataFrame({**columns, "kind": pd.Series(kinds, dtype="category")})


@pytest.mark.parametrize("name", DETECTORS)
def test_every_detector_answers_one_call(name):
    needs(name)
    task = detection_task()
    cells, labels = DETECTORS[name](task), DETECTORS[name].labels(task)
    assert cells.shape == (36, 5) and labels.shape == (36,)
    assert np.isfinite(cells).all() and np.isfinite(labels).all()
    if name != "column predictor":  # which takes its time
        np.testing.assert_array_equal(DETECTORS[name](task), cells)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("2D-KNN", KNN(votes="k")),
        ("2D-MC", MonteCarlo("gaussian_nb", max_draws=4, tolerance=0)),
        ("2D-LOO", LOO()),
        ("2D-OOB", OOB(oob_score="correct", max_draws=1000)),
        ("2D-OOB distance", OOB(oob_score="distance", max_draws=1000)),
        ("1D", Flat(max_draws=4, tolerance=0)),
    ],
)
def test_our_score_is_the_negative_value(name, method):
    options = {"method": method, "baseline": "zero"}
    task = detection_task()
    tables = frame(task.numbers), task.labels, frame(task.valid_numbers), task.valid_labels
    values = value_cells(*tables, random_state=3, **options).values
    np.testing.assert_allclose(DETECTORS[name](task), -values, atol=1e-12)
    if name in ("2D-KNN", "2D-MC"):
        with_label = value_cells(*tables, include_label=True, random_state=3, **options).values
        np.testing.assert_allclose(DETECTORS[name].labels(task), -with_label[:, 5], atol=1e-12)
    else:
        np.testing.assert_allclose(DETECTORS[name].labels(task), -values.sum(axis=1), atol=1e-12)
