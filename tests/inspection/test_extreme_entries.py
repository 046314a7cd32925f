"""Entries of any length and size are inspected in time, and never replaced by half of a text."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from shapley2d import inspect_cells
from shapley2d._inspection.columns.find import find_in_columns
from shapley2d._tables.convert import as_table
from shapley2d._tables.texts.numbers import LONGEST

N_ROWS = 60


def table(entries):
    numbers = np.random.default_rng(0).normal(size=N_ROWS).round(3)
    return pd.DataFrame({"number": numbers, "extreme": entries})


def digits(length):
    rng = np.random.default_rng(1)
    return ["".join(rng.choice(list("0123456789"), length)) for _ in range(N_ROWS)]


@pytest.mark.parametrize(
    "entries",
    [
        np.full(N_ROWS, np.inf),
        np.full(N_ROWS, 1e308),
        np.where(np.arange(N_ROWS) % 2, np.inf, np.nan),
        np.random.default_rng(2).random(N_ROWS) * 1e308,
        ["1e308"] * N_ROWS,
    ],
    ids=["infinite", "huge", "infinite or missing", "different", "as text"],
)
def test_columns_without_any_usable_number_are_inspected_and_repaired(entries, tmp_path):
    X = table(entries)
    found = inspect_cells(X, progress=False)
    assert np.isfinite(found.probability).all()
    found.save(tmp_path / "found.parquet")
    repaired, _ = type(found).load(tmp_path / "found.parquet").repair(X, n=1)
    assert repaired.shape == X.shape


@pytest.mark.parametrize(
    "entries",
    [digits(30_000), ["1," * (20_000 + k) for k in range(N_ROWS)]],
    ids=["digits", "lists"],
)
def test_endless_entries_are_text_and_take_no_time(entries):
    X = table(entries)
    assert as_table(X).columns[1].kind == "category"
    started = time.perf_counter()
    inspect_cells(X, progress=False)
    assert time.perf_counter() - started < 30  # once 70 s and more, with a regular expression


def test_one_endless_entry_among_numbers_is_of_another_type():
    entries = [*map(str, range(N_ROWS - 1)), "1" * (LONGEST + 1)]
    column = as_table({"a": entries}).columns[0]
    assert column.kind == "number"
    assert list(column.from_text.strays) == [N_ROWS - 1]
    entries[-1] = "1" * 100
    assert not as_table({"a": entries}).columns[0].from_text.strays


def test_endless_text_is_neither_replaced_nor_suggested():
    usual = "a rose is " * (LONGEST // 5)
    entries = [usual] * 30 + ["another " * 200] * 29 + [usual.replace("rose", "rise", 1)]
    for finding in find_in_columns(as_table(table(entries))):
        assert not finding.suggestions


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-300, 1e-310, 5e-324])
def test_numbers_near_zero_are_expected_as_such(scale):
    X = table(np.random.default_rng(3).integers(1, 90, N_ROWS) * scale)
    found = inspect_cells(X, progress=False)
    assert found.expected["extreme"].notna().all()
    repaired, _ = found.repair(X, n=3)
    assert repaired["extreme"].between(0, 90 * scale).all()


def test_findings_quote_at_most_80_characters_of_a_name():
    X = {"n" * 5000: ["12.0 oz", "12.0 oz.", "16.0 oz", "12.0 ounce"] * 5}
    (found,) = find_in_columns(as_table(X))
    assert found.columns == ("n" * 5000,)
    assert "n" * 79 + "…" in found.text
    assert "n" * 80 not in found.text
