"""Detection scores: against every order of tied cells, and against scikit-learn."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from shapley2d import InputError
from shapley2d.evaluation import average_precision, detection_curve, detection_scores


def orders(scores):
    """Every order of inspection that the scores allow."""
    for order in itertools.permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            yield list(order)


def precision_of(order, truth):
    found, total = 0, 0.0
    for place, cell in enumerate(order, start=1):
        if truth[cell]:
            found += 1
            total += found / place
    return total / found


cells = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)


@given(cells)
def test_scores_are_the_mean_over_the_orders_of_tied_cells(case):
    scores, truth = case
    assume(any(truth))
    every = list(orders(scores))
    expected = np.mean([precision_of(order, truth) for order in every])
    assert average_precision(scores, truth) == pytest.approx(expected)
    curves = [
        np.concatenate([[0], np.cumsum(np.array(truth)[order])]) / sum(truth) for order in every
    ]
    found = detection_curve(scores, truth, np.arange(len(truth) + 1))
    assert found == pytest.approx(np.mean(curves, axis=0))
    if not all(truth):
        pairs = [
            (a, b)
            for a in range(len(truth))
            for b in range(len(truth))
            if truth[a] and not truth[b]
        ]
        won = [np.mean([order.index(a) < order.index(b) for a, b in pairs]) for order in every]
        assert detection_scores(scores, truth)["auroc"] == pytest.approx(np.mean(won))


@pytest.mark.parametrize("levels", [3, 50, 10**9])
def test_scikit_learn_agrees(levels):
    rng = np.random.default_rng(levels)
    truth = rng.uniform(size=(40, 12)) < 0.1
    scores = rng.integers(levels, size=truth.shape) + truth * levels // 3
    found = detection_scores(scores, truth)["auroc"]
    assert found == pytest.approx(roc_auc_score(truth.ravel(), scores.ravel()))
    theirs = average_precision_score(truth.ravel(), scores.ravel())
    if levels == 10**9:  # nothing is tied
        assert average_precision(scores, truth) == pytest.approx(theirs)
    else:
        assert average_precision(scores, truth) != pytest.approx(theirs, rel=1e-6)


def test_no_information_finds_in_proportion():
    truth = np.zeros(1000, bool)
    truth[:30] = True  # first in the order of the cells, which must not count
    found = detection_scores(np.zeros(1000), truth)
    assert found["auroc"] == 0.5
    assert [found[f"found_{k}"] for k in (1, 2, 5, 10)] == pytest.approx([0.01, 0.02, 0.05, 0.1])
    assert 0.03 < found["average_precision"] < 0.04


def test_the_first_percent_is_never_more_than_that_and_at_least_a_cell():
    scores = np.arange(299.0)
    assert detection_scores(scores, scores >= 289)["found_1"] == pytest.approx(
        0.2
    )  # two of 299 cells
    few = np.arange(5.0)
    assert detection_scores(few, few == 4)["found_1"] == 1
    hundred = np.arange(100.0)
    assert detection_scores(hundred, hundred > 89)["found_10"] == 1


def test_an_infinite_score_is_the_highest():
    assert detection_scores([np.inf, 3.0, -np.inf], [True, False, False])["auroc"] == 1


@pytest.mark.parametrize(
    ("score", "arguments", "message"),
    [
        (average_precision, ([0, 1], [True]), r"scores has shape \(2,\), truth \(1,\)"),
        (average_precision, ([0, np.nan], [True, False]), "must not be NaN"),
        (average_precision, ([0, 1], [False, False]), "no cell is an error"),
        (detection_scores, ([0, 1], [True, True]), "every cell is an error"),
        (detection_curve, ([0, 1], [True, False], [3]), "between 0 and 2, the number of cells"),
        (detection_curve, ([0, 1], [True, False], [-1]), "between 0 and 2, the number of cells"),
    ],
)
def test_what_cannot_be_scored(score, arguments, message):
    with pytest.raises(InputError, match=message):
        score(*arguments)


def test_tied_cells_are_found_by_their_mean():
    values = np.array([[0.0, 1.0], [1.0, 1.0]])
    injected = np.array([[True, True], [False, False]])
    np.testing.assert_allclose(2 * detection_curve(-values, injected, [1, 2, 4]), [1, 1 + 1 / 3, 2])
