"""No order of rows or columns and no mirrored column changes a score."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d import inspect_cells
from shapley2d._inspection.own_order import OwnOrder
from shapley2d._tables.convert import as_table
from tests.inspection.test_inspect_table import columns as any_columns
from tests.inspection.test_inspect_table import inspect
from tests.inspection.test_suggestions import german


def make_data(seed, n=60):
    """Every kind of column, with gaps, text among numbers, ties, equal rows and equal columns."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n).round(1)
    gaps = rng.random((2, n)) < 0.1
    amount = [f"{x:.0f}" for x in 10 * size + rng.normal(size=n)]
    amount[3] = "many"
    data = {
        "size": np.where(gaps[0], np.nan, size),
        "again": np.where(gaps[0], np.nan, size),
        "level": rng.integers(0, 3, n) + (size > 0),
        "evenly": rng.permutation(n) - (n - 1) / 2,  # its own mirror image, but not with the others
        "side": np.where(gaps[1], None, rng.choice(["a", "b", "c"], n)).tolist(),
        "day": np.datetime64("2024-01-01") + (30 * size).astype("timedelta64[D]"),
        "flag": (rng.random(n) < 0.5).tolist(),
        "amount": amount,
    }
    data = {name: list(entries) for name, entries in data.items()}
    for entries in data.values():
        entries[10:14] = [entries[10]] * 4
    y = np.where(size + rng.normal(size=n) > 0, "yes", "no")
    y[10:14] = y[10]
    return data, y


def check_same(one, other, rows=None, order=None, *, turned=()):
    """The second inspection has the first one's answers, row by row and column by column."""
    n, p = one.scores.shape
    rows = np.arange(n) if rows is None else rows
    order = np.arange(p) if order is None else order
    cells = np.ix_(rows, order)
    np.testing.assert_allclose(other.scores, one.scores[cells], rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.probability, one.probability[cells], rtol=0, atol=1e-12)
    for place, j in enumerate(order):
        sign = -1.0 if j in turned else 1.0
        before, after = one.expected[j], other.expected[place]
        pairs = [("entries", "entries"), ("low", "low"), ("high", "high"), ("chances", "chances")]
        if sign < 0:
            pairs = [("entries", "entries"), ("low", "high"), ("high", "low")]
        for name, its in pairs:
            if getattr(before, name) is None:
                continue
            np.testing.assert_allclose(
                getattr(after, its), sign * getattr(before, name)[rows], rtol=0, atol=1e-9
            )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("labelled", [False, True])
def test_order_changes_nothing(seed, labelled):
    data, y = make_data(seed)
    names = list(data)
    rng = np.random.default_rng(seed)
    rows, order = rng.permutation(len(y)), rng.permutation(len(names))
    other = {names[j]: [data[names[j]][i] for i in rows] for j in order}
    both = (inspect(data, y), inspect(other, y[rows])) if labelled else map(inspect, (data, other))
    check_same(*both, rows, np.append(order, len(names)) if labelled else order)


@pytest.mark.parametrize("name", ["size", "again", "level", "evenly"])
def test_mirroring_a_column_changes_nothing(name):
    data, y = make_data(4)
    mirrored = {**data, name: [-x for x in data[name]]}
    check_same(inspect(data, y), inspect(mirrored, y), turned=[list(data).index(name)])


def test_mirroring_around_any_number_and_the_target_changes_no_score():
    data, _ = make_data(5)
    price = np.nan_to_num(data["size"]) * 3 + np.random.default_rng(0).normal(size=60)
    mirrored = {**data, "level": [7 - x for x in data["level"]]}
    one, other = inspect(data, price), inspect(mirrored, 100 - price)
    np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=1e-12)
    j = list(data).index("level")
    np.testing.assert_array_equal(one.expected[j].entries, 7 - other.expected[j].entries)


def test_equal_rows_have_equal_answers():
    data, y = make_data(7)
    found = inspect(data, y)
    assert (found.scores[10:14] == found.scores[10]).all()
    for expected in found.expected:
        assert np.unique(expected.entries[10:14]).size == 1


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")
@settings(max_examples=25)
@given(st.lists(any_columns, min_size=1, max_size=4), st.integers(0, 2**32))
def test_order_changes_nothing_in_any_table(entries, seed):
    n = min(len(one) for one in entries)
    data = {f"c{k}": pa.array(one[:n]) for k, one in enumerate(entries)}
    rng = np.random.default_rng(seed)
    rows, order = rng.permutation(n), rng.permutation(len(entries))
    there = pa.table({f"c{k}": data[f"c{k}"].take(pa.array(rows)) for k in order})
    one, other = inspect(pa.table(data)), inspect(there)
    check_same(one, other, rows, order)


def test_the_table_in_its_own_order_holds_the_same_entries():
    """Undoing the order gives the given entries; equal rows are next to each other."""
    data, _ = make_data(8)
    table = as_table(data)
    order = OwnOrder.of(table.columns, len(table.columns))
    assert sorted(order.row_places.tolist()) == list(range(60))
    assert sorted(order.column_places.tolist()) == list(range(len(data)))
    for column, j, sign in zip(order.columns, order.column_places, order.signs, strict=True):
        given_entries = table.columns[j].entries[order.row_places]
        np.testing.assert_array_equal(sign * column.entries, given_entries)
    firsts = order.row_places[order.alike]
    for name in data:
        assert [data[name][i] for i in firsts] == pytest.approx(
            [data[name][i] for i in order.row_places], nan_ok=True
        )
    assert np.unique(firsts).size == 57


def clinics(n=200):
    """Texts with findings: broken rules, rare spellings, words for missing, a code for missing."""
    rng = np.random.default_rng(3)
    towns = np.array(["Boston", "Birmingham", "Dothan", "Sheffield"])
    place = rng.integers(0, 4, n)
    beds = rng.integers(14, 400, n)
    table = {
        "zip": [f"{10_000 + 7 * k}" for k in place],
        "town": towns[place].tolist(),
        "beds": beds.tolist(),
        "nurses": (3 * beds + rng.integers(0, 30, n)).tolist(),
        "rate": [f"{k:.1f} %" for k in rng.normal(60, 9, n)],
    }
    table["town"][5], table["town"][9], table["town"][17] = "Boxton", "N/A", "Dothan"
    table["zip"][20], table["rate"][30], table["rate"][31] = "10x07", "n/a", "61,3"
    for row in (50, 61, 72, 83):
        table["beds"][row] = 0
    return table


@pytest.mark.parametrize("make", [clinics, lambda: german()[0]])
def test_order_changes_no_finding_no_probability_and_no_suggestion(make):
    """The whole list of tables of texts, with what the findings say."""
    data = make()
    names, n = list(data), len(next(iter(data.values())))
    rng = np.random.default_rng(1)
    rows, order = rng.permutation(n), rng.permutation(len(names))
    other = {names[j]: [data[names[j]][i] for i in rows] for j in order}
    found = []
    for X, places in ((data, np.arange(n)), (other, rows)):
        seen = inspect_cells(X, progress=False, n_jobs=1)
        cells = seen._cells
        found.append(
            {
                "findings": {
                    (one.kind, one.columns, tuple(sorted(places[one.rows].tolist())))
                    for one in seen.findings
                },
                "cells": {
                    (int(places[i]), name): (
                        round(float(cells.probability[i, j]), 9),
                        cells.expected_text(i, j),
                        round(cells.suggestion_probability(i, j), 6),
                    )
                    for j, name in enumerate(cells.names)
                    for i in range(n)
                },
            }
        )
    assert len(found[0]["findings"]) >= 4
    assert found[0] == found[1]
