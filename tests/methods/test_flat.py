"""The method flat: every cell a player, absent cells filled; values by definition."""

from __future__ import annotations

import itertools
import time
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from shapley2d import CellValuer, InputError, Valuation, value_cells
from shapley2d._base.precision import interval_factor
from shapley2d._estimation.monte_carlo import monte_carlo
from shapley2d._methods.flat.cells import FlatDraws, flat_game
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import PrecisionWarning, UtilityError

from oracles import semivalue_weight

WINE = load_wine()
TABLES = WINE.data[::16, :3], WINE.target[::16], WINE.data[1::8, :3], WINE.target[1::8]
QUICK = {
    "method": "flat",
    "model": "tree",
    "max_permutations": 12,
    "tolerance": 0,
    "progress": False,
}

SMALL_X = np.array([[0.0, 5.0], [1.0, 3.5], [4.0, 4.0]])
SMALL_Y = np.array([0, 0, 1])
SMALL_VALID = np.array([[0.2, 5.0], [0.9, 3.0], [2.5, 4.1], [3.0, 4.0], [1.5, 4.2]])
SMALL_Y_VALID = np.array([0, 0, 1, 1, 0])
SMALL = SMALL_X, SMALL_Y, SMALL_VALID, SMALL_Y_VALID
ONE_COLUMN = (  # in which no splits of different columns can tie
    np.array([[0.0], [1.3], [2.1], [2.6], [4.0], [4.4]]),
    np.array([0, 0, 1, 0, 1, 1]),
    SMALL_VALID[:, :1],
    SMALL_Y_VALID,
)


def utility_by_hand(estimator, X, y, X_valid, y_valid):
    """A function of the cells that are present, everything else being the mean of its column."""

    def utility(present):
        filled = np.tile(X.mean(axis=0), (len(X), 1))
        for i, j in present:
            filled[i, j] = X[i, j]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.fit(filled, y).score(X_valid, y_valid)

    return utility


def values_by_hand(utility, n, m, semivalue="shapley"):
    """The semivalue of every cell by the definition: a loop over all sets of the other cells."""
    cells = list(itertools.product(range(n), range(m)))
    known = {
        frozenset(c): utility(c)
        for size in range(n * m + 1)
        for c in itertools.combinations(cells, size)
    }
    values = np.zeros((n, m))
    for cell in cells:
        for others, worth in known.items():
            if cell not in others:
                weight = semivalue_weight(semivalue, len(others), n * m)
                values[cell] += weight * (known[others | {cell}] - worth)
    return values


def over_all_orders(game, semivalue="shapley"):
    draws = FlatDraws(game, semivalue, 0)
    orders = itertools.permutations(range(game.n_rows * game.n_columns))
    return np.mean([draws.values(np.array(order)) for order in orders], axis=0)


def split_of(*tables, **options):
    (split,) = make_problem(*tables, **options).splits
    return split


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4.0, 1.0)])
@pytest.mark.parametrize(
    ("name", "estimator", "tables"),
    [("gaussian_nb", GaussianNB(), SMALL), ("tree", DecisionTreeClassifier(), ONE_COLUMN)],
)
def test_all_orders_of_cells_give_the_definition(name, estimator, tables, semivalue):
    expected = values_by_hand(utility_by_hand(estimator, *tables), *tables[0].shape, semivalue)
    game = flat_game(split_of(*tables), model=name)
    assert over_all_orders(game, semivalue) == pytest.approx(expected, abs=1e-12)
    assert np.ptp(expected) > 0.03


@pytest.mark.parametrize("regression", [False, True])
def test_any_estimator_by_the_definition(regression):
    X, X_valid = np.array([[0.0, 2.0], [1.0, 7.0]]), np.array([[0.1, 2.0], [0.8, 1.0], [0.7, 8.0]])
    y, y_valid = (
        (np.array([0.25, 1.5]), np.array([0.5, 1.0, 2.0]))
        if regression
        else (np.array(["a", "b"]), np.array(["a", "b", "b"]))
    )
    estimator = LinearRegression() if regression else KNeighborsClassifier(1)
    expected = values_by_hand(utility_by_hand(estimator, X, y, X_valid, y_valid), 2, 2)
    game = flat_game(split_of(X, y, X_valid, y_valid), model=estimator)
    assert over_all_orders(game) == pytest.approx(expected, abs=1e-12)
    assert np.ptp(expected) > 0.05


