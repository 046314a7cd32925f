"""2D-OOB: against plain loops over trees, its errors, what it finds, and what it refuses."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from model_oracles import tree_by_hand
from shapley2d._methods.run import Run
from shapley2d._tables.convert import as_table
from shapley2d._tables.problem import Problem
from shapley2d._tables.target import as_target
from shapley2d.exceptions import InputError
from shapley2d_paper.baselines.oob import OOB, tree_means
from shapley2d_paper.baselines.oob_trees import draw_tree
from tests.comparing import same_bits


def make_problem(X, y, task="auto", label=None):
    table = as_table(X)
    return Problem(table, as_target(y, table, task), [], label)


def value(X, y, seed=0, task="auto", n_jobs=1, progress=False, **options):
    run = Run.create(seed, n_jobs=n_jobs, progress=progress)
    return OOB(**options).solve(make_problem(X, y, task), run)


def make_data(seed, n=40, m=4, n_classes=2):
    """Numbers without ties; the first column says most about the class."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, m))
    y = np.digitize(X[:, 0] + 0.4 * random.normal(size=n), np.linspace(-1, 1, n_classes + 1)[1:-1])
    return X, y


def loop(X, y, score, n_trees, n_drawn, fit_predict, seed=0):
    """The definition, tree by tree and cell by cell: means, and the scores behind every cell."""
    n, m = X.shape
    cells = [[[] for _ in range(m)] for _ in range(n)]
    for b in range(n_trees):
        counts, columns = draw_tree(seed, b, (n, m), n_drawn)
        bag = np.repeat(np.arange(n), counts)
        predicted = fit_predict(X[bag][:, columns], y[bag], X[:, columns])
        given = score(X[:, columns], y, bag, predicted)
        for i, j in itertools.product(np.flatnonzero(counts == 0), columns):
            cells[i][j].append(given[i])
    return np.array([[np.mean(cell) for cell in row] for row in cells]), cells


def correct(X, y, bag, predicted):
    return (predicted == y).astype(float)


def distance(X, y, bag, predicted):
    """The class means and the extremes of the distances come from the bag, as drawn."""
    means = {c: X[[k for k in bag if y[k] == c] or bag].mean(axis=0) for c in np.unique(y)}
    far = np.array([np.linalg.norm(x - means[c]) for x, c in zip(X, y, strict=True)])
    low, high = far[bag].min(), far[bag].max()
    return (predicted == y) + (high - far) / (high - low)


def grow_sklearn(X, y, X_all):
    return DecisionTreeClassifier(random_state=0).fit(X, y).predict(X_all)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("score", [correct, distance])
def test_trees_of_one_column_are_scikit_learns(score, n_classes):
    """With one column no two splits tie between columns, so that both grow the same tree."""
    X, y = make_data(n_classes, n_classes=n_classes)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32).astype(float)
    expected, _ = loop(X, y, score, 150, 1, grow_sklearn)
    values = value(X, y, max_draws=150, column_share=1, oob_score=score.__name__).values
    np.testing.assert_allclose(values, expected, atol=2e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_several_columns_are_those_of_the_definition(n_classes):
    """Few values, so that rows, splits and columns tie, and columns are soon constant in a node."""
    random = np.random.default_rng(n_classes)
    X = random.integers(0, 4, size=(30, 4)).astype(float)
    X[:, 3] = X[:, 3] > 2
    y = (X[:, 0] + random.integers(0, 3, 30)).astype(int) % n_classes
    expected, _ = loop(X, y, correct, 120, 3, partial(tree_by_hand, classifies=True))
    values = value(X, y, max_draws=120, column_share=3).values
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_regression_scores_the_squared_error_beside_the_variance():
    X, _ = make_data(5)
    y = X[:, 0] + 0.1 * X[:, 1]
    X = X.astype(np.float32).astype(float)

    def fit_predict(X_bag, y_bag, X_all):
        return DecisionTreeRegressor(random_state=0).fit(X_bag, y_bag).predict(X_all)

    def score(X_columns, y_all, bag, predicted):
        return 1 - (predicted - y_all) ** 2 / np.var(y_all)

    expected, _ = loop(X, y, score, 150, 1, fit_predict)
    estimate = value(X, y, max_draws=150, column_share=1)
    np.testing.assert_allclose(estimate.values, expected, atol=1e-5)
    assert estimate.values[:, 0].mean() > 0.9 > estimate.values[:, 2:].mean()


@pytest.mark.parametrize("score", ["correct", "distance"])
def test_the_same_bits_for_any_number_of_workers(score):
    X, y = make_data(1, n=120)
    one = value(X, y, max_draws=230, oob_score=score)
    two = value(X, y, max_draws=230, oob_score=score, n_jobs=2)
    other = value(X, y, max_draws=230, oob_score=score, seed=1)
    assert same_bits(one, two) and not same_bits(one, other)


def test_means_and_errors_by_their_definition(monkeypatch):
    monkeypatch.setattr("shapley2d_paper.baselines.oob._CHUNK", 200)  # several chunks of rows
    random = np.random.default_rng(0)
    scores = np.where(random.random((50, 11)) < 0.6, random.normal(5, 1, (50, 11)), np.nan)
    drawn = random.random((50, 3)) < 0.6
    means = tree_means(scores, drawn)
    parts = np.full((50, 11, 3), np.nan)  # every tree's part of every cell's error
    for i, j in itertools.product(range(11), range(3)):
        seen = drawn[:, j] & ~np.isnan(scores[:, i])
        cell = scores[seen, i]
        assert means.counts[i, j] == cell.size
        assert means.values[i, j] == pytest.approx(cell.mean())
        assert means.stderr[i, j] == pytest.approx(cell.std(ddof=1) / np.sqrt(cell.size))
        parts[:, i, j] = np.where(seen, scores[:, i] - cell.mean(), 0) / cell.size
    parts = np.nan_to_num(parts)
    np.testing.assert_allclose(means.row_stderr, np.sqrt((parts.sum(axis=2) ** 2).sum(axis=0)))
    np.testing.assert_allclose(means.column_stderr, np.sqrt((parts.sum(axis=1) ** 2).sum(axis=0)))


def test_trees_that_all_agree_still_leave_an_error():
    X = np.column_stack(
        [np.repeat([0.0, 10.0], 20) + np.arange(40) / 100, np.repeat([1.0, 5.0], 20)]
    )
    estimate = value(X, np.repeat(["a", "b"], 20), max_draws=400)
    np.testing.assert_array_equal(estimate.values, 1.0)
    assert 0 < estimate.stderr.min() <= estimate.stderr.max() < 0.05
    assert estimate.row_stderr.min() > 0
    assert estimate.column_stderr.min() > 0


def test_categories_and_missing_entries():
    random = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 40)
    colour = np.where(
        y == "yes", random.choice(["red", "blue"], 80), random.choice(["green", "grey"], 80)
    )
    number = random.normal(size=80)
    number[::7] = np.nan
    colour[0] = "red"
    frame = pd.DataFrame({"colour": colour, "number": number, "empty": np.full(80, np.nan)})
    for score in ("correct", "distance"):
        estimate = value(frame, y, max_draws=300, oob_score=score)
        assert estimate.values.shape == (80, 3)
        assert np.isfinite(estimate.values).all() and np.isfinite(estimate.stderr).all()
        assert estimate.values[:, 0].argmin() == 0


