"""Games: any function, any scikit-learn model, and their edges."""

import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Exact, InputError, MonteCarlo, value_cells, value_game
from shapley2d._models.games import FunctionGame
from shapley2d._models.model_game import ModelGame
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import subsets
from shapley2d.exceptions import UtilityError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3)).round(1)
Y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
X_VALID = RNG.normal(size=(9, 3)).round(1)
Y_VALID = np.where(X_VALID[:, 0] + X_VALID[:, 1] > 0, "yes", "no")
EVERYTHING = np.ones((1, 12), dtype=bool), np.ones((1, 3), dtype=bool)


def game_of(model=None, data=(X, Y, X_VALID, Y_VALID), **options):
    (split,) = make_problem(*data).splits
    return ModelGame(DecisionTreeClassifier() if model is None else model, split, **options)


def test_function_is_not_asked_about_empty_coalitions():
    asked = []
    FunctionGame(lambda S, F: asked.append((S.sum(), F.sum())) or 1.0, 2, 2).utilities(
        subsets(2), subsets(2)
    )
    assert len(asked) == 9
    assert min(min(pair) for pair in asked) == 1


def test_function_may_change_its_masks():
    def greedy(S, F):
        S[:] = True
        return 1.0

    values = value_game(greedy, 2, 1).values
    np.testing.assert_allclose(values, 0.5)


@pytest.mark.parametrize(
    ("h", "message"),
    [
        (lambda S, F: 1 / 0, r"failed on 1 row \(0\) and 1 column \(0\): division by zero"),
        (lambda S, F: np.nan, "returned nan on 1 row"),
        (lambda S, F: "much", "failed on 1 row"),
    ],
)
def test_failing_function_names_its_coalition(h, message):
    with pytest.raises(UtilityError, match=message):
        value_game(h, 2, 1)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GaussianNB(),
        KNeighborsClassifier(1),
        RandomForestClassifier(5),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss", "balanced_accuracy"])
def test_utility_is_that_of_a_model_trained_on_the_coalition(model, scoring):
    """A hand-written fit and score on some coalition."""
    from sklearn.base import clone
    from sklearn.metrics import get_scorer

    game = game_of(model, scoring=scoring)
    rows = np.isin(np.arange(12), [0, 2, 3, 5, 7, 8, 10])
    columns = np.array([True, False, True])
    fitted = clone(game.model).fit(X[rows][:, columns], Y[rows])
    expected = get_scorer(scoring or "accuracy")(fitted, X_VALID[:, columns], Y_VALID)
    utility = game.utilities(rows[None], columns[None])[0, 0]
    assert utility == pytest.approx(expected)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "balanced_accuracy"])
def test_single_class_predicts_it(scoring):
    game = game_of(LogisticRegression(), scoring=scoring)
    rows = Y == "yes"
    utility = game.utilities(rows[None], EVERYTHING[1])[0, 0]
    assert utility == pytest.approx(np.mean(Y_VALID == "yes") if scoring is None else 0.5)


def test_classes_that_a_coalition_lacks_get_probability_zero():
    y = np.array(["a", "b", "c"] * 4)
    game = game_of(
        GaussianNB(), (X, y, X_VALID, np.array(["a", "b", "c"] * 3)), scoring="roc_auc_ovr"
    )
    rows = y != "c"
    assert np.isfinite(game.utilities(rows[None], EVERYTHING[1])[0, 0])


def test_empty_coalitions_are_worth_a_guess():
    utilities = game_of().utilities(subsets(12, 0, 2), subsets(3))
    assert utilities[0] == pytest.approx([1 / np.unique(Y).size] * 8)  # each class in turn
    # a single row predicts its class, with columns or without
    assert (utilities[1] == np.mean(Y[0] == Y_VALID)).all()


def test_failing_model_names_its_coalition():
    class Picky(DecisionTreeClassifier):
        def fit(self, X, y):
            if len(y) == 5:
                raise ValueError("I dislike fives")
            return super().fit(X, y)

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    game = game_of(Picky(), (frame, Y, pd.DataFrame(X_VALID, columns=["a", "b", "c"]), Y_VALID))
    rows = np.arange(12) < 5
    with pytest.raises(
        UtilityError,
        match=r"failed on 5 rows \(0, 1, 2, 3, 4\) and 2 columns \(a, c\): I dislike fives",
    ):
        game.utilities(rows[None], np.array([[True, False, True]]))


def test_categories_and_missing_entries_stay_one_player():
    frame = pd.DataFrame(
        {"colour": ["red", None, "blue", "red"] * 3, "size": [1.0, 2.0, None, 4.0] * 3}
    )
    y = ["a", "b", "b", "a"] * 3
    for model in (
        LogisticRegression(),
        HistGradientBoostingClassifier(min_samples_leaf=1),
        DecisionTreeClassifier(),
    ):
        game = game_of(model, (frame, y, frame, y))
        assert game.n_columns == 2
        utilities = game.utilities(EVERYTHING[0], subsets(2))
        assert utilities[0, 3] >= max(utilities[0, 1], utilities[0, 2]) > 0
    assert utilities[0, 3] == 1.0


