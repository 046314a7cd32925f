"""What people read: points of the score, multiples of the average, chance, certainty."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from made_valuations import made
from shapley2d import KNN, Exact, Random, value_cells, value_game
from shapley2d._inspection.repair_gain import RepairGain
from shapley2d._valuation.facts import Facts, evaluated_words, worth_words
from shapley2d._valuation.run_facts import RunFacts
from shapley2d._valuation.units import Score, Unit

K = 5


def table(n=120, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X[:, 0] + 0.3 * X[:, 1] + 0.3 * rng.normal(size=n)


def neighbours(train, valid):
    """The K nearest rows of every validation row, by scikit-learn on raw numbers."""
    return NearestNeighbors(n_neighbors=K).fit(train).kneighbors(valid)[1]


def numbers(words):
    """The numbers of a sentence."""
    return [float(one.replace(",", "")) for one in re.findall(r"-?\d[\d,]*(?:\.\d+)?", words)]


def score_words(v):
    return Facts.of(v).score


def below_zero_words(v):
    return Facts.of(v).below_zero


def rare_words(v):
    return next((note for note in Facts.of(v).notes if "balanced" in note), "")


def make(values, *, error=0.0, score=None, **info):
    known = {
        "semivalue": ["shapley"] * 2,
        "about": {"total": "the model's score less 0.61, what the rows' labels alone predict"},
        "baseline_utility": 0.61,
        "score": {"name": "accuracy", "factor": 100.0, "per_cent": True, **(score or {})},
        **info,
    }
    return made(values, error=error, info=known)


def test_the_score_the_baseline_and_what_the_columns_add():
    v = make([[0.05, 0.02], [0.03, 0.005]])
    assert numbers(score_words(v)) == [71.5, 61.0, 10.5]
    assert "labels alone" in score_words(v) and "The columns add" in score_words(v)
    labelled = replace(v, info={**v.info, "label": "(label)"})
    assert "The columns and the label add" in score_words(labelled)
    from_zero = replace(v, info={**v.info, "baseline_utility": None})
    assert numbers(score_words(from_zero)) == [10.5, 0.0, 10.5]
    assert "Counted from 0 %, all cell values sum to" in score_words(from_zero)


def test_score_of_neighbours_is_the_share_of_right_ones():
    X, y = table()
    y = (y > 0).astype(int)
    train, valid = slice(0, 80), slice(80, 120)
    method = KNN(n_neighbors=K, metric="sqeuclidean")
    v = value_cells(X[train], y[train], X[valid], y[valid], method=method)
    right = (y[train][neighbours(X[train], X[valid])] == y[valid][:, None]).mean()
    alone = (y[train][:, None] == y[valid]).mean()
    score, start, gain = numbers(score_words(v))
    assert score == pytest.approx(100 * right, abs=0.051)
    assert start == pytest.approx(100 * alone, abs=0.051)
    assert gain == pytest.approx(100 * (right - alone), abs=0.051)
    assert "mean probability of the right label" in score_words(v)
    assert v.info["scoring"] == "probability"
    again = value_cells(
        X[train], y[train], X[valid], y[valid], method=method, scoring=v.info["scoring"]
    )
    assert again == v


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_errors_are_r_squared(weighted):
    X, y = table()
    y = 250_000 + 60_000 * y
    train, valid = slice(0, 80), slice(80, 120)
    weights = np.arange(1.0, 41) if weighted else None
    tables = (X[train], y[train], X[valid], y[valid])
    method = KNN(n_neighbors=K, metric="sqeuclidean")
    v = value_cells(*tables, method=method, valid_weight=weights)
    predicted = y[train][neighbours(X[train], X[valid])].mean(axis=1)
    oracle = r2_score(y[valid], predicted, sample_weight=weights)
    score = Score.of(v.info)
    utility = v.total + v.info["baseline_utility"]
    assert score.shift + score.factor * utility == pytest.approx(100 * oracle, abs=1e-3)
    off = np.sqrt(np.average((y[valid] - predicted) ** 2, weights=weights))
    assert f"Root mean squared error: {off:,.0f} instead of" in score_words(v)
    assert "e+" not in score_words(v) + repr(v)


def test_squared_errors_of_folds_of_one_row():
    """Folds without a variance of their own count by that of all targets."""
    X, y = table(n=12)
    v = value_cells(X, y, method=KNN(n_neighbors=2), cv=LeaveOneOut())
    score = Score.of(v.info)
    off = -(v.total + v.info["baseline_utility"])
    level = score.shift + score.factor * -off
    assert level == pytest.approx(100 * (1 - off / np.var(y)))


def test_models_of_numbers_have_r_squared():
    X, y = table(n=16, m=2)
    tables = (X[:8], y[:8], X[8:], y[8:])
    v = value_cells(*tables, method=Exact(LinearRegression()))
    level = 100 * LinearRegression().fit(X[:8], y[:8]).score(X[8:], y[8:])
    assert f"Score {level:.1f} % (R²); the best constant prediction gives" in (score_words(v))


def test_a_constant_validation_target_has_no_variance_to_explain():
    X, y = table(n=20)
    v = value_cells(X[:15], y[:15], X[15:], np.full(5, 2.0), method=KNN(n_neighbors=2))
    assert Score.of(v.info).per_cent is False
    assert "minus the mean squared error" in score_words(v)


def test_rows_and_cells_are_in_points_of_as_many_as_it_takes():
    v = make([[0.05, 0.02], [0.05, -0.02]])
    units = v._units
    assert units.cells == units.rows == units.points
    assert units.points.text(v.column_values[0]) == "10.0 points"
    assert worth_words(v, -0.02) == "takes away 2.0 points"
    assert worth_words(v, -0.02, 0.0044) == "takes away 2.0 ± 0.4 points"
    small = replace(v, values=v.values / 100)  # the largest cell: .05 points, the largest row .07
    assert small._units.cells.words == "points per 1,000 such cells"
    assert small._units.cells.text(-0.0002) == "-20.0 points per 1,000 such cells"
    assert small._units.rows.text(0.0007) == "70.0 points per 1,000 such rows"
    assert worth_words(small, 0.0005) == "adds 50.0 points per 1,000 such cells"
    tiny = replace(v, values=v.values / 1e6)._units
    assert tiny.cells.text(5e-8) == "5.00 points per 1,000,000 such cells"
    assert replace(v, values=0 * v.values)._units.cells == units.points


def test_rows_that_repeat_are_told():
    X, y = [[0, 5], [0, 5], [1, 6], [0, 5], [2, 7], [1, 6]], list("aabbab")
    v = value_cells(X, y, X, y, method=KNN(n_neighbors=2))
    assert v.info["n_repeated"] == 2  # by their labels too
    assert "  note     2 rows repeat earlier ones: copies share the worth of one." in repr(v)
    assert "repeat" not in repr(value_cells(X[::2], y[::2], X, y, method=KNN(n_neighbors=2)))
    # copies share nothing where values are no shares of a sum
    assert "repeat" not in repr(value_cells(X, y, method=Random()))


def test_a_game_of_ones_own_stays_in_its_own_units():
    v = value_game(lambda S, F: S.sum() * F.sum(), 3, 2)
    assert v._units.cells == Unit()
    assert score_words(v).startswith("All cell values sum to 6.000, ")
    assert "  total    +6" in repr(v)


def test_lists_have_one_number_of_decimals():
    assert Unit(100.0).numbers([0.18, 0.0466, -0.0000021], signed=True) == ["+18.0", "+4.7", "0.0"]
    assert Unit().numbers([0.000551, 0.00009]) == ["0.000551", "0.000090"]
    assert Unit(100.0, "points").numbers([0.1234, 0.002]) == ["12.3", "0.2"]
    assert Unit(100.0, "points").numbers([0.00234, 0.0002]) == ["0.23", "0.02"]
    assert Unit().numbers([0.0]) == ["0"]


def test_cells_below_zero_are_told_where_they_are_more_than_by_chance():
    """Cells of a table that is worth nothing, with errors of the size they are said to have."""
    rng = np.random.default_rng(1)
    v = make(rng.normal(size=(4000, 5)), error=1.0)
    found = np.count_nonzero(v.values + v._interval_factor * v.stderr < 0)
    assert found == pytest.approx(500, abs=4 * np.sqrt(500))
    assert below_zero_words(replace(v, values=v.values + 0.1)) == ""
    lower = replace(v, values=v.values - 1)
    found = np.count_nonzero(lower.values + v._interval_factor * v.stderr < 0)
    assert numbers(below_zero_words(lower)) == [round(found / 200), 0, 95, 2.5]
    assert below_zero_words(make([[0.3]])) == "No cell is below 0."
    assert below_zero_words(make([[0.3, -0.1]])) == ""  # of a column of noise half of them are
    assert numbers(below_zero_words(make([[0.3, -0.1, -0.2, -0.1]]))) == [75, 0, 50]


def test_a_rare_class_is_named_with_what_accuracy_measures():
    X, _ = table(n=100)
    y = np.where(np.arange(100) < 3, "fraud", "fine")
    v = value_cells(X, y, X, y)
    assert numbers(rare_words(v)) == [3.0, 3.0, 50]
    assert rare_words(v) in repr(v) and "balanced" in v._repr_html_()
    assert "'fraud'" in rare_words(v) and "balanced_accuracy" in rare_words(v)
    balanced = value_cells(X, y, X, y, scoring="balanced_accuracy")
    assert rare_words(balanced) == ""
    assert "mean probability of the right label, balanced" in score_words(balanced)


def test_twenty_equal_classes_are_not_rare():
    X, _ = table(n=100)
    v = value_cells(X, np.arange(100) % 20, X, np.arange(100) % 20)
    assert rare_words(v) == ""


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({}, ""),
        ({"n_valid": 0}, "without validation rows"),
        ({"n_valid": 11}, "evaluated on 11 validation rows"),
        ({"folds": 5, "splits": "in order"}, "evaluated on each of 5 folds in turn (in order)"),
    ],
)
def test_which_rows_values_were_evaluated_on(info, words):
    assert evaluated_words(RunFacts.of(info)) == words


def test_blocks_speak_of_blocks_and_points():
    X, y = table(n=60)
    y = (y > 0).astype(int)
    X = StandardScaler().fit_transform(X)
    owners = np.array(["Ann", "Bob"])[np.arange(40) % 2]
    halves = [f"half {j % 2}" for j in range(X.shape[1])]
    groups = {"row_groups": owners, "column_groups": halves}
    v = value_cells(X[:40], y[:40], X[40:], y[40:], method="exact", **groups)
    assert v._units.cells.words == "points"
    shown = v._repr_html_()
    assert "all block values sum to" in shown and "cell" not in shown
    assert "2 groups of rows x 2 groups of columns" in shown
    for j in range(2):
        number = f"{100 * v.column_values[j]:+.1f}".replace("-", "\N{MINUS SIGN}")
        assert f"<td>half {j}</td><td>{number}</td>" in shown
    assert "points" in repr(v)


def test_repr_speaks_in_points():
    v = make([[0.05, 0.02], [0.05, -0.02]])
    assert repr(v).split("\n")[1:] == [
        f"  {score_words(v)}",
        "  columns  x0 +10.0, x1 0.0 points",
        "  lowest   -2.0 points at row 1, column 'x1'",
        "  highest  +5.0 points at row 0, column 'x0'",
    ]


def test_axes_of_plots_are_in_points_of_the_score():
    X, y = load_wine(return_X_y=True)
    v = value_cells(X[::4, :4], y[::4], X[1::4, :4], y[1::4], method=KNN(n_neighbors=3))
    ax = v.plot_waterfall(0)
    assert ax.get_xlabel() == "value, points of the score"
    assert ax.patches[-1].get_width() == pytest.approx(100 * v.row_values[0])
    ax = v.plot_beeswarm()
    assert ax.get_xlabel() == "value of a cell, points of the score"
    offsets = np.sort(ax.collections[0].get_offsets()[:, 0])
    np.testing.assert_allclose(offsets, np.sort(100 * v.values.ravel()), rtol=1e-6, atol=1e-12)
    ax = v.plot_heatmap(limit=0.01)
    assert ax.images[0].get_clim() == (-1.0, 1.0)  # a limit of 0.01 is one point
    np.testing.assert_allclose(ax.images[0].get_array(), 100 * v.values)
    own = value_game(lambda S, F: S.sum() * F.sum(), 3, 2).plot_waterfall(0)
    assert own.get_xlabel() == "value"  # a game has no points


def test_gains_of_repairs_are_in_points_where_the_score_is_a_share():
    before, after = np.full(4, 0.8), np.array([0.81, 0.82, 0.81, 0.82])
    gain = RepairGain(before, after, before, np.full(4, 3), 4, "accuracy")
    assert gain._words().startswith("accuracy 80.00 % before, 81.50 % after: +1.50 points (+")
    assert "as many random repairs: +0.00 points" in gain._words()
    loss = RepairGain(-before, -before, -before, np.full(4, 3), 4, "neg_log_loss")
    assert loss._words().startswith("neg_log_loss -0.8000 before, -0.8000 after: +0.0000 (")


def test_errors_and_labels_are_written_as_people_write_them():
    v = make([[0.001, 0.0004]], error=0.175)
    assert v.describe() == "standard error at most 18 points"
    limited = replace(v, info={**v.info, "time_up": True, "max_time": 60, "score": None})
    told = Facts.of(replace(limited, stderr=np.full((1, 2), 7e-5)))
    assert "stopped by the time limit of 1 min 0 s" in told.certainty
    assert "The sign is certain (95 %) of 2 of 2 cells" in told.precision[-1]
    assert replace(v, _target=np.array([114687.0]))._labels == ["114687"]
    assert replace(v, _target=np.array([0.5]))._labels == ["0.5"]
