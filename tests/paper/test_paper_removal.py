"""The removal experiment: what is removed and refilled, what is counted, and what the judges make of it."""

import numpy as np
import pytest

from shapley2d_paper.data.splits import DATASETS, Parts, split_table
from shapley2d_paper.harness.records import Records, read_records, write_records
from shapley2d_paper.removal.claims import MAIN, judge_dip, judge_drop, judge_gain, judge_loo
from shapley2d_paper.removal.experiment import SHARES
from shapley2d_paper.removal.statistics import Curve, Interval, best_share, first_dip, mean_gap
from shapley2d_paper.removal.work import (
    DIRECTIONS,
    EVALUATED_ON,
    METHODS,
    cell_values,
    column_name,
    describe_parts,
    describe_values,
    refill,
    removal_order,
    removal_records,
    work,
)

FEW = [0, 0.1, 0.2, 0.5]
SMALL = {
    "n_train": 24,
    "n_valid": 30,
    "n_test": 30,
    "permutations": 3,
    "tolerance": 0.1,
    "shares": FEW,
}


@pytest.mark.parametrize("seed", range(3))
def test_refilled_cells_are_the_mean_of_what_is_left_in_their_column(seed):
    rng = np.random.default_rng(seed)
    X, removed = rng.normal(size=(12, 5)), rng.random((12, 5)) < 0.6
    removed[:, 2] = True  # nothing is left
    removed[:, 3] = False
    filled = refill(X, removed)
    for i, j in np.ndindex(X.shape):
        others = [X[k, j] for k in range(12) if not removed[k, j]]
        wanted = X[i, j] if not removed[i, j] else np.mean(others or X[:, j])
        assert filled[i, j] == pytest.approx(wanted)


def test_the_two_directions_remove_opposite_ends_first():
    values = np.random.default_rng(0).permutation(60.0 * np.ones(60) + np.arange(60)).reshape(12, 5)
    lowest, highest = (removal_order(values, direction, 0) for direction in DIRECTIONS)
    assert (values.ravel()[lowest] == np.sort(values.ravel())).all()
    assert (lowest == highest[::-1]).all()


