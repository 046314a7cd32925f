"""Players who can only join after others: by the definition, over all orders that respect it."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import CellValuer, InputError, value_blocks, value_cells, value_game

from oracles import RandomGame, knn_utility, precedence_value

ROWS, COLUMNS = [1, 0, 1, 0], [0, 2, 1]


@pytest.mark.parametrize(
    "precedence", [{"rows": ROWS}, {"columns": COLUMNS}, {"rows": ROWS, "columns": COLUMNS}]
)
def test_games_equal_the_mean_over_all_orders(precedence):
    game = RandomGame(4, 3, seed=1)
    expected = precedence_value(
        game.of_sets, 4, 3, precedence.get("rows"), precedence.get("columns")
    )
    v = value_game(game, 4, 3, precedence=precedence, progress=False)
    np.testing.assert_allclose(v.values, expected, rtol=0, atol=1e-12)
    assert v.total == pytest.approx(game.of_sets(range(4), range(3)))
    if len(precedence) == 2:
        assert v.info["n_utilities"] == (4 + 4) * (2 + 2 + 2)
    sampled = value_game(
        game, 4, 3, "mc", precedence=precedence, max_permutations=400, tolerance=0, progress=False
    )
    assert (np.abs(sampled.values - expected) <= 5 * sampled.stderr + 1e-12).all()
    assert sampled.total == pytest.approx(v.total)


def test_names_numbers_and_dates_order_players():
    game = RandomGame(3, 2, seed=2)
    named = {"row_names": ["a", "b", "c"], "column_names": ["u", "v"], "progress": False}
    plain = value_game(game, 3, 2, precedence={"rows": [0, 5, 0]}, **named).values
    for rows in (
        {"b": 1},
        {"a": -1.5, "c": -1.5, "b": 0},
        ["2024-01-01", "2024-02-01", "2024-01-01"],
    ):
        np.testing.assert_array_equal(
            value_game(game, 3, 2, precedence={"rows": rows}, **named).values, plain
        )
    open_order = value_game(game, 3, 2, precedence={"rows": [7, 7, 7]}, **named)
    np.testing.assert_allclose(
        open_order.values, value_game(game, 3, 2, **named).values, atol=1e-12
    )


def test_who_comes_first_is_paid_for_what_others_only_repeat():
    """Two copies of the same rows: each gets half, or with precedence the first gets all."""
    X = np.array([[0.0], [9.0], [0.0], [9.0]])
    y = ["low", "high", "low", "high"]
    options = {"rows": ["A", "A", "B", "B"], "model": "tree", "progress": False}
    together = value_blocks(X, y, X, y, **options)
    np.testing.assert_allclose(together.values[:, 0], [0.25, 0.25])
    first = value_blocks(X, y, X, y, precedence={"rows": {"B": 1}}, **options)
    np.testing.assert_allclose(first.values[:, 0], [0.5, 0.0], atol=1e-12)
    assert first.total == pytest.approx(together.total)
    sampled = value_blocks(X, y, X, y, method="mc", max_permutations=5, tolerance=0,
                           precedence={"rows": {"B": 1}}, **options)  # fmt: skip
    np.testing.assert_allclose(sampled.values, first.values, atol=1e-12)


def small(rng, n=5, m=2):
    X, X_valid = rng.integers(0, 3, (n, m)), rng.integers(0, 3, (4, m))
    return X, np.arange(n) % 2, X_valid, rng.integers(0, 2, 4)


def test_cells_of_a_model_and_folds():
    X, y, X_valid, y_valid = small(np.random.default_rng(3))
    precedence = {"rows": [0, 1, 1, 0, 2], "columns": {"x1": 1}}
    h = knn_utility(
        X.tolist(), y.tolist(), X_valid.tolist(), y_valid.tolist(), 2, baseline="labels"
    )
    options = {"model": "knn", "n_neighbors": 2, "metric": "sqeuclidean", "progress": False}
    v = value_cells(X, y, X_valid, y_valid, "exact", precedence=precedence, **options)
    np.testing.assert_allclose(
        v.values, precedence_value(h, 5, 2, [0, 1, 1, 0, 2], [0, 1]), rtol=0, atol=1e-10
    )
    fitted = CellValuer("exact", **options).fit(X, y, X_valid, y_valid, precedence=precedence)
    np.testing.assert_array_equal(fitted.values_, v.values)
    X, y = np.arange(16.0).reshape(8, 2) % 5, np.arange(8) // 2 % 2
    levels = np.arange(8) // 4
    halves = [([0, 2, 4, 6], [1, 3, 5, 7]), ([1, 3, 5, 7], [0, 2, 4, 6])]
    crossed = value_cells(X, y, method="exact", cv=halves, precedence={"rows": levels}, **options)
    for train, test in halves:
        part = value_cells(X[train], y[train], X[test], y[test], "exact",
                           precedence={"rows": levels[train]}, **options)  # fmt: skip
        np.testing.assert_allclose(crossed.values[train], part.values / 2, atol=1e-12)


def test_checkpoints_know_the_order(tmp_path):
    game = RandomGame(4, 2, seed=1)
    options = {
        "max_permutations": 4,
        "tolerance": 0,
        "checkpoint": tmp_path / "state",
        "name": "random",
        "progress": False,
    }
    value_game(game, 4, 2, "mc", precedence={"rows": ROWS}, **options)
    with pytest.raises(InputError, match="precedence"):
        value_game(game, 4, 2, "mc", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precedence": [1, 2]}, 'must be a dict of "rows", "columns" or both'),
        ({"precedence": {"row": [1]}}, 'must be a dict of "rows", "columns" or both'),
        ({"precedence": {"rows": [1]}}, "precedence has 1 entry for 5 rows"),
        ({"precedence": {"rows": {9: 1}}}, "there is no row 9 to order"),
        (
            {"precedence": {"columns": {"x0": "late"}}},
            "that of 'x0' must be a number, not 'late'",
        ),
        (
            {"precedence": {"rows": list("abcde")}},
            "precedence must hold a number or a date for every row",
        ),
        (
            {"precedence": {"rows": range(5)}, "method": "loo"},
            "precedence does not go with method='loo'",
        ),
        (
            {"precedence": {"rows": [0, 1, 1, 0, 2]}, "method": "loo"},
            "does not go with method='loo', in which players join in no order",
        ),
        (
            {"precedence": {"rows": [0, 1, 1, 0, 2]}, "method": "oob"},
            "does not go with method='oob'",
        ),
        (
            {"precedence": {"rows": [0, 1, 1, 0, 2]}, "method": "mc", "semivalue": "banzhaf"},
            "leave semivalue out",
        ),
    ],
)
def test_what_cannot_be_is_said(options, message):
    X, y, X_valid, y_valid = small(np.random.default_rng(3))
    if isinstance(options["precedence"], dict) and isinstance(
        options["precedence"].get("rows"), range
    ):
        options = {**options, "precedence": {"rows": list(options["precedence"]["rows"])}}
    with pytest.raises(InputError, match=message):
        value_cells(X, y, X_valid, y_valid, progress=False, **options)
    with pytest.raises(InputError, match="set players='groups'"):
        value_blocks(
            X,
            y,
            X_valid,
            y_valid,
            owners=[{"owner": "A", "row": "0-2"}, {"owner": "B", "row": "3-4"}],
            players="cells",
            precedence={"rows": {"B": 1}},
        )


LEVELS = [[0, 1, 1, 0, 2, 1], [2, 1, 0, 1, 0, 0], [0, 1, 2, 3, 4, 5], None]


@pytest.mark.parametrize("votes", ["share", "k"])
@pytest.mark.parametrize("baseline", ["labels", "zero"])
@pytest.mark.parametrize(("seed", "k"), [(0, 1), (1, 2), (2, 3), (3, 8)])
def test_nearest_neighbours_have_a_closed_form_in_any_order_of_arrival(seed, k, baseline, votes):
    rng = np.random.default_rng(seed)
    X, X_valid = rng.integers(0, 2 + seed, (6, 2)), rng.integers(0, 2 + seed, (5, 2))  # many ties
    y, y_valid = rng.permutation([0, 1, 2, 0, 1, 1]), rng.integers(0, 3, 5)
    weights = rng.uniform(0.1, 1, 5)
    h = knn_utility(
        X.tolist(),
        y.tolist(),
        X_valid.tolist(),
        y_valid.tolist(),
        k,
        baseline=baseline,
        weights=weights,
        votes=votes,
    )
    rows, columns = LEVELS[seed], [None, [0, 1], [1, 0], [0, 1]][seed]
    precedence = {"rows": rows, "columns": columns}
    precedence = {axis: levels for axis, levels in precedence.items() if levels is not None}
    options = {
        "n_neighbors": k,
        "metric": "sqeuclidean",
        "baseline": baseline,
        "votes": votes,
        "valid_weight": weights,
        "progress": False,
    }
    v = value_cells(X, y, X_valid, y_valid, precedence=precedence, **options)
    np.testing.assert_allclose(
        v.values, precedence_value(h, 6, 2, rows, columns), rtol=0, atol=1e-10
    )
    assert v.exact and v.total == pytest.approx(
        value_cells(X, y, X_valid, y_valid, **options).total, abs=1e-10
    )


def test_nearest_neighbours_in_order_agree_with_permutations():
    rng = np.random.default_rng(0)
    X, X_valid = rng.integers(0, 5, (40, 3)), rng.integers(0, 5, (20, 3))
    y, y_valid = (X[:, 0] > 2).astype(int), (X_valid[:, 0] > 2).astype(int)
    precedence = {"rows": np.arange(40) // 15}
    options = {"n_neighbors": 4, "precedence": precedence, "progress": False}
    exact = value_cells(X, y, X_valid, y_valid, **options)
    sampled = value_cells(
        X, y, X_valid, y_valid, "mc", model="knn", max_permutations=300, tolerance=0, **options
    )
    assert (np.abs(exact.values - sampled.values) < 5.5 * sampled.stderr).all()
    one, two = (
        value_cells(X, y, X_valid, y_valid, n_jobs=jobs, **options).values for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"task": "regression"},
            "no closed form for the squared error of nearest neighbours: use method='mc' with model=",
        ),
        (
            {"include_label": True},
            "does not go with the label of nearest neighbours: use method='mc'",
        ),
        ({"backend": "cuda"}, "precedence is computed on the processor: leave backend='cuda' out"),
    ],
)
def test_what_nearest_neighbours_cannot_do_in_order(options, message):
    X, y, X_valid, y_valid = small(np.random.default_rng(3))
    with pytest.raises(InputError, match=message):
        value_cells(
            X, y, X_valid, y_valid, precedence={"rows": [0, 1, 1, 0, 2]}, progress=False, **options
        )


def test_in_order_no_more_coalitions_of_columns_than_are_affordable():
    X = np.random.default_rng(4).normal(size=(6, 15))
    with pytest.raises(
        InputError, match="takes all of 32,768 column subsets, more than 16,384: use method"
    ):
        value_cells(
            X, [0, 1] * 3, X, [0, 1] * 3, precedence={"rows": [0, 0, 0, 1, 1, 1]}, progress=False
        )


def test_cells_of_owners_have_no_order_of_arrival():
    X, y, X_valid, y_valid = small(np.random.default_rng(3))
    with pytest.raises(
        InputError, match="precedence is about groups that join in turn: set players='groups'"
    ):
        value_blocks(
            X,
            y,
            X_valid,
            y_valid,
            rows=[0, 0, 1, 1, 1],
            players="cells",
            precedence={"rows": {0: 0, 1: 1}},
        )
