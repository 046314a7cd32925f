"""Inspections as users get them: ranked, in words, saved and loaded, repaired, shown."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inspected_table import people
from shapley2d import InputError, Inspection, Valuation, inspect_cells
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.page.payload import cells_to_list
from shapley2d._inspection.ranking import rank_cells
from shapley2d.exceptions import InputWarning

TABLE, LABEL = people()


@pytest.fixture(scope="module")
def inspection():
    return inspect_cells(TABLE, LABEL, progress=False)


def test_planted_errors_come_first_with_what_they_should_say(inspection):
    first = inspection.rank(8, details=True)
    found = list(zip(first["row"], first["column"], strict=True))
    assert {(5, "age"), (7, "city"), (9, "income"), (11, "code")} <= set(found)
    line = first.iloc[found.index((7, "city"))]
    assert (line["entry"], line["expected"]) == ("Brimingham", "Birmingham")
    assert "Birmingham" in line["likely"]
    age = first.iloc[found.index((5, "age"))]
    assert "far off for its row: expected" in age["why"]
    assert age["why"].count("%") >= 1
    assert age["expected"].isdecimal()  # whole numbers stay whole
    assert list(first["probability"]) == sorted(first["probability"], reverse=True)


def test_matrices_leave_the_label_out(inspection):
    n, m = TABLE.shape
    assert inspection.scores.shape == inspection.probability.shape == (n, m)
    assert inspection.label_scores.shape == inspection.label_probability.shape == (n,)
    assert inspection.label_name == "bought"
    assert inspect_cells(TABLE.iloc[:40], progress=False).label_scores is None


def test_expected_is_a_frame_of_the_same_kind_and_types(inspection):
    expected = inspection.expected
    assert list(expected.columns) == list(TABLE.columns)
    assert expected["age"].dtype.kind == "i" and expected["joined"].dtype.kind == "M"
    assert expected["senior"].dtype == bool
    days = (TABLE["joined"][5] - pd.Timestamp("2024-01-01")).days
    assert abs(expected["age"][5] - days / 10 - 20) < 6
    named = inspect_cells(TABLE.set_index(np.arange(100, 260)), LABEL.to_numpy(), progress=False)
    assert named.expected.index[0] == 100


def test_all_cells_as_a_frame(inspection):
    frame = inspection.to_frame()
    assert len(frame) == TABLE.shape[0] * (TABLE.shape[1] + 1)
    line = frame[(frame["row"] == 7) & (frame["column"] == "city")].iloc[0]
    assert (line["entry"], line["expected"]) == ("Brimingham", "Birmingham")


def test_cells_called_right_are_not_listed_again(inspection):
    first = rank_cells(inspection, 3)
    settled = inspection._settle(first[:1])
    assert rank_cells(settled, 2) == first[1:]
    changed = settled.repair(TABLE, n=3, y=LABEL)[0] != TABLE
    assert changed.to_numpy().any() and not changed.to_numpy()[first[0]]


def test_save_and_load(inspection, tmp_path):
    path = tmp_path / "cells.parquet"
    finding = ColumnFinding(
        ("age",), "codes", "column 'age' holds 433", np.array([5]), {5: "43"}, 0.5, np.array([0.5])
    )
    saved = dataclasses.replace(inspection, findings=[finding])._settle([(0, 0)])
    saved.save(path)
    loaded = Inspection.load(path)
    pd.testing.assert_frame_equal(loaded.rank(None), saved.rank(None))
    pd.testing.assert_frame_equal(loaded.expected, saved.expected)
    assert loaded.findings[0].suggestions == {5: "43"}
    assert loaded.findings[0].chances.tolist() == [0.5]
    assert loaded._settled == {(0, 0)}
    assert loaded._fingerprint == saved._fingerprint
    assert loaded.repair(TABLE, n=5)[1].equals(saved.repair(TABLE, n=5)[1])
    assert isinstance(Inspection.load(path, "polars").rank(), pl.DataFrame)
    first = " ".join(pq.read_table(path).column_names[:6])
    assert first == "row column content expected probability score"


def test_files_that_are_not_whole_are_refused_in_one_line(inspection, tmp_path):
    path = tmp_path / "cells.parquet"
    inspection.save(path)
    with pytest.raises(InputError, match="not a valuation saved by shapley2d"):
        Valuation.load(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="its checksum does not match"):
        Inspection.load(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(InputError, match="not an inspection saved by shapley2d"):
        Inspection.load(path)
    with pytest.raises(InputError, match="there is no file"):
        Inspection.load(tmp_path / "nowhere.parquet")


def as_kind(kind):
    return {
        "pandas": lambda: TABLE,
        "polars": lambda: pl.from_pandas(TABLE),
        "pyarrow": lambda: pa.Table.from_pandas(TABLE),
        "numpy": TABLE[["age", "income"]].to_numpy,
        "objects": TABLE.to_numpy,
    }[kind]()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy", "objects"])
def test_repairs_keep_kind_and_types_and_change_nothing_in_place(kind):
    X = as_kind(kind)
    copy = as_kind(kind) if kind != "pandas" else TABLE.copy()
    found = inspect_cells(X, LABEL.tolist(), progress=False)
    clean, log = found.repair(X, n=3)
    assert type(clean) is type(X)
    changed = log.to_pandas() if hasattr(log, "to_pandas") else log
    assert changed.columns.tolist() == ["row", "column", "before", "after", "why"]
    assert (changed["before"] != changed["after"]).all() and len(changed) >= 2
    if kind in ("numpy", "objects"):
        assert clean.dtype == X.dtype
        assert clean[5, 0] != 433 and X[5, 0] == 433
        places = zip(changed["row"], changed["column"].str[1:].astype(int), strict=True)
        same = {*np.ndindex(X.shape)} - {*places}
        assert all(
            clean[cell] == X[cell] or clean[cell] is X[cell] or clean[cell] != clean[cell]
            for cell in same
        )
        return
    as_pandas = {"pandas": lambda t: t}.get(kind, lambda t: t.to_pandas())
    before, after, was = as_pandas(X), as_pandas(clean).copy(), as_pandas(copy)
    pd.testing.assert_frame_equal(before, was)
    assert after.dtypes.tolist() == before.dtypes.tolist()
    assert after.loc[7, "city"] == "Birmingham" and after.loc[5, "age"] < 70
    typed = ("joined", "senior", "note")
    for row, column, text in zip(changed["row"], changed["column"], changed["after"], strict=True):
        assert column in typed or str(after.loc[row, column]) in (text, f"{text}.0")
        after.loc[row, column] = before.loc[row, column]
    pd.testing.assert_frame_equal(after, before)


def test_what_to_repair_can_be_said_in_many_ways(inspection, tmp_path):
    one, log = inspection.repair(TABLE, cells=[(7, "city")])
    assert one.loc[7, "city"] == "Birmingham" and len(log) == 1
    assert inspection.repair(TABLE, cells=[(7, "city", "Leeds")])[0].loc[7, "city"] == "Leeds"
    assert inspection.repair(TABLE, cells=[(5, "age", 33)])[0].loc[5, "age"] == 33
    assert inspection.repair(TABLE, cells=[(5, "age", 33.5)])[0]["age"].dtype == float
    assert pd.isna(inspection.repair(TABLE, cells=[(7, "city", None)])[0].loc[7, "city"])
    mask = np.zeros(TABLE.shape, dtype=bool)
    mask[7, 2] = True
    assert inspection.repair(TABLE, cells=mask)[0].equals(one)
    assert inspection.repair(TABLE, cells=log)[0].equals(one)
    finding = ColumnFinding(
        ("city",), "spellings", "'Brimingham' is 'Leeds'", np.array([7]), {7: "Leeds"}, 0.9
    )
    told = dataclasses.replace(inspection, findings=[finding])
    with pytest.warns(InputWarning, match="1 entry stays as it is: what it should say is not sure"):
        assert told.repair(TABLE, findings=[0])[1].empty  # the list says Birmingham
    cells = dataclasses.replace(inspection._cells, suggested={(7, 2): ("Leeds", 0.95)})
    told = dataclasses.replace(told, _cells=cells)
    assert told.repair(TABLE, findings=[0])[0].loc[7, "city"] == "Leeds"
    for options, words in (
        ({}, "needs to know what to change"),
        ({"cells": [(999, "city")]}, "there is no row 999"),
        ({"cells": [(7, "City")]}, r"there is no column 'City' \(did you mean 'city'\?\)"),
        ({"probability": 2}, "probability=2 must be a number from 0 to 1"),
        ({"n": -1}, "n=-1 must be a whole number"),
        ({"findings": [99]}, "findings=99 is not the position"),
        ({"cells": tmp_path / "nothing.csv"}, "there is no file"),
        ({"cells": np.zeros((3, 3), dtype=bool)}, r"has the shape \(3, 3\), but the table has"),
        ({"cells": log[["row"]]}, "has no column 'column': it needs row, column and perhaps after"),
        ({"cells": [(7,)]}, r"holds \(7,\), which is not \(row, column\) or \(row, column, ent"),
    ):
        with pytest.raises(InputError, match=words):
            inspection.repair(TABLE, **options)


def test_labels_worth_a_look_are_listed(inspection):
    probability = inspection.probability.copy()
    labels = np.full((len(probability), 1), 0.009)
    likeliest = int(inspection.label_probability.argmax())
    labels[likeliest] = 0.01
    cells = dataclasses.replace(inspection._cells, probability=np.hstack([probability, labels]))
    found = dataclasses.replace(inspection, _cells=cells)
    assert [one for one in cells_to_list(found, 200) if one[1] == 7] == [(likeliest, 7)]
    assert [one["row"] for one in found.to_dict()["labels"]] == [str(likeliest)]
    assert len(found.rank(20, labels=True)) == 20


def test_labels_are_repaired_where_they_are(inspection):
    found = inspect_cells(TABLE.assign(bought=LABEL), "bought", progress=False)
    flipped = LABEL.copy()
    flipped[20] = "no" if LABEL[20] == "yes" else "yes"
    wrong = inspect_cells(TABLE, flipped, progress=False)
    clean, y, log = wrong.repair(TABLE, y=flipped, cells=[(20, "bought")])
    assert y.equals(LABEL) and isinstance(y, pd.Series) and clean.equals(TABLE) and len(log) == 1
    assert wrong.repair(TABLE, cells=[(20, "bought")])[1].empty  # no labels were given to repair
    assert found._fingerprint == inspection._fingerprint


def test_another_table_is_refused(inspection):
    with pytest.raises(InputError, match="column 'age' is different"):
        inspection.repair(TABLE.assign(age=1), n=1)
    with pytest.raises(InputError, match="has 159 rows, but the table that was inspected had 160"):
        inspection.repair(TABLE.iloc[1:], n=1)
    with pytest.raises(InputError, match="has no column 'city'"):
        inspection.repair(TABLE.drop(columns="city"), n=1)
    with pytest.raises(InputError, match="y is not the table"):
        inspection.repair(TABLE, n=1, y=["yes"] * 160)


def test_words_for_people(inspection):
    assert "160 rows x 7 columns and the label 'bought'" in repr(inspection)
    assert "row 5, 'age': '433'" in repr(inspection)
    hostile = inspect_cells(TABLE.rename(columns={"city": "<b>city</b>"}), LABEL, progress=False)
    assert "&lt;b&gt;city" in hostile._repr_html_() and "<b>city" not in hostile._repr_html_()


def test_the_page_holds_the_first_suspects_only(inspection, tmp_path):
    inspection.to_html(tmp_path / "page.html", n=20, title="<i>What</i>")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>&lt;i&gt;What&lt;/i&gt;</title>" in page
    assert "http://" not in page and "https://" not in page
    assert "decided of the 20 listed here" in page


def test_crafted_records_are_refused_or_usable(tmp_path):
    """Any record under a valid checksum gives one line, or an inspection like any other."""
    import json

    from shapley2d._base.sealed_file import seal

    path = tmp_path / "cells.parquet"
    finding = ColumnFinding(("age",), "codes", "'age' holds 433", np.array([5]), {5: "43"}, 0.5)
    inspection = inspect_cells(TABLE.iloc[:30, :4], LABEL[:30], progress=False)
    cells = dataclasses.replace(inspection._cells, notes={(5, 0): "odd"})
    dataclasses.replace(inspection, _cells=cells, findings=[finding]).save(path)
    table = pq.read_table(path)
    record = json.loads(table.schema.metadata[b"shapley2d.inspection"])
    junk = [None, 10**30, "x", [[1]], {}, ["x"] * 8, [[9999, 0]]]
    refused = []
    for key in record:
        for value in junk:
            text = json.dumps(record | {key: value}).encode()
            pq.write_table(table.replace_schema_metadata({b"shapley2d.inspection": text}), path)
            seal(path)
            try:
                loaded = Inspection.load(path)
            except InputError as error:
                refused.append(str(error))
            else:
                loaded.rank(2), repr(loaded), loaded.to_html(tmp_path / "page.html", n=5)
    assert len(refused) > 60 and not any("\n" in words for words in refused)


def test_nothing_stands_out_is_the_headline_of_a_clean_table(tmp_path):
    random = np.random.default_rng(0)
    noise = random.normal(size=(200, 4))
    inspect_cells(noise, progress=False).to_html(tmp_path / "clean.html")
    noise[7, 2] = 1e4
    inspect_cells(noise, progress=False).to_html(tmp_path / "wrong.html")
    heads = [
        re.search("<h1><bdi>(.*?)</bdi>", (tmp_path / name).read_text())[1]
        for name in ("clean.html", "wrong.html")
    ]
    assert heads == ["Nothing stands out", "1 entry stands out, 97 % likely wrong"]


@pytest.mark.parametrize("kinds", ["text", ["age"], {"age": 5}])
def test_forged_kinds_are_refused_in_one_line(kinds, inspection, tmp_path):
    path = tmp_path / "cells.parquet"
    forged = dataclasses.replace(inspection, info={**inspection.info, "kinds": kinds})
    forged.save(path)
    with pytest.raises(InputError, match="is damaged: kinds in its record"):
        Inspection.load(path)


def test_two_versions_of_a_table_are_compared():
    X = pd.DataFrame({"height": [150.0 + k % 40 for k in range(80)]})
    X["weight"], X["number"] = X["height"] - 100, range(80)
    X.loc[7, "weight"] = 570.0
    edited = X.drop(index=3).reset_index(drop=True)
    edited.loc[6, "weight"] = 57.0  # row 7 of before, repaired
    edited.loc[20, "weight"] = 710.0  # row 21 was right
    edited.loc[79] = [1600.0, 60.0, 80]  # a new row
    before, after = (inspect_cells(one, progress=False) for one in (X, edited))
    moved = after.compare(before)
    named = ["row", "column", "entry_before", "entry"]
    assert moved[named].fillna("").values.tolist() == [
        [79, "height", "", "1600"], [20, "weight", "71", "710"], [6, "weight", "570", "57"]
    ]  # fmt: skip
    assert moved.before.isna().tolist() == (moved.row == 79).tolist()
    assert moved.before.iloc[-1] == before.probability[7, 1]
    assert moved.after.iloc[-1] == after.probability[6, 1]
    assert len(before.compare(before)) == 0
    with pytest.raises(InputError, match="compare needs another inspection"):
        after.compare(X)
