"""Rows rank as exact fractions do, so no way to write the same table down changes a value."""

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from exact_metric import KINDS, exact_distances, random_tables
from row_oracles import TASKS, all_subsets, fixed_point_distances, tie_groups, twin

from shapley2d import KNN, value_cells
from shapley2d._knn.fixed_point import Distances
from shapley2d._knn.metric import measure
from shapley2d._knn.neighbours import Neighbours
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import match_columns

from oracles import brute_force

pytestmark = pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")

ZERO = {"baseline": "zero"}
NUMBERS = tuple(kind for kind in KINDS[:-1] if kind != "words")


def code(train, valid, metric="auto"):
    table = as_table(train)
    return measure(table, match_columns(as_table(valid), table), metric)


def assert_ranks_are_exact(train, valid, metric):
    """Under every subset of columns rows tie, or precede one another, as fractions say; so do their values."""
    columns, exact = code(train, valid, metric), exact_distances(train, valid, metric)
    m, n = columns.n_columns, columns.n_rows
    true_groups = {}
    for t in range(len(valid)):
        for subset in all_subsets(m)[1:]:
            found = tie_groups(*fixed_point_distances(columns, subset, t))
            true = [sum(exact[j][t][i] for j in np.flatnonzero(subset)) for i in range(n)]
            levels = {level: number for number, level in enumerate(sorted(set(true)))}
            groups = np.array([levels[one] for one in true])
            np.testing.assert_array_equal(found, groups)
            true_groups[subset.tobytes(), t] = groups
    y = np.arange(n) % 3
    rows = Neighbours(columns, y, y[: len(valid)], task="classification", n_neighbors=2)
    for subset, line in zip(all_subsets(m)[1:], rows.values(all_subsets(m)[1:]), strict=True):
        expected = twin(
            columns, y, y[: len(valid)], subset, task="classification", k=2,
            groups_of=lambda _, subset, t: true_groups[subset.tobytes(), t],
        )  # fmt: skip
        np.testing.assert_allclose(line, expected, atol=1e-12)
    return columns


def check_ranks(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(5, 40)), int(rng.integers(1, 6))
        metric = ("auto", "sqeuclidean")[seed % 2]
        kinds = KINDS[:-1] if metric == "auto" else NUMBERS
        assert_ranks_are_exact(*random_tables(rng, n, 2, m, kinds=kinds), metric)


@pytest.mark.parametrize(
    "seeds", [range(30), pytest.param(range(1000, 2000), marks=pytest.mark.slow)]
)
def test_rows_rank_as_fractions_do(seeds):
    check_ranks(seeds)


@pytest.mark.parametrize("metric", ["auto", "sqeuclidean"])
@pytest.mark.parametrize("kind", ["numbers", "booleans", "words"])
def test_columns_of_few_entries_rank_as_fractions_do(kind, metric):
    """All columns of two entries and gaps, seen by the same, another one and a gap."""
    if metric == "sqeuclidean" and kind != "numbers":
        pytest.skip("takes numbers only")
    entries = {"numbers": [5.0, 0.0, 7.0], "booleans": [True, False], "words": list("abc")}[kind]
    for column in product([*entries[:2], None], repeat=4):
        if any(one is not None for one in column):
            frames = (pd.DataFrame({"x": part}) for part in (list(column), [*entries, None]))
            kinds = {"numbers": float, "booleans": object, "words": object}
            assert_ranks_are_exact(*(frame.astype(kinds[kind]) for frame in frames), metric)


def exact_values(train, y, valid, y_valid, k, metric, task="classification"):
    """The values of all cells by the definition, neighbours ranked and scored in fractions."""
    n, m = train.shape
    exact = exact_distances(train, valid, metric)

    @cache
    def h(S, F):
        if not S or not F:
            return 0.0
        lines = [[sum(exact[j][t][i] for j in F) for i in range(n)] for t in range(len(valid))]
        found = [
            exact_utility(sorted(S), line, y, t, k, task)
            for line, t in zip(lines, y_valid, strict=True)
        ]
        return float(sum(found) / len(valid))

    return brute_force(h, n, m)


