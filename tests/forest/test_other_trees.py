"""How much the columns' values depend on the trees, from the run itself."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from shapley2d import Forest, value_cells
from shapley2d._valuation.wording.sentences import trees_words

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 4))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=160) > 0, "yes", "no")
TABLES = (X[:100], Y[:100], X[100:], Y[100:])


def valued(method, **run):
    return value_cells(*TABLES, method=method, progress=False, **run)


def bagged(n_trees, seed=0):
    return RandomForestClassifier(n_trees, max_depth=4, random_state=seed)


@pytest.mark.parametrize(
    ("run", "wider"),
    [
        # variances of 10 draws of four trees have four more, for what they have not seen
        (lambda seed: valued(Forest(max_trees=40, tolerance=0), random_state=seed), 1 + 4 / 10),
        (lambda seed: valued(Forest(bagged(40, seed))), 1),
    ],
)
def test_the_stated_error_is_that_of_other_forests(run, wider):
    forests = [run(seed) for seed in range(12)]
    columns = np.array([one.column_values for one in forests])
    stated = np.array([one.info["other_trees"]["stderr"] for one in forests])
    ratio = columns.std(axis=0, ddof=1) / np.sqrt((stated**2).mean(axis=0) / wider)
    # a standard deviation of 12 is within 0.5 and 1.5 of the true one in 99 % of cases
    assert 0.7 < np.sqrt((ratio**2).mean()) < 1.4
    assert ((ratio > 0.45) & (ratio < 1.8)).all()
    assert forests[0].info["other_trees"]["n_trees"] == 40


def test_of_a_grown_forest_they_are_the_errors_of_its_columns():
    grown = valued(Forest(tolerance=0.2))
    assert np.array_equal(grown.info["other_trees"]["stderr"], grown.column_stderr)


def test_folds_are_independent():
    crossed = value_cells(X, Y, method=Forest(bagged(40)), cv=2, progress=False)
    assert len(crossed.info["other_trees"]["stderr"]) == 4
    assert min(crossed.info["other_trees"]["stderr"][:2]) > 0


@pytest.mark.parametrize("model", [bagged(19), HistGradientBoostingClassifier(max_iter=40)])
def test_nothing_is_said_of_fewer_than_20_trees_or_of_boosted_ones(model):
    """Boosted trees depend on each other."""
    v = valued(Forest(model))
    assert "other_trees" not in v.info
    assert trees_words(v) == ""
    assert "other_trees" in valued(Forest(bagged(20))).info


def test_what_a_checkpoint_had_is_not_told_apart_by_trees(tmp_path):
    first, again = (valued(Forest(bagged(40)), checkpoint=tmp_path / "run.npz") for _ in range(2))
    assert np.array_equal(first.values, again.values)
    assert "other_trees" in first.info
    assert "other_trees" not in again.info
