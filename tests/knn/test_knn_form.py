"""Exact or fast form: which is taken, and whether what bins change is known as well as stated."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import value_blocks, value_cells
from shapley2d._knn.bin_sample import judge_sample
from shapley2d._methods.knn import choices
from shapley2d._theory.sums import BlockSums
from tests.row_forms import cells_in_form, in_form

# with so little to do the sample of exact rankings stays small
pytestmark = pytest.mark.filterwarnings("ignore:bins leave a standard error")

RNG = np.random.default_rng(0)
N = 2000
X = np.column_stack([RNG.normal(size=(N, 3)), RNG.integers(0, 4, (N, 2))])
Y = (X[:, 0] + X[:, 3] + RNG.normal(size=N) > 1).astype(int)
RNG_TARGETS = RNG.normal(size=N)
X_VALID = np.column_stack([RNG.normal(size=(40, 3)), RNG.integers(0, 4, (40, 2))])
Y_VALID = (X_VALID[:, 0] + X_VALID[:, 3] > 1).astype(int)


def targets(task):
    if task == "classification":
        return Y, Y_VALID
    return X[:, 0] + X[:, 3] + RNG_TARGETS, X_VALID[:, 0] + X_VALID[:, 3]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_auto_takes_the_fast_form_where_it_pays(monkeypatch, task):
    y, y_valid = targets(task)
    options = {"n_neighbors": 5, "subsets": "sampled", "n_subsets": 20, "progress": False}
    little = value_cells(X, y, X_VALID, y_valid, **options)
    assert "bin_stderr" not in little.info
    monkeypatch.setattr(choices, "SMALL_WORK", 0.0)
    monkeypatch.setattr(choices, "SMALL_GAME", 0.0)
    few_pairs = value_cells(X, y, X_VALID, y_valid, **options)
    assert (
        "bin_stderr" not in few_pairs.info
    )  # the sample that is ranked exactly would take as long
    monkeypatch.setattr(choices, "FEW_PAIRS", 1.0)
    fast = value_cells(X, y, X_VALID, y_valid, **options)
    assert 0 < fast.info["bin_stderr"] < 0.03 * np.ptp(fast.values)
    small = value_cells(X[:1000], y[:1000], X_VALID, y_valid, **options)
    assert "bin_stderr" not in small.info


@pytest.mark.parametrize(
    "task", [pytest.param("classification", marks=pytest.mark.slow), "regression"]
)
def test_intervals_of_the_fast_form_hold_the_exact_values(task):
    """With all coalitions, bins are all that is left to err: their stated errors have to be right by themselves."""
    y, y_valid = targets(task)
    options = {"n_neighbors": 5, "subsets": "all", "progress": False}
    exact = cells_in_form("exact", X, y, X_VALID, y_valid, **options)
    assert exact.exact
    covered, sizes, far = [], [], []
    for seed in range(3):
        fast = cells_in_form("fast", X, y, X_VALID, y_valid, random_state=seed, **options)
        assert not fast.exact
        off = np.abs(fast.values - exact.values)
        assert 0 < off.max() < 0.03 * np.ptp(exact.values)
        covered.append((off <= fast._interval_factor * fast.stderr).mean())
        sizes.append(np.sqrt(np.mean(fast.stderr**2) / np.mean(off**2)))
        far.append((off > 3 * fast.stderr).mean())
        # the sample knew neither: rows were up to 40 of their errors off, columns up to 10
        for of_fast, of_exact in (
            (fast.row_values, exact.row_values),
            (fast.column_values, exact.column_values),
        ):
            assert np.abs(of_fast - of_exact).max() <= 1e-12 * np.ptp(exact.values)
    assert np.mean(far) < 0.01
    assert 0.92 <= np.mean(covered) <= 0.985
    assert 0.8 <= np.mean(sizes) <= 2.0


def table_of(kind, task, seed, n=1200, m=5, n_valid=60):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n + n_valid, m))
    if kind == "grid":
        table = table.round(1)
    elif kind == "ties":
        table[:, :3] = rng.integers(0, 4, (n + n_valid, 3))
    elif kind == "skewed":
        table = np.exp(2 * table)
    score = table[:, 0] + table[:, 1] * table[:, 2] + rng.normal(size=len(table)) / 2
    y = score if task == "regression" else (score > np.median(score)).astype(int)
    if kind == "gaps":
        table[rng.random(table.shape) < 0.1] = np.nan
    return table[:n], y[:n], table[n:], y[n:]


def beyond_three_errors(kind, task, seeds):
    """How many cells and blocks are off by more than three of their errors; sums are not at all."""
    options = {"n_neighbors": 5, "subsets": "all", "progress": False}
    groups = {"rows": np.arange(1200) * 7 % 4, "columns": list("aabbc"), "players": "cells"}
    cells, blocks = [], []
    for seed in seeds:
        data = table_of(kind, task, seed)
        exact, fast = (
            cells_in_form(form, *data, random_state=seed, **options) for form in ("exact", "fast")
        )
        spread = np.ptp(exact.values)
        for of_fast, of_exact in (
            (fast.row_values, exact.row_values),
            (fast.column_values, exact.column_values),
        ):
            assert np.abs(of_fast - of_exact).max() <= 1e-12 * spread
        assert abs(fast.total - exact.total) <= 1e-12 * spread
        cells.append(np.mean(np.abs(fast.values - exact.values) > 3 * fast.stderr))
        with in_form("exact"):
            exact = value_blocks(*data, random_state=seed, **groups, **options)
        with in_form("fast"):
            fast = value_blocks(*data, random_state=seed, **groups, **options)
        off = np.abs(fast.values - exact.values)
        assert off.max() > 1e-6 * spread  # blocks are what bins change
        blocks.append(np.mean(off > 3 * fast.stderr))
    return np.mean(cells), np.mean(blocks)


def test_errors_of_blocks_are_those_of_their_sums():
    cells, blocks = beyond_three_errors("ties", "classification", [0])
    assert cells < 0.01 and blocks == 0


@pytest.mark.slow
def test_three_errors_hold_99_of_100_cells_and_blocks_of_every_kind():
    found = [
        beyond_three_errors(kind, task, range(3))
        for kind in ("numbers", "grid", "ties", "skewed", "gaps")
        for task in ("classification", "regression")
    ]
    cells, blocks = np.mean(found, axis=0)
    assert cells < 0.01 and blocks < 0.01


def test_sums_of_rows_are_exact_where_columns_are_sampled_or_rows_are_split():
    options = {"subsets": "sampled", "n_subsets": 18, "n_neighbors": 5, "progress": False}
    fast, exact = (
        cells_in_form(form, X, Y, X_VALID, Y_VALID, **options) for form in ("fast", "exact")
    )
    assert np.abs(fast.row_values - exact.row_values).max() <= 1e-12 * np.ptp(exact.values)
    assert fast.row_stderr.max() <= 1e-12 * np.ptp(exact.values)
    options = {"n_neighbors": 5, "cv": 3, "progress": False, "subsets": "all"}
    fast, exact = (cells_in_form(form, X[:, :3], Y, **options) for form in ("fast", "exact"))
    assert np.abs(fast.values - exact.values).max() > 1e-6 * np.ptp(exact.values)
    assert np.abs(fast.row_values - exact.row_values).max() <= 1e-12 * np.ptp(exact.values)


@pytest.mark.slow
def test_intervals_hold_where_columns_are_sampled_too():
    exact = cells_in_form(
        "exact", X, Y, X_VALID, Y_VALID, subsets="all", n_neighbors=5, progress=False
    )
    options = {"subsets": "sampled", "n_subsets": 18, "n_neighbors": 5, "progress": False}
    covered = []
    for seed in range(6):
        fast = cells_in_form("fast", X, Y, X_VALID, Y_VALID, random_state=seed, **options)
        covered.append(
            (np.abs(fast.values - exact.values) <= fast._interval_factor * fast.stderr).mean()
        )
    assert np.mean(covered) >= 0.92


def test_errors_of_row_sums_hold_where_columns_count_alike():
    """Then row sums have more of the differences than cells say."""
    rng, off, left = np.random.default_rng(0), [], []
    for _ in range(40):
        counted = rng.normal(0.5, 2.0, size=(20, 3))  # of every column, .5 on average
        true = rng.normal(size=60)  # differences of rows under all subsets
        differences = (0.3 * true + rng.normal(size=(20, 60))).astype(np.float32)
        sample = judge_sample(counted, differences, differences.sum(axis=1, dtype=float))
        mean = (counted.sum(axis=1)[:, None] * differences).mean(axis=0)
        off.append(np.mean((sample.known * mean - 1.5 * 0.3 * true) ** 2))
        left.append(sample.row_left)
    # errors are overstated by at most what bin_sample says they are
    assert np.mean(off) <= np.mean(left) <= 2.1**2 * np.mean(off)


def test_variances_of_a_sample_are_those_of_its_cells_sums_and_total():
    rng = np.random.default_rng(0)
    counted, differences = rng.normal(size=(20, 3)), rng.normal(size=(20, 40)).astype(np.float32)
    of_all = differences.sum(axis=1, dtype=float) + 1e-9  # which single precision does not hold
    sample = judge_sample(counted, differences, of_all)
    lines = differences[:, :, None].astype(float) * counted[:, None, :]
    of_mean = [
        line.var(axis=0, ddof=1) / 20 for line in (lines, lines.sum(axis=2), lines.sum(axis=1))
    ]
    assert sample.cell_variance == pytest.approx(of_mean[0].mean(), rel=1e-4)
    assert sample.row_variance == pytest.approx(of_mean[1].mean(), rel=1e-4)
    assert np.allclose(sample.column_variances, of_mean[2], rtol=1e-4)
    assert sample.total_variance == pytest.approx(lines.sum(axis=(1, 2)).var(ddof=1) / 20, rel=1e-4)
    values, rows = np.zeros((50, 3)), np.arange(40) + 5
    sample.add_mean(values, rows, 0.5)
    assert np.allclose(values[rows], 0.5 * lines.mean(axis=0), atol=1e-6)
    assert np.allclose(values.sum(axis=0), 0.5 * (of_all @ counted) / 20, rtol=0, atol=1e-13)
    weights = rng.normal(size=(2, 4, 2))
    sums = BlockSums(weights, np.arange(40) % 4, np.array([0, 1, 1]))
    by_line = np.array([sums.of(line) for line in lines])
    assert np.allclose(sample.covariance(sums), np.cov(by_line.T) / 20)
    assert not values[:5].any() and not values[45:].any()