def test_sampling_reaches_the_definition():
    expected = values_by_hand(utility_by_hand(GaussianNB(), *SMALL), 3, 2)
    v = value_cells(*SMALL, **QUICK | {"model": "gaussian_nb", "max_permutations": 3000})
    assert np.all(v.stderr > 0)
    assert np.all(np.abs(v.values - expected) < 4.5 * v.stderr)
    assert v.info["baseline_utility"] == 3 / 5
    assert v.values.sum() == pytest.approx(v.info["utility_all"] - 3 / 5)


@pytest.mark.parametrize("model", ["tree", "gaussian_nb"])
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3))
def test_axioms(model, seed, n_classes):
    rng = np.random.default_rng(seed)
    X, X_valid = rng.integers(0, 5, size=(9, 3)) / 7, rng.integers(0, 5, size=(11, 3)) / 7
    X[:, 1] = 0.1  # whose mean is not 0.1 if it is summed carelessly
    y, y_valid = np.arange(9) % n_classes, rng.integers(0, n_classes, 11)
    v = value_cells(X, y, X_valid, y_valid, **QUICK | {"model": model, "random_state": seed})
    assert v.total == pytest.approx(v.info["utility_all"] - v.info["baseline_utility"], abs=1e-12)
    assert not v.values[:, 1].any()
    assert not v.stderr[:, 1].any()


@pytest.mark.parametrize("model", [None, GaussianNB(), KNeighborsClassifier(2)])
def test_axioms_of_estimators(model):
    X = np.column_stack([TABLES[0], np.full(len(TABLES[0]), 0.1)])
    X_valid = np.column_stack([TABLES[2], np.full(len(TABLES[2]), 0.3)])
    v = value_cells(
        X, TABLES[1], X_valid, TABLES[3], **QUICK | {"model": model, "max_permutations": 3}
    )
    assert v.total == pytest.approx(v.info["utility_all"] - v.info["baseline_utility"], abs=1e-12)
    assert not v.values[:, 3].any()


def test_names_and_order_of_rows_and_columns_do_not_count():
    game = flat_game(split_of(*SMALL), model="gaussian_nb")
    rows, columns = [2, 0, 1], [1, 0]
    moved = SMALL_X[np.ix_(rows, columns)], SMALL_Y[rows], SMALL_VALID[:, columns], SMALL_Y_VALID
    other = flat_game(split_of(*moved), model="gaussian_nb")
    assert over_all_orders(other) == pytest.approx(
        over_all_orders(game)[np.ix_(rows, columns)], abs=1e-12
    )


def test_cross_valuation_sums_to_the_mean_over_the_folds():
    X, y = WINE.data[::6, :3], WINE.target[::6]
    v = value_cells(X, y, cv=3, **QUICK)
    assert v.shape == (30, 3)
    assert v.info["folds"] == 3 and v.info["n_valid"] == 30
    assert v.total == pytest.approx(v.info["utility_all"] - v.info["baseline_utility"], abs=1e-12)
    splits = make_problem(X, y, cv=3).splits
    games = [flat_game(split, model="tree") for split in splits]
    assert v.info["utility_all"] == pytest.approx(np.mean([game.utility_all for game in games]))
    first = np.zeros((30, 3))
    for k, (game, split) in enumerate(zip(games, splits, strict=True)):
        first[split.rows] += FlatDraws(game, "shapley", 0, k)(0) / 3
    one = value_cells(X, y, cv=3, **QUICK | {"max_permutations": 1})
    assert one.values == pytest.approx(first, abs=1e-15)


