"""The experiment on convergence: exact values from elsewhere, calibrated errors, and the verdicts."""

import numpy as np
import pytest

from shapley2d import KNN, value_cells
from shapley2d._theory.axes import set_weights, subsets
from shapley2d_paper.convergence.claims import LIMIT, judge_convergence
from shapley2d_paper.convergence.pair_ridge import RidgeFit
from shapley2d_paper.convergence.runs import ColumnOrders, column_game, compare, work
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.records import Records

WINE = {"n_train": 12, "n_valid": 10, "seed": 3}


def test_column_game_is_the_one_that_the_package_values():
    phi, n_columns = column_game(**WINE)
    everything = subsets(n_columns)
    exact = phi(everything).T @ set_weights(everything, "shapley")
    parts = split_table("wine", 3, n_train=12, n_valid=10)
    options = {"method": KNN(subsets="all", votes="k"), "baseline": "zero"}
    direct = value_cells(parts.X, parts.y, parts.X_valid, parts.y_valid, **options)
    np.testing.assert_allclose(exact, direct.values, atol=1e-12)


def test_column_permutations_are_unbiased_and_sum_to_everything():
    def phi(coalitions):  # two rows: the product of columns 0 and 1, and the number of columns
        return np.column_stack(
            [coalitions[:, 0] & coalitions[:, 1], coalitions.sum(axis=1)]
        ).astype(float)

    draws = ColumnOrders(phi, (2, 3), 0)
    values = np.mean([draws(number).values[:, :3] for number in range(400)], axis=0)
    np.testing.assert_allclose(values[1], 1.0)
    np.testing.assert_allclose(values[0], [0.5, 0.5, 0.0], atol=0.1)
    np.testing.assert_array_equal(draws(7).values, draws(7).values)


def test_an_estimate_beside_the_exact_values():
    exact = np.array([[1.0, -1.0], [2.0, 0.0]])
    right = compare(RidgeFit(exact, np.full((2, 2), 0.3), np.inf), exact)
    assert (right["error"], right["covered"]) == (0.0, 1.0)
    assert right["correlation"] == pytest.approx(1.0)
    assert right["ratio"] == pytest.approx(0.1)
    assert right["expected"] == pytest.approx(4 * 0.09 / 6)
    aside = exact + np.array([[1.0, 0.0], [0.0, 0.0]])
    off = compare(RidgeFit(aside, np.full((2, 2), 0.3), np.inf), exact)
    assert off["error"] == pytest.approx(1 / 6)
    assert off["covered"] == 0.75


def test_samplers_of_columns_get_nearer_with_effort():
    records = Records(work(part="columns", budgets=[52, 520], **WINE))
    assert records.where(method="permutations").distinct("permutations") == [4, 40]
    for method in ("permutations", "A", "B"):
        few, many = records.where(method=method).numbers("error")
        assert many < few / 3
    most = records.where(evaluations=520)
    assert (
        most.where(method="B").mean("error") < most.where(method="permutations").mean("error") / 3
    )


@pytest.mark.parametrize(
    ("model", "n_train", "n_columns"), [("knn", 20, 13), ("gaussian_nb", 7, 4)]
)
def test_monte_carlo_meets_the_exact_values_as_its_errors_say(model, n_train, n_columns):
    records = Records(
        work(
            part="game",
            model=model,
            counts=[20, 400],
            n_train=n_train,
            n_valid=60,
            n_columns=n_columns,
            seed=1,
        )
    )
    last = records.where(permutations=400).rows[0]
    assert last["evaluations"] == 400 * n_train * n_columns
    assert 0.4 < last["error"] / last["expected"] < 2.5
    assert last["covered"] > 0.8
    assert last["correlation"] > 0.8
    assert last["error"] < records.where(permutations=20).mean("error")


def test_two_runs_of_a_tree_agree_more_and_more():
    records = Records(
        work(
            part="table", dataset="breast_cancer", counts=[10, 160], n_train=12, n_valid=60, seed=0
        )
    )
    few, many = records.rows
    assert many["agreement"] > max(few["agreement"], 0.5)
    assert many["ratio"] < few["ratio"] / 1.5


def made_up(knn, wine, census, *, permutations=500):
    """Lines with these convergence ratios."""
    facts = {"n_rows": 106, "n_columns": 13, "permutations": permutations, "seed": 0}
    known = {"error": 0.002, "expected": 0.002, "covered": 0.95, "correlation": 0.999}
    rows = [
        {"what": "columns", "game": "knn", "method": "permutations", "evaluations": 6500, "ratio": knn, **known, **facts},
        {"what": "columns", "game": "knn", "method": "A", "evaluations": 2600, "ratio": 0.01, **known, **facts},
        {"what": "columns", "game": "knn", "method": "B", "evaluations": 2600, "ratio": 0.01, **known, **facts},
        {"what": "game", "game": "knn", "method": "Monte Carlo", "evaluations": 689000, "ratio": 0.1, **known, **facts},
    ]  # fmt: skip
    for name, ratio in (("wine", wine), ("census", census)):
        rows.append(
            {
                "what": "table",
                "game": name,
                "evaluations": 689000,
                "ratio": ratio,
                "agreement": 0.8,
                **facts,
            }
        )
    return Records(rows)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ((0.02, 0.02, LIMIT), "holds"),
        ((0.02, 0.05, 0.05), "holds in part"),
        ((0.04, 0.02, 0.05), "holds in part"),
        ((0.03, 0.05, 0.05), "does not hold"),
    ],
)
def test_verdicts(ratios, verdict):
    judgement = judge_convergence(made_up(*ratios))
    assert judgement.verdict == verdict
    if ratios[2] == 0.05:
        assert "about 2,000 permutations" in judgement.why  # 500 x (0.05 / 0.025)^2
