"""What makes large tables cheap to code, against what it stands for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapley2d import value_cells
from shapley2d._knn.grid import sorted_sum
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


def test_columns_that_lose_digits_are_named_in_one_note():
    random = np.random.default_rng(0)
    noisy = np.repeat([0.0, 1.0], 50)[:, None] + random.normal(size=(100, 2)) * 1e-13
    with pytest.warns(InputWarning, match="columns 'x0' and 'x1' have numbers") as caught:
        value_cells(noisy, np.tile([0, 1], 50), cv=4, progress=False)
    assert sum("differ by less than" in str(one.message) for one in caught) == 1  # of 4 folds
