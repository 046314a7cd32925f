"""The experiment on blocks: random groups, values and performances in their places, and the verdicts."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Exact, value_cells
from shapley2d_paper.blocks.claims import MEASURES, correlation, find_link, judge_growth, pooled
from shapley2d_paper.blocks.work import gini, performance_alone, random_groups, work
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.records import Records

SMALL = {"n_train": 150, "n_held_out": 200, "row_groups": 2, "column_groups": 3, "seed": 5}


@pytest.mark.parametrize(
    ("n_members", "n_groups", "smallest"), [(23, 4, 1), (100, 4, 5), (3, 3, 1)]
)
def test_groups_cover_all_members_and_none_is_too_small(n_members, n_groups, smallest):
    rng = np.random.default_rng(0)
    sizes = [
        np.bincount(random_groups(n_members, n_groups, smallest, rng), minlength=n_groups)
        for _ in range(40)
    ]
    assert {size.sum() for size in sizes} == {n_members}
    assert min(size.min() for size in sizes) >= smallest
    if n_members > n_groups * smallest:
        assert len({tuple(size) for size in sizes}) > 5  # the cuts do move


def test_gini_is_zero_for_a_constant_and_one_for_a_perfect_order():
    class Model:
        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    y = np.array([0, 0, 1, 1])
    assert gini(Model(), np.full((4, 1), 0.5), y) == pytest.approx(0)
    assert gini(Model(), np.array([[0.1], [0.2], [0.3], [0.4]]), y) == pytest.approx(1)


def test_performance_alone_is_that_of_a_model_fitted_on_the_block():
    parts = split_table("credit", 5, n_train=150, n_valid=200, n_test=200)
    rng = np.random.default_rng(1)
    rows, columns = random_groups(150, 2, 20, rng), random_groups(23, 3, 1, rng)
    model = DecisionTreeClassifier(random_state=3)
    found = performance_alone(parts, rows, columns, model, None)
    for i in range(2):
        for j in range(3):
            fitted = DecisionTreeClassifier(random_state=3).fit(
                parts.X[np.ix_(rows == i, columns == j)], parts.y[rows == i]
            )
            expected = accuracy_score(parts.y_test, fitted.predict(parts.X_test[:, columns == j]))
            assert found[i, j] == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_records_hold_the_blocks_of_one_split(measure):
    records = Records(work(measure=measure, **SMALL))
    assert len(records) == 6
    assert len({(record["row_group"], record["column_group"]) for record in records}) == 6
    assert records.where(column_group=0).numbers("n_rows").sum() == 150
    assert records.where(row_group=0).numbers("n_columns").sum() == 23
    np.testing.assert_allclose(records.numbers("value").sum(), records.mean("total"))


def test_values_stand_beside_the_group_they_belong_to():
    records = Records(work(measure="accuracy", **SMALL))
    parts = split_table("credit", 5, n_train=150, n_valid=200, n_test=200)
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(0,)))
    rows, columns = random_groups(150, 2, 7, rng), random_groups(23, 3, 1, rng)
    names = [f"{group}" for group in columns]
    sized = value_cells(
        parts.X,
        parts.y,
        parts.X_valid,
        parts.y_valid,
        method=Exact(DecisionTreeClassifier(random_state=5)),
        row_groups=rows,
        column_groups=names,
        baseline="zero",
    )
    for a, row in enumerate(sized.row_names):
        for b, column in enumerate(sized.column_names):
            (record,) = records.where(row_group=int(row), column_group=int(column))
            assert record["value"] == pytest.approx(sized.values[a, b])
            assert record["n_rows"] == (rows == int(row)).sum()
            assert record["n_columns"] == (columns == int(column)).sum()


def made_up(slopes, noise=0.0, measures=("accuracy", "balanced accuracy", "Gini")):
    """Splits whose values grow by these slopes with performance."""
    rng = np.random.default_rng(0)
    performance = np.linspace(0.5, 0.8, 12)
    return Records(
        [
            {
                "measure": measure,
                "seed": seed,
                "row_group": k // 4,
                "column_group": k % 4,
                "n_rows": 100 + k // 4,
                "n_columns": 5,
                "performance": x,
                "value": slope * x + noise * rng.normal(),
            }
            for measure in measures
            for seed, slope in enumerate(
                slopes if not isinstance(slopes, dict) else slopes[measure]
            )
            for k, x in enumerate(performance)
        ]
    )


def test_correlations_agree_with_scipy():
    records = made_up([0.1, 0.2, 0.15], noise=0.02).where(measure="Gini")
    value, performance = records.numbers("value"), records.numbers("performance")
    assert pooled(records, ranks=True)[0] == pytest.approx(spearmanr(value, performance).statistic)
    assert pooled(records, ranks=False)[0] == pytest.approx(pearsonr(value, performance).statistic)
    link = find_link(records)
    each = [
        spearmanr(part.numbers("value"), part.numbers("performance")).statistic
        for _, part in records.groups("seed")
    ]
    assert link.ranked[0] == pytest.approx(np.mean(each))
    assert (
        min(each) - 1e-9 <= link.ranked[1] <= link.ranked[0] <= link.ranked[2] <= max(each) + 1e-9
    )
    assert correlation(np.array([[1.0, 1.0], [0.0, 1.0]]), ranks=True) == 0


def test_pairs_in_order_are_counted():
    records = Records(
        [
            {"seed": 0, "performance": x, "value": y}
            for x, y in ((0.1, 1.0), (0.2, 2.0), (0.3, 3.0), (0.4, 0.0))
        ]
    )
    assert find_link(records).in_order == pytest.approx(3 / 6)


@pytest.mark.parametrize(
    ("slopes", "verdict"),
    [
        ([1.0, 1.0, 1.0], "holds"),
        (
            {"accuracy": [1.0, -1.0, 1.0], "balanced accuracy": [1.0], "Gini": [1.0] * 3},
            "holds in part",
        ),
        ([-1.0, 1.0, -1.0], "does not hold"),
    ],
)
def test_verdicts(slopes, verdict):
    assert judge_growth(made_up(slopes)).verdict == verdict