def test_missing_numbers_are_filled_from_the_coalition_only():
    frame = pd.DataFrame({"a": [0.0, 2.0, None, 100.0]})
    game = game_of(LinearRegression(), (frame, [0.1, 0.2, 0.3, 9.5], frame, [0.1, 0.2, 0.3, 9.5]))
    rows = np.array([True, True, True, False])
    model = LinearRegression().fit([[0.0], [2.0], [1.0]], [0.1, 0.2, 0.3])
    expected = model.score([[0.0], [2.0], [1.0], [100.0]], [0.1, 0.2, 0.3, 9.5])
    assert game.utilities(rows[None], np.array([[True]]))[0, 0] == pytest.approx(expected)


def test_pipelines_that_encode_by_themselves_get_the_table():
    frame = pd.DataFrame(
        {"colour": ["red", "green", "blue", "red"] * 3, "size": [1.0, 2.0, 3.0, 4.0] * 3}
    )
    y = ["a", "b", "b", "a"] * 3
    encode = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore"),
            make_column_selector(dtype_include=["object", "str"]),
        ),
        remainder="passthrough",
    )
    game = game_of(
        make_pipeline(encode, DecisionTreeClassifier()), (frame, y, frame, y), preprocess="none"
    )
    utilities = game.utilities(EVERYTHING[0], subsets(2))
    assert utilities[0].tolist() == [0.5, 1, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": DecisionTreeClassifier}, "is not a scikit-learn estimator: pass an instance"),
        ({"model": "tree!"}, "is not a scikit-learn estimator"),
        ({"model": LinearRegression()}, "is a regressor, but the task is classification"),
        ({"preprocess": "hash"}, "preprocess='hash' is not known"),
    ],
)
def test_bad_models_are_named(options, message):
    with pytest.raises(InputError, match=message):
        value_cells(X, Y, X_VALID, Y_VALID, method=Exact(**options))


def test_open_seeds_are_set_so_that_a_coalition_has_one_utility():
    game = game_of(make_pipeline(StandardScaler(), RandomForestClassifier(3)), random_state=7)
    assert game.model.get_params()["randomforestclassifier__random_state"] == 7
    assert game.utilities(*EVERYTHING) == game.utilities(*EVERYTHING)
    kept = game_of(RandomForestClassifier(3, random_state=1), random_state=7)
    assert kept.model.random_state == 1


def test_pipelines_fill_missing_entries_by_themselves():
    from sklearn.impute import SimpleImputer

    blanks, y = np.array([[np.nan], [1.0]] * 3), [0, 1] * 3
    for first in (SimpleImputer(strategy="constant", fill_value=-999), StandardScaler()):
        model = make_pipeline(first, DecisionTreeClassifier())
        v = value_cells(blanks, y, blanks, y, method=Exact(model))
        assert v.total == pytest.approx(0.5)  # of which guessing takes the other half


def test_one_validation_row_has_no_r_squared():
    with pytest.raises(InputError, match=r"y_valid has a single row, .* too few for R squared"):
        value_cells(X[:4], [0.1, 0.5, 0.3, 0.9], X[:1], [0.2], method="exact")


def test_names_of_a_game_are_counted_before_the_work():
    with pytest.raises(InputError, match="row_names has 1 entries for 2 players"):
        value_game(lambda S, F: 1.0, 2, 1, row_names=["a"])
    v = value_game(lambda S, F: 1.0, 2, 1, row_names=[("a", 1), ("b", 2)])
    assert v.to_frame().shape == (2, 4)


def test_models_that_warn_are_not_heard_from_any_thread():
    class WarningModel(GaussianNB):
        def fit(self, X, y):
            warnings.warn("before the others are done", stacklevel=1)
            time.sleep(1e-4)
            warnings.warn("after some of them are", stacklevel=1)
            return super().fit(X, y)

    filters = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        method = MonteCarlo(WarningModel(), max_draws=12, tolerance=0)
        value_cells(X, Y, X_VALID, Y_VALID, method=method, cluster=pool)
    assert warnings.filters == filters


def test_a_game_may_hand_over_what_it_is_asked_for():
    """As one that wraps another does: Python's isinstance sees no attributes of that kind."""

    class Wrapped:
        def __init__(self, game):
            self._game = game

        def __getattr__(self, name):
            return getattr(self._game, name)

    game = FunctionGame(lambda S, F: S.sum() * F.sum(), 2, 3)
    np.testing.assert_allclose(value_game(Wrapped(game), 2, 3).values, 1.0)
