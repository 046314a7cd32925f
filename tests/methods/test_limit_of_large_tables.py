"""What a time limit does where a validation row takes seconds, by the numbers it is told."""

import numpy as np
import pytest

from shapley2d import value_cells
from shapley2d._methods.knn import in_time
from shapley2d.exceptions import OutOfTimeError
from tests.methods.test_time_limit import make_tables
from tests.time_limits import CountedLimit


def slow_rows(monkeypatch, seconds):
    """A validation row under 96 subsets of 12 columns takes this long, it is said."""
    monkeypatch.setattr(in_time, "pace_of_sample", lambda *_: seconds / (60 * 96))


def test_a_limit_that_is_too_short_is_refused_at_once(monkeypatch):
    slow_rows(monkeypatch, 20.0)  # two rounds of one row: 2 x 2.5 x 20 s, or 36 / 96 of that
    with pytest.raises(OutOfTimeError, match=r"a first result takes about 1 min 3[78] s"):
        value_cells(*make_tables(n_columns=12), max_time=CountedLimit(50, left=0.0))


def test_rounds_have_three_subsets_to_a_column_where_few_fit(monkeypatch):
    tables = make_tables(n_columns=12)
    slow_rows(monkeypatch, 2.0)
    short = value_cells(*tables, max_time=CountedLimit(6, left=40.0))
    assert short.info["n_subsets"] == 36
    assert "caveat" not in short.info
    assert np.isfinite(short.stderr).all()
    slow_rows(monkeypatch, 1.0)
    longer = value_cells(*tables, max_time=CountedLimit(6, left=80.0))
    assert longer.info["n_subsets"] == 96  # 16 rounds of 2.5 s fit
