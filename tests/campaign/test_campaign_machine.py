"""The short form of the campaign's parts on tables, options and surroundings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d import KNN, value_cells
from shapley2d.exceptions import InputError

from .common import quiet, run_short
from .environments import ENVIRONMENTS, Environments
from .fuzz import Fuzz, check
from .options import Options


def test_fuzzed_tables(tmp_path):
    outcomes = run_short("fuzz", Fuzz(tmp_path), range(60))
    assert outcomes["valued and compared"] > 5
    assert outcomes["command valued"] > 5


@pytest.mark.slow
def test_options_of_wrong_types(tmp_path):
    outcomes = run_short("options", Options(tmp_path), range(150))
    assert outcomes["refused"] > 50
    assert outcomes["command 2"] > 5


@pytest.mark.slow
def test_odd_surroundings(tmp_path):
    few = ("no home", "ASCII streams", "20 columns", "python -OO")
    places = [list(ENVIRONMENTS).index(name) for name in few]
    outcomes = run_short("environments", Environments(tmp_path, only_cheap=True), places)
    assert sum(outcomes.values()) == len(few) and outcomes["as expected"] == len(few)


entries = st.one_of(
    st.none(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=4),
    st.booleans(),
    st.dates(),
    st.decimals(),
)


@settings(max_examples=40)
@given(
    st.integers(4, 8).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(entries, min_size=n, max_size=n), min_size=1, max_size=3),
            st.lists(st.one_of(st.integers(0, 2), st.sampled_from("ab")), min_size=n, max_size=n),
        )
    )
)
def test_columns_of_anything(drawn):
    columns, y = drawn
    asked = {"method": KNN(n_neighbors=1), "progress": False}
    X = {f"c{j}": part for j, part in enumerate(columns)}
    try:
        v = quiet(value_cells, X, y, X, y, **asked)
    except InputError:
        return
    check(v)
    assert np.array_equal(v.values, quiet(value_cells, X, y, X, y, **asked).values)
