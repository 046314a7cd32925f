"""Pairs of rows of the same value: that the figures are what they say."""

import numpy as np
import pytest

from shapley2d import KNN, value_cells
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.records import Records
from shapley2d_paper.interpretation.experiment import EXPERIMENT, judge
from shapley2d_paper.interpretation.work import correlations, near_pairs, work


def test_correlations_and_near_pairs_agree_with_loops():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(20, 6))
    values[3] = 0.25  # no profile at all
    first, second = np.triu_indices(20, 1)
    agreement = correlations(values, first, second)
    near = near_pairs(values.sum(axis=1), first, second, 0.3)
    limit = 0.3 * values.sum(axis=1).std(ddof=1)
    for k, (i, j) in enumerate(zip(first, second, strict=True)):
        expected = 0.0 if 3 in (i, j) else np.corrcoef(values[i], values[j])[0, 1]
        assert agreement[k] == pytest.approx(expected, abs=1e-12)
        assert near[k] == (abs(values[i].sum() - values[j].sum()) < limit)
    assert near.any() and not near.all()


def test_the_pairs_shown_are_the_most_and_the_least_alike(read_back):
    records = read_back(work(seed=2, table="split", within=0.01))
    parts = split_table("breast_cancer", 2)
    values = value_cells(
        parts.X, parts.y, parts.X_valid, parts.y_valid, method=KNN(votes="k"), baseline="zero"
    ).values
    rows, limit = values.sum(axis=1), 0.01 * values.sum(axis=1).std(ddof=1)
    near = {
        (i, j): np.corrcoef(values[i], values[j])[0, 1]
        for i in range(len(rows))
        for j in range(i + 1, len(rows))
        if abs(rows[i] - rows[j]) < limit and (parts.X[i] != parts.X[j]).any()
    }
    pairs = {row["kind"]: row for row in records.where(what="pair")}
    assert pairs["alike"]["correlation"] == pytest.approx(max(near.values()), abs=1e-5)
    assert pairs["unlike"]["correlation"] == pytest.approx(min(near.values()), abs=1e-5)
    for pair in pairs.values():
        assert near[pair["row_a"], pair["row_b"]] == pytest.approx(pair["correlation"], abs=1e-5)
        cells = records.where(what="cell", kind=pair["kind"])
        assert len(cells) == 9
        assert cells.numbers("value_a").sum() == pytest.approx(pair["value_a"], abs=1e-7)
        np.testing.assert_array_equal(cells.numbers("content_b"), parts.X[pair["row_b"]])
    (count,) = records.where(what="count")
    assert count["pairs"] == len(near)
    assert count["alike"] == pytest.approx(np.mean([one >= 0.9 for one in near.values()]), abs=1e-5)
    assert records.where(what="histogram").numbers("near").sum() == pytest.approx(1, abs=1e-4)
    figure = EXPERIMENT.draw(records)
    assert len(figure.axes) == 3 and len(figure.axes[0].patches) == 18
    (_, shown), (_, common) = EXPERIMENT.tables(records)
    assert [row["cells"] for row in shown] == ["alike", "unlike"] and len(common) == 1


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ([(0.1, 0.2), (0.3, 0.1)], "holds"),
        ([(0.1, 0.2), (0.3, 0.0)], "holds in part"),
        ([(0.0, 0.0)], "does not hold"),
    ],
)
def test_verdicts_on_pairs(shares, verdict):
    made = [
        {
            "what": "count",
            "alike": alike,
            "unlike": unlike,
            "all_alike": 0.1,
            "all_unlike": 0.5,
            "pairs": 9,
        }
        for alike, unlike in shares
    ]
    assert judge(Records(made)).verdict == verdict
    assert judge(Records([])) is None


@pytest.mark.slow
def test_splits_without_near_pairs_are_left_out(read_back):
    made, lonely = (
        [{**row, "table": table} for row in work(seed=2, table="split", within=within)]
        for table, within in (("split 2", 0.01), ("split 3", 0.0))
    )
    both, one, none = read_back([*made, *lonely]), read_back(made), read_back(lonely)
    assert both.where(what="count", table="split 3").mean("pairs") == 0
    assert EXPERIMENT.headline(both) == EXPERIMENT.headline(one)
    assert EXPERIMENT.tables(both) == EXPERIMENT.tables(one)
    drawn, expected = (
        EXPERIMENT.draw(records).axes[2].patches[0].get_data().values for records in (both, one)
    )
    np.testing.assert_array_equal(drawn, expected)
    judgement = judge(both)
    assert judgement.verdict == "holds" and "nan" not in judgement.ours
    assert judge(none) is None and EXPERIMENT.tables(none) == []
    assert len(EXPERIMENT.draw(none).axes) == 3
