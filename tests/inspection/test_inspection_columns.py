"""Findings about whole columns: each kind in the right rows, and none in clean tables."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import average_precision_score, roc_auc_score

from shapley2d._inspection.columns.find import find_in_columns
from shapley2d._tables.convert import as_table


def cell_probabilities(found, names, n_rows):
    """For every cell the largest probability that a finding gives it, and that finding's entry."""
    probability, suggestions = np.zeros((n_rows, len(names))), {}
    for finding in found:
        j = list(names).index(finding.columns[0])
        chances = finding.chances
        if chances is None:
            chances = np.full(finding.rows.size, finding.probability)
        more = chances > probability[finding.rows, j]
        probability[finding.rows[more], j] = chances[more]
        for i in finding.rows[more].tolist():
            suggestions.pop((i, j), None)
            if i in finding.suggestions:
                suggestions[i, j] = finding.suggestions[i]
    return probability, suggestions


def find(columns):
    return {finding.kind: finding for finding in find_in_columns(as_table(columns))}


def test_units_in_several_spellings():
    entries = ["12.0 oz", "12.0 oz.", "16.0 ounce", "8.4 oz", "1,000 oz"] * 4
    finding = find({"size": entries})["units"]
    assert finding.rows.tolist() == list(range(20))
    assert [finding.suggestions[k] for k in range(5)] == ["12", "12", "16", "8.4", "1000"]
    assert "'oz'" in finding.text


def test_one_unit_and_its_slips():
    entries = [f"{k} patients" for k in range(30)]
    entries[7], entries[9], entries[11] = "7 paxients", "x patients", "unknown"
    finding = find({"sample": entries})["suffix"]
    assert finding.rows.tolist() == [7, 9]  # a word for nothing is no slip
    assert finding.suggestions == {7: "7 patients"}


def test_a_percent_sign_with_some():
    entries = [f"{k / 100}" for k in range(30)]
    entries[3] = entries[4] = "0.05%"
    finding = find({"abv": entries})["formats"]
    assert finding.rows.tolist() == [3, 4]
    assert set(finding.suggestions.values()) == {"0.05"}


def test_another_format_whose_end_is_the_usual_one():
    entries = [f"{1 + k % 9}:{k:02d} a.m." for k in range(30)]
    entries[5], entries[6] = "12/02/2011 6:55 a.m.", "6:55"
    finding = find({"time": entries})["formats"]
    assert finding.rows.tolist() == [5, 6]
    assert finding.suggestions == {5: "6:55 a.m."}


def test_rare_spellings():
    entries = (
        ["birmingham"] * 20
        + ["huntsville"] * 15
        + ["birminghxm", "hunstville", "birmingam", "Birmingham", "boaz"]
    )
    found = [f for f in find_in_columns(as_table({"city": entries})) if f.kind == "spellings"]
    probability, suggestions = cell_probabilities(found, ["city"], len(entries))
    assert suggestions == {
        (35, 0): "birmingham",
        (36, 0): "huntsville",
        (37, 0): "birmingham",
        (38, 0): "birmingham",
    }
    assert np.flatnonzero(probability[:, 0]).tolist() == [35, 36, 37, 38]


def test_other_words_and_numbers_are_no_slips():
    entries = (
        ["pale ale"] * 20
        + ["dark ale", "room 4", "7:10 p.m."]
        + ["room 5"] * 10
        + ["7:10 a.m."] * 10
    )
    assert "spellings" not in find({"name": entries})


def test_signs_that_mean_something_make_another_name():
    assert not set(find({"income": ["<=50K"] * 30 + [">50K"] * 10, "grade": ["A", "A+"] * 20})) & {
        "spellings",
        "formats",
    }


@pytest.mark.parametrize("code", [-999, 9999999, -1, 999])
def test_codes_for_nothing(code):
    entries = [float(k % 50) for k in range(60)]
    entries[10] = entries[20] = code
    finding = find({"age": entries})["codes"]
    assert finding.rows.tolist() == [10, 20]
    assert set(finding.suggestions.values()) == {""}


@pytest.mark.parametrize("code", [99, 9, 50, 100])
def test_numbers_within_reach_are_no_codes(code):
    assert "codes" not in find({"age": [*range(20, 98), code, code]})


def test_dates_in_two_orders():
    entries = [f"{1 + k % 12}/{13 + k % 10}/2024" for k in range(40)]
    entries[8] = "25/3/2024"
    finding = find({"day": entries})["date orders"]
    assert finding.rows.tolist() == [8]
    assert finding.suggestions == {8: "3/25/2024"}


def test_dates_that_do_not_tell_their_order():
    assert (
        find({"day": [f"{1 + k % 12}/{1 + k % 11}/15" for k in range(40)]})["date orders"].rows.size
        > 30
    )
    assert "date orders" not in find(
        {"day": [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(40)]}
    )
    assert "date orders" not in find(
        {"day": [f"{1 + k % 12}/{13 + k % 10}/2024" for k in range(40)]}
    )


