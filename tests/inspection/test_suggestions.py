"""Suggested entries: written as their column is, read where they can be read, and how sure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shapley2d import Inspection, inspect_cells
from shapley2d._base.warnings import without_warnings
from shapley2d._inspection.cells import Expected
from shapley2d._inspection.checks import _tests as checks_of
from shapley2d._inspection.columns.find import find_in_columns
from shapley2d._inspection.columns.finding import SURE_RIGHT
from shapley2d._inspection.columns.notations import read_numbers
from shapley2d._inspection.suggestions import all_at_once
from shapley2d._inspection.tables.entry_writer import EntryWriter
from shapley2d._tables.convert import as_table
from shapley2d.exceptions import InputWarning

N = 160


def rents():
    """Texts as people write them, with readable numbers in other notations and gaps by a word."""
    random = np.random.default_rng(0)
    area = random.integers(30, 120, N)
    table = pd.DataFrame(
        {
            "rent": [f"{12 * a + random.integers(-20, 20)} €" for a in area],
            "part": [f"{a / 10:.1f} %".replace(".", ",") for a in area],
            "area": area,
            "rating": [f"{one:.1f}" for one in random.uniform(5, 9, N)],
            "minutes": [str(one) for one in random.integers(80, 150, N)],
        }
    )
    table.loc[3, "rent"] = "EUR 816"
    table.loc[7, "rent"] = "k.A."
    table.loc[9, "rating"] = "7.4/10"
    table.loc[12, "minutes"] = "1 hr. 39 min."
    table.loc[20, "part"] = "105,0 %"
    table.loc[30, "rent"] = "163200 €"
    return table


@pytest.fixture(scope="module")
def inspected():
    table = rents()
    return table, inspect_cells(table, progress=False)


def suggested(inspection, row, column):
    j = inspection.column_names.index(column)
    return inspection._cells.expected_text(row, j), inspection._cells.suggestion_probability(row, j)


def german():
    """A German table, what is wrong in it, and what should be suggested, byte by byte."""
    random = np.random.default_rng(0)
    kind = random.integers(0, 4, 240)
    days = np.datetime64("2024-01-01") + (60 * kind + random.integers(0, 50, 240)).astype("m8[D]")

    def number(one, decimals):
        return f"{one:,.{decimals}f}".translate(str.maketrans(",.", ".,"))

    people = 20_000 + 90_000 * kind + random.integers(0, 9000, 240)
    table = {
        "Art": np.array(["Loft", "Haus", "Wohnung", "Villa"])[kind].tolist(),
        "Miete": [f"{one:.0f} €" for one in 400 + 300 * kind + random.normal(0, 60, 240)],
        "Quote": [number(one, 1) + " %" for one in 60 + 8 * kind + random.normal(0, 3, 240)],
        "Preis": [number(one, 2) + " €" for one in 80 + 10 * kind + random.normal(0, 4, 240)],
        "Note": [number(one, 1) for one in 5 + kind + random.normal(0, 0.3, 240)],
        "Minuten": [str(one) for one in 80 + 15 * kind + random.integers(0, 9, 240)],
        "Einwohner": [number(one, 0) for one in people],
        "Tag": [f"{str(day)[8:]}.{str(day)[5:7]}.{str(day)[:4]}" for day in days],
    }
    wrong = {
        ("Art", 50): (table["Art"][50].upper(), table["Art"][50]),
        ("Miete", 70): ("k.A.", None),
        ("Preis", 11): ("EUR 96,75", "96,75 €"),
        ("Preis", 12): ("k.A.", None),
        ("Note", 30): ("7.4/10", "7,4"),
        ("Minuten", 20): ("1 hr. 39 min.", "99"),
        ("Einwohner", 40): ("113704", "113.704"),
        ("Einwohner", 41): ("k.A.", None),
        ("Tag", 60): (str(days[60]), table["Tag"][60]),
        ("Tag", 61): ("k.A.", None),
    }
    people[40] = 113_704
    for (column, row), (text, _) in wrong.items():
        table[column][row] = text
    return table, {cell: new for cell, (_, new) in wrong.items()}


@pytest.mark.parametrize("source", ["dict", "file"])
def test_suggestions_look_like_their_column_byte_by_byte(source, tmp_path):
    table, wanted = german()
    pd.DataFrame(table).to_csv(tmp_path / "german.csv", sep=";", index=False)
    X = table if source == "dict" else tmp_path / "german.csv"
    inspection = inspect_cells(X, progress=False)
    found = {(column, row): suggested(inspection, row, column) for column, row in wanted}
    assert {cell: new for cell, (new, _) in found.items()} == wanted
    assert min(found[cell][1] for cell in (("Preis", 11), ("Note", 30), ("Minuten", 20))) > 0.9
    forms = {"Miete": r"\d+ €", "Quote": r"\d+,\d %", "Preis": r"\d+,\d\d €", "Note": r"\d+,\d",
             "Tag": r"\d\d\.\d\d\.2024"}  # fmt: skip
    for column, form in forms.items():
        j = inspection.column_names.index(column)
        texts = [text for text in inspection._cells.expected_texts(j) if text is not None]
        assert len(texts) >= 230 and all(pd.Series(texts).str.fullmatch(form)), column


def test_the_right_entry_comes_before_an_empty_cell():
    """A word for missing where the other rows of the same flight tell the time."""
    flights = [f"F{k:02d}" for k in range(30)]
    times = {one: f"{6 + k % 12}:{k:02d} a.m." for k, one in enumerate(flights)}
    rows = [(one, times[one], str(k)) for k in range(8) for one in flights]
    X = pd.DataFrame(rows, columns=["flight", "departure", "source"])
    X.loc[7, "departure"], X.loc[8, "departure"] = "ERROR", "11:59 p.m."
    inspection = inspect_cells(X, progress=False)
    assert suggested(inspection, 7, "departure")[0] == times["F07"]
    assert suggested(inspection, 8, "departure")[0] == times["F08"]


def test_what_is_emptied_gets_the_missing_mark_of_its_column():
    random = np.random.default_rng(0)
    texts = [f"{one:.0f}" for one in random.normal(100, 9, 200)]
    texts[3:40:2] = ["k.A."] * 19
    texts[50] = "ERROR"
    X = pd.DataFrame({"a": texts, "b": random.normal(size=200)})
    assert suggested(inspect_cells(X, progress=False), 50, "a")[0] == "k.A."
    X.loc[60, "a"] = ""
    assert suggested(inspect_cells(X, progress=False), 50, "a")[0] is None


def test_only_sure_suggestions_are_taken_by_probability(inspected):
    table, inspection = inspected
    unsure = r"entries stay as they are: what they should say is not sure \(90 % or more\)"
    with pytest.warns(InputWarning, match=unsure):
        clean, log = inspection.repair(table, probability=0.5)
    j = [inspection.column_names.index(column) for column in log["column"]]
    sure = [
        inspection._cells.suggestion_probability(int(i), k)
        for i, k in zip(log["row"], j, strict=True)
    ]
    assert len(log) >= 3 and min(sure) >= SURE_RIGHT
    assert clean.loc[3, "rent"] == "816 €"
    assert clean.loc[30, "rent"] == "163200 €"  # surely wrong, but nobody knows the right one


def test_the_list_and_a_finding_write_the_same(inspected):
    _, inspection = inspected
    for finding in inspection.findings:
        j = inspection.column_names.index(finding.columns[0])
        for i, text, wrong in all_at_once(inspection._cells, finding):
            assert text == inspection._cells.expected_text(i, j) and wrong >= 0.5


def test_a_finding_writes_its_sure_suggestions_only(inspected):
    """That 163200 € is wrong is sure, that it should say 1632 € is not: nobody knows."""
    table, inspection = inspected
    for k, finding in enumerate(inspection.findings):
        sure = {i: text for i, text, _ in all_at_once(inspection._cells, finding)}
        with without_warnings():
            log = inspection.repair(table, findings=[k])[1]
        assert (
            dict(zip(log["row"], log["after"].where(log["after"].notna(), None), strict=True))
            == sure
        )


def test_every_place_has_the_same_suggestion(inspected):
    """As texts in the list and the frame of all cells; as the table has them in ``expected``."""
    table, inspection = inspected
    everything = inspection.to_frame().set_index(["row", "column"])["expected"]
    ranked = inspection.rank(None).set_index(["row", "column"])["expected"]
    pd.testing.assert_series_equal(ranked.sort_index(), everything[ranked.index].sort_index())
    expected = inspection.expected
    for (row, name), text in everything.items():
        if name in expected:
            one = expected.loc[row, name]
            same = pd.isna(one) if pd.isna(text) else str(one) == text or float(one) == float(text)
            assert same
    with without_warnings():
        _, log = inspection.repair(table, n=30)
    assert len(log) == 30
    for row, name, after in zip(log["row"], log["column"], log["after"], strict=True):
        assert after == everything[row, name] or (pd.isna(after) and pd.isna(everything[row, name]))


def test_an_entry_that_is_expected_never_comes_first(inspected):
    _, inspection = inspected
    ranked = inspection.rank(None)
    same = (ranked["entry"] == ranked["expected"]).to_numpy()
    assert not same[: (~same).sum()].any()


def test_keys_are_left_out_of_the_list():
    random = np.random.default_rng(1)
    X = pd.DataFrame({"id": [f"N{k:03d}" for k in range(100)], "a": random.normal(size=100)})
    X["b"] = X["a"] + random.normal(size=100)
    X.loc[5, "id"] = X.loc[6, "id"]
    inspection = inspect_cells(X, progress=False)
    ranked = inspection.rank(None)
    assert sorted(ranked.loc[ranked["column"] == "id", "row"]) == [5, 6]  # they repeat
    assert any(f.kind == "key" and f.columns == ("id",) for f in inspection.findings)


@pytest.mark.parametrize(
    ("entries", "number", "text"),
    [
        (["1.632,50 €", "96,75 €", "8,00 €"], 1234.5, "1.234,50 €"),
        (["1632 €", "96 €", "8 €"], 16.0, "16 €"),
        (["105,0 %", "10,5 %", "8,2 %"], 12.0, "12,0 %"),
        (["$1,200", "$15", "$15,000"], 1300.0, "$1,300"),
        (["$0.50", "$2.25", "$3.00"], 2.4, "$2.40"),
        (["1 200", "3 400", "500"], 2400.0, "2 400"),
        (["1,5", "2,25", "3,0"], 2.4999, "2,5"),
        ([f"{k % 40}.0" for k in range(120)] + ["~14", "~15", "~16"], 50.0, "50.0"),
    ],
)
def test_new_numbers_are_written_as_the_others(entries, number, text):
    assert EntryWriter.of(as_table({"x": entries * 5}).columns[0]).text(number) == text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("EUR 96,75", [96.75]), ("EUR 1.234", [1.234, 1234.0]), ("1.234,5", [1234.5]),
        ("1 hr. 39 min.", [1.65, 99.0, 5940.0]), ("96 k", [96000.0]), ("1O", [10.0]),
        ("-5 °C", [-5.0]), ("450[1]", [450.0]), ("k.A.", []), ("3501x", []), ("3 of 4", []),
        ("2 x 3 m", []), ("<5", []), ("90+", []), ("under 90", []), ("", []),
    ],
)  # fmt: skip
def test_numbers_that_texts_say(text, numbers):
    assert sorted(set(read_numbers(text))) == numbers


def test_another_currency_is_not_read():
    prices = [f"{k} €" for k in range(60, 99)] + ["$70", "EUR 71"]
    (finding,) = [f for f in find_in_columns(as_table({"x": prices})) if f.kind == "notation"]
    assert finding.suggestions == {40: "71 €"}


@pytest.mark.parametrize(
    ("name", "text", "new", "is_sure"),
    [
        ("weight", "70 lb", "70", False),
        ("weight_kg", "70 lb", "70", False),
        ("weight_kg", "70 kg", "70", True),
        ("temperature", "70 °F", "70", False),
        ("pieces", "70 Stück", "70", True),
        ("minutes", "1 h 10 min", "70", True),
        ("share", "#DIV/0!", None, False),
    ],
)
def test_a_number_with_a_unit_is_sure_only_where_its_column_has_that_unit(name, text, new, is_sure):
    X = {name: [*map(str, range(80, 170)), text]}
    found = {one.kind: one for one in find_in_columns(as_table(X))}
    assert ("notation" in found) == (new is not None)
    if new:
        assert found["notation"].suggestions == {90: new}
        assert (found["notation"].right[0] >= SURE_RIGHT) == is_sure


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S"])
def test_times_are_suggested_in_the_format_of_their_column(form):
    times = pd.date_range("2024-01-01", periods=300, freq="h").strftime(form)
    X = pd.DataFrame({"time": times.where(times != times[70], times[70].replace("2024", "2023"))})
    clean, _ = inspect_cells(X, progress=False).repair(X, probability=0.9)
    assert clean["time"].tolist() == times.tolist()


@pytest.mark.parametrize("lowest", [-np.inf, -1e200])
def test_infinite_and_huge_numbers_are_a_finding_that_empties(lowest, tmp_path):
    grown = np.linspace(0, 1, 60)
    X = pd.DataFrame({"a": grown, "b": 3 - grown})
    X.loc[7, "a"], X.loc[9, "b"] = np.inf, lowest
    X.to_csv(tmp_path / "x.csv", index=False)
    for given in (X, X.to_numpy(), tmp_path / "x.csv"):
        inspection = inspect_cells(given, progress=False)
        found = [f for f in inspection.findings if f.kind == "infinite"]
        assert [f.suggestions for f in found] == [{7: ""}, {9: ""}]
        assert min(inspection.probability[7, 0], inspection.probability[9, 1]) >= 0.95
    new = inspect_cells({"a": ["x", str(lowest)]}, reference=inspection, progress=False)
    assert new.probability.min() > 0.4  # of a column without one number
    clean, log = inspect_cells(X, progress=False).repair(X, probability=0.9)
    assert {*log["before"]} == {repr(lowest), "inf"} and len(log) == 2
    assert clean["a"].isna().tolist() == [k == 7 for k in range(60)]
    assert not [f for f in inspect_cells(clean, progress=False).findings if f.rows.size]


def test_numbers_keep_the_decimals_of_the_file(tmp_path):
    random = np.random.default_rng(0)
    a = random.normal(100, 10, 300)
    X = pd.DataFrame({"a": [f"{one:.3f}" for one in a], "b": [f"{2 * one:.2f}" for one in a]})
    X.loc[5, "a"], X.loc[9, "b"] = "1143.6", "20.50"
    X.to_csv(tmp_path / "x.csv", index=False)
    inspection = inspect_cells(tmp_path / "x.csv", progress=False)
    cells = inspection._cells
    assert len(cells.expected_text(5, 0).partition(".")[2]) == 3
    assert len(cells.expected_text(9, 1).partition(".")[2]) == 2
    # the same number is nothing else to write
    ends_with_zero = [i for i in range(300) if X["a"][i].endswith("0") and i != 5]
    expected = cells.expected[0].entries
    expected[ends_with_zero] = [float(X["a"][i]) for i in ends_with_zero]
    assert len(ends_with_zero) > 9
    assert all(cells.expected_text(i, 0) == cells.entries[0][i] for i in ends_with_zero)
    inspection.save(tmp_path / "cells.parquet")
    loaded = Inspection.load(tmp_path / "cells.parquet")
    pd.testing.assert_frame_equal(loaded.rank(20), inspection.rank(20))


@pytest.mark.parametrize("text", ["4.r", "e.5", "6.q"])
def test_a_letter_for_a_digit_beside_the_point_is_not_dropped(text):
    assert list(read_numbers(text)) == []


def test_suggestions_of_a_rule_are_as_sure_as_their_majority_is_clear():
    """Of ten sources of every flight, eight or five agree on its departure."""
    flights, clear = np.repeat(np.arange(40), 10), np.repeat(np.arange(40) % 2 == 0, 10)
    source = np.tile(np.arange(10), 40)
    random = np.random.default_rng(0)
    right = np.where(clear, source < 8, source < 5)
    times = np.where(right, 100 + 7 * flights, random.integers(1000, 9999, flights.size))
    X = pd.DataFrame({"flight": [f"F{one}" for one in flights], "time": [f"at {t}" for t in times]})
    (rule,) = [one for one in find_in_columns(as_table(X)) if one.kind == "rule"]
    of_clear = clear[rule.rows]
    assert rule.right[of_clear].min() > SURE_RIGHT > rule.right[~of_clear].max()


def test_a_prediction_is_never_sure():
    """It tells what is usual for the row, not what was meant."""
    entries = np.array([5.0, 5.0])
    numbers = Expected(entries, low=np.array([5.0, 4.99]), high=np.array([5.0, 5.01]))
    chances = np.array([[1.0], [0.6]], dtype=np.float32)
    words = Expected(entries, alternatives=np.array([[5], [5]], dtype=np.int32), chances=chances)
    assert SURE_RIGHT > numbers.sure(0, 50.0) > 0.5 > numbers.sure(1, 50.0)
    assert SURE_RIGHT > words.sure(0, 3.0) > 0.5


def test_free_text_is_not_accused_of_being_there():
    random = np.random.default_rng(0)
    size = random.normal(50, 9, 400).round(1)
    X = pd.DataFrame({"size": size, "twice": (2 * size).round(1), "remark": [None] * 400})
    X["remark"] = X["remark"].astype(object)
    X.loc[[5, 80, 300], "remark"] = ["call before noon", "left at the door!", "gift"]
    X.loc[10:20, "twice"] *= 10  # many other errors make all that is odd likelier wrong
    assert inspect_cells(X, progress=False).probability[[5, 80, 300], 2].max() < 0.1


def test_words_for_missing_and_bounds_are_shown_as_written_and_not_called_errors(tmp_path):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"lead": random.lognormal(0, 1, 300).round(2).astype(str)})
    X["age"], X["heads"], price = (random.integers(18, 80, 300).astype(str) for _ in range(3))
    X["city"], X["town"] = (random.choice(["Bonn", "Kiel", "Ulm"], 300) for _ in range(2))
    X["price"] = [f"${one}" for one in price]
    words = {("city", 3): "?", ("town", 4): "?", ("lead", 7): "n/a", ("price", 5): "n/a"}
    words |= {("age", row): "not asked" for row in (20, 21, 22)}
    bounds = {("lead", 10): "<0.1", ("lead", 11): ">9", ("heads", 9): "<7"}
    for (name, row), text in (words | bounds).items():
        X.loc[row, name] = text
    found = inspect_cells(X, progress=False)
    found.save(tmp_path / "found.parquet")
    loaded = Inspection.load(tmp_path / "found.parquet")
    judged = [inspect_cells(X, progress=False, reference=one) for one in (found, loaded)]
    np.testing.assert_array_equal(*(one.probability for one in judged))
    for one in (found, loaded, *judged):
        shown = one.to_frame().set_index(["column", "row"])
        marked, bounded = shown.loc[[*words]], shown.loc[[*bounds]]
        assert [*marked["entry"], *bounded["entry"]] == [*words.values(), *bounds.values()]
        assert marked["expected"].isna().all() and (bounded["expected"] == bounded["entry"]).all()
        assert marked["probability"].max() <= 0.5 and bounded["probability"].max() <= 0.5
        assert bounded["probability"][:2].max() < 0.1  # several are a notation
    clean, log = found.repair(X, cells=[(row, name) for name, row in words])
    assert log["before"].tolist() == [*words.values()] and clean.isna().sum().sum() == len(words)
    for name, one in zip(X, found._cells.columns, strict=True):  # what pandera would check
        tests = checks_of(one, one.written(), np.ones(300, dtype=bool))
        assert all(test(X[name]).all() for _, test in tests)
    why = found.rank(X.size, details=True).set_index(["column", "row"])["why"]
    assert why.loc[[*words]].str.startswith("counts as missing").all()
    of_bounds = [one.text for one in found.findings if one.kind == "bounds"]
    assert of_bounds and all("below, above or between numbers, such as" in one for one in of_bounds)
    (told,) = {one.text for one in found.findings if one.columns[0] in ("city", "town")}
    assert told.startswith("2 entries of 2 columns are '?'") and told.endswith("'city', 'town'")


def test_a_letter_for_a_digit_is_said_to_be_one_where_arithmetic_gives_the_same():
    random = np.random.default_rng(0)
    quantity, price = random.integers(1, 9, 400), random.choice([9.5, 24.1, 89.0, 649.0], 400)
    X = pd.DataFrame({"quantity": quantity, "price": [f"{one:.2f}" for one in price]})
    X["total"] = [f"{one:.2f}" for one in quantity * price]
    X.loc[20, "price"] = X.loc[20, "price"].replace("0", "O", 1)
    first = inspect_cells(X, progress=False).rank(1).iloc[0]
    assert (first.row, first.column, first.expected) == (20, "price", X.price[20].replace("O", "0"))
    assert first.why.startswith("another notation")
