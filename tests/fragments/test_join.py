"""Fragments are joined by id and name; whatever does not fit is told in one line that says what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from tiny_fragments import QUIET, tiny, value

from shapley2d import KNN, Exact, Forest, MonteCarlo, value_fragments
from shapley2d.exceptions import InputError, InputWarning, OutOfTimeError

FRAGMENTS, Y, VALID = tiny()
BANK, SHOP, OFFICE = FRAGMENTS.values()


def with_ids(parts):
    return {name: part.reset_index(names="id") for name, part in parts.items()}


IDS = with_ids(FRAGMENTS)
FIRST = repr(str(BANK.index[2]))


def of(**changes):
    return {**FRAGMENTS, **changes}


def of_ids(**changes):
    return {**IDS, **changes}


def ids(*entries):
    """The bank's rows with some other ids first."""
    found = IDS["Bank"].astype({"id": object})
    found.loc[: len(entries) - 1, "id"] = list(entries)
    return found


CLAIMS = pd.DataFrame({"owner": ["A", "B"], "row": ["", ""], "column": ["age", "debt"]})
BAD = {
    "no id column": (of_ids(Bank=BANK), {"on": "id"}, "Bank has no id column 'id': it has 'age', 'debt'"),
    "another id column": (IDS, {"on": "idd"}, r"Bank has no id column 'idd' \(did you mean 'id'\?\)"),
    "nothing says which row": (
        {name: pl.from_pandas(one) for name, one in IDS.items()}, {},
        "Bank does not say which row is which: name the id column by on, such as 'id'",
    ),
    "ids twice": (
        of_ids(Bank=ids(101, 101)), {"on": "id"},
        "Bank: the id '101' stands in . rows.*: give each row an id of its own, or drop",
    ),
    "no id": (
        of_ids(Bank=ids(101, None)), {"on": "id"},
        r"Bank has no id in 1 row, first in row 2 \(counted from 1\): fill it, or drop that row",
    ),
    "blank id": (of_ids(Bank=ids("a", " ").astype({"id": str})), {"on": "id"}, "Bank has no id in 1 row, first in row 2"),
    "only ids": (of_ids(Shop=IDS["Shop"][["id"]]), {"on": "id"}, "Shop has no columns besides the ids: leave this file out"),
    "other ids": (
        of(Bank=BANK.set_axis([f"x{k}" for k in range(len(BANK))])), {},
        "Bank has no id in common with the labels: its first is 'x0', theirs '...'; name the id",
    ),
    "no label": (FRAGMENTS, {"y": Y.set_axis([f"x{k}" for k in range(len(Y))])}, "no id in common with the labels.*theirs 'x0'"),
    "labels without ids": (IDS, {"on": "id", "y": list(Y)}, "y does not say which label is whose: pass a series with the ids"),
    "text and numbers": (
        of(Shop=SHOP.assign(debt="much")), {},
        "column 'debt' holds numbers in Bank and text in Shop: give both the same type, or set kinds={'debt': 'text'}",
    ),
    "text and dates": (
        of(Bank=BANK.assign(day=pd.Timestamp("2024-02-29")), Shop=SHOP.assign(day="soon")), {},
        "column 'day' holds dates in Bank and text in Shop",
    ),
    "two entries": (
        of(Bank=BANK.assign(debt=BANK["debt"] + 0.5)), {},
        r"contributors disagree about \d+ cells: 'debt' of '\d+' is '.\.5' in Bank and '.' in Shop; correct it, or set disagree='first' to take the first one's entry or disagree='missing' to take none",
    ),
    "two days": (
        of(Bank=BANK.assign(day=pd.Timestamp("2024-02-29")), Shop=SHOP.assign(day=pd.Timestamp("2024-03-01"))), {},
        "is '2024-02-29' in Bank and '2024-03-01' in Shop",
    ),
    "nobody": ({}, {}, "there are no contributors: to compare what each is worth takes at least two"),
    "one": ([BANK], {}, "there is 1 contributor: to compare"),
    "one table": (BANK, {}, "fragments must be a dict or a list of tables or paths, .*; one assembled table needs owners"),
    "an empty name": ({"": BANK, "Shop": SHOP}, {}, "a contributor has an empty name: name it"),
    "one name twice": ({1: BANK, "1": SHOP}, {}, "fragments has two names that read the same: rename one"),
    "a column less": (FRAGMENTS, {"X_valid": VALID.drop(columns="debt")}, "X_valid lacks the column 'debt', which Bank holds: add it, or drop"),
    "no target": (FRAGMENTS, {"X_valid": VALID.drop(columns="late")}, "X_valid has no target 'late': add it as a column, or give y_valid"),
    "only y_valid": (FRAGMENTS, {"X_valid": None, "y_valid": VALID["late"]}, "y_valid needs a validation table X_valid"),
    "only weights": (FRAGMENTS, {"X_valid": None, "valid_weight": [1]}, "valid_weight needs a validation table X_valid"),
    "no weight": (FRAGMENTS, {"valid_weight": np.zeros(len(VALID))}, "valid_weight is 0 in every row"),
    "nobody has the target": (FRAGMENTS, {"y": "lat"}, "no fragment holds the target 'lat': give the labels apart, by labels"),
    "labels without it": (IDS, {"on": "id", "y": "lat", "labels": Y.rename_axis("id").reset_index()}, r"labels has no column 'lat' \(did you mean 'late'\?\)"),
    "labels twice": (FRAGMENTS, {"labels": Y.to_frame()}, "labels are given, so y must be the name of their column"),
    "labels only": ({"A": Y.to_frame(), "B": Y.to_frame()}, {"y": "late"}, "the fragments hold labels only"),
    "one class": (FRAGMENTS, {"y": Y * 0}, "y holds a single class"),
    "AUC of one class": (FRAGMENTS, {"X_valid": VALID.assign(late=0), "scoring": "roc_auc"}, "scoring='roc_auc' needs two classes, and validation rows of both: use scoring='probability'"),
    "AUC by weights": (FRAGMENTS, {"valid_weight": np.array(VALID["late"] == 0, float), "scoring": "roc_auc"}, "validation rows of both"),
    "AUC of three classes": (FRAGMENTS, {"y": Y.where(Y.index % 3 > 0, 2), "scoring": "roc_auc"}, "needs two classes"),
    "unknown method": (FRAGMENTS, {"method": "bosting"}, "method='bosting' is not known: did you mean 'boosting'?"),
    "unknown by": (FRAGMENTS, {"by": "columns"}, "by='columns' is not known: did you mean 'column'?"),
    "unknown disagree": (FRAGMENTS, {"disagree": "last"}, "disagree='last' is not known: use one of 'error', 'first', 'missing'"),
    "unknown score": (FRAGMENTS, {"scoring": "auc"}, "scoring='auc' is not known: did you mean 'roc_auc'?"),
    "own score": (FRAGMENTS, {"scoring": max}, "must be a name: a mean over validation rows has intervals; use one of 'probability'"),
    "score of numbers": (FRAGMENTS, {"scoring": "r2"}, "scoring='r2' is not known"),
    "no NaN": (FRAGMENTS, {"method": LogisticRegression()}, r"LogisticRegression refuses missing entries, but cells that are left out are missing: say what to put there, as in method=make_pipeline\(SimpleImputer\(\), LogisticRegression\(\)\)"),
    "no NaN by name": (FRAGMENTS, {"method": "logistic_regression"}, r"make_pipeline\(SimpleImputer\(\), LogisticRegression\(\)\)"),
    "built in without NaN": (FRAGMENTS, {"method": "ridge"}, "method='ridge' does not take missing entries: use one of 'boosting', 'hist_gradient_boosting', 'tree'"),
    "naive Bayes": (FRAGMENTS, {"method": MonteCarlo("gaussian_nb")}, "method='gaussian_nb' does not take missing entries: use one of 'boosting'"),
    "neighbours": (FRAGMENTS, {"method": "knn"}, "method='knn' does not take missing entries: use one of 'boosting'"),
    "own neighbours": (FRAGMENTS, {"method": KNN(3)}, r"method=KNN\(n_neighbors=3\) values cells: of contributors use method='boosting'"),
    "regressor": (FRAGMENTS, {"method": Ridge()}, r"method=Ridge\(\) is a regressor, but the task is classification: pass a classifier"),
    "no model": (FRAGMENTS, {"method": 3}, "method=3 is not a scikit-learn estimator: pass an instance"),
    "class": (FRAGMENTS, {"method": KNN}, r"method is the class KNN: make one, KNN\(\)"),
    "forest": (FRAGMENTS, {"method": Forest()}, "values cells: of contributors use method='boosting', or Exact or MonteCarlo with a model"),
    "options of cells": (FRAGMENTS, {"method": MonteCarlo("tree", truncation=0.1)}, "has options of cells: of contributors only the model, tolerance and max_draws count"),
    "few orders": (FRAGMENTS, {"method": MonteCarlo("tree", max_draws=2)}, "max_draws=2 is too few for intervals: allow at least 8"),
    "many sets": (dict.fromkeys(range(25), BANK), {"y": Y[BANK.index], "method": Exact("tree")}, "takes all sets of 25 contributors, which are too many: use MonteCarlo, which samples orders"),
    "unknown kind": (FRAGMENTS, {"kinds": {"agee": "text"}}, "there is no column 'agee' .*did you mean 'age'"),
    "no time": (FRAGMENTS, {"max_time": 1e-9}, "max_time=1e-09 is too short: a first result takes about .*; allow more time, or ask for less"),
    "owners of another shape": (BANK, {"owners": np.full((3, 2), "A")}, r"owners has the shape \(3, 2\), but the table has \(20, 2\): pass one name for every cell, or claims"),
    "unknown row": (BANK, {"owners": CLAIMS.assign(row="zz")}, "owners: claim 1, of 'A', names the row 'zz', which is not an id of the table"),
    "unknown column": (BANK, {"owners": CLAIMS.assign(column="ag")}, r"owners: claim 1, of 'A', names the column 'ag' \(did you mean 'age'\?\)"),
    "claim of nobody": (BANK, {"owners": CLAIMS.assign(owner=["A", None])}, "owners: claim 2 .* has no owner: name it"),
    "claims of no column": (BANK, {"owners": CLAIMS[["owner", "row"]]}, "owners must have the columns 'owner', 'row' and 'column': it has 'owner', 'row'"),
    "one owner": (BANK, {"owners": CLAIMS.assign(owner="A")}, "there is 1 contributor"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")
@pytest.mark.parametrize("what", BAD)
def test_what_does_not_fit_is_told_in_one_line(what):
    fragments, options, message = BAD[what]
    asked = {"y": Y, "X_valid": VALID, **QUIET, **options}
    with pytest.raises((InputError, OutOfTimeError), match=message) as caught:
        value_fragments(fragments, **asked)
    assert "\n" not in str(caught.value)


def test_the_pipeline_of_that_line_works():
    assert value(FRAGMENTS, Y, VALID, method=make_pipeline(SimpleImputer(), LogisticRegression()))


def test_labels_and_rows_that_have_no_partner_are_counted():
    with pytest.warns(
        InputWarning, match="2 labels of 32 are for no row of any fragment, first '901'"
    ):
        more = value(FRAGMENTS, pd.concat([Y, pd.Series([0, 1], [901, 902])]).rename("late"), VALID)
    np.testing.assert_array_equal(more.values, value(FRAGMENTS, Y, VALID).values)
    with pytest.warns(InputWarning, match="2 rows of 30 have no label and are left out, first"):
        fewer = value(FRAGMENTS, Y[2:], VALID)
    kept = {name: one[one.index.isin(Y.index[2:])] for name, one in FRAGMENTS.items()}
    np.testing.assert_array_equal(fewer.values, value(kept, Y[2:], VALID).values)


def test_a_cell_with_two_entries():
    shared = BANK["debt"].dropna().index.intersection(SHOP.index)[:3]
    other = SHOP.copy()
    other.loc[shared, "debt"] = 77.0
    third = BANK.loc[shared, ["debt"]] * 0 + 88
    parts = {"Bank": BANK, "Shop": other, "Third": third, "Office": OFFICE}
    agreeing = other.copy()
    agreeing.loc[shared, "debt"] = np.nan
    with pytest.warns(InputWarning, match="about 3 cells: .*: the first one's entry counts"):
        first = value(parts, Y, VALID, disagree="first")
    alike = value({**parts, "Shop": agreeing, "Third": third * np.nan}, Y, VALID)
    np.testing.assert_array_equal(first.values, alike.values)
    gone = BANK.copy()
    gone.loc[shared, "debt"] = np.nan
    with pytest.warns(InputWarning, match="about 3 cells: .*: no entry counts"):
        missing = value(parts, Y, VALID, disagree="missing")
    office = OFFICE.copy()
    office.loc[office.index.isin(shared), "debt"] = np.nan  # nobody's entry counts
    without = {"Bank": gone, "Shop": agreeing, "Third": third * np.nan, "Office": office}
    alike = value({**parts, **without}, Y, VALID)
    np.testing.assert_array_equal(missing.values, alike.values)
    with pytest.raises(InputError, match="about 3 cells"):
        value(parts, Y, VALID)


def test_the_same_entry_in_another_writing_is_the_same(tmp_path):
    whole = value(FRAGMENTS, Y, VALID)
    texts = SHOP["debt"].map(lambda x: "" if np.isnan(x) else f"{x:.2f}")  # 5.00 and 5
    SHOP.assign(debt=texts).rename_axis("id").to_csv(tmp_path / "Shop.csv")
    BANK.assign(debt=BANK["debt"].astype("Int64")).rename_axis("id").to_csv(tmp_path / "Bank.csv")
    OFFICE.rename_axis("id").to_csv(tmp_path / "Office.csv")
    Y.rename_axis("id").to_csv(tmp_path / "labels.csv")
    VALID.to_csv(tmp_path / "valid.csv")
    paths = [tmp_path / f"{name}.csv" for name in FRAGMENTS]
    read = value(paths, "late", tmp_path / "valid.csv", labels=tmp_path / "labels.csv", on="id")
    np.testing.assert_array_equal(read.values, whole.values)
    assert list(read.row_names) == list(FRAGMENTS)
    assert [file.path for file in read._fragments.files] == [*(f"{name}.csv" for name in FRAGMENTS), "labels.csv", "valid.csv"]  # fmt: skip


@pytest.mark.parametrize("kind", [str, float])
def test_ids_may_be_text_or_numbers(kind):
    parts = of_ids(Bank=IDS["Bank"].astype({"id": float}).astype({"id": kind}))
    if kind is str:
        parts["Bank"]["id"] = parts["Bank"]["id"].str.removesuffix(".0")
    found = value(parts, Y, VALID, on="id")
    np.testing.assert_array_equal(found.values, value(FRAGMENTS, Y, VALID).values)


def test_what_is_known_of_the_map():
    facts = value(FRAGMENTS, Y, VALID)._fragments
    held = np.stack([part.reindex(index=Y.index, columns=facts.columns).notna() for part in FRAGMENTS.values()])  # fmt: skip
    np.testing.assert_array_equal(facts.cells, held.sum(axis=1))
    np.testing.assert_array_equal(facts.union, held.any(axis=0).sum(axis=0))
    np.testing.assert_array_equal(facts.overlap, (held.sum(axis=0) > 1).sum(axis=0))
    assert facts.pattern_rows.sum() == facts.n_rows == len(Y)
    np.testing.assert_array_equal(np.einsum("pkm,p->km", facts.patterns, facts.pattern_rows), facts.cells)  # fmt: skip
    kinds = {row.tobytes() for row in held.transpose(1, 0, 2).copy()}
    assert len(facts.patterns) == len(kinds)
