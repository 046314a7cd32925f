"""Near copies: the distance of two rows is the mean over columns that the documentation says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shapley2d._market.copies.rows import find_copies
from shapley2d._tables.convert import as_table
from shapley2d._tables.target import as_target


def clusters(frame, distance, labels=None):
    table = as_table(frame)
    labels = labels if labels is not None else ["a"] * (len(frame) - 1) + ["b"]
    return find_copies(table, as_target(labels, table), distance)


def mean_distances(frame):
    """By the definition, for columns of numbers that nothing is cut of, and of words."""
    total = np.zeros((len(frame), len(frame)))
    for name in frame:
        column = frame[name]
        gone = column.isna().to_numpy()
        if pd.api.types.is_numeric_dtype(column):
            x = column.to_numpy(dtype=float)
            apart, gap = (x[:, None] - x[None]) ** 2 / (2 * np.var(x[~gone])), 1.0
        else:
            x = column.to_numpy(dtype=object)
            apart = (x[:, None] != x[None]).astype(float)
            gap = 1 - float((column.value_counts(normalize=True) ** 2).sum())
        apart = np.where(gone[:, None] != gone[None], gap, apart)
        total += np.where(gone[:, None] & gone[None], 0.0, apart)
    return total / frame.shape[1]


@pytest.mark.parametrize("distance", [0.05, 0.2, 0.26, 0.5, 0.8])
def test_near_copies_are_those_within_the_mean_distance(distance):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 4, 40).astype(float),
            "b": rng.integers(0, 6, 40).astype(float),
            "c": rng.choice(["x", "y", "z"], 40),
            "d": rng.integers(0, 3, 40).astype(float),
        }
    ).mask(rng.random((40, 4)) < 0.15)
    labels = rng.integers(0, 2, 40)
    near = (mean_distances(frame) <= distance) & (labels[:, None] == labels[None])
    groups = []  # in order, every row joins the first group of which it is near all rows
    codes = frame.apply(lambda column: pd.factorize(column)[0]).assign(label=labels)
    same = codes.apply(tuple, axis=1)
    for row in range(40):
        twin = [group for group in groups if any(same[row] == same[other] for other in group)]
        if twin:  # an equal row decided already
            twin[0].append(row)
            continue
        free = [group for group in groups if near[row, group].all()]
        free[0].append(row) if free else groups.append([row])
    expected = np.zeros(40, dtype=int)
    for number, group in enumerate(groups):
        expected[group] = number
    np.testing.assert_array_equal(clusters(frame, distance, labels), expected)


def test_a_gap_is_one_random_row_away():
    """In a row of four columns it counts a quarter beside any number, be it far from the others."""
    same = np.arange(12.0) % 3
    frame = pd.DataFrame({name: same.copy() for name in "abcd"})
    frame.loc[:1, ["b", "c", "d"]] = 0.0
    frame["a"] = [np.nan, 9.0, *np.arange(10.0)]
    found = clusters(frame, 0.2501)
    assert found[0] == found[1]
    assert clusters(frame, 0.2499)[0] != clusters(frame, 0.2499)[1]


def test_a_gap_in_a_category_is_the_chance_of_a_mismatch_away():
    frame = pd.DataFrame({"a": [None, "x", "x", "y", "y"], "b": [1.0, 1.0, 2.0, 3.0, 4.0]})
    assert clusters(frame, 0.2501)[0] == clusters(frame, 0.2501)[1]  # 1/2 in one of two columns
    assert clusters(frame, 0.2499)[0] != clusters(frame, 0.2499)[1]