def test_keys_constants_and_empty_columns():
    n = 30
    found = find(
        {
            "id": [f"N{k}" for k in range(n)],
            "same": ["x"] * n,
            "none": [None] * n,
            "a": [0, 1] * (n // 2),
        }
    )
    assert {"key", "constant", "empty"} <= set(found)
    assert not any(found[kind].rows.size for kind in ("key", "constant", "empty"))


def test_what_a_spreadsheet_made_of_it_and_broken_letters():
    issn = [f"{1000 + k}-{2000 + 3 * k}" for k in range(40)]
    issn[4] = "Mar-22"
    name = ["Gériatrie", "Ebola", "Chest"] * 13 + ["GÃ©riatrie"]
    found = find({"issn": issn, "name": name})
    assert found["spreadsheet dates"].rows.tolist() == [4]
    assert found["encoding"].rows.tolist() == [39]


def test_words_for_missing():
    entries = [str(k) for k in range(30)]
    entries[2] = entries[3] = "N/A"
    two = find({"ibu": entries})["words for missing"]
    assert two.rows.tolist() == [2, 3]
    assert two.text.startswith("2 entries of 'ibu' are 'N/A'")
    entries[3] = "3"
    one = find({"ibu": entries})["words for missing"]
    assert one.text.startswith("1 entry of 'ibu' is 'N/A'")


def test_rules_name_the_rows_that_break_them():
    random = np.random.default_rng(0)
    place = random.integers(0, 8, 400)
    city, state = (
        np.array([f"city {c}" for c in "abcdefgh"])[place],
        np.array(list("wxyzwxyz"))[place],
    )
    street = random.integers(0, 50, 400)
    city, state = city.astype(object), state.astype(object)
    truth = state.copy()
    state[[5, 50]] = "q"
    state[100] = None
    finding = next(
        f
        for f in find_in_columns(as_table(pd.DataFrame({"c": city, "s": state, "n": street})))
        if f.kind == "rule"
    )
    assert finding.columns == ("s", "c")
    assert finding.rows.tolist() == [5, 50, 100]
    assert finding.suggestions == {k: truth[k] for k in (5, 50, 100)}
    assert finding.chances is not None and (finding.chances > 0.8).all()


def test_a_wrong_cause_is_not_blamed_on_what_follows():
    random = np.random.default_rng(1)
    place = random.integers(0, 10, 500)
    columns = {name: np.array([f"{name}{k}" for k in range(10)])[place] for name in "abcd"}
    columns["a"] = columns["a"].copy()
    columns["a"][7] = "a0" if columns["a"][7] != "a0" else "a1"
    found = [f for f in find_in_columns(as_table(columns)) if f.kind == "rule"]
    probability, _ = cell_probabilities(found, list("abcd"), 500)
    assert (probability[7] > 0.5).tolist() == [True, False, False, False]


def test_an_entry_that_slipped_into_its_neighbour():
    X = {
        "city": ["Bend", "Gary", "Troy"] * 8 + ["San Francisco CA"] * 3,
        "state": ["OR", "CA", "NY"] * 8 + [""] * 3,
    }
    found = [f for f in find_in_columns(as_table(X)) if f.kind == "spilled"]
    assert [f.columns for f in found] == [("city", "state"), ("state", "city")]
    assert [set(f.suggestions.values()) for f in found] == [{"San Francisco"}, {"CA"}]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
def test_clean_tables_of_numbers_raise_no_alarm(load):
    X = load(as_frame=True).data
    found = [f for f in find_in_columns(as_table(X)) if f.rows.size]
    assert not found


def test_the_same_findings_for_every_kind_of_frame():
    columns = {
        "size": ["12.0 oz", "12.0 oz.", "16.0 oz", "8 ounce"] * 5,
        "age": [*range(18), -999, -999],
    }
    expected = [(f.kind, f.text, f.rows.tolist()) for f in find_in_columns(as_table(columns))]
    for make in (
        pd.DataFrame,
        pl.DataFrame,
        lambda c: pd.DataFrame(c).convert_dtypes().to_numpy(dtype=object),
    ):
        names = ["size", "age"]
        table = as_table(make(columns))
        found = [(f.kind, f.rows.tolist()) for f in find_in_columns(table)]
        assert found == [(kind, rows) for kind, _, rows in expected], names


entries = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["a", "b", "1/2/15", "12 oz"]),
)


@settings(max_examples=60)
@given(
    st.integers(1, 25).flatmap(
        lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
@pytest.mark.slow
def test_any_table_of_text_can_be_looked_at(columns):
    table = as_table({f"c{j}": column for j, column in enumerate(columns)})
    found = find_in_columns(table)
    probability, suggestions = cell_probabilities(found, table.column_names, table.n_rows)
    assert ((probability >= 0) & (probability <= 1)).all()
    assert all(probability[cell] > 0 for cell in suggestions)


@pytest.mark.skipif(
    "SHAPLEY2D_DATA" not in os.environ,
    reason="SHAPLEY2D_DATA names no folder with the dirty tables",
)
@pytest.mark.parametrize(
    ("name", "auroc", "precision"),
    [("hospital", 0.9, 0.8), ("flights", 0.7, 0.55), ("beers", 0.95, 0.95), ("rayyan", 0.9, 0.7)],
)
def test_real_dirty_tables(name, auroc, precision):
    folder = Path(os.environ["SHAPLEY2D_DATA"]) / "dirty"
    if not folder.is_dir():
        pytest.skip(f"no dirty tables in {folder}")
    dirty, clean = (
        pd.read_csv(folder / f"{name}-{state}.csv.gz", dtype=str, keep_default_na=False)
        for state in ("dirty", "clean")
    )
    wrong = dirty.to_numpy() != clean.to_numpy()
    table = as_table(dirty)
    probability, _ = cell_probabilities(find_in_columns(table), table.column_names, len(dirty))
    assert roc_auc_score(wrong.ravel(), probability.ravel()) > auroc
    assert average_precision_score(wrong.ravel(), probability.ravel()) > precision
