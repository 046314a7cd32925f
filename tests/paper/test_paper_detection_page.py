"""The detection benchmark: what its verdicts, tables and figure say of its records."""

import numpy as np
import pytest

from shapley2d_paper.detection import experiment as detection
from shapley2d_paper.detection import page as detection_page
from shapley2d_paper.detection import work as detection_work
from shapley2d_paper.detection.experiment import judge_deviation, judge_harm
from shapley2d_paper.detection.means import (
    CELL_VALUES,
    DEVIATION,
    METHODS,
    best,
    best_comparison,
    gain_error,
)
from shapley2d_paper.detectors.models import MODELS
from shapley2d_paper.harness.records import Records

KINDS = detection_work.KINDS


def made_up(aurocs, datasets=("breast_cancer", "wine"), seeds=(0, 1), **entries):
    """Records for methods by kind, with this AUROC."""
    return Records(
        [
            {
                "dataset": dataset,
                "kind": kind,
                "method": method,
                "rows": 60,
                "columns": 9,
                "injected": 11,
                "seconds": 0.5,
                "auroc": auroc,
                "average_precision": auroc / 2,
                **{f"found_{share}": auroc / 3 for share in (1, 2, 5, 10)},
                **{f"{model}_corrupted": 0.80 for model in MODELS},
                **{f"{model}_once": 0.80 + auroc / 100 for model in MODELS},
                **{f"{model}_more": 0.80 + auroc / 50 for model in MODELS},
                **{f"{model}_ceiling": 0.84 for model in MODELS},
                "seed": seed,
                "version": "0",
                **entries,
            }
            for dataset in datasets
            for seed in seeds
            for (method, kind), auroc in aurocs.items()
        ]
    )


def all_methods(**changed):
    """An AUROC for every method and kind; ``changed`` by kind and method."""
    aurocs = {(method, kind): 0.6 for method in METHODS for kind in KINDS}
    for kind, methods in changed.items():
        aurocs |= {(method, kind): auroc for method, auroc in methods.items()}
    return aurocs


@pytest.mark.parametrize(
    ("swapped", "labels", "verdict"),
    [
        (0.7, 0.7, "holds"),
        (0.7, 0.6, "holds in part"),
        (0.605, 0.7, "holds in part"),
        (0.605, 0.605, "does not hold"),
        (0.5, 0.5, "does not hold"),
    ],
)
def test_verdict_on_harmful_cells(swapped, labels, verdict):
    records = made_up(all_methods(swapped={"2D-KNN": swapped}, labels={"2D-KNN": labels}))
    assert judge_harm(records).verdict == verdict


def test_one_baseline_ahead_makes_it_hold_in_part():
    ahead = {"2D-KNN": 0.8, "column predictor": 0.9}
    assert judge_harm(made_up(all_methods(swapped=ahead, labels=ahead))).verdict == "holds in part"


@pytest.mark.parametrize(
    ("tail", "units", "verdict"),
    [(0.9, 0.9, "holds"), (0.9, 0.6, "holds in part"), (0.605, 0.3, "does not hold")],
)
def test_verdict_on_deviation(tail, units, verdict):
    aurocs = all_methods(tail={"ECOD": tail}, units=dict.fromkeys(DEVIATION, units))
    assert judge_deviation(made_up(aurocs)).verdict == verdict


