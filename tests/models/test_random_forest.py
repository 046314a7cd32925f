"""The forest of known parties: as good as scikit-learn's, whatever a column holds."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from shapley2d._models.random_forest import BinnedForestClassifier, BinnedForestRegressor


def _table(n, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=n)


@pytest.mark.parametrize(
    ("mine", "theirs", "cuts"),
    [
        (BinnedForestClassifier, RandomForestClassifier, [0.0]),
        (BinnedForestClassifier, RandomForestClassifier, [-0.5, 0.5]),
        (BinnedForestRegressor, RandomForestRegressor, None),
    ],
)
def test_a_forest_scores_as_scikit_learns(mine, theirs, cuts):
    X, y = _table(900)
    y = y if cuts is None else np.digitize(y, cuts)

    def score(forest):
        return np.mean(
            [
                forest(30, random_state=k).fit(X[:300], y[:300]).score(X[300:], y[300:])
                for k in range(3)
            ]
        )

    assert score(mine) == pytest.approx(score(theirs), abs=0.06)


def test_the_order_of_columns_and_units_do_not_matter_to_what_is_learnt():
    X, y = _table(200)
    cut = (y > 0).astype(int)
    plain = BinnedForestClassifier(random_state=0).fit(X, cut).predict_proba(X)
    scaled = BinnedForestClassifier(random_state=0).fit(np.exp(X), cut).predict_proba(np.exp(X))
    np.testing.assert_array_equal(plain, scaled)


def test_leaves_are_pure_and_a_bag_is_drawn_by_the_seed():
    X, y = _table(60)
    words = np.where(y > 0, "high", "low")
    forest = BinnedForestClassifier(40, random_state=3).fit(X, words)
    assert forest.score(X, words) == 1.0
    np.testing.assert_allclose(forest.predict_proba(X).sum(axis=1), 1)
    again = BinnedForestClassifier(40, random_state=3).fit(X, words).predict_proba(X)
    other = BinnedForestClassifier(40, random_state=4).fit(X, words).predict_proba(X)
    np.testing.assert_array_equal(forest.predict_proba(X), again)
    assert (other != again).any()


def test_missing_entries_lie_below_all_others():
    X = np.array([[np.nan], [1.0], [2.0]] * 20)
    forest = BinnedForestClassifier(random_state=0).fit(X, np.array([1, 0, 0] * 20))
    assert forest.predict([[np.nan], [-99.0], [2.0]]).tolist() == [1, 0, 0]


def test_a_regression_is_the_mean_of_its_leaves():
    X, y = (
        np.repeat([[0.0], [1.0]], 50, axis=0),
        np.append(np.tile([0, 2], 25), np.tile([5, 7], 25)),
    )
    found = BinnedForestRegressor(200, random_state=0).fit(X, y).predict([[0.0], [1.0]])
    np.testing.assert_allclose(found, [1, 6], atol=0.1)