@pytest.mark.slow
def test_workers_change_nothing():
    one, two = (value_cells(*TABLES, **QUICK, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.values.tobytes() == two.values.tobytes()
    assert one.stderr.tobytes() == two.stderr.tobytes()


@pytest.mark.parametrize(
    "model", ["tree", "gaussian_nb", pytest.param(GaussianNB(), marks=pytest.mark.slow)]
)
def test_threads_change_nothing(model):
    options = QUICK | {"model": model, "max_permutations": 30}
    one = value_cells(*TABLES, **options, n_jobs=1)
    with joblib.parallel_config(backend="threading"):
        two = value_cells(*TABLES, **options, n_jobs=2)
    assert one.values.tobytes() == two.values.tobytes()
    assert two.total == pytest.approx(
        two.info["utility_all"] - two.info["baseline_utility"], abs=1e-12
    )


def test_tables_as_they_came_in_threads():
    frame, valid = (pd.DataFrame(part, columns=["a", "b", "c"]) for part in TABLES[::2])
    options = QUICK | {"model": GaussianNB(), "preprocess": "none"}
    one = value_cells(frame, TABLES[1], valid, TABLES[3], **options | {"max_permutations": 4})
    with joblib.parallel_config(backend="threading"):
        two = value_cells(
            frame, TABLES[1], valid, TABLES[3], **options | {"max_permutations": 4}, n_jobs=2
        )
    assert one.values.tobytes() == two.values.tobytes()


def test_models_that_warn_are_not_heard_from_any_thread():
    class WarningModel(GaussianNB):
        def fit(self, X, y):
            warnings.warn("before the others are done", stacklevel=1)
            time.sleep(1e-4)
            warnings.warn("after some of them are", stacklevel=1)
            return super().fit(X, y)

    filters = list(warnings.filters)
    with joblib.parallel_config(backend="threading"):
        value_cells(*TABLES, **QUICK | {"model": WarningModel()}, n_jobs=4)
    assert warnings.filters == filters


def test_a_checkpoint_goes_on_to_the_same_bits_and_belongs_to_one_run(tmp_path):
    path = tmp_path / "run.npz"
    plain = value_cells(*TABLES, **QUICK)
    value_cells(*TABLES, **QUICK | {"max_permutations": 5}, checkpoint=path)
    v = value_cells(*TABLES, **QUICK, checkpoint=path)
    assert v.info["resumed_at"] == 5
    assert v.values.tobytes() == plain.values.tobytes()
    assert v.stderr.tobytes() == plain.stderr.tobytes()
    for changes, message in [
        ({"model": "gaussian_nb"}, "model is tree there and gaussian_nb here"),
        ({"truncation": 0.1}, "truncation is None there and 0.1 here"),
        ({"method": "mc"}, "another run: method is flat there and mc here;"),
    ]:
        with pytest.raises(InputError, match=message):
            value_cells(*TABLES, **QUICK | changes, checkpoint=path)
    value_cells(*TABLES, **QUICK | {"method": "mc"}, checkpoint=tmp_path / "mc.npz")
    with pytest.raises(InputError, match="another run: method is mc there and flat here;"):
        value_cells(*TABLES, **QUICK, checkpoint=tmp_path / "mc.npz")


def test_it_stops_at_the_tolerance_or_warns():
    v = value_cells(*TABLES, method="flat", model="tree", tolerance=0.3, progress=False)
    assert v.info["converged"] and v.info["n_permutations"] < 500
    assert v.info["ratio"] <= 0.3
    with pytest.warns(PrecisionWarning, match="stopped at max_permutations=12"):
        value_cells(*TABLES, **QUICK | {"tolerance": 0.025})


class Lookup:
    """R squared of a ridge regression on every subset of the cells of a small table, by its bits."""

    def __init__(self, penalty, seed, n=5, m=2, n_valid=40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n + n_valid, m))
        y = X @ np.arange(1, m + 1) / m + rng.normal(size=n + n_valid) / 2
        self.n_rows, self.n_columns = n, m
        present = np.arange(2 ** (n * m))[:, None] >> np.arange(n * m) & 1
        centre, targets, known = X[:n].mean(axis=0), y[:n] - y[:n].mean(), y[n:]
        filled = (present * (X[:n] - centre).ravel()).reshape(-1, n, m)
        means = filled.mean(axis=1, keepdims=True)
        apart = filled - means
        squares = np.swapaxes(apart, 1, 2) @ apart + penalty * np.eye(m)
        slopes = np.linalg.pinv(squares, rcond=1e-12, hermitian=True) @ (
            np.swapaxes(apart, 1, 2) @ targets[:, None]
        )
        found = y[:n].mean() + ((X[n:] - centre)[None] - means) @ slopes
        self.utilities = 1 - np.mean((found[:, :, 0] - known) ** 2, axis=1) / known.var()

    def along(self, order):
        return self.utilities[np.append(0, np.cumsum(1 << order))]

    def exact(self):
        cells = self.n_rows * self.n_columns
        subsets = np.arange(len(self.utilities))
        size = np.array([subset.bit_count() for subset in subsets.tolist()])
        values = np.empty(cells)
        for cell in range(cells):
            without = subsets[subsets >> cell & 1 == 0]
            weight = [semivalue_weight("shapley", s, cells) for s in size[without]]
            more = self.utilities[without | 1 << cell] - self.utilities[without]
            values[cell] = weight @ more
        return values.reshape(self.n_rows, self.n_columns)


def warned_and_covered(penalty, n_runs, n_draws):
    """How many runs are warned of, and how many values the intervals of the others hold."""
    warned, covered = [], []
    for seed in range(n_runs):
        game = Lookup(penalty, seed % 5)
        draws = FlatDraws(game, "shapley", seed)
        estimate = monte_carlo(draws, tolerance=0, max_draws=n_draws, n_jobs=1)
        warned.append("largest_share" in estimate.info)
        if not warned[-1]:
            off = np.abs(estimate.values - game.exact())
            covered.append(np.mean(off <= interval_factor(estimate.dof) * estimate.stderr))
    return np.mean(warned), np.mean(covered) if covered else np.nan


def test_runs_that_one_order_decides_are_told():
    """R squared of a line through two near points is -1e7: intervals held .3 of the values."""
    assert warned_and_covered(0.0, 10, 100)[0] >= 0.9
    warned, covered = warned_and_covered(1.0, 20, 100)
    assert warned == 0 and covered >= 0.9
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(26, 2)), rng.normal(size=26)
    with pytest.warns(
        PrecisionWarning, match=r"^1 of 30 permutations makes up \d+% of their variation: .* ridge"
    ):
        v = value_cells(
            X[:6], y[:6], X[6:], y[6:], method="flat", model=LinearRegression(),
            max_permutations=30, tolerance=0, random_state=0, progress=False,
        )  # fmt: skip
    assert v.describe().endswith(f", but {v.info['caveat']}")
    assert 0.23 < v.info["largest_share"] <= 1


