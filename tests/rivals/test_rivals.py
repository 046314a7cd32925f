"""What 2D-Shapley is compared with: leave one out, 1D values spread flat, 2D-OOB, random numbers."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from shapley2d import (
    KNN,
    Exact,
    Flat,
    Forest,
    InputError,
    LeaveOneOut,
    MonteCarlo,
    OutOfBag,
    Random,
    value_cells,
    value_game,
)
from shapley2d._rivals.bagged_trees import closeness, tree_means
from shapley2d.exceptions import OutOfTimeError

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3)).round(2)
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.5, "up", "down")
X_VALID = rng.normal(size=(30, 3)).round(2)
Y_VALID = np.where(X_VALID[:, 0] + 0.3 * X_VALID[:, 1] > 0.5, "up", "down")
TABLES = X, Y, X_VALID, Y_VALID

# leave one out


def score(model, rows, columns):
    """The accuracy of a model on some rows and columns; of none the most frequent label."""
    labels, counts = np.unique(Y[rows], return_counts=True)
    if not columns.any():
        return np.mean(labels[counts.argmax()] == Y_VALID)
    model.fit(X[np.ix_(rows, columns)], Y[rows])
    return model.score(X_VALID[:, columns], Y_VALID)


@pytest.mark.parametrize("model", [GaussianNB(), DecisionTreeClassifier(random_state=0)])
def test_leave_one_out_is_the_four_trainings_of_its_definition(model):
    v = value_cells(*TABLES, method=LeaveOneOut(model))
    every, all_columns = np.ones(24, dtype=bool), np.ones(3, dtype=bool)
    for i, j in [(0, 0), (5, 1), (23, 2)]:
        rows, columns = np.arange(24) != i, np.arange(3) != j
        expected = (
            score(model, every, all_columns)
            - score(model, rows, all_columns)
            - score(model, every, columns)
            + score(model, rows, columns)
        )
        assert v.values[i, j] == pytest.approx(expected, abs=1e-12)
    assert v.exact and v.info["n_utilities"] == 25 * 4


@pytest.mark.parametrize("baseline", ["labels", "zero"])
def test_leave_one_out_of_a_game(baseline):
    """Also where the only column is left out, and no row is left."""
    h = lambda S, F: S.sum() ** 2 * (1 + F.sum() ** 2)  # noqa: E731
    v = value_game(h, 3, 2, method=LeaveOneOut())
    np.testing.assert_allclose(v.values, (9 - 4) * (5 - 2))
    one = value_game(h, 1, 1, method=LeaveOneOut())
    np.testing.assert_allclose(one.values, value_game(h, 1, 1, method=Exact()).values)
    single = value_cells(X[:, :1], Y, X_VALID[:, :1], Y_VALID, method=LeaveOneOut(GaussianNB()),
                         baseline=baseline)  # fmt: skip
    model = GaussianNB()
    whole, others = np.ones(24, dtype=bool), np.arange(24) != 4
    column = np.array([True, False, False])
    expected = score(model, whole, column) - score(model, others, column)
    if baseline == "labels":
        none = np.zeros(3, dtype=bool)
        expected -= score(model, whole, none) - score(model, others, none)
    assert single.values[4, 0] == pytest.approx(expected, abs=1e-12)


def test_leave_one_out_in_folds_and_by_groups():
    v = value_cells(X, Y, cv=3, method=LeaveOneOut(GaussianNB()))
    again = value_cells(X, Y, cv=3, method=LeaveOneOut(GaussianNB()), n_jobs=2)
    np.testing.assert_array_equal(v.values, again.values)
    groups = np.repeat(["a", "b", "c"], 8)
    by_groups = value_cells(*TABLES, method=LeaveOneOut(GaussianNB()), row_groups=groups)
    expected = sum(
        sign * score(GaussianNB(), rows, columns)
        for sign, rows, columns in [
            (1, groups > "", np.ones(3, dtype=bool)),
            (-1, groups != "b", np.ones(3, dtype=bool)),
            (-1, groups > "", np.arange(3) != 0),
            (1, groups != "b", np.arange(3) != 0),
        ]
    )
    assert by_groups.values[1, 0] == pytest.approx(expected, abs=1e-12)


# 1D values


@pytest.mark.parametrize(
    "method", [KNN(3), KNN(3, subsets="all"), Forest(max_draws=40, tolerance=0)]
)
@pytest.mark.parametrize("baseline", ["labels", "zero"])
def test_flat_values_of_rows_are_those_of_one_column(method, baseline):
    asked = {"baseline": baseline}
    v = value_cells(*TABLES, method=Flat(method), **asked)
    rows = value_cells(*TABLES, method=method, column_groups=["all"] * 3, **asked)
    np.testing.assert_allclose(v.values, np.repeat(rows.values / 3, 3, axis=1), atol=1e-15)
    assert v.total == pytest.approx(rows.total) and v.exact == rows.exact
    np.testing.assert_allclose(v.row_stderr, rows.stderr[:, 0], atol=1e-15)


def test_flat_values_of_both_axes_are_the_margins_of_2d_values():
    v = value_cells(*TABLES, method=Flat(KNN(3, subsets="all"), of="both"), cv=3)
    cells = value_cells(*TABLES, method=KNN(3, subsets="all"))
    expected = (cells.row_values[:, None] / 3 + cells.column_values / 24) / 2
    np.testing.assert_allclose(v.values, expected, atol=1e-15)
    assert v.total == pytest.approx(cells.total)


def test_flat_monte_carlo_stops_by_its_own_tolerance_and_resumes(tmp_path):
    method = Flat(MonteCarlo(GaussianNB(), tolerance=0.3, max_draws=100))
    v = value_cells(*TABLES, method=method, checkpoint=tmp_path / "run", n_jobs=1)
    assert v.info["converged"] and v.info["n_permutations"] < 100
    finer = Flat(MonteCarlo(GaussianNB(), tolerance=0.2, max_draws=100))
    resumed = value_cells(*TABLES, method=finer, checkpoint=tmp_path / "run", n_jobs=1)
    assert resumed.info["resumed_at"] == v.info["n_permutations"]
    np.testing.assert_array_equal(
        resumed.values, value_cells(*TABLES, method=finer, n_jobs=1).values
    )
    assert "equal shares" in v.info["about"]["how"]


# 2D-OOB


def test_means_over_trees_have_the_errors_of_their_definition():
    """Every mean and its error tree by tree, and those of sums of cells of other trees."""
    random = np.random.default_rng(1)
    scores = random.normal(size=(60, 4))
    scores[random.random((60, 4)) < 0.6] = np.nan
    saw = (random.random((60, 3)) < 0.5).astype(float)
    values, stderr, rows, columns = tree_means(scores, saw)
    off = np.zeros((60, 4, 3))
    for i in range(4):
        for j in range(3):
            own = scores[(saw[:, j] > 0) & ~np.isnan(scores[:, i]), i]
            assert values[i, j] == pytest.approx(own.mean())
            assert stderr[i, j] == pytest.approx(own.std(ddof=1) / np.sqrt(own.size))
            part = np.where(saw[:, j] > 0, scores[:, i] - own.mean(), 0.0) / own.size
            off[:, i, j] = np.nan_to_num(part)
    np.testing.assert_allclose(rows**2, np.square(off.sum(axis=2)).sum(axis=0))
    np.testing.assert_allclose(columns**2, np.square(off.sum(axis=1)).sum(axis=0))


def test_trees_that_agree_are_not_certain():
    values, stderr, rows, columns = tree_means(np.ones((9, 2)), np.ones((9, 1)), zero_or_one=True)
    assert (values == 1).all() and stderr.min() > 0
    np.testing.assert_allclose(columns**2, np.square(rows).sum())


@pytest.mark.parametrize("score", ["correct", "distance"])
def test_out_of_bag_finds_a_planted_cell(score):
    planted = X.copy()
    i = int(np.flatnonzero(Y == "up")[0])
    planted[i, 0] = -3.0
    method = OutOfBag(max_draws=400, column_share=1, oob_score=score)
    v = value_cells(planted, Y, method=method)
    assert v.values[:, 0].argmin() == i
    again = value_cells(planted, Y, method=method, n_jobs=2)
    np.testing.assert_array_equal(v.values, again.values)
    assert not v.exact and v.stderr.min() > 0


def test_a_number_of_columns_may_be_a_float_as_the_command_line_reads_it():
    one, other = (
        value_cells(X, Y, method=OutOfBag(max_draws=100, column_share=share)) for share in (2, 2.0)
    )
    np.testing.assert_array_equal(one.values, other.values)
    assert other.info["columns_per_tree"] == 2


def test_out_of_bag_of_numbers():
    v = value_cells(X, (X[:, 0] + 1) ** 3, method=OutOfBag(max_draws=300, column_share=1))
    by_column = v.column_values
    assert by_column[0] > by_column[1] and by_column[0] > by_column[2]


def test_closeness_is_measured_from_the_means_in_the_bag():
    scaled = np.array([[0.0], [2.0], [10.0], [11.0]])
    found = closeness(scaled, np.array([0, 0, 1, 2]), np.array([1, 1, 2, 0]))
    centres = np.array([1.0, 1.0, 10.0, 5.5])
    distance = np.abs(scaled[:, 0] - centres)
    np.testing.assert_allclose(found, (1.0 - distance) / (1.0 - 0.0))


# random numbers, and what is refused


def test_random_numbers_depend_on_the_seed_alone():
    one, same = (value_cells(X, Y, method=Random()).values for _ in range(2))
    other = value_cells(X, Y, method=Random(), random_state=1).values
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other) and abs(one.sum()) < 1e-12


@pytest.mark.parametrize(
    ("method", "asked", "words"),
    [
        (LeaveOneOut(), {"semivalue": "banzhaf"}, "'loo' has no semivalue: it only looks"),
        (Random(), {"semivalue": "banzhaf"}, "'random' has no semivalue"),
        (Random(), {"scoring": "accuracy"}, "'random' takes no scoring"),
        (OutOfBag(), {"scoring": "accuracy"}, "'oob' takes no scoring"),
        (OutOfBag(), {"include_label": True}, "'oob' values single cells: leave"),
        (OutOfBag(max_draws=3), {}, "max_draws=3 leaves some cells with . tree"),
        (OutOfBag(column_share=5), {}, "column_share=5 must be a share of the columns"),
        (Flat(), {"include_label": True}, "'flat' spreads the values of rows"),
        (Flat(), {"row_groups": [1] * 24}, "row_groups"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(method, asked, words):
    with pytest.raises(InputError, match=words):
        value_cells(X, Y, method=method, **asked)


def test_a_time_limit_ends_a_method_within_a_draw_where_its_values_are_spread_too():
    tables = X[:12], Y[:12], *TABLES[2:]
    with pytest.raises(OutOfTimeError, match="at this pace it takes"):
        value_cells(*tables, method=Flat(Exact("tree"), of="both"), max_time=0.1, n_jobs=1)


def test_rivals_are_asked_what_they_can_answer():
    with pytest.raises(InputError, match="'oob' needs no validation table"):
        value_cells(*TABLES, method=OutOfBag())
    with pytest.raises(InputError, match=r"method must be a method, as in Flat\(KNN\(\)\)"):
        Flat(LogisticRegression())
    for method in (Flat(), OutOfBag(), Random()):
        with pytest.raises(InputError, match=r"gives no 1D values: use one that does, as in Flat"):
            Flat(method)
    for method in (Flat(), OutOfBag(), Random()):
        with pytest.raises(InputError, match="values tables, not games"):
            value_game(lambda S, F: S.sum(), 2, 2, method=method)
    with pytest.raises(InputError, match="oob_score='distance' measures from"):
        value_cells(X, X[:, 0] ** 2, method=OutOfBag(oob_score="distance"))


def test_leave_one_out_of_nearest_neighbours_is_scikit_learn_s():
    v = value_cells(*TABLES, method=LeaveOneOut(KNeighborsClassifier(3)))
    model = KNeighborsClassifier(3)
    rows, columns = np.arange(24) != 7, np.arange(3) != 1
    every, both = np.ones(24, dtype=bool), np.ones(3, dtype=bool)
    expected = (
        score(model, every, both) - score(model, rows, both)
        - score(model, every, columns) + score(model, rows, columns)
    )  # fmt: skip
    assert v.values[7, 1] == pytest.approx(expected, abs=1e-12)
