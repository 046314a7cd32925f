"""Mistyped ages: which cells they are, and how soon they are found."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from shapley2d import KNN, value_cells
from shapley2d.evaluation import AGE_TYPOS
from shapley2d_paper.baselines import Flat
from shapley2d_paper.data.splits import whole_table
from shapley2d_paper.harness.records import Records, read_records, write_records
from shapley2d_paper.typos.experiment import EXPERIMENT, judge
from shapley2d_paper.typos.work import RAW, RAW_Z, mistyped_census, score_records, work


def test_only_ages_change_and_each_to_its_twin():
    task, truth = mistyped_census(3, 400, 50, 8)
    clean, _ = mistyped_census(3, 400, 50, 0)
    np.testing.assert_array_equal(task.numbers != clean.numbers, truth)
    age = task.column_names.index("age")
    assert truth.sum() == truth[:, age].sum() == 8
    before, after = clean.numbers[truth], task.numbers[truth]
    assert [AGE_TYPOS[int(one)] for one in before] == after.tolist()
    assert (task.numbers.shape, task.valid_numbers.shape) == ((400, 14), (50, 14))


def test_a_z_score_of_codes_takes_categories_for_numbers():
    """Both variants are shown: with minus the logarithm of shares, rare categories come before most typos."""
    task, truth = mistyped_census(0, 1000, 100, 15)
    of_class = task.labels[:, None] == np.unique(task.labels)
    mean = (of_class.T @ task.numbers) / of_class.sum(axis=0)[:, None]
    square = (of_class.T @ task.numbers**2) / of_class.sum(axis=0)[:, None]
    place = of_class.argmax(axis=1)
    by_hand = np.abs(task.numbers - mean[place]) / np.sqrt(square - mean**2)[place]
    (raw,), (shares,) = (
        Records(work(seed=0, rows=1000, valid=100, typos=15, methods=[method], permutations=0))
        .where(what="score", scope="all cells")
        .rows
        for method in (RAW_Z, "z-score")
    )
    assert raw["auroc"] == pytest.approx(roc_auc_score(truth.ravel(), by_hand.ravel()), abs=1e-6)
    assert shares["first_80"] > 2 * raw["first_80"]


def test_the_large_table_is_the_official_training_part():
    table = whole_table("census")
    task, truth = mistyped_census(0, 32561, 40, 15)
    assert task.numbers.shape == (32561, 14) and truth.sum() == 15
    np.testing.assert_array_equal(task.numbers[~truth], table.numbers[:32561][~truth])
    test_rows = {tuple(row) for row in table.numbers[32561:]}
    assert all(tuple(row) in test_rows for row in task.valid_numbers)
    assert EXPERIMENT.pieces(quick=False)[0].settings["rows"] == table.n_train_official


def test_scores_agree_with_sorting_over_all_cells_and_over_ages():
    rng = np.random.default_rng(1)
    truth = np.zeros((200, 14), dtype=bool)
    truth[rng.choice(200, 10, replace=False), 4] = True
    scores = rng.normal(size=truth.shape) + truth
    made = Records(score_records(scores, truth, {"method": "x"}))
    for scope, part, errors in (
        ("all cells", scores, truth),
        ("ages only", scores[:, 4], truth[:, 4]),
    ):
        places = np.flatnonzero(errors.ravel()[np.argsort(-part.ravel())]) + 1
        (score,) = made.where(what="score", scope=scope)
        assert (score["cells"], score["typos"]) == (errors.size, 10)
        assert score["first_80"] == places[7]
        assert score["found_1800"] == pytest.approx((places <= 1800).mean())
        for row in made.where(what="curve", scope=scope):
            assert row["found"] == pytest.approx((places <= row["inspected"]).mean())


@pytest.mark.slow
def test_values_rank_the_cells_and_everything_is_drawn(tmp_path):
    settings = {"seed": 0, "rows": 120, "valid": 40, "typos": 2}
    made = work(**settings, methods=["2D-KNN", RAW, "random"], permutations=0)
    made += work(**settings, methods=["1D"], permutations=1)
    made += work(**{**settings, "rows": 200}, methods=["2D-KNN"], permutations=0)
    write_records(Records([{**row, "seed": 0} for row in made]), tmp_path / "typos.csv")
    records = read_records(tmp_path / "typos.csv")
    task, truth = mistyped_census(0, 120, 40, 2)
    rows = task.numbers, task.labels, task.valid_numbers, task.valid_labels
    score = records.where(what="score", table_rows=120, scope="all cells")
    flat = Flat(max_draws=1, tolerance=0)
    for method, by in ((RAW, KNN(metric="sqeuclidean", votes="k")), ("1D", flat)):
        values = value_cells(*rows, method=by, baseline="zero").values
        assert score.where(method=method).mean("auroc") == pytest.approx(
            roc_auc_score(truth.ravel(), -values.ravel()), abs=1e-5
        )
    assert score.where(method="1D").mean("permutations") == 1
    figure = EXPERIMENT.draw(records)
    assert [axes.get_xlabel() for axes in figure.axes] == ["cells inspected"] * 3
    assert len(figure.axes[0].lines) == 4 + 1 and len(figure.axes[2].lines) == 3 + 1
    assert [len(table) for _, table in EXPERIMENT.tables(records)] == [4, 1]
    # without the large table, which may not have been computed yet
    only = records.where(table_rows=120)
    assert len(EXPERIMENT.draw(only).axes) == 3 and judge(only) is not None


@pytest.mark.parametrize(
    ("needed", "verdict"),
    [
        ((1000, 5000, 1500), "holds"),
        ((1000, 5000, 9000), "holds in part"),
        ((1000, 3000, 9000), "holds in part"),
        ((3000, 5000, 9000), "does not hold"),
    ],
)
def test_verdicts(needed, verdict):
    row = {"what": "score", "scope": "all cells", "cells": 15999, "typos": 15, "permutations": 10}
    ours, flat, large = ({**row, "first_80": count} for count in needed)
    made = [
        {**ours, "table_rows": 1000, "method": "2D-KNN"},
        {**flat, "table_rows": 1000, "method": "1D"},
        {**large, "table_rows": 30000, "method": "2D-KNN"},
        {**ours, "table_rows": 1000, "method": "2D-KNN", "scope": "ages only"},
    ]
    judgement = judge(Records(made))
    assert judgement.verdict == verdict
    assert f"{needed[1] / needed[0]:.1f} times" in judgement.ours
    # the 12th of 15 among 15,999 lies at place 12,000 on average
    assert "random order needs 75% of the cells" in judgement.why
    assert judge(Records(made[:1])) is None and judge(Records([])) is None
