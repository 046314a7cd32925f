"""Owners: regions of any shape, the coarsest grid that respects them, and who gets what."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from shapley2d import Exact, InputError, MonteCarlo, value_blocks
from shapley2d._market.owners import FIELDS, UNOWNED, AxisNames, read_claims
from shapley2d._market.regions import cut_grid, find_regions
from shapley2d._market.report.owners import owners_part
from shapley2d.exceptions import InputWarning

NAMES = ["age", "income", "spend", "visits"]


def table(seed=0, n=40):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 4)), columns=NAMES)
    return X, (X["age"] + X["spend"] > 0).astype(int)


def valued(owners, **options):
    X, y = table()
    X_valid, y_valid = table(1, 60)
    return value_blocks(
        X, y, X_valid, y_valid, owners=owners, parties="known", **{"method": "knn", **options}
    )


FOUR = [
    {"owner": "Bank A", "row": "0-19", "column": "age;income"},
    {"owner": "Bank B", "row": "20-39", "column": "age;income"},
    {"owner": "Shop A", "row": "0-19", "column": "spend;visits"},
    {"owner": "Shop B", "row": "20-39", "column": "spend;visits"},
]


def by_owner(v):
    return dict(zip(v.owners["owner"], v.owners["value"], strict=True))


def test_owners_of_a_partition_share_the_whole_utility():
    v, labels = (
        valued(FOUR, method=MonteCarlo(GaussianNB()), baseline=one) for one in ("zero", "labels")
    )
    assert v.shape == (2, 2) and v.info["method"] == "exact"
    score, constant = (
        model.fit(*table()).score(*table(1, 60)) for model in (GaussianNB(), DummyClassifier())
    )
    assert sum(by_owner(v).values()) == pytest.approx(score)
    assert labels.total == pytest.approx(score - constant)
    assert labels.info["baseline_utility"] == pytest.approx(constant)
    assert v.row_names.tolist() == ["rows 0-19", "rows 20-39"]
    assert v.column_names == ["age + income", "spend + visits"]
    assert v.owners["n_cells"].tolist() == [40.0] * 4


@pytest.mark.usefixtures("always_sampled")
@pytest.mark.parametrize(
    "method", [Exact("knn"), MonteCarlo("knn", max_permutations=30, tolerance=0)]
)
def test_merging_two_owners_adds_their_values(method):
    before = by_owner(valued(FOUR, method=method))
    renamed = [
        {**line, "owner": line["owner"].replace("Bank A", "Bank").replace("Bank B", "Bank")}
        for line in FOUR
    ]
    after = by_owner(valued(renamed, method=method))
    assert after["Bank"] == pytest.approx(before["Bank A"] + before["Bank B"])
    assert after["Shop A"] == pytest.approx(before["Shop A"])


def test_the_groups_of_rows_keep_the_grid_when_owners_merge():
    rows = np.repeat(["r", "s", "t"], [10, 10, 20])
    lines = [{"owner": name, "row": label} for name, label in (("A", "r"), ("B", "s"), ("C", "t"))]
    before = by_owner(valued(lines, rows=rows))
    as_one = [{**line, "owner": line["owner"].replace("B", "A")} for line in lines]
    merged = valued(as_one, rows=rows)
    assert merged.shape == (3, 1) and merged.row_names.tolist() == ["r", "s", "t"]
    assert by_owner(merged)["A"] == pytest.approx(before["A"] + before["B"])


@pytest.mark.usefixtures("always_sampled")
def test_the_error_of_an_owner_comes_from_the_draws_of_its_sum():
    method = MonteCarlo("knn", max_permutations=40, tolerance=0)
    options = {"method": method, "rows": np.arange(40) % 3, "columns": NAMES, "valid_parts": 0}
    v = valued([{"owner": "all"}], **options)
    # every permutation gives the same total, however much the blocks vary
    assert v.stderr.max() > 0 and v.owners["stderr"][0] == pytest.approx(0, abs=1e-12)
    halves = valued([{"owner": "x", "column": "age"}, {"owner": "y", "column": "income;spend;visits"}],
                    **options)  # fmt: skip
    assert halves.owners["stderr"][0] == pytest.approx(halves.owners["stderr"][1])
    one, two = halves._payee_errors.spread.T  # draws that were not seen are added to each
    one, both = one @ one, one @ two
    assert both < 0 and -both == pytest.approx(one, rel=0.2)
    assert halves.owners["stderr"][0] == pytest.approx(halves.column_stderr[0], rel=0.1)


@pytest.mark.slow
def test_the_error_of_the_validation_rows_is_that_of_a_mean_over_them():
    X, y = table()
    X_valid, y_valid = table(1, 300)
    v = value_blocks(X, y, X_valid, y_valid, owners=[{"owner": "all"}], method="knn", valid_parts=50)  # fmt: skip
    asked = {"rows": ["all"] * 40, "parties": "known", "method": "knn", "valid_parts": 0}
    per_row = [
        value_blocks(X, y, X_valid.iloc[[t]], y_valid.iloc[[t]], **asked).total for t in range(300)
    ]
    assert v.owners["stderr"][0] == pytest.approx(np.std(per_row) / np.sqrt(300), rel=0.25)


@pytest.mark.parametrize("parts", [1, 61, 2.5])
def test_impossible_parts_of_the_validation_rows(parts):
    with pytest.raises(InputError, match=f"valid_parts={parts} must be a whole number"):
        valued(FOUR, valid_parts=parts)


def test_irregular_regions_make_the_coarsest_grid_and_share_blocks():
    claims = [("L", "0-1", ""), ("L", "2-3", "a"), ("M", "1-2", "a;b")]
    lines = read_claims([dict(zip(FIELDS, claim, strict=True)) for claim in claims])
    grid, ownership = cut_grid(find_regions(lines, range(5), list("abcd")), range(5), list("abcd"))
    assert grid.rows.labels.tolist() == [0, 1, 2, 3, 4]
    assert grid.columns.labels.tolist() == [0, 1, 2, 2]
    assert ownership.names == ["L", "M", UNOWNED]
    whole = ownership.shares[:, grid.rows.labels][:, :, grid.columns.labels]
    rows = [[1, 1, 1, 1], [0.5, 0.5, 1, 1], [0.5, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert whole[0].tolist() == rows
    np.testing.assert_allclose(whole.sum(axis=0), 1)


def test_rows_listed_one_by_one_are_one_group():
    lines = [{"owner": "A" if i % 2 else "B", "row": i, "column": None} for i in range(40)]
    v = valued(lines)
    assert v.shape == (2, 1)
    assert v.row_names.tolist() == ["20 rows from 0 to 38", "20 rows from 1 to 39"]


@given(data=st.data())
def test_every_cell_keeps_its_owners_and_no_two_groups_are_alike(data):
    n, m, k = 6, 4, 3
    lines, held = [], np.zeros((k, n, m), dtype=bool)
    for _ in range(data.draw(st.integers(1, 6))):
        owner = data.draw(st.integers(0, k - 1))
        rows = data.draw(st.lists(st.integers(0, n - 1), max_size=n))
        columns = data.draw(st.lists(st.integers(0, m - 1), max_size=m))
        lines.append({"owner": f"o{owner}", "row": rows or "", "column": columns or ""})
        held[owner, np.array(rows or range(n))[:, None], np.array(columns or range(m))] = True
    grid, ownership = cut_grid(
        find_regions(read_claims(lines), range(n), list("abcd")), range(n), list("abcd")
    )
    shares = ownership.shares[:, grid.rows.labels][:, :, grid.columns.labels]
    for name, share in zip(ownership.names, shares, strict=True):
        expected = ~held.any(axis=0) if name == UNOWNED else held[int(name[1])]
        np.testing.assert_array_equal(share > 0, expected)
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    blocks = np.moveaxis(ownership.shares, 0, 2)
    assert len({line.tobytes() for line in blocks}) == len(blocks)
    assert (
        len({line.tobytes() for line in np.ascontiguousarray(blocks.swapaxes(0, 1))})
        == blocks.shape[1]
    )


@pytest.mark.filterwarnings("ignore:A and B both claim 20 cells")
@pytest.mark.parametrize(
    "kind", ["list", "dict", "pandas", "polars", "pyarrow", "csv", "semicolons"]
)
def test_owners_come_in_any_kind_of_table(kind, tmp_path):
    columns = {
        "owner": ["A", "B", "B"],
        "row": ["0-19", "20-39", None],
        "column": [None, "age", "visits"],
    }
    records = [
        dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)
    ]
    path = tmp_path / "owners.csv"
    separator = ";" if kind == "semicolons" else ","
    pd.DataFrame(columns).to_csv(path, index=False, sep=separator)
    owners = {
        "list": records,
        "dict": columns,
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
        "csv": path,
        "semicolons": str(path),
    }[kind]
    v = valued(owners)
    assert v.shape == (2, 3) and v._owner_names == ["A", "B", UNOWNED]
    assert v._owner_shares[1].tolist() == [[0, 0, 0.5], [1, 0, 1]]


def test_a_frame_that_holds_whole_numbers_beside_gaps():
    frame = pd.DataFrame({"owner": ["A", "B"], "row": [3, np.nan], "column": ["", "age"]})
    grid, _ = cut_grid(find_regions(read_claims(frame), range(5), NAMES), range(5), NAMES)
    assert grid.rows.labels.tolist() == [0, 0, 0, 1, 0]


def test_rows_are_found_by_label_then_name_then_position():
    named = AxisNames("row", ["ann", "bob", "cy"])
    assert named.find("bob", "").tolist() == [1] and named.find(2, "").tolist() == [2]
    assert named.find("0-1", "").tolist() == [0, 1] and named.find("ann; cy", "").tolist() == [0, 2]
    numbered = AxisNames("row", [10, 11, 12, 10])
    assert numbered.find(10, "").tolist() == [0, 3]
    assert numbered.find("11-12", "").tolist() == [1, 2]
    assert AxisNames("column", ["1", "2", "3", "4"]).find("1-2", "").tolist() == [0, 1]
    with pytest.raises(InputError, match="there is no row '2'"):
        numbered.find(2, "line 4")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "owner,row,column\nA,0-19,\nB,99,\n",
            "line 3: there is no row '99': the table's rows count from 0 to 39",
        ),
        ("owner,row,column\nA,,\n\nB,,shoe\n", "line 4: there is no column 'shoe'"),
        ("owner,row,column\nA,30-50,\n", "line 2: there is no row '30-50'"),
        ("owner,row,column\nA,9-3,\n", "line 2: there is no row '9-3'"),
        ("owner,row,column\n,3,\n", "line 2: the owner is empty"),
        ("owner,row,column\n(unowned),3,\n", "line 2: an owner cannot be called"),
        (
            "who,row,column\nA,3,\n",
            "column 'who' is not known: the columns are owner, row and column",
        ),
        ("row,column\n3,\n", "there is no column 'owner'"),
        ("owner,rows,column\nA,3,\n", "column 'rows' is not known"),
        ("owner,row\nA,1,2\n", "line 2: 3 fields, but the header has 2"),
        ("owner,row,column\n", "has a header but no rows"),
    ],
)
def test_contradictions_name_the_line_of_the_file(text, message, tmp_path):
    path = tmp_path / "owners.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        valued(path)


@pytest.mark.parametrize(
    ("owners", "message"),
    [
        (
            [{"owner": "A", "row": 1}, {"owner": "B", "row": 77}],
            "owners, line 2: there is no row '77'",
        ),
        ([{"owner": None}], "owners, line 1: the owner is empty"),
        ("nowhere.csv", "there is no file nowhere.csv"),
        ("branch", "owners='branch' is no file of owners; .*, give owner_column='branch'"),
        ({"owner": ["A"], "row": [1, 2]}, "must be a frame or a CSV file"),
        ([1, 2], "must be a frame or a CSV file"),
        ([], "no lines"),
    ],
)
def test_contradictions_in_frames(owners, message):
    with pytest.raises(InputError, match=message):
        valued(owners)


def test_a_file_in_another_encoding_is_read_with_a_warning(tmp_path):
    path = tmp_path / "owners.csv"
    path.write_bytes("owner,row,column\nMüller,,\n".encode("latin-1"))
    with pytest.warns(
        InputWarning, match="is not UTF-8 .first in line 2.: read as cp1252"
    ) as caught:
        v = valued(path)
    assert v._owner_names == ["Müller"]
    assert caught[0].filename == __file__


def test_a_line_break_in_a_quoted_name_stays(tmp_path):
    path = tmp_path / "owners.csv"
    path.write_text('owner,row,column\n"Ann\nand Bob",0-9,\nCy,,nowhere\n')
    with pytest.raises(InputError, match="line 4: there is no column 'nowhere'"):
        valued(path)
    path.write_text('owner,row,column\n"Ann\nand Bob",0-9,\nCy,10-39,\n')
    assert valued(path)._owner_names == ["Ann\nand Bob", "Cy"]


def test_group_labels_name_cut_groups():
    rows = np.repeat(["north", "south"], 20)
    claims = [{"owner": "A", "row": "0-9"}, {"owner": "B", "row": "south"}]
    claims.append({"owner": "B", "row": "10-19", "column": "age"})
    v = valued(claims, rows=rows)
    assert v.row_names.tolist() == ["north (rows 0-9)", "north (rows 10-19)", "south"]
    assert v.column_names == ["all columns"]  # B is one player, whatever columns its rows have
    assert by_owner(v)[UNOWNED] == pytest.approx(0.75 * v.values[1, 0])  # and has one of four there
    assert v.payments(100)["amount"].tolist()[2] == 0


def test_nobody_is_several_players_by_claims_of_other_columns():
    """Every third row without another column: one player, paid for the cells that it claims."""
    claims = [{"owner": "A", "row": list(range(k, 18, 3)), "column": columns}
              for k, columns in enumerate((["age"], ["age", "visits"], ""))]  # fmt: skip
    claims.append({"owner": "B", "row": "18-39"})
    v = valued(claims)
    one = valued([{"owner": "A", "row": "0-17"}, claims[-1]])
    np.testing.assert_allclose(v.values.ravel(), one.values.ravel(), atol=1e-12)
    cells = (1 + 2 + 4) / 12
    assert by_owner(v)["A"] == pytest.approx(cells * v.values[0, 0])
    # so in rows of which others have columns, too
    claims = [*FOUR[1:], {**FOUR[0], "column": "age"}, {**FOUR[0], "row": [0, 7, 9]}]
    v, whole = valued(claims), valued(FOUR)
    np.testing.assert_allclose(v.values, whole.values, atol=1e-12)
    assert by_owner(v)["Bank A"] == pytest.approx((20 + 3) / 40 * by_owner(whole)["Bank A"])


def test_rows_that_nobody_claims_are_refused_or_left_out_of_everything():
    X, y = table()
    owners = [{"owner": "A", "row": "0-9"}, {"owner": "B", "row": "14-33"}]
    asked = {"cv": 3, "groups": np.arange(len(X)) % 6, "progress": False, "method": "knn"}
    message = "nobody claims row 10 and 9 more rows, .* in owners, or set unclaimed='drop' to leave"
    with pytest.raises(InputError, match=message):
        value_blocks(X, y, owners=owners, **asked)
    v = value_blocks(X, y, owners=owners, unclaimed="drop", **asked)
    kept = np.r_[0:10, 14:34]
    alone = [{"owner": "A", "row": "0-9"}, {"owner": "B", "row": "10-29"}]
    asked["groups"] = asked["groups"][kept]
    again = value_blocks(
        X.iloc[kept].reset_index(drop=True), y.iloc[kept].to_list(), owners=alone, **asked
    )
    assert by_owner(v) == pytest.approx(by_owner(again)) and UNOWNED not in by_owner(v)
    with pytest.raises(InputError, match="unclaimed='keep' is not known"):
        value_blocks(X, y, owners=owners, unclaimed="keep", cv=3)


@pytest.mark.filterwarnings("ignore:the 95 % interval:shapley2d.exceptions.PrecisionWarning")
def test_a_polars_table_gets_polars_payments():
    X, y = table()
    v = value_blocks(pl.from_pandas(X), y.to_list(), owners=[{"owner": "A", "column": "age"}, {"owner": "B", "column": "income;spend"}], cv=3, parties="anonymous")  # fmt: skip
    paid = v.payments(99.99, trusted=True)
    assert isinstance(paid, pl.DataFrame)
    assert paid.columns == ["owner", "value", "amount", "low", "high"]
    assert sum(round(100 * amount) for amount in paid["amount"]) == 9999


@pytest.mark.parametrize(
    "name", ["B\u0430nk", "\u0392ank", "B\u1ea1nk", "Bank\u200b", "bank", "Bank\u00a0"]
)
def test_names_that_look_alike_are_warned_of(name):
    owners = [{"owner": "Bank", "row": "0-19"}, {"owner": name, "row": "20-39"}]
    if name.strip() == "Bank":  # spaces at the ends are no part of a name
        assert valued(owners)._owner_names == ["Bank"]
        return
    with pytest.warns(InputWarning, match="owners 'Bank' and .* look alike, but are two"):
        v = valued(owners)
    assert "look alike, but are two" in owners_part(v, None).content["alike"][0]  # on the page


def test_text_that_an_owner_writes_among_numbers_is_said_in_one_line():
    (X, y), (X_valid, y_valid) = table(), table(1, 60)
    X = X.round(1).astype({"age": object})
    X.loc[:9, "age"] = "about 1"
    owners = [{"owner": "A", "row": "0-9"}, {"owner": "B", "row": "10-39"}]
    said = r"column 'age' holds numbers, but .* text is among them \('about 1'\), .* remove that"
    with pytest.warns(InputWarning, match=said):
        value_blocks(X, y, X_valid.round(1), y_valid, owners=owners, method="knn", progress=False)
