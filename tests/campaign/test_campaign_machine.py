"""The short form of the campaign's parts on tables, options and surroundings."""

import pytest

from .common import run_short
from .environments import ENVIRONMENTS, Environments
from .fuzz import Fuzz
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
    few = ("no home", "LANG=C", "20 columns", "python -OO")
    places = [list(ENVIRONMENTS).index(name) for name in few]
    outcomes = run_short("environments", Environments(tmp_path, only_cheap=True), places)
    assert sum(outcomes.values()) == len(few) and outcomes["as expected"] == len(few)
