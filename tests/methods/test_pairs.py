"""Many players on one axis: pairs of subsets, surrogate trees, and stated errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from shapley2d import InputError, value_blocks, value_cells, value_game
from shapley2d._base.precision import interval_factor
from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.semivalue import ColumnSemivalue
from shapley2d._methods.pairs.sampling import _Sample, estimate_pairs
from shapley2d._methods.pairs.trees import DEPTH, TreeGame, tree_values
from shapley2d._theory.designs import AllSubsets
from shapley2d.exceptions import PrecisionWarning

from oracles import RandomGame, brute_force

SEMIVALUES = ["shapley", "banzhaf", ("beta", 4, 1)]


def all_masks(m):
    return (np.arange(2**m)[:, None] >> np.arange(m)) & 1 == 1


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_all_pairs_give_exact_values(semivalue):
    for shape in ((7, 2), (2, 7)):
        game = RandomGame(*shape, seed=3)
        v = value_game(
            game, *shape, method="pairs", n_subsets=128, semivalue=semivalue, progress=False
        )
        exact = value_game(game, *shape, semivalue=semivalue, progress=False)
        np.testing.assert_allclose(v.values, exact.values, rtol=0, atol=1e-10)
        assert v.exact and v.info["estimator"] == "all" and v.info["n_utilities"] == 128 * 4
    np.testing.assert_allclose(
        value_game(game, 2, 7, method="pairs", n_subsets=128, progress=False).values,
        brute_force(game.of_sets, 2, 7),
        rtol=0,
        atol=1e-10,
    )


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_trees_have_the_semivalues_of_the_game_that_they_are(semivalue):
    rng = np.random.default_rng(0)
    masks = all_masks(7)
    game = TreeGame(masks[rng.permutation(128)[:90]], rng.normal(size=90), semivalue, 1)
    exact = AllSubsets(7, semivalue).combine(game(masks))
    np.testing.assert_allclose(game.values, exact, rtol=0, atol=1e-10)
    shallow = GradientBoostingRegressor(max_depth=DEPTH, n_estimators=1, learning_rate=1.0).fit(
        masks, masks[:, 2] * 3.0
    )
    np.testing.assert_allclose(
        tree_values(shallow, 7, "shapley"), [0, 0, 3, 0, 0, 0, 0], atol=1e-12
    )


def teams(m, rng):
    """A game of teams that count when they are complete, and its Shapley values."""
    members = [rng.choice(m, 3, replace=False) for _ in range(m)]
    worth = rng.normal(size=m)
    exact = np.zeros(m)
    for team, amount in zip(members, worth, strict=True):
        exact[team] += amount / 3

    def utilities(masks):
        return sum(a * masks[:, t].all(axis=1) for t, a in zip(members, worth, strict=True))[
            :, None
        ]

    return utilities, exact


@pytest.mark.parametrize("stand_in", ["none", "trees", "auto"])
def test_intervals_hold_the_truth(stand_in):
    inside = []
    for seed in range(4 if stand_in == "none" else 2):
        rng = np.random.default_rng(seed)
        utilities, exact = teams(12, rng)
        if stand_in == "auto":
            found = estimate_pairs(utilities, 12, n_subsets=120, seed=seed)
        else:
            found = one_estimate(utilities, 12, 120, seed, after_trees=stand_in == "trees")
        # to the last digit, whatever was sampled
        assert found.values.sum() == pytest.approx(exact.sum(), abs=1e-9)
        reach = interval_factor(found.dof) * found.stderr[0]
        inside.append(np.abs(found.values[0] - exact) <= reach)
    assert np.mean(inside) >= 0.9


def one_estimate(utilities, m, n_subsets, seed, *, after_trees):
    """One of the estimates that the best one is chosen from."""
    target = ColumnSemivalue(m, "shapley")
    pairs = PairSequence(m, np.random.SeedSequence(seed)).take((n_subsets - 2) // 2)
    small, large = utilities(pairs), utilities(~pairs)
    ends = utilities(np.array([[False] * m, [True] * m]))
    sample = _Sample(target, "shapley", ends, seed)
    sample.add(pairs, np.concatenate([small, large]))
    if after_trees:
        return sample._after_trees(pairs, small, large)
    return sample._fit(pairs, small, large, ends)


def test_pairs_need_fewer_utilities_than_permutations():
    by_permutations, by_pairs = [], []
    for seed in range(3):
        utilities, exact = teams(20, np.random.default_rng(seed))
        rng = np.random.default_rng(seed + 1)
        drawn = []
        for _ in range(20):
            order = rng.permutation(20)
            nested = np.argsort(order)[None, :] < np.arange(21)[:, None]
            step = np.empty(20)
            step[order] = np.diff(utilities(nested)[:, 0])
            drawn.append(step)
        by_permutations.append(((np.mean(drawn, axis=0) - exact) ** 2).sum())
        found = estimate_pairs(utilities, 20, n_subsets=400, seed=seed + 1)
        by_pairs.append(((found.values[0] - exact) ** 2).sum())
    assert np.mean(by_pairs) < 0.5 * np.mean(by_permutations)  # of as many utilities


def owners_of_rows(n=18, **options):
    """Every row has an owner of its own: the closed form knows what they are worth."""
    rng = np.random.default_rng(5)
    X, X_valid = rng.normal(size=(n, 3)), rng.normal(size=(30, 3))
    y, y_valid = (X[:, 0] > 0).astype(int), (X_valid[:, 0] > 0).astype(int)
    data = (X, y, X_valid, y_valid)
    knn = {"n_neighbors": 3, "progress": False}
    exact = value_cells(*data, **knn).row_values
    return exact, lambda **more: value_blocks(
        *data,
        rows=list(range(n)),
        players="groups",
        votes="k",
        model="knn",
        **knn,
        **options,
        **more,
    )


@pytest.mark.filterwarnings("ignore:the 95 % interval")
def test_many_owners_are_valued_by_pairs():
    exact, value = owners_of_rows()
    v = value(tolerance=0.06)
    assert v.info["method"] == "pairs" and v.info["sampled"] == "rows" and v.info["converged"]
    assert v.total == pytest.approx(exact.sum(), abs=1e-9)
    low, high = v.interval()
    assert ((low[:, 0] <= exact) & (exact <= high[:, 0])).mean() >= 0.85
    assert np.abs(v.values[:, 0] - exact).max() < 4 * v.stderr.max()
    paid = v.payments(100)
    assert sum(paid["amount"]) == pytest.approx(100)
    np.testing.assert_allclose(np.sqrt(np.diag(v._covariance)), v.stderr[:, 0], rtol=1e-9)
    assert "complement pairs" in v.info["about"]["how"]
    by_orders = value(method="mc", max_permutations=4, tolerance=0)
    assert by_orders.info["n_permutations"] == 4  # who asks for permutations gets them


def test_validation_groups_and_limits_go_with_pairs(tmp_path):
    _, value = owners_of_rows()
    with pytest.warns(PrecisionWarning, match="stopped at max_permutations=3"):
        v = value(max_permutations=3, tolerance=1e-9, validation_groups=3)
    assert v.info["n_subsets"] == 54 and v._covariance_dof == 2
    resumable = value(max_permutations=3, tolerance=0, checkpoint=tmp_path / "state")
    assert resumable.info["method"] == "mc"  # pairs keep no state


def test_columns_by_pairs_rows_exact_and_any_number_of_workers():
    rng = np.random.default_rng(2)
    X, X_valid = rng.normal(size=(12, 8)), rng.normal(size=(12, 8))
    y, y_valid = (
        (X[:, 0] + X[:, 1] > 0).astype(int),
        (X_valid[:, 0] + X_valid[:, 1] > 0).astype(int),
    )
    data = (X, y, X_valid, y_valid)
    options = {
        "rows": [0, 1] * 6,
        "columns": list(range(8)),
        "model": "gaussian_nb",
        "progress": False,
    }
    exact = value_blocks(*data, method="exact", **options)
    one, two = (
        value_blocks(*data, method="pairs", n_subsets=80, n_jobs=k, **options) for k in (1, 2)
    )
    np.testing.assert_array_equal(one.values, two.values)
    assert one.info["sampled"] == "columns" and one.info["n_utilities"] == 320
    assert np.abs(one.values - exact.values).max() < 5 * one.stderr.max()
    np.testing.assert_allclose(
        one.row_values, exact.row_values, atol=1e-10
    )  # sums over the sampled axis are exact
    assert (one.row_stderr == 0).all() and (one.column_stderr > 0).all()


def test_cells_and_cross_valuation_by_pairs():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(14, 2))
    y = (X[:, 0] > 0).astype(int)
    options = {"model": "knn", "n_neighbors": 2, "cv": 2, "progress": False}
    v = value_cells(X, y, method="pairs", n_subsets=60, **options)
    exact = value_cells(X, y, n_neighbors=2, cv=2, progress=False)
    assert np.abs(v.values - exact.values).max() < 5 * v.stderr.max()
    assert v.total == pytest.approx(exact.total, abs=1e-10)


def test_samples_that_any_game_fits_are_refused():
    utilities, _ = teams(9, np.random.default_rng(0))
    game, options = (lambda rows, _: float(utilities(rows[None])[0, 0])), {"progress": False}
    for few in (8, 26):
        with pytest.raises(
            InputError,
            match=rf"^n_subsets={few} is too few for 9 players: .* use n_subsets=27 or more$",
        ):
            value_game(game, 9, 1, method="pairs", n_subsets=few, **options)
    enough = value_game(game, 9, 1, method="pairs", n_subsets=27, **options)
    assert "caveat" not in enough.info
    with pytest.raises(InputError, match=r"n_subsets=8 is too few for 4 players: .* n_subsets=12 "):
        value_game(lambda rows, _: float(rows.sum()), 4, 1, method="pairs", n_subsets=8, **options)
    all_of_them = value_game(lambda rows, _: float(rows.sum()), 3, 1, method="pairs", n_subsets=8)
    assert all_of_them.exact


def test_few_subsets_have_errors_as_large_as_their_values_and_enough_do_not():
    """Three pairs went through a course over sizes exactly: errors of 1e-16 around wrong values."""
    held, sizes = {8: [], 27: []}, {8: [], 27: []}
    for seed in range(12):
        utilities, exact = teams(9, np.random.default_rng(seed))
        for count in (8, 27):  # after Ctrl-C there may be as few as 8
            found = estimate_pairs(utilities, 9, n_subsets=count, seed=seed)
            reach = interval_factor(found.dof) * found.stderr[0]
            held[count].append(np.mean(np.abs(found.values[0] - exact) <= reach))
            sizes[count].append(np.sqrt(np.mean(found.stderr**2)) / exact.std())
    assert np.mean(held[8]) >= 0.93 and np.mean(held[27]) >= 0.93
    assert np.median(sizes[8]) > 1.5 and np.median(sizes[27]) < 0.8


def test_ctrl_c_keeps_what_is_known():
    utilities, _ = teams(18, np.random.default_rng(0))
    calls = []

    def interrupted(masks):
        calls.append(len(masks))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return utilities(masks)

    found = estimate_pairs(interrupted, 18, tolerance=0.0)
    assert found.interrupted and found.n_subsets == 2 + sum(calls[1:3])


def test_games_that_are_too_large_are_refused():
    with pytest.raises(
        InputError, match=r"40 rows x 11 columns are more than the 10 and 1,024 .* use method='mc'"
    ):
        value_game(lambda S, F: 1.0, 40, 11, method="pairs")
