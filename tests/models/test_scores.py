"""Scores of validation rows: their means are scikit-learn's scores."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score

from shapley2d._models.scores import Score, placements
from shapley2d._tables.target import Target


def rows_of(p, y, name, weights=None):
    """The scores of validation rows, and their mean."""
    weights = np.ones(len(y.codes)) if weights is None else weights
    score = Score(name, SimpleNamespace(y_valid=y, weights=weights))
    return score.of_rows(p), score(p)


def classes(seed=0, n=50, k=3):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, k, n)
    return rng.dirichlet(np.ones(k), n).T, Target("classification", z, z, np.arange(k))


def test_means_are_scikit_learns_scores():
    p, y = classes()
    assert rows_of(p, y, "accuracy")[1] == pytest.approx(accuracy_score(y.y, p.argmax(axis=0)))
    assert rows_of(p, y, "neg_log_loss")[1] == pytest.approx(-log_loss(y.y, p.T))
    assert rows_of(p, y, "probability")[1] == pytest.approx(p[y.y, np.arange(50)].mean())


@pytest.mark.parametrize("weights", [None, np.arange(50.0)])
def test_r2(weights):
    rng = np.random.default_rng(1)
    z, p = rng.normal(size=50), rng.normal(size=(1, 50))
    y = Target("regression", z, z, np.array([]))
    found = rows_of(p, y, "r2", weights)[1]
    assert found == pytest.approx(r2_score(z, p[0], sample_weight=weights))


def test_r2_of_equal_targets():
    y = Target("regression", np.ones(3), np.ones(3), np.array([]))
    assert rows_of(np.ones((1, 3)), y, "r2")[0].tolist() == [1.0, 1.0, 1.0]
    assert rows_of(np.zeros((1, 3)), y, "r2")[0].tolist() == [0.0, 0.0, 0.0]


def test_labels_that_training_does_not_show():
    p, y = (
        np.array([[0.5, 0.2], [0.5, 0.8]]),
        Target("classification", *np.array([[0, -1]] * 2), np.arange(2)),
    )
    assert rows_of(p, y, "probability")[0].tolist() == [0.5, 0.0]
    assert rows_of(p, y, "accuracy")[0].tolist() == [0.5, 0.0]
    assert rows_of(p, y, "neg_log_loss")[0][1] == pytest.approx(np.log(2.0**-52))


def test_placements():
    rng = np.random.default_rng(2)
    positive, scores = rng.random(60) < 0.3, rng.integers(0, 8, 60).astype(float)
    placed, auc = placements(scores, positive), roc_auc_score(positive, scores)
    assert placed[positive].mean() == pytest.approx(auc)
    assert placed[~positive].mean() == pytest.approx(auc)
    wins = scores[positive][:, None] - scores[~positive]
    expected = (wins > 0) + 0.5 * (wins == 0)
    np.testing.assert_allclose(placed[positive], expected.mean(axis=1))
    np.testing.assert_allclose(placed[~positive], expected.mean(axis=0))
