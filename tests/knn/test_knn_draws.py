"""Chunks of validation rows with column coalitions of their own, and validation rows as a sample."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from shapley2d import KNN, value_cells
from shapley2d._knn.chunks import deal
from shapley2d._knn.draws import KnnDraws
from shapley2d._methods.run import Run
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputError
from tests.comparing import same_bits

pytestmark = pytest.mark.filterwarnings("ignore::shapley2d.exceptions.PrecisionWarning")
SAMPLED = KNN(n_neighbors=3, subsets="sampled")
ALL = KNN(n_neighbors=3, subsets="all")


def table(n=40, m=8, n_valid=64, task="classification", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_valid, m)).round(2)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.3 * rng.normal(size=n + n_valid)
    y = (score > 0).astype(int) if task == "classification" else score
    return X[:n], y[:n], X[n:], y[n:]


def covered(found, exact):
    low, high = found.interval()
    return np.mean((low <= exact.values) & (exact.values <= high))


@pytest.mark.parametrize(
    "task", ["classification", pytest.param("regression", marks=pytest.mark.slow)]
)
def test_intervals_hold_the_exact_values(task):
    data = table(task=task)
    exact = value_cells(*data, method=ALL)
    runs = [
        value_cells(*data, method=replace(SAMPLED, n_subsets=80), random_state=seed)
        for seed in range(6)
    ]
    assert runs[0].info["n_chunks"] == 16 and runs[0].info["n_valid_used"] == 64
    assert 0.93 <= np.mean([covered(run, exact) for run in runs]) <= 0.99
    for run in runs:
        assert run.row_values == pytest.approx(
            exact.row_values, abs=1e-12 * np.abs(exact.values).max() + 1e-15
        )
        assert (run.row_stderr == 0).all()
    off = np.array([run.column_values - exact.column_values for run in runs])
    assert np.mean(np.abs(off) <= 2.1 * np.array([run.column_stderr for run in runs])) >= 0.85


@pytest.mark.parametrize("subsets", ["all", "sampled"])
def test_errors_include_the_validation_rows_that_were_not_used(subsets):
    data, method = (
        table(20, 8, 400),
        replace(ALL, subsets=subsets, valid_rows="auto", tolerance=0.15),
    )
    exact = value_cells(*data, method=ALL)
    runs = [value_cells(*data, method=method, random_state=seed) for seed in range(6)]
    for run in runs:
        assert run.info["converged"] and run.info["ratio"] <= 0.15
        assert 0 < run.info["n_valid_used"] < run.info["n_valid"] == 400
        assert not run.exact and run.row_stderr.min() > 0
    assert 0.93 <= np.mean([covered(run, exact) for run in runs]) <= 0.998
    rows = [np.abs(run.row_values - exact.row_values) <= 2.1 * run.row_stderr for run in runs]
    assert np.mean(rows) >= 0.87


@pytest.mark.parametrize(
    "method", [replace(ALL, tolerance=0), replace(SAMPLED, n_subsets=40, tolerance=0)]
)
def test_with_no_tolerance_all_rows_are_used(method):
    data = table()
    every = value_cells(*data, method=method)
    asked = value_cells(*data, method=replace(method, valid_rows="auto"))
    assert same_bits(asked, every)


def test_few_validation_rows_are_all_used():
    method = replace(ALL, valid_rows="auto", tolerance=0.9)
    run = value_cells(*table(n_valid=15), method=method)
    assert run.exact and run.info["n_valid_used"] == 15


def test_the_tolerance_is_met_by_as_many_coalitions_as_it_takes():
    data = table(60, 11)
    few = value_cells(*data, method=replace(SAMPLED, tolerance=0.1))
    many = value_cells(*data, method=replace(SAMPLED, tolerance=0.01))
    assert few.info["converged"] and many.info["converged"]
    assert few.info["n_subsets"] < many.info["n_subsets"]
    exact = value_cells(*data, method=ALL)
    for run, wanted in ((few, 0.1), (many, 0.01)):
        assert np.sqrt(np.mean((run.values - exact.values) ** 2)) <= wanted * np.ptp(exact.values)


def test_all_coalitions_are_exact_for_the_rows_used():
    data = table(m=4)
    run = value_cells(*data, method=replace(SAMPLED, n_subsets=16))
    assert run.info["subsets"] == "all"
    assert run.values == pytest.approx(value_cells(*data, method=ALL).values)


@pytest.mark.parametrize(
    "options", [{"semivalue": ("beta", 4, 1)}, {"baseline": "zero"}, {"include_label": True}]
)
def test_other_values_come_near_the_exact_ones(options):
    data = table()
    run, exact = (
        value_cells(*data, method=method, **options)
        for method in (replace(SAMPLED, n_subsets=120), ALL)
    )
    assert covered(run, exact) >= 0.85
    assert np.sqrt(np.mean((run.values - exact.values) ** 2)) <= 0.03 * np.ptp(exact.values)


def test_weights_of_validation_rows_and_cross_valuation():
    weights = np.arange(1.0, 65.0)
    run, exact = (
        value_cells(*table(), method=method, valid_weight=weights)
        for method in (replace(SAMPLED, n_subsets=120), ALL)
    )
    assert covered(run, exact) >= 0.9
    X, y, _, _ = table(120, 8)
    run, exact = (
        value_cells(X, y, method=method, cv=3) for method in (replace(SAMPLED, n_subsets=100), ALL)
    )
    assert covered(run, exact) >= 0.9 and run.info["n_valid_used"] == 120
    some = replace(ALL, valid_rows="auto", tolerance=0.3)
    some = value_cells(X, y, method=some, cv=3)
    assert some.info["n_valid_used"] < 120 and covered(some, exact) >= 0.9


def test_pools_change_no_bit():
    data, options = table(m=11), {"method": replace(SAMPLED, n_subsets=40)}
    plain = value_cells(*data, **options)
    with ThreadPoolExecutor(2) as pool:
        assert same_bits(value_cells(*data, cluster=pool, **options), plain)


def test_another_question_is_answered_from_the_start(tmp_path):
    data, path = table(m=11), tmp_path / "run.npz"
    coarse, finer = replace(SAMPLED, tolerance=0.2), replace(SAMPLED, tolerance=0.05)
    value_cells(*data, method=coarse, checkpoint=path)
    found = value_cells(*data, method=finer, checkpoint=path)
    assert same_bits(found, value_cells(*data, method=finer))
    with pytest.raises(InputError, match="valid_rows is all there and auto here"):
        value_cells(*data, method=replace(finer, valid_rows="auto"), checkpoint=path)


def test_ctrl_c_keeps_the_chunks_done(monkeypatch):
    data, real, calls = table(), KnnDraws.__call__, []

    def interrupted(self, *arguments, **given):
        calls.append(1)
        if len(calls) > 9:
            raise KeyboardInterrupt
        return real(self, *arguments, **given)

    exact = value_cells(*data, method=ALL)
    monkeypatch.setattr(KnnDraws, "__call__", interrupted)
    run = value_cells(*data, method=replace(SAMPLED, n_subsets=60))
    assert run.info["interrupted"] and not run.info["converged"]
    assert run.info["n_valid_used"] == 36
    assert covered(run, exact) >= 0.9
    calls[:] = [1] * 3
    with pytest.raises(KeyboardInterrupt):  # six chunks are too few to compare
        value_cells(*data, method=replace(SAMPLED, n_subsets=60))


def test_chunks_have_their_part_of_every_class():
    y = np.repeat([0, 1, 2], [60, 30, 6])
    chunks = deal(y, 16, np.random.default_rng(0))
    assert sorted(np.concatenate(chunks).tolist()) == list(range(96))
    counts = np.array([np.bincount(y[chunk], minlength=3) for chunk in chunks])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 2).all() and (counts[:, 2] == 1).all()
    assert {chunk.size for chunk in deal(np.arange(50.0), 7, np.random.default_rng(0))} <= {
        6,
        7,
    }


MEMORY = """
import resource, sys
from pathlib import Path
import numpy as np
from shapley2d import KNN, value_cells
from shapley2d._knn import neighbours