def test_equal_values_go_in_random_order_and_not_row_by_row():
    values = np.zeros((100, 10))
    values[3, 3], values[7, 7] = -1.0, 1.0
    order = removal_order(values, "lowest", 0)
    assert order[0] == 33
    assert order[-1] == 77
    assert np.unique(order).size == 1000
    assert np.bincount(order[1:201] // 10, minlength=100).max() < 10  # 20 rows would be gone
    assert (removal_order(values, "lowest", 0) == order).all()
    assert (removal_order(values, "lowest", 1) != order).any()


def one_useful_column(n=40):
    """Column 0 is the label, column 1 is noise; on the test rows column 0 is of no use."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    noise = rng.normal(size=(3, n))
    train, valid, test = (
        np.column_stack([known, noise[k]]) for k, known in enumerate((y + 0.0, y + 0.0, 1.0 - y))
    )
    names, nominal = ["label", "noise"], np.zeros(2, dtype=bool)
    return Parts("wine", train, y, valid, y, test, y, names, nominal)


def test_a_curve_falls_when_what_carries_the_label_is_removed_and_not_before():
    parts = one_useful_column()
    values = np.tile([1.0, 0.0], (40, 1))  # the useful column is worth something
    records = removal_records(parts, values, SHARES, 0)
    assert [record["share"] for record in records] == list(SHARES)
    lowest = [record["lowest_tree_validation"] for record in records]
    assert lowest == [1.0] * len(SHARES)  # half of the cells are the noise
    highest = [record["highest_tree_validation"] for record in records]
    assert highest[0] == 1.0
    assert highest[-1] < 0.75
    assert (
        records[0]["lowest_tree_test"] == 0.0
    )  # evaluated on rows of its own, where the label is turned round
    names = {
        column_name(direction, model, evaluated_on)
        for direction in DIRECTIONS
        for model in ("tree", "knn")
        for evaluated_on in EVALUATED_ON
    }
    assert set(records[3]) == names | {"share"}


@pytest.fixture(scope="module")
def small_records(tmp_path_factory):
    """All methods on two small tables, one of them with two seeds, through the CSV file."""
    rows = [
        {**row, "seed": seed, "version": "0"}
        for dataset, seed in (("breast_cancer", 0), ("breast_cancer", 1), ("wine", 0))
        for method in METHODS
        for row in work(dataset=dataset, method=method, seed=seed, **SMALL)
    ]
    path = tmp_path_factory.mktemp("removal") / "removal.csv"
    write_records(Records(rows), path)
    return read_records(path)


@pytest.mark.slow
def test_all_methods_start_from_the_same_table_of_a_seed(small_records):
    starts = small_records.where(what="curve", share=0)
    assert len(starts) == 3 * len(METHODS)
    for _, part in starts.groups("dataset", "seed"):
        assert len(part.distinct("lowest_tree_test")) == 1
        for row in part:
            assert row["lowest_tree_test"] == row["highest_tree_test"]
            assert row["lowest_knn_validation"] == row["highest_knn_validation"]


def test_the_facts_about_the_values_are_those_of_the_methods(small_records):
    facts = small_records.where(what="values")
    assert len(facts) == 3 * len(METHODS)
    for row in facts:
        assert (row["n_train"], row["n_valid"], row["n_test"]) == (24, 30, 30)
        assert row["permutations"] == (3 if row["method"] in ("2D-MC", "1D") else None)
        assert (row["noise"] > 0.3) == (
            row["method"] in ("2D-MC", "1D")
        )  # three permutations are few
        assert (row["zeros"] > 0.5) == (row["method"] in ("2D-LOO", "2D-MC", "1D"))
    for (method,), part in small_records.where(
        what="curve", seed=0, dataset="wine", share=0.5
    ).groups("method"):
        assert len(part) == 1, method


def test_the_noise_is_the_share_of_the_variance_that_is_error():
    parts = split_table("wine", 0, n_train=24, n_valid=30, n_test=30)
    first, second = (cell_values(parts, "2D-MC", seed, 20) for seed in (0, 1))
    # two independent estimates agree by as much as is not noise
    agreement = np.corrcoef(first.values.ravel(), second.values.ravel())[0, 1]
    noise = describe_values(first)["noise"]
    wider = 1 + 4 / 20  # variances of 20 draws have four more, for what was not seen
    assert abs((1 - noise / wider) - agreement) < 0.2


def test_repeats_are_counted_with_their_labels():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
    y = np.array([0, 1, 0])
    test = np.array([[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]])
    parts = Parts(
        "x", X, y, X[2:], y[2:], test, np.array([0, 1, 0]), ["a", "b"], np.zeros(2, dtype=bool)
    )
    facts = describe_parts(parts)
    assert facts["repeats"] == 2  # the validation row, and one test row; (3, 4) of class 1 is new
    assert facts["test_known"] == pytest.approx(1 / 3)
    assert facts["n_columns"] == 2


def test_the_best_share_is_that_of_the_mean_curve():
    curve = Curve(
        np.array([0, 0.1, 0.2]), {0: np.array([0.5, 0.9, 0.6]), 1: np.array([0.5, 0.2, 0.6])}
    )
    assert best_share(curve) == 2  # 0.1 is best for one seed only
    assert curve.start == 0.5
    assert curve.gains == pytest.approx(np.array([[0, 0.4, 0.1], [0, -0.3, 0.1]]))


def test_a_dip_needs_two_shares_or_the_last_one():
    shares = np.array([0, 0.1, 0.2, 0.3])
    assert first_dip(Curve(shares, {0: np.array([0.9, 0.88, 0.95, 0.95])})) == np.inf
    assert first_dip(Curve(shares, {0: np.array([0.9, 0.9, 0.89, 0.88])})) == 0.2
    assert first_dip(Curve(shares, {0: np.array([0.9, 0.9, 0.9, 0.88])})) == 0.3


def test_a_gap_pairs_the_seeds_that_both_curves_have():
    shares = np.array([0, 0.2, 0.5])
    upper = Curve(shares, {seed: np.full(3, 0.8 + seed / 100) for seed in range(4)})
    lower = Curve(shares, {seed: np.array([0.7 + seed / 100] * 2 + [0]) for seed in (1, 2, 3, 9)})
    gap = mean_gap(upper, lower)
    assert (gap.mean, gap.half) == (pytest.approx(0.1), pytest.approx(0, abs=1e-9))
    assert gap.above_zero
    assert not Interval.of([0.1]).above_zero
    assert np.isnan(mean_gap(upper, Curve(shares, {8: np.zeros(3)})).mean)


def test_the_interval_covers_the_mean_19_times_in_20():
    rng = np.random.default_rng(0)
    intervals = [Interval.of(rng.normal(1.0, 2.0, size=4)) for _ in range(2000)]
    covered = np.mean([abs(one.mean - 1) <= one.half for one in intervals])
    assert 0.935 < covered < 0.965


def made_up(slopes, datasets=MAIN, noise=0.002):
    """Curves that change by a slope per unit of share; ``slopes[method]`` is (lowest first, highest first)."""
    rng = np.random.default_rng(0)
    return Records(
        [
            {
                "what": "curve", "dataset": dataset, "method": method, "share": share, "seed": seed,
                **{
                    column_name(direction, "tree", evaluated_on): 0.8 + slope * share + (share > 0) * rng.normal(0, noise)
                    for direction, slope in zip(DIRECTIONS, pair, strict=True)
                    for evaluated_on in EVALUATED_ON
                },
            }
            for dataset in datasets
            for method, pair in slopes.items()
            for seed in range(4)
            for share in SHARES
        ]
    )  # fmt: skip


PAPER_LIKE = {
    "2D-KNN": (0.1, -1),
    "2D-MC": (0.2, -0.8),
    "1D": (-0.2, 0),
    "2D-LOO": (0, 0),
    "random": (0, 0),
}


def test_judges_find_that_all_holds_where_the_curves_are_the_papers():
    records = made_up(PAPER_LIKE)
    judges = (judge_gain, judge_dip, judge_drop, judge_loo)
    assert [judge(records).verdict for judge in judges] == ["holds"] * 4


@pytest.mark.parametrize(
    ("judge", "changes", "verdict"),
    [
        (judge_gain, {"2D-MC": (-0.1, -1)}, "holds in part"),
        (judge_gain, {"2D-KNN": (0, -1), "2D-MC": (-0.1, -1)}, "does not hold"),
        (judge_gain, {"random": (0.5, 0)}, "does not hold"),  # random gains more
        (judge_gain, {"random": (0.1, 0)}, "holds in part"),  # about as much as 2D-KNN
        (judge_dip, {"2D-MC": (-0.4, -1)}, "holds in part"),
        (judge_dip, {"1D": (0.1, 0)}, "does not hold"),
        (judge_drop, {"1D": (0, -0.5)}, "holds in part"),
        (judge_drop, {"2D-KNN": (0, 0.1)}, "holds in part"),
        (judge_drop, {"2D-KNN": (0, 0.1), "2D-MC": (0, 0.1)}, "does not hold"),
        (judge_loo, {"2D-LOO": (0, -0.5)}, "holds in part"),
        (judge_loo, {"2D-LOO": (0.5, -0.5)}, "does not hold"),
        (judge_loo, {"2D-LOO": (-0.5, 0.5)}, "holds"),  # worse than random
    ],
)
def test_judges_go_by_their_rules(judge, changes, verdict):
    assert judge(made_up({**PAPER_LIKE, **changes})).verdict == verdict


def better_in(cases, datasets):
    """Curves of 2D-LOO that are better than random's in these cases only: (dataset, direction, rows)."""
    records = made_up(PAPER_LIKE, datasets=datasets, noise=0)
    for row in records.where(method="2D-LOO"):
        for dataset, direction, evaluated_on in cases:
            if row["dataset"] == dataset:
                # seeds differ a little, so that the interval has a width
                gap = (
                    (0.5 if direction == "lowest" else -0.5)
                    * row["share"]
                    * (1 + row["seed"] / 100)
                )
                row[column_name(direction, "tree", evaluated_on)] += gap
    return records


@pytest.mark.parametrize(
    ("n_better", "verdict"),
    [
        (0, "holds"),
        (2, "holds"),
        (3, "holds in part"),
        (10, "holds in part"),
        (11, "does not hold"),
    ],
)
def test_leave_one_out_may_be_better_as_often_as_chance_explains(n_better, verdict):
    # of 20 cases at 2.5 % each, three or more come up in 1.3 % of all runs, two or more in 8.8 %
    cases = [
        (name, direction, rows)
        for name in DATASETS
        for direction in DIRECTIONS
        for rows in EVALUATED_ON
    ]
    judgement = judge_loo(better_in(cases[:n_better], DATASETS))
    assert judgement.verdict == verdict
    assert f"better than random in {n_better} of 20 cases" in judgement.ours


def test_one_seed_is_no_proof_and_gets_no_verdict():
    records = made_up({**PAPER_LIKE, "1D": (0, -0.7)})
    for judge in (judge_drop, judge_loo):
        assert judge(records.where(seed=0)) is None
        assert judge(records.where(lambda row: row["seed"] < 2)) is not None
    # seeds count only where all methods have them
    apart = records.where(lambda row: (row["method"] == "random") == (row["seed"] == 0))
    assert judge_loo(apart) is None
    assert judge_drop(apart) is None


def test_a_dataset_with_one_seed_is_left_out_of_the_drop():
    records = made_up(PAPER_LIKE, datasets=(*MAIN, "wine"))
    some = records.where(lambda row: row["dataset"] != "wine" or row["seed"] == 0)
    assert "Wine" in judge_drop(records).ours
    assert "Wine" not in judge_drop(some).ours
