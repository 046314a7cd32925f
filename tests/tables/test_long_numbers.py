"""Whole numbers beyond 2^53: read wherever they come from, never made equal in silence."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import KNN, InputError, value_cells
from shapley2d._tables.column_warnings import warn_of_reading
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
    with pytest.raises(InputError, match="y holds a number beyond 1e\\+70, too large to square"):
        as_target([10**400, 1, 2, 3], table, "regression")


def csv(path, accounts):
    rows = [f"{account},{k * k % 7},{'uv'[k % 2]}" for k, account in enumerate(accounts)]
    path.write_text("\n".join(["account,a,y", *rows]))
    return str(path)


@pytest.mark.parametrize("digits", [17, 19, 20, 38, 60])
def test_account_numbers_are_taken_for_a_key(tmp_path, capsys, digits):
    table = csv(
        tmp_path / "t.csv",
        [10 ** (digits - 1) + 10 ** (digits - 3) * (k * 7 % 30) for k in range(30)],
    )
    assert main(["cells", table, "-t", "y"]) == 0
    _, err = capsys.readouterr()
    assert "may be keys: 'account' (30 different numbers in 30 rows)" in err
    assert "--drop-keys" in err
    assert main(["cells", table, "-t", "y", "--id", "account"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert str(10 ** (digits - 1))[:8] in out


def test_keys_are_found_by_all_their_digits(tmp_path, capsys):
    table = csv(
        tmp_path / "t.csv", [FIRST + k * 7 % 30 for k in range(30)]
    )  # half of them as float64
    assert main(["cells", table, "-t", "y"]) == 0
    _, err = capsys.readouterr()
    assert "may be keys: 'account' (30 different numbers in 30 rows)" in err


def test_repeated_account_numbers_are_no_key_but_stay_apart_or_are_named(tmp_path, capsys):
    assert main(["cells", csv(tmp_path / "t.csv", NEAR * 6), "-t", "y"]) == 0
    _, err = capsys.readouterr()
    assert "keys:" not in err
    assert "4 distinct numbers become 2 after rounding" in err


def test_account_numbers_as_the_target(tmp_path, capsys):
    table = csv(tmp_path / "t.csv", [10**30 + k % 2 for k in range(24)])
    assert main(["cells", table, "-t", "account"]) == 0
    assert "(classification)" in capsys.readouterr().out


def test_the_values_are_those_of_the_numbers_apart():
    X = np.array([[FIRST + 1000 * k, k % 3] for k in range(12)])
    y = [0, 1] * 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = value_cells(
            pa.table({"a": X[:, 0], "b": X[:, 1]}),
            y,
            method=KNN(n_neighbors=3),
            cv=2,
            progress=False,
        )
        near = value_cells(
            np.column_stack([X[:, 0] - FIRST, X[:, 1]]),
            y,
            method=KNN(n_neighbors=3),
            cv=2,
            progress=False,
        )
    np.testing.assert_allclose(wide.values, near.values, atol=1e-3)
