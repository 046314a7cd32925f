"""What makes large tables cheap to code, against what it stands for."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapley2d._knn.grid import sorted_sum
from shapley2d._methods.knn.choices import KnnOptions
from shapley2d._methods.knn.game import SplitGame
from shapley2d._methods.knn.strata import deal_rows, in_turn
from shapley2d._methods.run import Run
from shapley2d._tables.problem import make_problem
from shapley2d._tables.table import Table
from shapley2d.exceptions import InputWarning


@given(st.lists(st.floats(-1e6, 1e6), max_size=200))
def test_sums_are_those_of_exact_arithmetic(numbers):
    exact = math.fsum(sorted(numbers))
    found = sorted_sum(np.sort(np.array(numbers, dtype=float)))
    assert found == pytest.approx(exact, rel=1e-15, abs=1e-300 + 1e-30 * sum(map(abs, numbers)))


def test_sums_of_many_numbers_have_the_bits_of_exact_arithmetic():
    random = np.random.default_rng(0)
    for _ in range(50):
        numbers = np.sort(random.normal(size=random.integers(1, 5000)) ** 3)
        assert sorted_sum(numbers) == math.fsum(numbers)


def test_every_row_is_dealt_once_and_strata_take_turns():
    random = np.random.default_rng(1)
    chunks = [deal_rows(random.integers(0, 2, size=n), 3, random) for n in (7, 10)]
    for rows, n in zip(chunks, (7, 10), strict=True):
        assert sorted(np.concatenate(rows).tolist()) == list(range(n))
    dealt = in_turn(chunks)
    assert [k for k, _ in dealt] == [0, 1, 0, 1, 0, 1, 1]
    assert all(chunk is chunks[k][[j for j, _ in dealt[:place]].count(k)]
               for place, (k, chunk) in enumerate(dealt))  # fmt: skip


def test_rows_of_the_users_table_are_taken_when_somebody_asks(monkeypatch):
    taken = []
    from shapley2d._tables import table as module

    real = module.native_rows
    monkeypatch.setattr(module, "native_rows", lambda *a: taken.append(1) or real(*a))
    native = pa.table({"a": [1, 2, 3, 4], "b": ["u", "v", "u", "v"]})
    problem = make_problem(native, [0, 1, 0, 1], cv=2)
    assert not taken
    split = problem.splits[0]
    last = split.train.take_rows(np.array([1]))
    assert not taken
    assert last.native.equals(native.take(split.rows[1:2]))
    taken.clear()
    assert split.train.native.equals(native.take(split.rows))
    assert split.train.native is split.train.native
    assert len(taken) == 1
    assert isinstance(split.train, Table)


def test_columns_that_lose_digits_are_named_in_one_note():
    random = np.random.default_rng(0)
    noisy = np.repeat([0.0, 1.0], 50)[:, None] + random.normal(size=(100, 2)) * 1e-13
    problem = make_problem(noisy, np.tile([0, 1], 50), cv=4)
    options = KnnOptions(10, "auto", "all", None, 0.05, "labels", "cpu", "exact")
    with pytest.warns(InputWarning, match="columns 'x0' and 'x1' have numbers") as caught:
        SplitGame.make(problem, Run.create(), options, "exact", small=True)
    assert sum("differ by less than" in str(one.message) for one in caught) == 1  # of 4 folds
