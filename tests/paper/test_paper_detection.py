"""The detection benchmark: what is injected, what looks for it, and what is repaired."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from shapley2d.exceptions import InputError
from shapley2d_paper.detection import experiment as detection
from shapley2d_paper.detection import work as detection_work
from shapley2d_paper.detection.means import METHODS
from shapley2d_paper.detectors.detectors import DETECTORS, Detector
from shapley2d_paper.detectors.models import MODELS
from shapley2d_paper.harness.experiment import Unavailable

SIZES = {"n_train": 60, "n_valid": 60, "n_test": None}
KINDS = detection_work.KINDS


@pytest.mark.parametrize("quick", [False, True])
def test_pieces_cover_every_method_once_per_corrupted_table(quick):
    pieces = detection.pieces(quick)
    tables = {}
    for piece in pieces:
        key = tuple(piece.settings[name] for name in ("dataset", "kind", "seed"))
        tables.setdefault(key, []).extend(piece.settings["methods"])
    assert len(tables) == (6 if quick else 5 * 6 * 3)
    assert {kind for _, kind, _ in tables} == set(KINDS)
    for methods in tables.values():
        assert sorted(methods) == sorted(DETECTORS)
    assert sorted(METHODS) == sorted(DETECTORS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_injected_is_the_same_for_every_method_and_of_the_right_amount(kind):
    parts, corrupted = detection_work.corrupt("breast_cancer", kind, 3, **SIZES)
    again = detection_work.corrupt("breast_cancer", kind, 3, **SIZES)[1]
    other = detection_work.corrupt("breast_cancer", kind, 4, **SIZES)[1]
    np.testing.assert_array_equal(corrupted.numbers, again.numbers)
    np.testing.assert_array_equal(corrupted.labels, again.labels)
    assert not np.array_equal(corrupted.cells, other.cells) or not np.array_equal(
        corrupted.rows, other.rows
    )
    np.testing.assert_array_equal(corrupted.numbers != parts.X, corrupted.cells)
    np.testing.assert_array_equal(corrupted.labels != parts.y, corrupted.rows)
    if kind == "labels":
        assert corrupted.rows.sum() == 6  # 10 % of 60
        assert not corrupted.cells.any()
    else:
        assert corrupted.cells.sum() == (
            10 if kind == "swapped" else 11
        )  # 2 % of 540; swaps come in pairs
        assert not corrupted.rows.any()


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.floats(0, 1), st.integers(0, 5))
def test_the_highest_scores_are_inspected(scores, share, seed):
    scores = np.array(scores, dtype=float)
    marked = detection_work.highest_scores(scores, share, seed)
    assert marked.sum() == round(share * scores.size)
    if 0 < marked.sum() < scores.size:
        assert scores[marked].min() >= scores[~marked].max()


def test_equal_scores_come_in_random_order():
    marks = [detection_work.highest_scores(np.zeros((4, 5)), 0.25, seed) for seed in range(400)]
    shares = np.mean(marks, axis=0)
    assert abs(shares - 0.25).max() < 0.1  # 4.6 standard errors


@pytest.mark.parametrize("kind", ["typo", "labels"])
def test_repair_gives_inspected_entries_back_and_no_others(kind):
    parts, corrupted = detection_work.corrupt("breast_cancer", kind, 0, **SIZES)
    truth = corrupted.rows if kind == "labels" else corrupted.cells
    X, y = detection_work.repaired(parts, corrupted, truth)
    np.testing.assert_array_equal(X, parts.X)
    np.testing.assert_array_equal(y, parts.y)
    X, y = detection_work.repaired(parts, corrupted, ~truth)
    np.testing.assert_array_equal(X, corrupted.numbers)
    np.testing.assert_array_equal(y, corrupted.labels)
    first = np.zeros(truth.shape, dtype=bool)
    first[tuple(axis[0] for axis in np.nonzero(truth))] = True
    X, y = detection_work.repaired(parts, corrupted, first)
    assert (corrupted.numbers != X).sum() + (y != corrupted.labels).sum() == 1


@pytest.fixture
def all_knowing(monkeypatch):
    """Detectors that know the clean table: one gives them all, one misleads."""

    def knowing(sign):
        def cells(task):
            parts, _ = detection_work.corrupt("breast_cancer", "tail", task.seed, **SIZES)
            return sign * (task.numbers != parts.X).astype(float)

        def labels(task):
            parts, _ = detection_work.corrupt("breast_cancer", "labels", task.seed, **SIZES)
            return sign * (task.labels != parts.y).astype(float)

        return Detector(cells, labels)

    monkeypatch.setitem(detection_work.DETECTORS, "oracle", knowing(1.0))
    monkeypatch.setitem(detection_work.DETECTORS, "liar", knowing(-1.0))


@pytest.mark.parametrize("kind", ["tail", "labels"])
def test_perfect_detector_reaches_the_ceiling_and_a_liar_gains_nothing(all_knowing, kind):
    oracle, liar = detection_work.work(
        "breast_cancer", kind, 0, ["oracle", "liar"], budgets={}, **SIZES
    )
    assert oracle["auroc"] == 1
    assert liar["auroc"] == 0
    assert oracle["average_precision"] == pytest.approx(1)
    assert oracle["found_10"] == 1
    assert liar["found_10"] == 0
    assert oracle["injected"] == (6 if kind == "labels" else 11)
    for model in MODELS:
        for name in detection_work.REPAIRS:
            assert oracle[f"{model}_{name}"] == oracle[f"{model}_ceiling"]
            assert liar[f"{model}_{name}"] == liar[f"{model}_corrupted"]


def test_accuracy_is_that_of_trees_trained_on_the_corrupted_and_on_the_clean_rows(all_knowing):
    (record,) = detection_work.work("breast_cancer", "labels", 2, ["oracle"], budgets={}, **SIZES)
    parts, corrupted = detection_work.corrupt("breast_cancer", "labels", 2, **SIZES)
    for name, X, y in (
        ("corrupted", corrupted.numbers, corrupted.labels),
        ("ceiling", parts.X, parts.y),
    ):
        trees = [DecisionTreeClassifier(random_state=seed).fit(X, y) for seed in range(10, 15)]
        expected = np.mean([tree.score(parts.X_test, parts.y_test) for tree in trees])
        assert record[f"tree_{name}"] == pytest.approx(expected)
    assert record["tree_corrupted"] < record["tree_ceiling"]


@pytest.mark.slow
def test_quick_pieces_distinguish_knowledge_from_guessing():
    records = []
    for piece in detection.pieces(quick=True):
        wanted = {"labels", "tail"}
        if piece.settings["kind"] in wanted and piece.settings["methods"][0] in {
            "2D-KNN",
            "1D",
            "2D-OOB",
        }:
            records += detection_work.work(**piece.settings)
    aurocs = {(record["method"], record["kind"]): record["auroc"] for record in records}
    assert (
        aurocs["2D-KNN", "labels"] > 0.75
    )  # six flipped labels: chance is 0.5 with a standard error of 0.13
    assert aurocs["2D-KNN", "tail"] > 0.8
    assert aurocs["z-score", "tail"] > 0.95
    assert aurocs["2D-OOB distance", "tail"] > 0.85
    assert 0.2 < aurocs["random", "tail"] < 0.8
    assert all(record["seconds"] >= 0 and 0 <= record["found_2"] <= 1 for record in records)
    assert {record["rows"] for record in records} == {60}


def _refuse(task):
    raise InputError("nothing doing")


@pytest.mark.parametrize("method", detection_work.EXTRAS)
def test_missing_package_makes_a_piece_unavailable(monkeypatch, method):
    monkeypatch.setitem(detection_work.DETECTORS, method, Detector(_refuse, _refuse))
    with pytest.raises(Unavailable, match="nothing doing"):
        detection_work.work("breast_cancer", "tail", 0, [method], budgets={}, **SIZES)


def test_refusal_of_a_method_of_ours_is_an_error(monkeypatch):
    monkeypatch.setitem(detection_work.DETECTORS, "2D-KNN", Detector(_refuse, _refuse))
    with pytest.raises(InputError, match="nothing doing"):
        detection_work.work("breast_cancer", "tail", 0, ["2D-KNN"], budgets={}, **SIZES)


@pytest.mark.parametrize("kind", ["typo", "labels"])
def test_the_inspection_repairs_by_its_own_suggestions_too(kind):
    parts, corrupted = detection_work.corrupt("breast_cancer", kind, 0, **SIZES)
    task = detection_work._task(parts, corrupted, 0, 1)
    numbers, labels = DETECTORS["inspection"].suggest(task)
    assert numbers.shape == corrupted.numbers.shape
    assert not np.isnan(numbers).any()
    assert set(labels) <= set(corrupted.labels)
    for j in range(
        numbers.shape[1]
    ):  # suggestions are entries that occur, or one slip away from what stands there
        assert np.isin(numbers[:, j], corrupted.numbers[:, j]).mean() > 0.9
    wrong, new, true = (
        (corrupted.rows, labels, parts.y)
        if kind == "labels"
        else (corrupted.cells, numbers, parts.X)
    )
    assert (new == true)[wrong].mean() > 0.2  # nothing of what is wrong is right
    (record,) = detection_work.work("breast_cancer", kind, 0, ["inspection"], **SIZES, budgets={})
    assert all(
        f"{model}_{name}_suggested" in record for model in MODELS for name in ("once", "more")
    )