@pytest.mark.slow
def test_intervals_hold_unless_one_order_decides():
    warned, _ = warned_and_covered(0.0, 200, 100)
    assert warned >= 0.95
    for penalty in (0.1, 0.3, 1.0):
        warned, covered = warned_and_covered(penalty, 200, 100)
        assert warned <= 0.05 and covered >= 0.93


@pytest.mark.parametrize("model", ["tree", "gaussian_nb", KNeighborsClassifier(3)])
def test_truncation_leaves_the_rest_of_an_order_with_nothing(model):
    split = split_of(*TABLES)
    order = np.random.default_rng(3).permutation(split.train.n_rows * 3)
    plain, cut = (flat_game(split, model=model, truncation=within) for within in (None, 0.08))
    full, part = plain.along(order), cut.along(order)
    assert (cut.baseline_utility, cut.utility_all) == (plain.baseline_utility, plain.utility_all)
    reached = int(np.argmax(np.abs(full - plain.utility_all) <= 0.08))
    assert 0 < reached < order.size
    assert np.array_equal(part[: reached + 1], full[: reached + 1])
    assert np.all(part[reached:] == full[reached])


def test_missing_entries_and_categories_fill_as_documented():
    X = pd.DataFrame(
        {
            "size": [1.0, np.nan, 5.0, 6.0],
            "tone": ["b", "a", None, "b"],
            "on": [True, False, True, None],
        }
    )
    seen = []

    class Recorder(GaussianNB):
        """Takes whatever comes and keeps it."""

        def fit(self, X, y):
            seen.append(np.array(X))
            return super().fit(np.nan_to_num(X), y)

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = True
            return tags

    y = [0, 1, 0, 1]
    valid = pd.DataFrame({"size": [2.0], "tone": ["a"], "on": [False]})
    game = flat_game(split_of(X, y, valid, [0]), model=Recorder())
    none, everything = seen
    nan = np.nan
    assert none.tolist() == [[4.0, 0.0, 1.0, 1.0]] * 4
    np.testing.assert_array_equal(
        everything, [[1, 0, 1, 1], [nan, 1, 0, 0], [5, 0, 0, 1], [6, 0, 1, nan]]
    )
    seen.clear()
    # the missing size joins, then a tone like the filled one, then the missing tone
    utilities = game.along(np.array([3, 1, 7]))
    np.testing.assert_array_equal(seen[0][1], [nan, 0, 1, 1])
    assert len(seen) == 2  # the second cell changed nothing, and nothing was trained
    assert utilities[2] == utilities[1]
    np.testing.assert_array_equal(seen[1][2], [4, 0, 0, 1])


@pytest.mark.parametrize("model", ["tree", "gaussian_nb", GaussianNB(), KNeighborsClassifier(2)])
def test_a_missing_number_is_worth_nothing_to_models_that_cannot_take_it(model):
    X = TABLES[0].copy()
    X[2, 1] = X[4, 0] = np.nan
    X_valid = TABLES[2].copy()
    X_valid[0, 0] = np.nan
    v = value_cells(
        X, TABLES[1], X_valid, TABLES[3], **QUICK | {"model": model, "max_permutations": 4}
    )
    assert v.values[2, 1] == v.values[4, 0] == 0
    assert v.values.any()


