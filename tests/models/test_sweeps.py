"""Sweeps: every point of the grid is what scikit-learn's estimator of that name scores, exact ties of a decision aside."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from knn.row_oracles import TASKS, random_labels, score_of, table_distances, tie_averaged_utility
from model_oracles import grid_points, make_split, orders, surely_and_maybe_right
from shapley2d import InputError, MonteCarlo, value_cells
from shapley2d._knn.metric import measure
from shapley2d._knn.utility_game import KnnGame
from shapley2d._models.game_draws import Orders
from shapley2d._models.games import GroupedGame, LabelGame
from shapley2d._models.model_game import ModelGame
from shapley2d._models.sweeps import SWEEPS
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import nested, subsets

from small_tables import split_of


@pytest.mark.parametrize("n_classes", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "estimator"), [("gaussian_nb", GaussianNB()), ("ridge", RidgeClassifier())]
)
def test_every_grid_point_is_scikit_learns(name, estimator, n_classes):
    points = ties = 0
    for seed in range(3):
        split = make_split(seed, n_classes)
        rows, columns = orders(split, seed)
        rows = (
            rows[np.argsort(split.y.codes[rows] > 0, kind="stable")] if seed == 2 else rows
        )  # one class first
        grid = SWEEPS[name](split).utilities(nested(rows), nested(columns))
        for a, b, X, members, X_valid in grid_points(split, rows, columns):
            if not np.ptp(X, axis=0).any() or np.unique(split.y.y[members]).size == 1:
                assert grid[a, b] == grid[a, 0]  # of the labels alone
                continue
            sure, maybe = surely_and_maybe_right(
                estimator, X, split.y.y[members], X_valid, split.y_valid.y
            )
            assert sure <= round(grid[a, b] * len(X_valid)) <= sure + maybe, (seed, a, b)
            points += len(X_valid)
            ties += maybe
    assert ties < 0.1 * points


@pytest.mark.parametrize("name", SWEEPS)
def test_a_column_that_is_the_same_in_all_rows_leaves_the_labels(name):
    X, y = np.full((4, 1), 0.5), np.array([1, 0, 1, 1])
    (split,) = make_problem(X, y, np.array([[0.5], [2.0], [0.5]]), np.array([0, 0, 1])).splits
    grid = SWEEPS[name](split).utilities(nested(np.arange(4)), subsets(1))
    np.testing.assert_array_equal(grid, grid[:, :1].repeat(2, axis=1))
    assert grid[:, 0] == pytest.approx([1 / 2, 1 / 3, 1 / 2, 1 / 3, 1 / 3])


@pytest.mark.parametrize("plain", [True, False])
def test_ridge_regression_is_scikit_learns(plain):
    for seed in range(3):
        split = make_split(seed, regression=True, plain=plain)
        rows, columns = orders(split, seed)
        grid = SWEEPS["ridge"](split).utilities(nested(rows), nested(columns))
        for a, b, X, members, X_valid in grid_points(split, rows, columns):
            expected = r2_score(
                split.y_valid.y, Ridge().fit(X, split.y.y[members]).predict(X_valid)
            )
            assert grid[a, b] == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    ("name", "regression"),
    [
        (name, regression)
        for name in (*SWEEPS, "knn")
        for regression in (False, True)
        if (name, regression) != ("gaussian_nb", True)
    ],
)
def test_other_lists_of_coalitions_give_the_same(name, regression):
    split = make_split(4, 3, n=12, plain=True, regression=regression)
    game = KnnGame(split, n_neighbors=10) if name == "knn" else SWEEPS[name](split)
    rows, columns = map(nested, orders(split))
    grid = game.utilities(rows, columns)
    same = {"rel": 1e-9, "abs": 1e-12}
    order, part = np.random.default_rng(0).permutation(len(rows)), [3, 0, 2, 1]
    shuffled = game.utilities(rows[order], columns[part])
    assert shuffled == pytest.approx(grid[np.ix_(order, part)], **same)
    everything = game.utilities(subsets(12), subsets(3))
    numbers = [masks @ (1 << np.arange(masks.shape[1])) for masks in (rows, columns)]
    assert everything[np.ix_(*numbers)] == pytest.approx(grid, **same)
    labels, groups = np.arange(12) % 4, nested(np.array([2, 0, 3, 1]))
    grouped = GroupedGame(game, labels, np.arange(3)).utilities(groups, columns)
    members = groups[:, labels] @ (1 << np.arange(12))
    assert grouped == pytest.approx(everything[np.ix_(members, numbers[1])], **same)
    again = pickle.loads(pickle.dumps(game)).utilities(rows, columns)
    assert np.array_equal(again, game.utilities(rows, columns))


@pytest.mark.parametrize("name", SWEEPS)
def test_a_sweep_pauses_between_its_parts_and_gives_the_same_bits(name, monkeypatch):
    split, pauses = make_split(4, 3, n=12, T=400, plain=True), []
    game, masks = SWEEPS[name](split), [*map(nested, orders(split))]
    whole = game.utilities(*masks)
    monkeypatch.setattr("shapley2d._models.sweeps._AT_ONCE", 1)
    game.pause = pauses.append
    assert np.array_equal(game.utilities(*masks), whole)
    assert pauses == [3] * 12


def test_a_sweep_is_not_taken_for_trainings_one_by_one(monkeypatch):
    monkeypatch.setattr("shapley2d._models.model_games._training_seconds", lambda _: 10.0)
    X, y = np.arange(24.0).reshape(12, 2) % 7, np.arange(12) % 2
    method = MonteCarlo("gaussian_nb", max_draws=8, tolerance=0)
    assert value_cells(X, y, X, y, method=method, max_time=600).info["n_permutations"] == 8


@pytest.mark.parametrize("inner", ["ridge", "tree"])
def test_the_label_joins_anywhere(inner):
    split = make_split(4, 3, n=12, plain=True)
    game = (
        SWEEPS["ridge"](split) if inner == "ridge" else ModelGame(DecisionTreeClassifier(), split)
    )
    rows, columns = orders(split)
    known, labelled = game.utilities(nested(rows), nested(columns)), LabelGame(game)
    for place in range(4):
        order = np.insert(columns, place, 3)
        expected = np.insert(known, [0] * (place + 1), known[0, 0], axis=1)
        expected = np.delete(expected, range(place + 1, 2 * place + 1), axis=1)
        assert labelled.utilities(nested(rows), nested(order)) == pytest.approx(expected)


def test_folds_and_the_label_as_a_column():
    split = make_split(8, 2, plain=True)
    options = {"method": MonteCarlo("gaussian_nb", max_draws=10, tolerance=0)}
    v = value_cells(split.train.native, split.y.y, include_label=True, **options)
    assert v.values.shape == (24, 4)
    zero = value_cells(
        split.train.native, split.y.y, include_label=True, baseline="zero", **options
    )
    assert (
        zero.column_values[-1] > 0.2 and v.column_values[-1] > 0.1
    )  # less what guessing between two classes gives
    assert v.total == pytest.approx(zero.total - 0.5)


class CountedTree(DecisionTreeClassifier):
    fits = 0

    def fit(self, X, y):
        CountedTree.fits += 1
        return super().fit(X, y)


def test_truncation_trains_less_and_keeps_the_total():
    split = make_split(9, 2, n=40, plain=True)
    rows, columns = map(nested, orders(split))
    game = ModelGame(CountedTree(), split)
    grids, fits = [], []
    for truncation in (None, 0.0, 0.1, 2.0):
        CountedTree.fits = 0
        asked = {"seed": 0, "most": 1, "truncation": truncation}
        draws = Orders([game], [slice(None)], 40, ("shapley", "shapley"), **asked)
        grids.append(draws._grid(0, rows, columns))
        fits.append(CountedTree.fits)
    # at the end, the rows of all columns' coalitions alone
    assert fits[0] > fits[1] > fits[2] > fits[3] == 3
    for grid, truncation in zip(grids[1:], (0.0, 0.1, 2.0), strict=True):
        assert np.array_equal(grid[-1], grids[0][-1])
        for b in range(1, 4):
            stop = 1 + np.flatnonzero(np.abs(grids[0][1:, b] - grids[0][-1, b]) <= truncation)[0]
            assert np.array_equal(grid[: stop + 1, b], grids[0][: stop + 1, b])
            assert (grid[stop + 1 :, b] == grids[0][-1, b]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "gausian_nb"}, "did you mean 'gaussian_nb'"),
        (
            {"model": "perceptron"},
            "use one of 'tree', 'gaussian_nb', 'ridge', 'knn', 'boosting', 'random_forest'",
        ),
        ({"truncation": -1}, "truncation=-1 must be a number and not be negative"),
    ],
)
def test_options_that_cannot_be_used_are_named(options, message):
    with pytest.raises(InputError, match=message):
        MonteCarlo(**options)


@pytest.mark.parametrize(
    ("method", "question", "message"),
    [
        (MonteCarlo("ridge"), {"scoring": "neg_log_loss"}, "use accuracy, balanced_accuracy, or a model of scikit-learn"),
        (MonteCarlo("ridge"), {"scoring": "r2"}, "scoring='r2' cannot be computed by the built-in model='ridge'"),
        (MonteCarlo("knn"), {"scoring": "f1"}, "has no closed form: it is not a mean over validation rows: use 'probability'"),
        (MonteCarlo("ridge", preprocess="none"), {}, "or use another model, such as model='tree'"),
        (MonteCarlo("ridge", truncation=0.1), {}, "truncation=0.1 does not go with model='ridge'"),
        (MonteCarlo("knn", truncation=0.1), {}, "truncation=0.1 does not go with model='knn'"),
        (MonteCarlo("gaussian_nb"), {"task": "regression"}, "the task is regression"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(method, question, message):
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    with pytest.raises(InputError, match=message):
        value_cells(X, y, X, y, method=method, **question)


def test_r_squared_needs_two_validation_rows():
    X, y = np.arange(8.0).reshape(4, 2), [0.5, 1.5, 0.25, 1.0]
    with pytest.raises(InputError, match="at least two validation rows"):
        value_cells(X, y, X[:1], y[:1], method=MonteCarlo("ridge"))


def test_constant_validation_targets_score_as_in_scikit_learn():
    X = np.array([[0.0], [1.0], [2.0]])
    (split,) = make_problem(X, [1.0, 1.0, 7.0], X[:2], [1.0, 1.0], task="regression").splits
    grid = SWEEPS["ridge"](split).utilities(nested(np.arange(3)), subsets(1))
    assert grid[:3, 1].tolist() == [0, 1, 1]


@pytest.mark.parametrize("task", TASKS)
def test_nearest_neighbours_at_every_point_of_the_grid(task):
    """The mean over all choices among the rows at the distance of the k-th nearest."""
    rng = np.random.default_rng(3)
    X, X_valid = (rng.choice([0, 1, 2, np.nan], (size, 3)) for size in (7, 4))
    y, y_valid = random_labels(rng, task, 7, 4)
    factors = np.array([1.0, 0.5, 2.0, 0.5])
    split = replace(split_of(X, y, X_valid, y_valid, task), valid_weights=factors)
    game, columns = (
        KnnGame(split, n_neighbors=3),
        measure(split.train, split.valid),
    )
    rows, members = rng.permutation(7), rng.permutation(3)
    grid = game.utilities(nested(rows), nested(members))
    for a, b in itertools.product(range(1, 8), range(4)):
        subset = np.isin(np.arange(3), members[:b])
        utilities = [
            tie_averaged_utility(
                rows[:a].tolist(),
                table_distances(columns, subset, t),
                3,
                score_of(y, y_valid[t], 3, task),
            )
            for t in range(4)
        ]
        assert grid[a, b] == pytest.approx(factors @ utilities / 4, abs=1e-12)
