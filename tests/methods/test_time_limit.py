"""A time limit ends a run as Ctrl-C does, whatever the method."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shapley2d import Exact, Forest, MonteCarlo, value_cells, value_fragments, value_game
from shapley2d._base.time_limit import TimeLimit
from shapley2d._trees.boosting import Boosting
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


class Product:
    """A game of somebody else's."""

    n_rows, n_columns = 4, 3

    def utilities(self, rows, columns):
        return rows.sum(axis=1)[:, None] * columns.sum(axis=1) * 1.0


def test_an_object_with_utilities_ends_between_two_rows_and_tells_the_pace():
    method, a_draw = MonteCarlo(tolerance=0), 1 + 5
    limited = value_game(Product(), 4, 3, method=method, max_time=CountedLimit(8 * a_draw + 3))
    assert limited.info["time_up"] and limited.info["n_permutations"] == 8
    with pytest.raises(OutOfTimeError, match=r"is over: .*; at this pace it takes "):
        value_game(Product(), 4, 3, method=method, max_time=CountedLimit(3 * a_draw + 2))


def test_contributors_end_between_two_trainings(monkeypatch, tmp_path):
    trained, predict = [], Boosting.predict

    def slow(self, held):
        trained.append(time.sleep(0.05))
        return predict(self, held)

    monkeypatch.setattr(Boosting, "predict", slow)
    X, y, X_valid, y_valid = make_tables(30, 3, 20)
    tables = [pd.DataFrame(X, columns=list("abc")).assign(y=y).iloc[k::5] for k in range(5)]
    asked = {"by": "column", "n_jobs": 1, "checkpoint": tmp_path / "c.npz", "max_time": 0.5}
    with pytest.raises(OutOfTimeError, match=r"max_time=0\.5 is over"):
        value_fragments(tables, "y", pd.DataFrame(X_valid, columns=list("abc")), y_valid, **asked)
    assert len(trained) <= 14  # a block of sets takes 16
