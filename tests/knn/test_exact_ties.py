"""Rows rank as exact fractions do, so no way to write the same table down changes a value."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from exact_metric import KINDS, exact_distances, random_tables

from shapley2d import value_cells
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.whole_weights import Term, whole_weights
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import match_columns

pytestmark = pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")

NUMBERS = tuple(kind for kind in KINDS[:-1] if kind != "words")


def code(train, valid, metric="auto"):
    table = as_table(train)
    return integer_columns(table, match_columns(as_table(valid), table), metric)


def assert_ranks_are_exact(train, valid, metric):
    """Under every subset of columns rows tie, or precede one another, as fractions say."""
    coded, exact = code(train, valid, metric), exact_distances(train, valid, metric)
    m = len(exact)
    for t in range(len(valid)):
        for number in range(1, 2**m):
            members = [j for j in range(m) if number >> j & 1]
            found = coded.distances(t, np.isin(np.arange(m), members))
            true = [sum(exact[j][t][i] for j in members) for i in range(len(train))]
            order = np.argsort(found, kind="stable")
            for a, b in pairwise(order):
                assert (found[a] == found[b]) == (true[a] == true[b])
                assert true[a] <= true[b]
    return coded


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


def exact_values(train, y, valid, y_valid, k, metric, baseline="zero"):
    """The values of all cells by the definition: all subsets of rows and of columns, in fractions."""
    n, m = train.shape
    exact = exact_distances(train, valid, metric)
    utility = {}
    for F in range(2**m):
        lines = [
            [sum(exact[j][t][i] for j in range(m) if F >> j & 1) for i in range(n)]
            for t in range(len(valid))
        ]
        for S in range(2**n):
            rows = [i for i in range(n) if S >> i & 1]
            empty = not rows or (not F and baseline == "zero")
            utility[S, F] = (
                Fraction(0)
                if empty
                else Fraction(
                    sum(vote(rows, lines[t], y, y_valid[t], k) for t in range(len(valid))),
                    len(valid),
                )
            )

    def weight(size, players):
        return Fraction(1, players * math.comb(players - 1, size))

    values = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            total = Fraction(0)
            for S in range(2**n):
                for F in range(2**m):
                    if S >> i & 1 or F >> j & 1:
                        continue
                    with_i, with_j = S | 1 << i, F | 1 << j
                    gain = utility[with_i, with_j] + utility[S, F]
                    gain -= utility[with_i, F] + utility[S, with_j]
                    total += weight(S.bit_count(), n) * weight(F.bit_count(), m) * gain
            values[i, j] = float(total)
    return values


def vote(rows, distances, y, label, k):
    """The share of matching labels among the k nearest, averaged over the orders of tied rows."""
    matches, left = Fraction(0), k
    for level in sorted({distances[i] for i in rows}):
        group = [y[i] == label for i in rows if distances[i] == level]
        taken = min(left, len(group))
        matches += Fraction(sum(group) * taken, len(group))
        left -= taken
    return matches / k


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
    v = value_cells(
        train, y, valid, y_valid, n_neighbors=k, metric=metric, baseline="zero", votes="k",
        task="classification", progress=False,
    )  # fmt: skip
    expected = exact_values(train, y, valid, y_valid, k, metric)
    np.testing.assert_allclose(v.values, expected, atol=1e-12)


def test_a_gap_does_not_match_everything():
    """In a 0/1 column a gap is 2 var = 3/8 away, between a match and a mismatch."""
    X, y = [[1], [0], [0], [0], [np.nan]], list("abbba")
    options = {"n_neighbors": 1, "baseline": "zero", "votes": "k", "progress": False}
    v = value_cells(X, y, [[0]], ["a"], metric="sqeuclidean", **options)
    assert v.total == pytest.approx(0, abs=1e-12)
    frame = pd.DataFrame({"x": [1.0, 0.0, 0.0, 0.0, np.nan]})
    coded = assert_ranks_are_exact(frame, pd.DataFrame({"x": [0.0, 1.0]}), "sqeuclidean")
    assert Fraction(int(coded.missing[0]), int(coded.unit)) == Fraction(3, 8)


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
        options = {
            "n_neighbors": int(rng.integers(1, 5)),
            "task": "classification",
            "progress": False,
            "subsets": "all",
        }
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
        options = {"n_neighbors": 2, "metric": metric, "task": "classification", "progress": False}
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


# ---- whole weights ----


@pytest.mark.parametrize("seed", range(8))
def test_certified_weights_break_no_tie_and_reverse_no_order(seed):
    """All sums within reach, one by one."""
    rng = np.random.default_rng(seed)
    weights = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 60, (4, 2))]
    weights.append(weights[0] + weights[1])  # so that there is a tie between sums
    terms = [Term(weight, 1) for weight in weights]
    limit = Fraction(2**20)
    found = whole_weights(terms, limit)
    sums = {}
    for size in range(6):
        for chosen in combinations(range(5), size):
            true = sum((weights[k] for k in chosen), Fraction(0))
            if all(weights[k] in found.exact for k in chosen):
                whole = sum(round(found.unit * weights[k]) for k in chosen)
                sums[chosen] = (whole, true)
    pairs = list(sums.values())
    assert len(pairs) > 8
    for (a, true_a), (b, true_b) in combinations(pairs, 2):
        if true_a == true_b:
            assert a == b
        elif a != b:
            assert (a < b) == (true_a < true_b)


def test_weights_without_a_common_unit_are_named():
    weights = [Fraction(1, 10**12 + k) for k in (39, 61, 63, 91)]
    found = whole_weights([Term(weight, 10**12) for weight in weights], Fraction(2**60))
    assert len(found.exact) < 4
    assert found.unit <= 2**60