def exact_utility(rows, distances, y, target, k, task):
    """The score of the k nearest, mean over all choices among those at the distance of the k-th."""
    ranked = sorted(rows, key=lambda i: distances[i])
    edge = distances[ranked[:k][-1]]
    sure = [i for i in ranked if distances[i] < edge]
    tied = [i for i in ranked if distances[i] == edge]
    choices = list(combinations(tied, min(k - len(sure), len(tied))))
    centre = Fraction(sum(y), len(y)) if task == "regression" else None

    def score(chosen):
        if centre is None:
            return Fraction(sum(y[i] == target for i in chosen), k)
        return -((sum(y[i] - centre for i in chosen) / k - (target - centre)) ** 2)

    return sum(score([*sure, *some]) for some in choices) / len(choices)


@pytest.mark.parametrize("seed", range(8))
def test_values_equal_the_definition_in_fractions(seed):
    rng = np.random.default_rng(seed)
    metric = ("auto", "sqeuclidean")[seed % 2]
    kinds = KINDS[:-1] if metric == "auto" else NUMBERS
    train, valid = random_tables(
        rng, 5, 3, 2 + seed % 2, kinds=kinds, gaps=(0.0, 0.25)[seed // 2 % 2]
    )
    y, y_valid = [0, 1, *rng.integers(0, 2, 3).tolist()], rng.integers(0, 2, 3).tolist()
    k = 1 + seed % 3
    method = KNN(n_neighbors=k, metric=metric)
    v = value_cells(train, y, valid, y_valid, method=method, task="classification", **ZERO)
    expected = exact_values(train, y, valid, y_valid, k, metric)
    np.testing.assert_allclose(v.values, expected, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("ranges", "gap"),
    # farther out, a missing entry is nearer than the others by so much that they tie
    [*((ranges, False) for ranges in (1e3, 1e6, 1e9, 1e12, 1e17)), (1e3, True), (1e5, True)],
)
def test_validation_entries_far_outside_lose_no_digits(ranges, gap, task):
    """Beside them the squares of all training entries agree in their first digits."""
    train = pd.DataFrame({"far": [0.1, 0.25, 0.4, 0.7, 0.9], "near": [10.0, 30, 0, 30, 20]})
    if ranges < 1e17:  # where it would decide, the other column is lost behind 40 bits
        train.loc[1, "far"] = 0.4
    if gap:
        train.loc[3, "far"] = np.nan
    valid = pd.DataFrame({"far": [0.8 * ranges, -0.8 * ranges, 0.3], "near": [10.0, 0, 20]})
    y, y_valid = (
        ([0, 1, 1, 0, 1], [0, 1, 1]) if task == "classification" else ([3, 1, 4, 1, 5], [2, 6, 5])
    )
    for k in (1, 2):
        method = KNN(n_neighbors=k, metric="sqeuclidean")
        v = value_cells(train, y, valid, y_valid, method=method, task=task, **ZERO)
        expected = exact_values(train, y, valid, y_valid, k, "sqeuclidean", task)
        np.testing.assert_allclose(v.values, expected, atol=1e-12)


def test_a_gap_does_not_match_everything():
    """In a 0/1 column a gap is 2 var = 3/8 away, between a match and a mismatch."""
    X, y = [[1], [0], [0], [0], [np.nan]], list("abbba")
    v = value_cells(X, y, [[0]], ["a"], method=KNN(metric="sqeuclidean", n_neighbors=1), **ZERO)
    assert v.total == pytest.approx(0, abs=1e-12)
    frame = pd.DataFrame({"x": [1.0, 0.0, 0.0, 0.0, np.nan]})
    columns = assert_ranks_are_exact(frame, pd.DataFrame({"x": [0.0, 1.0]}), "sqeuclidean")
    assert columns.missing[0] / columns.weight[0] == 3 / 8 / 4  # entries are halved


# ---- the same table, written down in another way ----


def rewritten(train, valid, rng):
    """The same two tables: columns mirrored, shifted, scaled; categories renamed; rows and columns permuted."""
    one, two = train.copy(), valid.copy()
    for name in one.columns:
        if not pd.api.types.is_numeric_dtype(one[name]):
            names = {"north": "b", "south": "d", "east": "a", "west": "c"}
            one[name], two[name] = one[name].map(names), two[name].map(names)
            continue
        sign, factor = rng.choice([-1, 1]), rng.choice([1.0, 2.0, 3.0, 0.5, 10.0])
        shift = int(rng.integers(-3, 4)) * (0.01 if name.startswith("cents") else 1)
        for part in (one, two):
            part[name] = (sign * (part[name] + shift) * factor).round(10)
    rows, columns = rng.permutation(len(one)), rng.permutation(one.shape[1])
    return one.iloc[rows, columns].reset_index(drop=True), two.iloc[:, columns], rows, columns


def check_rewritten(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(6, 40)), int(rng.integers(1, 6))
        train, valid = random_tables(rng, n, 6, m, kinds=KINDS)
        y, y_valid = rng.integers(0, 3, n), rng.integers(0, 3, 6)
        y[:3] = [0, 1, 2]
        method = KNN(n_neighbors=rng.integers(1, 5), subsets="all")
        options = {"method": method, "task": "classification"}
        plain = value_cells(train, y, valid, y_valid, **options)
        other, other_valid, rows, columns = rewritten(train, valid, rng)
        again = value_cells(other, y[rows], other_valid, y_valid, **options)
        np.testing.assert_allclose(
            again.values, plain.values[np.ix_(rows, columns)], atol=1e-12, err_msg=f"seed {seed}"
        )


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(1000, 2000), marks=pytest.mark.slow)]
)
def test_the_way_a_table_is_written_changes_no_value(seeds):
    check_rewritten(seeds)


