"""Whole numbers beyond 2^53: read wherever they come from, never made equal in silence."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import InputError
from shapley2d._tables.column_warnings import find_keys, warn_of_reading
from shapley2d._tables.convert import as_table
from shapley2d._tables.target import as_target
from shapley2d.cli import main
from shapley2d.exceptions import InputWarning

FIRST = 12345678901234567
NEAR = [FIRST + k for k in range(4)]  # two of them for every float64
APART = [FIRST + 100 * k for k in range(4)]

FRAMES = {
    "array": lambda whole: np.array([whole]).T,
    "unsigned": lambda whole: np.array([whole], dtype=np.uint64).T,
    "lists": lambda whole: [[item] for item in whole],
    "objects": lambda whole: np.array([whole], dtype=object).T,
    "pandas": lambda whole: pd.DataFrame({"x0": whole}),
    "pandas nullable": lambda whole: pd.DataFrame({"x0": pd.array(whole, dtype="Int64")}),
    "pandas with pyarrow": lambda whole: pd.DataFrame(
        {"x0": pd.array(whole, dtype="int64[pyarrow]")}
    ),
    "pandas objects": lambda whole: pd.DataFrame({"x0": pd.array(whole, dtype=object)}),
    "polars": lambda whole: pl.DataFrame({"x0": whole}),
    "polars, 128 bits": lambda whole: pl.DataFrame({"x0": pl.Series(whole, dtype=pl.Int128)}),
    "pyarrow": lambda whole: pa.table({"x0": whole}),
    "pyarrow unsigned": lambda whole: pa.table({"x0": pa.array(whole, pa.uint64())}),
    "pyarrow decimal": lambda whole: pa.table({"x0": pa.array(whole).cast(pa.decimal128(38, 0))}),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_long_numbers_are_read(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = as_table(make(APART))
        warn_of_reading(table)
    assert table.columns[0].kind == "number"
    assert table.columns[0].entries.tolist() == [float(item) for item in APART]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_numbers_that_become_equal_are_named(make):
    with pytest.warns(
        InputWarning,
        match=r"X: column 'x0' holds whole numbers of 17 digits.* 4 distinct .* 2 after rounding:",
    ):
        warn_of_reading(as_table(make(NEAR)))


def test_contents_keep_all_their_digits():
    assert as_table({"a": NEAR}).columns[0].text() == [str(number) for number in NEAR]


def test_missing_entries_beside_long_numbers():
    table = as_table(pa.table({"a": pa.array([APART[0], None])}))
    assert np.isnan(table.columns[0].entries).tolist() == [False, True]


def test_numbers_beyond_any_float_are_refused():
    with pytest.raises(InputError, match=r"column 'x0' holds a number beyond 1e\+150"):
        as_table([[10**400], [1]])


def test_labels_stay_apart():
    table = as_table(np.zeros((4, 1)))
    for y in (NEAR, np.array(NEAR), pa.array(NEAR), [10**40 + k for k in range(4)]):
        assert as_target(y, table).classes.size == 4
    with pytest.raises(InputError, match=r"column 'y' holds a number beyond 1e\+150"):
        as_target([10**400, 1, 2, 3], table, "regression")


@pytest.mark.parametrize(
    ("accounts", "is_key"),
    [
        ([FIRST + k * 7 % 30 for k in range(30)], True),  # half of them as float64
        ([10**37 + 10**35 * (k * 7 % 30) for k in range(30)], True),
        (NEAR * 6, False),
    ],
)
def test_account_numbers_are_a_key_by_all_their_digits(accounts, is_key):
    a = [k * k % 7 for k in range(len(accounts))]
    for texts in (accounts, [*map(str, accounts)]):  # as a file has them
        found = find_keys(as_table({"account": texts, "a": a}))
        assert [key.name for key in found] == ["account"] * is_key


def test_account_numbers_as_the_target(tmp_path, capsys):
    lines = [f"{10**30 + k % 2},{k * k % 7},{k % 5}" for k in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["account,a,b", *lines]))
    assert main(["cells", str(tmp_path / "t.csv"), "-t", "account"]) == 0
    assert "(classification)" in capsys.readouterr().out
