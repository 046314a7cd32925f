"""Scores of validation rows: their means are scikit-learn's scores."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score

from shapley2d._tables.target import Target
from shapley2d._trees.scores import placements, row_scores


def classes(seed=0, n=50, k=3):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, k, n)
    return rng.dirichlet(np.ones(k), n).T, Target("classification", z, z, np.arange(k))


def test_means_are_scikit_learns_scores():
    p, y = classes()
    assert row_scores(p, y, "accuracy").mean() == accuracy_score(y.y, p.argmax(axis=0))
    assert row_scores(p, y, "neg_log_loss").mean() == pytest.approx(-log_loss(y.y, p.T))
    assert row_scores(p, y, "probability").mean() == pytest.approx(p[y.y, np.arange(50)].mean())


@pytest.mark.parametrize("weights", [None, np.arange(50.0)])
def test_r2(weights):
    rng = np.random.default_rng(1)
    z, p = rng.normal(size=50), rng.normal(size=(1, 50))
    y = Target("regression", z, z, np.array([]))
    middle = np.average(z, weights=weights)
    found = row_scores(p, y, "r2", prior=middle, weights=weights)
    assert np.average(found, weights=weights) == pytest.approx(
        r2_score(z, p[0], sample_weight=weights)
    )
    # against another constant: how much better the predictions are
    less = row_scores(p, y, "r2", prior=0.5, weights=weights)
    constant = r2_score(z, np.full(50, 0.5), sample_weight=weights)
    gain = r2_score(z, p[0], sample_weight=weights) - constant
    assert np.average(less, weights=weights) == pytest.approx(gain)


def test_r2_of_equal_targets():
    y = Target("regression", np.ones(3), np.ones(3), np.array([]))
    assert row_scores(np.ones((1, 3)), y, "r2", prior=1.0).tolist() == [1.0, 1.0, 1.0]
    assert row_scores(np.zeros((1, 3)), y, "r2", prior=1.0).tolist() == [0.0, 0.0, 0.0]


def test_labels_that_training_does_not_show():
    p, y = (
        np.array([[0.5, 0.2], [0.5, 0.8]]),
        Target("classification", *np.array([[0, -1]] * 2), np.arange(2)),
    )
    assert row_scores(p, y, "probability").tolist() == [0.5, 0.0]
    assert row_scores(p, y, "accuracy").tolist() == [0.5, 0.0]
    assert row_scores(p, y, "neg_log_loss")[1] == pytest.approx(np.log(2.0**-52))


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
