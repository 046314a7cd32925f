"""Blocks: sets of rows and columns as players, by every method, against brute force."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shapley2d import KNN, Exact, InputError, MonteCarlo, Valuation, value_blocks, value_cells
from shapley2d._base.precision import interval_factor
from shapley2d._knn.utility_game import KnnGame
from shapley2d._models.function import FunctionGame
from shapley2d._models.wrapped import CachedGame
from shapley2d._tables.problem import make_problem
from shapley2d._theory.coalitions import MaskCoalitions, NestedCoalitions, SubsetCoalitions

from oracles import brute_force
from small_tables import split_of


def small_table(seed=0, n=24, m=4, n_valid=30):
    random = np.random.default_rng(seed)
    X, X_valid = random.normal(size=(n, m)).round(1), random.normal(size=(n_valid, m)).round(1)
    return (
        X,
        (X[:, 0] + X[:, 1] > 0).astype(int),
        X_valid,
        (X_valid[:, 0] + X_valid[:, 1] > 0).astype(int),
    )


ROWS = np.arange(24) % 3
COLUMNS = ["bank", "shop", "bank", "web"]


def tree_utility(X, y, X_valid, y_valid):
    """The game of the blocks, trained with scikit-learn alone."""
    names = list(dict.fromkeys(COLUMNS))

    def h(S, F):
        rows = np.isin(ROWS, list(S))
        columns = np.isin(COLUMNS, [names[k] for k in F])
        if not rows.any() or not columns.any():
            return 0.0
        model = DecisionTreeClassifier(random_state=0).fit(X[rows][:, columns], y[rows])
        return float(np.mean(model.predict(X_valid[:, columns]) == y_valid))

    return h


def knn_utility(X, y, X_valid, y_valid, *, k, task, votes):
    """h(S, F) by its definition, averaged over all orders of all rows at the same distance."""
    centre = y.mean()
    if votes == "share":
        guess = np.mean(np.isin(y_valid, y)) / np.unique(y).size
        nothing = guess if task == "classification" else -np.mean((y_valid - centre) ** 2)
    else:
        nothing = 0.0

    def one(d, targets, target):
        order = np.argsort(d, kind="stable")
        ties = [list(group) for _, group in itertools.groupby(order, key=lambda i: d[i])]
        found = []
        for orders in itertools.product(*(itertools.permutations(group) for group in ties)):
            nearest = [i for group in orders for i in group][:k]
            divisor = len(nearest) if votes == "share" else k
            if task == "classification":
                found.append(sum(targets[i] == target for i in nearest) / divisor)
            else:
                mean = sum(targets[i] - centre for i in nearest) / divisor
                found.append(-((mean - (target - centre)) ** 2))
        return np.mean(found)

    def h(S, F):
        rows, columns = sorted(S), sorted(F)
        if not columns:
            return 0.0
        if not rows:
            return nothing
        near = (X_valid[:, None, columns] - X[None, rows][:, :, columns]) ** 2
        return np.mean(
            [one(d, y[rows], target) for d, target in zip(near.sum(axis=2), y_valid, strict=True)]
        )

    return h


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("shapley", ("beta", 4.0, 1.0))])
def test_exact_blocks_equal_brute_force(semivalue):
    data = small_table()
    model = DecisionTreeClassifier(random_state=0)
    v = value_blocks(
        *data, method=Exact(model), rows=ROWS, columns=COLUMNS, baseline="zero", semivalue=semivalue
    )
    axes = semivalue if isinstance(semivalue, tuple) else (semivalue, semivalue)
    np.testing.assert_allclose(v.values, brute_force(tree_utility(*data), 3, 3, *axes), atol=1e-12)
    assert v.row_names.tolist() == [0, 1, 2] and v.column_names == ["bank", "shop", "web"]
    assert v.info["kind"] == "blocks" and v.info["n_utilities"] == 64
    assert v.row_sizes.tolist() == [8, 8, 8] and v.column_sizes.tolist() == [2, 1, 1]


@pytest.mark.usefixtures("always_sampled")
def test_monte_carlo_agrees_with_exact_within_its_errors():
    data = small_table()
    exact = value_blocks(*data, method="exact", rows=ROWS, columns=COLUMNS)
    sampled = value_blocks(
        *data, method=MonteCarlo(max_permutations=200, tolerance=0), rows=ROWS, columns=COLUMNS
    )
    assert (np.abs(sampled.values - exact.values) < 4.5 * sampled.stderr + 1e-12).all()
    assert sampled.stderr.max() > 0
    # 7 x 7 pairs of nonempty coalitions is all there is, however many permutations
    assert sampled.info["n_utilities"] <= 49


@pytest.mark.filterwarnings("ignore:the 95 % interval")
def test_intervals_of_many_owners_hold_the_values_of_the_closed_form():
    """Every row has an owner of its own, so the cells say what each is worth."""
    rng = np.random.default_rng(5)
    X, X_valid = rng.normal(size=(18, 3)), rng.normal(size=(30, 3))
    y, y_valid = (X[:, 0] > 0).astype(int), (X_valid[:, 0] > 0).astype(int)
    data, knn = (X, y, X_valid, y_valid), KNN(n_neighbors=3, tolerance=0.06)
    exact = value_cells(*data, method=knn).row_values
    v = value_blocks(*data, method=knn, rows=list(range(18)), parties="known", valid_parts=0)
    assert v.info["method"] == "mc" and v.info["converged"]
    assert v.total == pytest.approx(exact.sum(), abs=1e-9)
    low, high = v.interval()
    assert ((low[:, 0] <= exact) & (exact <= high[:, 0])).mean() >= 0.85
    assert np.abs(v.values[:, 0] - exact).max() < 4 * v.stderr.max()
    assert sum(v.payments(100)["amount"]) == pytest.approx(100)
    np.testing.assert_allclose(v._payee_errors.stderr, v.stderr[:, 0], rtol=1e-9)


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 4),
    task=st.sampled_from(["classification", "regression"]),
    votes=st.sampled_from(["share", "k"]),
)
def test_knn_utilities_equal_their_definition(seed, k, task, votes):
    random = np.random.default_rng(seed)
    X, X_valid = (random.integers(0, 3, (n, 2)).astype(float) for n in (5, 3))
    y, y_valid = random.integers(0, 3, 5).astype(float), random.integers(0, 3, 3).astype(float)
    classes = np.unique(y)
    if task == "classification":  # codes: 0, 1, ..., and -1 for a label that no row has
        y = np.searchsorted(classes, y)
        y_valid = np.array([float(np.flatnonzero(classes == c)[0]) if c in classes else -1.0
                            for c in y_valid])  # fmt: skip
    h = knn_utility(X, y, X_valid, y_valid, k=k, task=task, votes=votes)
    split = split_of(X, y, X_valid, y_valid, task, classes.size)
    game = KnnGame(split, n_neighbors=k, metric="sqeuclidean", baseline="zero", votes=votes)
    found = game.utilities(SubsetCoalitions(5), SubsetCoalitions(2))
    for a, S in enumerate(SubsetCoalitions(5)):
        for b, F in enumerate(SubsetCoalitions(2)):
            expected = h(set(np.flatnonzero(S)), set(np.flatnonzero(F)))
            assert found[a, b] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf"])
def test_knn_blocks_of_single_cells_equal_the_closed_form(task, semivalue):
    random = np.random.default_rng(3)
    X, X_valid = (random.integers(0, 3, (n, 3)).astype(float) for n in (6, 9))
    y, y_valid = (random.integers(0, 2, 6), random.integers(0, 2, 9))
    if task == "regression":
        y, y_valid = random.normal(size=6), random.normal(size=9)
    options = {"method": KNN(n_neighbors=2, metric="sqeuclidean"), "semivalue": semivalue}
    cells = value_cells(X, y, X_valid, y_valid, **options)
    blocks = value_blocks(
        X, y, X_valid, y_valid, rows=range(6), columns=range(3), **{"method": "knn", **options}
    )
    np.testing.assert_allclose(blocks.values, cells.values, atol=1e-12)


def test_knn_utilities_do_not_depend_on_the_number_of_threads():
    X, y, X_valid, y_valid = small_table(n=60, n_valid=200)
    (split,) = make_problem(X, y, X_valid, y_valid).splits
    rows = MaskCoalitions(np.random.default_rng(0).random((10, 60)) < 0.5)
    one, two = (
        KnnGame(split, n_neighbors=10, n_jobs=n_jobs).utilities(rows, SubsetCoalitions(4))
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_nearest_neighbours_are_a_method_and_a_model(request):
    data, knn = small_table(), KNN(n_neighbors=3)
    found, *same = (
        value_blocks(*data, method=method, rows=ROWS, columns=COLUMNS)
        for method in (knn, MonteCarlo(knn), Exact(knn))
    )
    for one in same:
        np.testing.assert_array_equal(found.values, one.values)
    assert found.info["model"] == "knn" and found.info["n_neighbors"] == 3
    request.getfixturevalue("always_sampled")
    sampler = MonteCarlo(knn, max_permutations=200, tolerance=0)
    sampled = value_blocks(*data, method=sampler, rows=ROWS, columns=COLUMNS)
    assert sampled.info["method"] == "mc"
    assert (np.abs(sampled.values - found.values) < 4.5 * sampled.stderr + 1e-12).all()


@pytest.mark.parametrize("method", [MonteCarlo(GaussianNB()), KNN()])
def test_cross_valuation_is_the_mean_over_folds_and_keeps_every_group(method):
    X, y, _, _ = small_table()
    # the rare row trains in all folds but one
    rows = np.where(np.arange(24) == 5, "rare", "typical")
    v = value_blocks(X, y, rows=rows, columns=COLUMNS, cv=4, method=method)
    assert v.row_names.tolist() == ["typical", "rare"] and v.info["folds"] == 4
    whole = value_blocks(X, y, rows=["all"] * 24, columns=["all"] * 4, cv=4, method=method)
    assert v.total == pytest.approx(whole.total)


def test_groups_come_from_mappings_and_series():
    X, y, X_valid, y_valid = small_table()
    names = ["age", "income", "spend", "visits"]
    frames = [pd.DataFrame(part, columns=names) for part in (X, X_valid)]
    plain, *same = (
        value_blocks(frames[0], y, frames[1], y_valid, columns=columns, parties="anonymous")
        for columns in (COLUMNS, dict(zip(names, COLUMNS, strict=True)), pd.Series(COLUMNS))
    )
    for one in same:
        np.testing.assert_array_equal(plain.values, one.values)


def test_the_cache_trains_nothing_twice_and_changes_nothing():
    calls = []

    def h(S, F):
        calls.append((S.tobytes(), F.tobytes()))
        return S.sum() ** 2 * F.sum()

    plain = FunctionGame(lambda S, F: S.sum() ** 2 * F.sum(), 4, 3)
    game = CachedGame(FunctionGame(h, 4, 3))
    random = np.random.default_rng(0)
    for _ in range(20):
        rows, columns = (NestedCoalitions(random.permutation(k)) for k in (4, 3))
        np.testing.assert_array_equal(game.utilities(rows, columns), plain.utilities(rows, columns))
    repeated = MaskCoalitions([[True] * 4, [True] * 4])
    assert game.utilities(repeated, MaskCoalitions([[True] * 3])).tolist() == [[48.0], [48.0]]
    assert len(calls) == len(set(calls)) == game.n_computed


@pytest.mark.usefixtures("always_sampled")
def test_a_block_valuation_survives_its_file(tmp_path):
    data = small_table()
    owners = [{"owner": "A", "row": 0}, {"owner": "B", "row": "1;2", "column": "x0"}]
    method = MonteCarlo(max_permutations=15, tolerance=0)
    v = value_blocks(*data, method=method, owners=owners, rows=ROWS, valid_parts=0)
    path = tmp_path / "blocks.parquet"
    v.save(path)
    back = Valuation.load(path)
    assert type(back) is type(v) and repr(back) == repr(v)
    pd.testing.assert_frame_equal(back.owners, v.owners)
    pd.testing.assert_frame_equal(back.payments(1000), v.payments(1000))
    assert back._payee_errors == v._payee_errors
    plain = value_blocks(*data, method="exact", rows=ROWS, columns=COLUMNS)
    plain.save(path)
    pd.testing.assert_frame_equal(Valuation.load(path).payments(10), plain.payments(10))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name the blocks by rows, columns or owners; single cells are for value_cells"),
        ({"rows": [1, 2]}, "rows has 2 labels, but the table has 24 rows"),
        ({"columns": ["a", None, "b", "c"]}, "columns has no label for column 'x1'"),
        ({"columns": {"x0": "a"}}, "columns has no set for column 'x1'"),
        ({"columns": dict.fromkeys(["x0", "x1", "x2", "x3", "x9"], "a")}, "names column 'x9'"),
        ({"rows": [[1]] * 24}, "must be a list of labels"),
        ({"rows": ROWS, "method": "magic"}, "method='magic' is not known"),
        ({"rows": ROWS, "method": KNN}, "method is the class KNN: make one, KNN\\(\\)"),
        ({"rows": ROWS, "method": KNN(subsets="sampled"), "parties": "known"}, "subsets='sampled' does not go with parties='known'"),
        ({"rows": ROWS, "method": MonteCarlo(truncation=0.1), "parties": "known"}, "truncation does not go with parties='known'"),
        ({"rows": np.arange(24), "columns": range(4), "method": "exact", "parties": "known"}, "2\\^28 utilities"),
        ({"rows": np.arange(24), "columns": range(4), "method": Exact("knn"), "parties": "known"}, "2\\^28 utilities"),
    ],
)  # fmt: skip
def test_wrong_blocks_are_named(options, message):
    with pytest.raises(InputError, match=message):
        value_blocks(*small_table(), **{"parties": "anonymous", **options})


def test_models_and_scores_that_there_are_not_are_named():
    with pytest.raises(InputError, match=r"model='forrest' is not .*: did you mean 'forest'\?"):
        MonteCarlo("forrest")
    with pytest.raises(InputError, match="n_subsets=9 does not go with nearest neighbours as a m"):
        MonteCarlo(KNN(n_subsets=9))
    with pytest.raises(
        InputError, match="'f1_macro' has no closed form: it is not a mean over validation rows"
    ):
        value_blocks(*small_table(), rows=ROWS, scoring="f1_macro", parties="anonymous")


def test_sweeps_value_blocks_too():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[:, 0] += y
    options = {"rows": np.arange(40) % 3, "columns": ["a", "a", "b"], "progress": False}
    swept = value_blocks(X, y, X[::3], y[::3], method=MonteCarlo("gaussian_nb"), **options)
    trained = value_blocks(X, y, X[::3], y[::3], method=MonteCarlo(GaussianNB()), **options)
    np.testing.assert_allclose(swept.values, trained.values, atol=0.05)


@pytest.mark.usefixtures("always_sampled")
def test_parts_of_the_validation_rows_widen_all_intervals_and_change_no_value(tmp_path):
    X, y, X_valid, y_valid = small_table()
    options = {"rows": ROWS, "method": MonteCarlo("ridge", max_permutations=40, tolerance=0)}
    plain = value_blocks(X, y, X_valid, y_valid, **{"parties": "anonymous", **options})
    parted = value_blocks(
        X, y, X_valid, y_valid, valid_parts=3, **{"parties": "anonymous", **options}
    )
    assert plain.dof == parted.dof == 39
    np.testing.assert_array_equal(plain.values, parted.values)
    np.testing.assert_array_equal(plain.stderr, parted.stderr)
    (low, high), (lower, higher) = plain.interval(), parted.interval()
    assert ((lower < low) & (high < higher)).all()
    assert (plain._payee_errors.dof, parted._payee_errors.dof) == (39, 2)
    assert interval_factor(parted._payee_errors.dof) > 4 > interval_factor(plain._payee_errors.dof)
    parted.save(tmp_path / "blocks.parquet")
    assert Valuation.load(tmp_path / "blocks.parquet") == parted


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no")


def test_a_pool_that_cannot_be_shown_does_not_stop_a_run():
    class Pool(Unspeakable, ThreadPoolExecutor):
        pass

    X, y = np.arange(16.0).reshape(8, 2), ["u", "v"] * 4
    with Pool(1) as pool:
        grid = {"rows": ["a", "b"] * 4, "columns": ["p", "q"]}
        v = value_blocks(X, y, method=KNN(n_neighbors=1), cv=2, cluster=pool, **grid)
    assert v.exact and "cluster" not in v.info["call"]  # it changes no value


@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_lists_where_names_of_sets_should_be_get_one_line(axis):
    X, y, X_valid, y_valid = small_table()
    with pytest.raises(InputError, match=f"{axis} has a list where the name of a set should be"):
        value_blocks(X, y, X_valid, y_valid, **{axis: {"A": [0, 1], "B": [2]}}, parties="anonymous")
