"""A time limit ends a run as Ctrl-C does, whatever the method."""

from dataclasses import replace

import numpy as np
import pytest

from shapley2d import Exact, Forest, MonteCarlo, value_cells, value_game
from shapley2d._base.time_limit import TimeLimit
from shapley2d.exceptions import OutOfTimeError
from tests.time_limits import CountedLimit, make_tables, same


@pytest.mark.parametrize(
    ("method", "shorter"),
    [
        (MonteCarlo("knn", tolerance=0), {"max_draws": 9}),
        (Forest(tolerance=0), {"max_draws": 36}),  # in draws of four trees
    ],
)
def test_draws_that_fit_are_those_of_a_shorter_run(method, shorter):
    tables = make_tables(20, 3, 20)
    limited = value_cells(*tables, method=method, max_time=CountedLimit(9))
    whole = value_cells(*tables, method=replace(method, **shorter))
    assert same(limited, whole)
    assert limited.info["time_up"]
    assert limited.info["max_time"] == 60
    assert not limited.info["interrupted"]
    assert "time_up" not in whole.info


def test_groups_end_too():
    method, columns = MonteCarlo("knn", tolerance=0), list(range(16))  # too many for all subsets
    limited = value_cells(
        *make_tables(12, 16, 20), method=method, column_groups=columns, max_time=CountedLimit(8)
    )
    assert limited.info["time_up"]
    assert np.isfinite(limited.stderr).all()
    asked = {"row_groups": [0] * 30 + [1] * 30, "max_time": TimeLimit(1.0, 0.0)}
    with pytest.raises(OutOfTimeError, match="is over"):  # before the first subset
        value_cells(*make_tables(), **asked)


def test_there_is_a_checkpoint_even_where_there_is_no_answer(tmp_path):
    tables, path = make_tables(4, 3, 8), tmp_path / "exact.npz"
    with pytest.raises(OutOfTimeError, match="max_time=60 is over: there is no first result after"):
        value_cells(*tables, method=Exact("knn"), max_time=CountedLimit(1), checkpoint=path)
    assert path.exists()


def test_games_end_too():
    method, a_draw = MonteCarlo(tolerance=0), 1 + 4 * 3  # and before every call of the function
    limit = CountedLimit(8 * a_draw + 3)
    limited = value_game(lambda S, F: S[0] * F.sum(), 4, 3, method=method, max_time=limit)
    assert limited.info["time_up"]
    assert limited.info["n_permutations"] == 8
    with pytest.raises(OutOfTimeError):  # no errors by fewer
        limit = CountedLimit(8 * a_draw - 1)
        value_game(lambda S, F: S[0] * F.sum(), 4, 3, method=method, max_time=limit)
