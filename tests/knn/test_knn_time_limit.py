"""Nearest neighbours in limited time: what would not fit is sampled, with honest errors."""

import time

import numpy as np
import pytest

from shapley2d import KNN, value_cells
from shapley2d._knn import method as knn_method
from shapley2d.exceptions import OutOfTimeError, PrecisionWarning
from tests.time_limits import TIGHT, CountedLimit, make_tables, same


def interrupting(after):
    """A progress report that presses Ctrl-C once this many pieces were added."""
    calls = []

    def report(fraction, note):
        calls.append(fraction)
        if len(calls) == after:
            raise KeyboardInterrupt

    return report


def test_a_limit_that_is_long_enough_changes_nothing():
    tables = make_tables()
    limited = value_cells(*tables, max_time="1h")
    assert same(limited, value_cells(*tables))
    assert limited.info["time_up"] is False


def test_a_stopped_run_of_neighbours_has_the_bits_of_an_interrupted_one():
    tables, method = make_tables(n_columns=12), KNN(subsets="sampled", n_subsets=64)
    limited = value_cells(*tables, method=method, max_time=CountedLimit(9))
    with pytest.warns(PrecisionWarning, match="interrupted"):
        stopped = value_cells(*tables, method=method, progress=interrupting(9))
    assert same(limited, stopped)
    assert limited.history == stopped.history
    assert (limited.info["time_up"], limited.info["interrupted"]) == (True, False)
    assert stopped.info["interrupted"]
    assert limited.info["n_valid_used"] < 96


@pytest.mark.parametrize("method", [KNN(n_subsets=64), KNN(subsets="all"), KNN(tolerance=0.04)])
def test_what_fits_are_the_first_pieces_of_the_same_list(method, tmp_path):
    tables, asked = make_tables(n_columns=11), {"method": method}
    kept = {"method": method, "checkpoint": tmp_path / "run.npz"}
    first = value_cells(*tables, max_time=CountedLimit(8, TIGHT), **kept)
    assert first.info["time_up"]
    assert 0 < first.info["n_valid_used"] <= 48
    further = value_cells(*tables, max_time=CountedLimit(8, TIGHT), **kept)
    assert further.info["resumed_at"] == 8
    assert further.info["n_valid_used"] == 2 * first.info["n_valid_used"]
    last = value_cells(*tables, **kept)
    assert "time_up" not in last.info
    at_once = value_cells(*tables, max_time=CountedLimit(1000, TIGHT), **asked)
    assert same(last, at_once)
    assert same(last, value_cells(*tables, **asked))
    assert at_once.info["n_valid_used"] == 96
    assert at_once.info["time_up"] is False


def test_a_sample_goes_on_where_time_is_too_short_for_all_subsets(monkeypatch):
    monkeypatch.setattr(knn_method, "FEW_TRIPLES", 0)
    tables, options = make_tables(20, 11, 16), {"method": KNN(tolerance=1e-6)}
    assert value_cells(*tables, **options).info["subsets"] == "all"
    assert value_cells(*tables, max_time="1h", **options).info["subsets"] == "all"
    limited = value_cells(*tables, max_time=CountedLimit(12, TIGHT), **options)
    assert limited.info["subsets"] == "sampled"
    assert limited.info["n_chunks"] == 12


@pytest.mark.parametrize(
    ("n_tables", "least"), [(12, 0.88), pytest.param(150, 0.93, marks=pytest.mark.slow)]
)
def test_intervals_of_a_stopped_run_hold_what_all_rows_say(n_tables, least):
    held = []
    for seed in range(n_tables):
        tables = make_tables(seed=seed)
        truth = value_cells(*tables)
        assert truth.exact
        limit = CountedLimit(8, TIGHT)
        found = value_cells(*tables, method=KNN(subsets="all"), max_time=limit, random_state=seed)
        assert 10 < found.info["n_valid_used"] < 60
        reach = found._interval_factor
        held.append(
            np.abs(found.column_values - truth.column_values) <= reach * found.column_stderr
        )
        held.append((np.abs(found.values - truth.values) <= reach * found.stderr).mean(axis=0))
    assert np.mean(held) >= least


def test_cross_valuation_of_many_rows_samples_its_validation_rows(monkeypatch):
    X, y, *_ = make_tables(400, 3)
    assert value_cells(X, y).info["n_valid_used"] == 400
    monkeypatch.setattr(knn_method, "CROSSED_ROWS", 300)
    sampled = value_cells(X, y, method=KNN(tolerance=0.2))
    assert sampled.info["n_valid_used"] < 400
    assert sampled.info["n_valid"] == 400
    assert same(sampled, value_cells(X, y, method=KNN(tolerance=0.2, valid_rows="auto")))
    every = value_cells(X, y, method=KNN(tolerance=0.2, valid_rows="all"))
    assert every.info["n_valid_used"] == 400
    tables = make_tables(400, 3)  # a table of validation rows is used whole
    assert value_cells(*tables).info["n_valid_used"] == 96


@pytest.mark.parametrize("semivalue", ["shapley", pytest.param("banzhaf", marks=pytest.mark.slow)])
def test_the_label_ends_in_time_and_its_intervals_hold(semivalue):
    held, sizes = [], []
    for seed in range(6):
        tables = make_tables(seed=seed)
        asked = {"method": KNN(subsets="all"), "include_label": True, "semivalue": semivalue}
        truth = value_cells(*tables, **asked)
        found = value_cells(*tables, max_time=CountedLimit(8, TIGHT), random_state=seed, **asked)
        assert found.info["time_up"]
        reach = found._interval_factor
        off = np.abs(found.values[:, -1] - truth.values[:, -1])
        held.append((off <= reach * found.stderr[:, -1]).mean())
        sizes.append([np.mean(off**2), np.mean(found.stderr[:, -1] ** 2)])
        held.append(
            abs(found.column_values[-1] - truth.column_values[-1])
            <= reach * found.column_stderr[-1]
        )
        sums = np.abs(found.row_values - truth.row_values)
        held.append((sums <= reach * found.row_stderr).mean())
    assert np.mean(held) >= 0.88
    actual, claimed = np.sqrt(np.mean(sizes, axis=0))
    assert 0.6 < actual / claimed < 1.5


def test_draws_under_way_are_dropped_when_time_is_up():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 12))
    method = KNN(subsets="all", n_neighbors=5)
    begin = time.monotonic()
    with pytest.raises(OutOfTimeError, match="is over"):
        value_cells(X, X[:, 0] > 0, X[:500], X[:500, 0] > 0, method=method, max_time=0.5, n_jobs=1)
    assert time.monotonic() - begin < 5
