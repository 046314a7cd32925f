"""A time limit ends a run as Ctrl-C does, and what would not fit is sampled with honest errors."""

import numpy as np
import pytest

from shapley2d import KNN, Exact, MonteCarlo, value_blocks, value_cells, value_game
from shapley2d._knn import options as knn_options
from shapley2d.exceptions import OutOfTimeError, PrecisionWarning
from tests.comparing import same_bits
from tests.time_limits import CountedLimit

TIGHT = 1e-6  # seconds: nothing fits


def make_tables(n_rows=60, n_columns=4, n_valid=96, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows + n_valid, n_columns))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * random.normal(size=len(X)) > 0).astype(int)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def interrupting(after):
    """A progress report that presses Ctrl-C once this many pieces were added."""
    calls = []

    def report(fraction, note):
        calls.append(fraction)
        if len(calls) == after:
            raise KeyboardInterrupt

    return report


def same(one, other):
    return same_bits(one, other) and one.dof == other.dof


@pytest.mark.parametrize("method", ["mc", "forest"])
def test_draws_that_fit_are_those_of_a_shorter_run(method):
    tables = make_tables(20, 3, 20)
    count = {"mc": "max_permutations", "forest": "max_trees"}[method]
    more = {"model": "knn"} if method == "mc" else {}
    limited = value_cells(*tables, method=method, tolerance=0, max_time=CountedLimit(7), **more)
    whole = value_cells(*tables, method=method, tolerance=0, **{count: 7}, **more)
    assert same(limited, whole)
    assert limited.info["time_up"]
    assert limited.info["max_time"] == 60
    assert not limited.info["interrupted"]
    assert "time_up" not in whole.info


def test_a_limit_that_is_long_enough_changes_nothing():
    tables = make_tables()
    limited = value_cells(*tables, max_time="1h")
    assert same(limited, value_cells(*tables))
    assert limited.info["time_up"] is False


def test_a_stopped_run_of_neighbours_has_the_bits_of_an_interrupted_one():
    tables = make_tables(n_columns=12)
    options = {"subsets": "sampled", "n_subsets": 64}
    limited = value_cells(*tables, max_time=CountedLimit(6), **options)
    with pytest.warns(PrecisionWarning, match="interrupted"):
        stopped = value_cells(*tables, progress=interrupting(6), **options)
    assert same(limited, stopped)
    assert limited.history == stopped.history
    assert (limited.info["time_up"], limited.info["interrupted"]) == (True, False)
    assert stopped.info["interrupted"]
    assert limited.info["n_valid_used"] < 96


def test_blocks_end_too():
    X, y, X_valid, y_valid = make_tables(12, 12, 20)
    limited = value_blocks(X, y, X_valid, y_valid, method=MonteCarlo("knn", tolerance=0), columns=list(range(12)), max_time=CountedLimit(2))  # fmt: skip
    assert limited.info["time_up"]
    assert np.isfinite(limited.stderr).all()


@pytest.mark.parametrize("options", [{"n_subsets": 64}, {"subsets": "all"}, {"tolerance": 0.04}])
def test_what_fits_are_the_first_pieces_of_the_same_list(options, tmp_path):
    tables, path = make_tables(n_columns=11), tmp_path / "run.npz"
    first = value_cells(*tables, max_time=CountedLimit(4, TIGHT), checkpoint=path, **options)
    assert first.info["time_up"]
    assert 0 < first.info["n_valid_used"] < 48
    further = value_cells(*tables, max_time=CountedLimit(4, TIGHT), checkpoint=path, **options)
    assert further.info["resumed_at"] == 4
    assert further.info["n_valid_used"] == 2 * first.info["n_valid_used"]
    last = value_cells(*tables, checkpoint=path, **options)
    assert "time_up" not in last.info
    at_once = value_cells(*tables, max_time=CountedLimit(1000, TIGHT), **options)
    assert same(last, at_once)
    assert same(last, value_cells(*tables, **options))
    assert at_once.info["n_valid_used"] == 96
    assert at_once.info["time_up"] is False


def test_a_sample_goes_on_where_time_is_too_short_for_all_subsets():
    tables, options = make_tables(20, 11, 16), {"tolerance": 1e-6, "progress": False}
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


def test_there_is_a_checkpoint_even_where_there_is_no_answer(tmp_path):
    tables, path = make_tables(4, 3, 8), tmp_path / "exact.npz"
    with pytest.raises(OutOfTimeError, match="max_time=60 is over: 1 min 0 s are too short"):
        value_cells(*tables, method=Exact("knn"), max_time=CountedLimit(1), checkpoint=path)
    assert path.exists()
    path = tmp_path / "knn.npz"
    with pytest.raises(OutOfTimeError):
        value_cells(*make_tables(n_columns=12), max_time=CountedLimit(1, TIGHT), checkpoint=path)
    assert path.exists()


def test_blocks_keep_half_of_the_time_for_other_validation_rows():
    tables = make_tables()
    asked = {
        "rows": ["a", "b"] * 30,
        "owners": [{"owner": "A", "row": "a"}, {"owner": "B", "row": "b"}],
    }
    asked["players"] = "cells"
    whole = value_blocks(*tables, **asked)
    assert whole.info["validation_groups"] == 10
    same_again = value_blocks(*tables, max_time=3600, **asked)
    assert same(whole, same_again)
    assert same_again.info["validation_groups"] == 10
    with pytest.warns(PrecisionWarning, match="too little time for other validation rows"):
        late = value_blocks(*tables, max_time=CountedLimit(20), **asked)
    assert late.info["validation_groups"] is None
    stopped = value_blocks(*tables, max_time=CountedLimit(8, TIGHT), **asked)
    assert stopped.info["time_up"]
    assert stopped.info["intervals"] == "sampling, of validation rows too"


def test_cross_valuation_of_many_rows_samples_its_validation_rows(monkeypatch):
    X, y, *_ = make_tables(400, 3)
    assert value_cells(X, y).info["n_valid_used"] == 400
    monkeypatch.setattr(knn_options, "CROSSED_ROWS", 300)
    sampled = value_cells(X, y, method=KNN(tolerance=0.2))
    assert sampled.info["n_valid_used"] < 400
    assert sampled.info["n_valid"] == 400
    assert same(sampled, value_cells(X, y, method=KNN(tolerance=0.2, valid_rows="auto")))
    assert (
        value_cells(X, y, method=KNN(tolerance=0.2, valid_rows="all")).info["n_valid_used"] == 400
    )
    tables = make_tables(400, 3)  # a table of validation rows is used whole
    assert value_cells(*tables).info["n_valid_used"] == 96
    owners = [{"owner": "A", "row": "0-199"}, {"owner": "B", "row": "200-399"}]
    assert value_blocks(X, y, owners=owners).info["n_valid_used"] == 400


def test_a_game_of_a_function_has_no_limit():
    with pytest.raises(TypeError, match="max_time"):
        value_game(lambda S, F: 0.0, 2, 2, max_time=1)


@pytest.mark.parametrize("semivalue", ["shapley", pytest.param("banzhaf", marks=pytest.mark.slow)])
def test_the_label_ends_in_time_and_its_intervals_hold(semivalue):
    held, sizes = [], []
    for seed in range(6):
        tables = make_tables(seed=seed)
        asked = {"include_label": True, "subsets": "all", "semivalue": semivalue}
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
