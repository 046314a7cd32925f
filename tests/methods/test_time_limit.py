"""A time limit ends a run as Ctrl-C does, whatever the method."""

import numpy as np
import pytest

from shapley2d import Exact, Forest, MonteCarlo, value_blocks, value_cells, value_game
from shapley2d._base.time_limit import TimeLimit
from shapley2d.exceptions import OutOfTimeError, PrecisionWarning
from tests.time_limits import TIGHT, CountedLimit, make_tables, same


@pytest.mark.parametrize(
    ("method", "shorter"),
    [
        (MonteCarlo("knn", tolerance=0), {"max_permutations": 9}),
        (Forest(tolerance=0), {"max_trees": 36}),  # in draws of four trees
    ],
)
def test_draws_that_fit_are_those_of_a_shorter_run(method, shorter):
    tables = make_tables(20, 3, 20)
    limited = value_cells(*tables, method=method, max_time=CountedLimit(9))
    whole = value_cells(*tables, method=method.but(**shorter))
    assert same(limited, whole)
    assert limited.info["time_up"]
    assert limited.info["max_time"] == 60
    assert not limited.info["interrupted"]
    assert "time_up" not in whole.info


def test_blocks_end_too():
    method, columns = MonteCarlo("knn", tolerance=0), list(range(16))  # too many for all subsets
    limited = value_blocks(
        *make_tables(12, 16, 20), method=method, columns=columns, max_time=CountedLimit(8)
    )
    assert limited.info["time_up"]
    assert np.isfinite(limited.stderr).all()
    owners = [{"owner": "A", "row": "0-29"}, {"owner": "B", "row": "30-59"}]
    with pytest.raises(OutOfTimeError, match="is over"):  # before the first subset
        value_blocks(*make_tables(), owners=owners, method="knn", max_time=TimeLimit(1.0, 0.0))


def test_there_is_a_checkpoint_even_where_there_is_no_answer(tmp_path):
    tables, path = make_tables(4, 3, 8), tmp_path / "exact.npz"
    with pytest.raises(OutOfTimeError, match="max_time=60 is over: there is no first result after"):
        value_cells(*tables, method=Exact("knn"), max_time=CountedLimit(1), checkpoint=path)
    assert path.exists()


def test_blocks_keep_half_of_the_time_for_other_validation_rows():
    tables = make_tables()
    owners = [{"owner": "A", "row": "a"}, {"owner": "B", "row": "b"}]
    asked = {"rows": ["a", "b"] * 30, "owners": owners, "parties": "anonymous"}
    whole = value_blocks(*tables, **asked)
    assert whole.info["valid_parts"] == 10
    same_again = value_blocks(*tables, max_time=3600, **asked)
    assert same(whole, same_again)
    assert same_again.info["valid_parts"] == 10
    with pytest.warns(PrecisionWarning, match="too little time for other validation rows"):
        late = value_blocks(*tables, max_time=CountedLimit(20), **asked)
    assert late.info["valid_parts"] is None
    stopped = value_blocks(*tables, max_time=CountedLimit(8, TIGHT), **asked)
    assert stopped.info["time_up"]
    assert stopped.info["intervals"] == "sampling, of validation rows too"


def test_games_end_too():
    method = MonteCarlo(tolerance=0)
    limited = value_game(lambda S, F: S[0] * F.sum(), 4, 3, method=method, max_time=CountedLimit(8))
    assert limited.info["time_up"]
    assert limited.info["n_permutations"] == 8
    with pytest.raises(OutOfTimeError):  # no errors by fewer
        value_game(lambda S, F: S[0] * F.sum(), 4, 3, method=method, max_time=CountedLimit(7))
