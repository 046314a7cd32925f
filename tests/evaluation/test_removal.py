"""Curves of removal: what is left trains, in the order of values, with intervals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from shapley2d import InputError, value_cells
from shapley2d.evaluation import removal_curve

random = np.random.default_rng(0)
X = random.normal(size=(150, 3)).round(2)
Y = np.where(X[:, 0] + random.normal(size=150) / 2 > 0, "yes", "no")
TABLES = X[:90], Y[:90], X[90:], Y[90:]
MODEL = make_pipeline(SimpleImputer(keep_empty_features=True), LogisticRegression())


def expected(cells, rows=slice(None)):
    """The probability of the right label by a model on a table whose removed cells are means."""
    train = X[:90].copy()
    train[cells] = np.nan
    model = MODEL.fit(train[rows], Y[:90][rows])
    right = model.predict_proba(X[90:])[np.arange(60), np.searchsorted(model.classes_, Y[90:])]
    return right.mean(), right.std(ddof=1) / np.sqrt(60)


@pytest.mark.parametrize("order", ["lowest", "highest"])
def test_cells_are_removed_in_the_order_of_their_values(order):
    values = random.permutation(270.0 * np.arange(270)).reshape(90, 3)
    curve = removal_curve(values, *TABLES, model=MODEL, order=order, shares=(0, 0.1, 0.5))
    ranks = values / 270 if order == "lowest" else 269 - values / 270
    assert (curve.scores == curve.scores[0]).all()  # no ties, and a model without chance
    for share, score in zip((0, 27, 135), curve.scores[0], strict=True):
        kept = ~(ranks < share).all(axis=1)  # a row without any cell is not there
        assert score == pytest.approx(expected(ranks < share, kept)[0])
    assert curve.area == pytest.approx(
        np.interp(np.linspace(0, 0.5, 10_001), (0, 0.1, 0.5), curve.scores[0]).mean(), abs=1e-4
    )
    assert curve.area_stderr == 0


def test_rows_and_columns_that_are_removed_are_not_there():
    curve = removal_curve(np.arange(90), *TABLES, model=MODEL, by="rows", shares=(0, 0.5))
    assert curve.scores[0, 1] == pytest.approx(expected([], slice(45, None))[0])
    curve = removal_curve([3, 1, 2], *TABLES, model=MODEL, by="columns", shares=(0, 1 / 3))
    model = MODEL.fit(X[:90][:, [0, 2]], Y[:90])
    right = model.predict_proba(X[90:][:, [0, 2]])
    right = right[np.arange(60), np.searchsorted(model.classes_, Y[90:])].mean()
    assert curve.scores[0, 1] == pytest.approx(right)


def test_intervals_are_those_of_means_over_validation_rows():
    curve = removal_curve(X[:90], *TABLES, model=MODEL, shares=(0, 0.2), n_seeds=1)
    frame = curve.to_frame()
    assert list(frame) == ["removed", "score", "low", "high"]
    half = (frame.high - frame.low).to_numpy() / 2
    # of the difference to the labels' score, which hardly varies
    assert half[0] == pytest.approx(1.96 * expected([])[1], rel=0.2)
    assert np.isnan(curve.area_stderr)


def test_equal_values_go_in_random_order_and_nothing_left_scores_as_the_labels():
    curve = removal_curve(np.zeros((90, 3)), *TABLES, shares=(0, 0.5, 1), n_seeds=3)
    assert len(set(curve.scores[:, 1])) == 3 and curve.area_stderr > 0
    labels = pd.Series(Y[:90]).value_counts(normalize=True)
    assert curve.scores[:, 2] == pytest.approx(labels[Y[90:]].mean())


def test_the_values_of_a_run_say_which_cells_matter():
    v = value_cells(*TABLES)
    low, high = (removal_curve(v, *TABLES, order=one, n_seeds=2) for one in ("lowest", "highest"))
    assert low.area > high.area + 0.05
    rows = removal_curve(v, *TABLES, by="rows", order="highest", n_seeds=1)
    assert rows.label == "rows, highest first"
    ax = low.plot()
    high.plot(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [low.label, high.label]


@pytest.mark.parametrize(
    ("values", "asked", "words"),
    [
        (np.zeros((90, 2)), {}, r"values must be numbers of shape \(90, 3\)"),
        (
            np.zeros(90),
            {"by": "columns"},
            r"one for each of the columns of X, and have shape \(90,\)",
        ),
        (X[:90], {"by": "cell"}, "by='cell'"),
        (X[:90], {"order": "random"}, "order='random'"),
        ([["low"]], {}, r"values must be numbers of shape \(90, 3\)"),
        (X[:90], {"shares": (0.5, 0.2)}, "must rise"),
        (X[:90], {"shares": (0, np.nan)}, "must rise"),
        (X[:90], {"shares": ((0, 0.5), (0.1, 0.2))}, "must rise"),
        (X[:90], {"shares": "half"}, "must rise"),
        (X[:90], {"random_state": -1}, "random_state=-1 must be a whole number"),
        (X[:90], {"model": "forest"}, "model='forest' is not a scikit-learn estimator"),
        (X[:90], {"model": "ridge"}, "model='ridge' does not take missing entries"),
        (X[:90], {"n_seeds": 0}, "n_seeds"),
        (X[:90], {"model": LogisticRegression()}, "refuses missing entries"),
    ],
)
def test_what_does_not_fit_is_named(values, asked, words):
    with pytest.raises(InputError, match=words):
        removal_curve(values, *TABLES, **asked)


def test_validation_rows_are_needed():
    with pytest.raises(InputError, match="give X_valid and y_valid"):
        removal_curve(X[:90], *TABLES[:2], None, None)