def test_a_column_without_entries_is_worth_nothing():
    X, X_valid = TABLES[0].copy(), TABLES[2].copy()
    X[:, 1] = np.nan
    for model in ("tree", None, GaussianNB()):
        v = value_cells(
            X, TABLES[1], X_valid, TABLES[3], **QUICK | {"model": model, "max_permutations": 2}
        )
        assert not v.values[:, 1].any() and v.values.any()


def test_semivalues_weigh_positions_of_all_cells():
    v = value_cells(*TABLES, **QUICK | {"max_permutations": 1}, semivalue="banzhaf")
    game = flat_game(split_of(*TABLES), model="tree")
    assert np.array_equal(v.values, FlatDraws(game, "banzhaf", 0)(0))
    assert not np.array_equal(v.values, FlatDraws(game, "shapley", 0)(0))


def test_the_record_and_a_file(tmp_path):
    v = value_cells(*TABLES, **QUICK)
    assert v.info["method"] == "flat" and v.info["model"] == "tree"
    v.save(tmp_path / "values.parquet")
    assert (
        Valuation.load(tmp_path / "values.parquet").info["baseline_utility"]
        == v.info["baseline_utility"]
    )
    default = value_cells(*TABLES, **QUICK | {"model": None, "max_permutations": 1})
    assert default.info["model"] == "tree"


def test_scoring():
    from sklearn.metrics import balanced_accuracy_score

    split = split_of(*TABLES)
    game = flat_game(split, model=GaussianNB(), scoring="balanced_accuracy")
    predictions = GaussianNB().fit(*TABLES[:2]).predict(TABLES[2])
    assert game.utility_all == pytest.approx(balanced_accuracy_score(TABLES[3], predictions))
    assert game.baseline_utility == pytest.approx(1 / 3)


def test_as_an_estimator():
    options = {name: value for name, value in QUICK.items() if name != "progress"}
    valuer = CellValuer(**options, truncation=0.02).fit(*TABLES)
    v = value_cells(*TABLES, **QUICK, truncation=0.02)
    assert np.array_equal(valuer.values_, v.values)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"include_label": True}, "method='flat' cannot value the label"),
        (
            {"semivalue": ("shapley", "banzhaf")},
            "rows and columns cannot differ in their semivalue",
        ),
        (
            {"model": "ridge"},
            "has no model='ridge', which is built in for rows and columns only: use tree, gaussian_nb, or",
        ),
        ({"model": "tre"}, "did you mean 'tree'"),
        (
            {"scoring": "accuracy"},
            "scoring='accuracy' does not go with method='flat' and the built-in model='tree', which has its own: leave it out",
        ),
        (
            {"preprocess": "none"},
            "preprocess='none' does not go with model='tree', which has its own",
        ),
        (
            {"preprocess": "some", "model": None},
            "preprocess='some' is not known: use 'auto' or 'none'",
        ),
        ({"model": LinearRegression()}, "is a regressor, but the task is classification"),
        ({"max_permutations": 0}, "max_permutations=0 must be a whole number"),
        ({"tolerance": -1}, "tolerance=-1 must be a number and not be negative"),
        ({"truncation": -0.1}, "truncation=-0.1 must be a number and not be negative"),
    ],
)
def test_errors(changes, message):
    with pytest.raises(InputError, match=message):
        value_cells(*TABLES, **QUICK | changes)


def test_naive_bayes_predicts_classes_only():
    with pytest.raises(
        InputError, match="predicts classes, but the task is regression: use model='ridge' or"
    ):
        value_cells(
            TABLES[0],
            TABLES[0][:, 0] / 3,
            TABLES[2],
            TABLES[2][:, 0] / 3,
            **QUICK | {"model": "gaussian_nb"},
        )


def test_a_model_that_fails_names_the_table():
    class Picky(GaussianNB):
        def fit(self, X, y):
            if np.ptp(X) > 0 and not np.ptp(X, axis=0).any():
                raise ValueError("nothing varies")
            return super().fit(X, y)

    with pytest.raises(
        UtilityError, match="the table with 0 of its 36 cells, the others filled: nothing varies"
    ):
        value_cells(*TABLES, **QUICK | {"model": Picky()})