def test_methods_are_compared_on_the_tables_that_both_have():
    # the column predictor was run on the easy table only, and its mean is higher than 2D-KNN's over
    # both
    easy = all_methods(swapped=dict.fromkeys(METHODS, 0.7), labels=dict.fromkeys(METHODS, 0.7))
    for kind in ("swapped", "labels"):
        easy |= {("2D-KNN", kind): 0.9, ("column predictor", kind): 0.8}
    hard = {pair: auroc - 0.3 for pair, auroc in easy.items() if pair[0] != "column predictor"}
    records = Records([*made_up(easy, datasets=("wine",)), *made_up(hard, datasets=("census",))])
    assert records.where(method="column predictor", kind="swapped").mean("auroc") > 0.79
    assert records.where(method="2D-KNN", kind="swapped").mean("auroc") < 0.76
    assert judge_harm(records).verdict == "holds"
    assert best(records, "swapped", METHODS) == ("2D-KNN", pytest.approx(0.75))
    (_, table), *_ = detection_page.tables(records)
    rows = {row["method"]: row for row in table}
    assert rows["column predictor†"]["swapped"] == "0.80 †"
    assert rows["2D-KNN"]["swapped"] == "**0.75**"
    assert "†" not in str(detection_page.tables(made_up(easy)))
    detection.EXPERIMENT.draw(records)


def test_a_share_of_what_could_be_gained_is_of_the_tables_that_a_method_has():
    records = Records(
        [
            *made_up(all_methods(), datasets=("wine",)),
            *made_up({("1D", kind): 0.6 for kind in KINDS}, datasets=("census",), tree_ceiling=1.0, knn_ceiling=1.0),
        ]
    )  # fmt: skip
    table = {row["method"]: row["all, 5 % (25 %)"] for row in detection_page.repairs(records)}
    assert table["DDC†"] == "+1.20 ± 0.00, 30 %"  # of 4 points
    assert table["1D"] == "+1.20 ± 0.00, 10 %"  # of 4 and 20 points


@pytest.mark.parametrize(("tail", "units"), [(0.9, 0.9), (0.7, 0.95), (0.605, 0.3)])
def test_on_whole_records_the_best_comparison_is_between_the_best(tail, units):
    rng = np.random.default_rng(0)
    aurocs = {pair: rng.uniform(0.4, 0.8) for pair in all_methods()}
    aurocs |= {("ECOD", "tail"): tail, ("z-score", "units"): units}
    records = made_up(aurocs)
    for kind in KINDS:
        made = best_comparison(records, kind, DEVIATION, CELL_VALUES)
        assert (made.method, made.auroc) == best(records, kind, DEVIATION)
        assert (made.other, made.other_auroc) == best(records, kind, CELL_VALUES)


def test_repairs_are_points_of_accuracy_and_shares_of_the_possible():
    records = made_up(all_methods(units={"1D": 1.2}))
    table = {row["method"]: row for row in detection_page.repairs(records)}
    assert table["1D"]["units"] == "+2.40"  # 1.2 / 50
    # (5 * 0.6 + 1.2) / 6 / 50, the same for every dataset and seed
    assert table["1D"]["all, 5 % (25 %)"] == "+1.40 ± 0.00, 35 %"
    assert table["1D"]["all, 2 % (10 %)"] == "+0.70 ± 0.00, 18 %"
    assert table["every error repaired"]["units"] == "+4.00"
    assert table["every error repaired"]["all, 5 % (25 %)"] == "+4.00 ± 0.00, 100 %"
    nothing_lost = made_up(all_methods(), **{f"{model}_ceiling": 0.8 for model in MODELS})
    assert detection_page.repairs(nothing_lost)[0]["all, 5 % (25 %)"] == "+1.20 ± 0.00"


def test_errors_of_repairs_are_over_datasets_and_seeds():
    aurocs = {("1D", kind): (1.2 if kind == "units" else 0.6) for kind in KINDS}
    more = {pair: auroc + 0.5 for pair, auroc in aurocs.items()}
    records = Records([*made_up(aurocs, datasets=("wine",)), *made_up(more, datasets=("census",))])
    # gains of 1.4 and 2.4 points, each for two seeds; kinds are injected into the same rows and add
    # no independent records
    assert gain_error(records, "more") == pytest.approx(np.std([1.4, 1.4, 2.4, 2.4], ddof=1) / 2)
    assert np.isnan(gain_error(records.where(dataset="wine", seed=0), "more"))