def test_entries_far_beyond_the_training_rows_have_room():
    check_ranks([1432])
    check_rewritten([1655])


# ---- validation rows ----


def check_linear(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, m, metric = (
            int(rng.integers(5, 25)),
            int(rng.integers(1, 5)),
            ("auto", "sqeuclidean")[seed % 2],
        )
        kinds = KINDS if metric == "auto" else (*NUMBERS, "floats")
        train, valid = random_tables(rng, n, 5, m, kinds=kinds)
        for name in valid.columns:  # off the grid of the training rows, and far out
            if pd.api.types.is_numeric_dtype(valid[name]) and rng.random() < 0.7:
                valid.loc[0, name] = rng.choice([0.37, 1.5, 1e6, -1e9, 1e17, np.pi])
        y, y_valid = rng.integers(0, 2, n), rng.integers(0, 2, 5)
        y[:2] = [0, 1]
        method = KNN(n_neighbors=2, metric=metric)
        options = {"method": method, "task": "classification"}
        together = value_cells(train, y, valid, y_valid, **options).values
        alone = [
            value_cells(train, y, valid.iloc[[t]], y_valid[[t]], **options).values for t in range(5)
        ]
        np.testing.assert_allclose(
            together, np.mean(alone, axis=0), atol=1e-12, err_msg=f"seed {seed}"
        )


@pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(1000, 1500), marks=pytest.mark.slow)]
)
def test_values_are_linear_over_validation_rows(seeds):
    check_linear(seeds)


@pytest.mark.parametrize("metric", ["auto", "sqeuclidean"])
def test_a_validation_row_is_coded_without_the_others(metric):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 30), rng.normal(size=30), rng.integers(0, 90, 30) / 4])
    V = X[:4].copy()
    V[1] += [0.5, 1, 0.1]
    alone = code(X, V, metric)
    beside = code(X, np.vstack([V, [[1e17, -1e17, 1 / 3]]]), metric)
    np.testing.assert_array_equal(alone.train, beside.train)
    np.testing.assert_array_equal(alone.valid, beside.valid[:, :4])
    np.testing.assert_array_equal(alone.weight, beside.weight)
    np.testing.assert_array_equal(Distances(alone).terms, Distances(beside).terms[:4])