rng = np.random.default_rng(0)
X = rng.normal(size=(30_000, 12)).round(1)
y = (X[:, 0] + X[:, 1] > 0).astype(int)
data = X[:-2], y[:-2], X[-2:], y[-2:]
neighbours._NUMBERS = 2**20
method = KNN(n_neighbors=3, subsets="sampled", n_subsets=48)
value_cells(*data, method=method, progress=False, n_jobs=1)
status = Path("/proc/self/status").read_text().split()
used = 1024 * int(status[status.index("VmData:") + 1])
resource.setrlimit(resource.RLIMIT_DATA, (used + int(sys.argv[1]), -1))
value_cells(*data, method=replace(method, n_subsets=800), progress=False, n_jobs=1)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_subsets():
    """The odd parts of 30,000 x 800 row values would be 96 MB, and using them as much again."""
    command = [sys.executable, "-W", "ignore", "-c", MEMORY, str(100 * 2**20)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_all_validation_rows_are_used_where_a_sample_of_them_does_not_do():
    method = replace(SAMPLED, tolerance=0.02, valid_rows="auto")
    run = value_cells(*table(60, 11), method=method)
    assert run.info["n_valid_used"] == 64 and run.info["converged"]


@pytest.mark.slow
def test_errors_of_cells_that_one_chunk_decides_come_from_several_squares():
    data = table(n=40, m=8, n_valid=64)
    runs = [
        value_cells(*data, method=replace(SAMPLED, n_subsets=80), random_state=seed)
        for seed in range(8)
    ]
    spread = np.std([run.values for run in runs], axis=0, ddof=1)
    mean = np.sqrt(np.mean([run.stderr**2 for run in runs], axis=0))
    # the largest stated error is not far above what the largest is
    assert np.mean([run.stderr.max() for run in runs]) < 1.6 * mean.max()
    assert 0.7 < np.sqrt(np.mean(spread**2)) / np.sqrt(np.mean(mean**2)) < 1.3


def test_a_file_cannot_name_more_subsets_than_a_run_may_have():
    problem = make_problem(*table(m=30))
    draws = KNN().draws(problem, Run.create(progress=False))
    assert draws.at(draws.level).level == draws.level
    assert draws.at(1024).level == 1024
    with pytest.raises(ValueError, match="its draws have 1,099,511,627,776 column subsets"):
        draws.at(2**40)