def test_a_class_that_a_bag_lacks():
    X, y = make_data(0)
    y[0] = 2  # in two bags out of three, and then never out of bag
    values = value(X, y, max_draws=200, oob_score="distance").values
    assert np.isfinite(values).all()
    assert np.all(value(X, y, max_draws=200).values[0] == 0)  # no tree predicts it unseen


def test_rows_that_are_all_equally_far_are_all_close():
    """A column equal to the class, and a constant one: all rows are at their class mean."""
    y = np.repeat([0, 1], [20, 21])
    known = value(2.0 * y[:, None] + 1, y, max_draws=200, oob_score="distance").values
    np.testing.assert_allclose(known, 2.0)
    constant = np.column_stack([np.full(41, 3.0), np.random.default_rng(0).normal(size=41)])
    settings = {"max_draws": 400, "column_share": 1}
    plain = value(constant, y, **settings).values[:, 0]
    np.testing.assert_allclose(
        value(constant, y, oob_score="distance", **settings).values[:, 0], plain + 1
    )


def test_too_few_trees_are_refused_and_the_advice_holds():
    X, y = make_data(0)
    with pytest.raises(
        InputError, match=r"max_draws=10 leaves some of the 160 cells with fewer"
    ) as error:
        value(X, y, max_draws=10)
    advised = int(str(error.value).split("about ")[1].split(" trees")[0])
    assert value(X, y, max_draws=advised).info["min_trees_per_cell"] >= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_draws": 0}, "max_draws=0 must be a whole number of at least 1"),
        ({"max_draws": 2.5}, "max_draws=2.5 must be a whole number"),
        ({"column_share": 0}, "column_share=0 must be a number and be positive"),
        ({"column_share": 1.5}, "column_share=1.5 must be a share of the columns"),
        ({"column_share": 5}, "column_share=5 must be a share .* up to 4"),
        (
            {"oob_score": "accuracy"},
            "oob_score='accuracy' is not known: use 'correct' or 'distance'",
        ),
        (
            {"oob_score": "distance", "task": "regression"},
            "oob_score='distance' .* use oob_score='correct'",
        ),
    ],
)
def test_options_are_checked(options, message):
    X, y = make_data(0)
    with pytest.raises(InputError, match=message):
        value(X, y, **options)


def test_neither_a_semivalue_nor_a_checkpoint_nor_the_label():
    X, y = make_data(0)
    with pytest.raises(InputError, match="method='oob' has no semivalue"):
        OOB().solve(make_problem(X, y), Run.create(semivalue="banzhaf"))
    with pytest.raises(InputError, match="method='oob' takes no checkpoint"):
        OOB().solve(make_problem(X, y), Run.create(checkpoint="kept.npz"))
    with pytest.raises(InputError, match="leave include_label out"):
        OOB().solve(make_problem(X, y, label="y"), Run.create())
