"""What a column of text holds: one rule for files and for frames."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import InputError
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._tables.column_warnings import find_keys
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import match_columns
from shapley2d._tables.problem import make_problem
from shapley2d._tables.target import target_column
from shapley2d._tables.texts.column import text_column
from shapley2d.exceptions import InputWarning

NAN = float("nan")


def column(*entries, **options):
    return text_column(pa.array(entries, pa.string()), "a", **options)


def same(entries, expected):
    np.testing.assert_array_equal(entries, np.array(expected, dtype=float))


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "+2", "-3", " 4 "], [1, 2, -3, 4]),
        (["1,234", "12", "1,234,567.5"], [1234, 12, 1234567.5]),
        (["1 234", "1\u202f234.5", "1'234", "1\u2019234\u2019567"], [1234, 1234.5, 1234, 1234567]),
        (["1,5", "0,25", "1.234,5", "1 234,5", "7"], [1.5, 0.25, 1234.5, 1234.5, 7]),
        (["0,125", "1,234"], [0.125, 1.234]),  # no thousands begin with 0
        (["1.001", "1,5", "2,5"], [1001, 1.5, 2.5]),
        (["$5", "$1,200.50", "-$3", "$-4", "($2)", "US$ 7"], [5, 1200.5, -3, -4, -2, NAN]),
        (["5 €", "1.200,50 €", "3 €"], [5, 1200.5, 3]),
        (["CHF 5.50", "chf 7", "8"], [5.5, 7, 8]),
        (["5%", "7.5 %", "100%"], [5, 7.5, 100]),
        (["\u22125", "5"], [-5, 5]),
        (["70.5 kg", "8kg", "-3 KG", "9"], [70.5, 8, -3, NAN]),
        (["70,5 kg", "1.200 kg", "3,25 kg"], [70.5, 1200, 3.25]),
        (["70 kg", "70500 g", "8 kg"], [70, NAN, 8]),
        (["1e3", "2.5E-1", ".5", "5."], [1000, 0.25, 0.5, 5]),
    ],
)
def test_numbers_as_people_write_them(texts, numbers):
    read = column(*texts, kind="number")
    assert read.kind == "number"
    same(read.entries, numbers)
    assert read.text() == [text.strip() for text in texts] or read.from_text.words is None
    assert column("1.34e+00", "2.50E-01").from_text.places == 0  # exponents are no decimals


@pytest.mark.parametrize(
    "texts",
    [
        ["1.5", "2,5"],  # either a point or a comma is wrong
        ["1,2,3", "4,5"], ["1 2", "3 4"], ["12,34", "1,234,5"], ["1.2.3", "2.0.1"],
        ["5 pieces", "6 pieces"], ["5 kg", "6 m"], ["12A", "13B"], ["$5", "€5"], ["yes", "1"],
        ["0x10", "0x11"], ["(5", "6)"], ["+-5", "--6"], ["1_000", "2_000"], ["٣", "٤"],
    ],
)  # fmt: skip
def test_what_is_no_number_stays_text(texts):
    assert column(*texts).kind == "category"
    assert column(*texts).text() == texts


def test_values_and_inspections_take_numbers_with_a_unit():
    weights = [f"{60 + k / 8} kg" for k in range(39)] + ["61000 g"]
    with pytest.warns(InputWarning) as told:
        problem = make_problem({"weight": weights}, [0, 1] * 20)
    assert "61000 g" in str(told[0].message)
    assert "'weight': read as numbers in 'kg'" in str(told[1].message)
    with pytest.warns(InputWarning) as told:  # who says that it is a number knows it
        make_problem({"weight": weights}, [0, 1] * 20, kinds={"weight": "number"})
    assert len(told) == 1
    read = problem.table.columns[0]
    assert (read.kind, read.entries[1], read.text()[1]) == ("number", 60.125, "60.125 kg")
    valid = as_table({"weight": ["7 kg", "5 g", "5 g", "8"]}, like=problem.table).columns[0]
    assert valid.kind == "category"  # grams are no kilograms
    valid = as_table({"weight": ["7 kg", "5 g", "8 kg", "8"]}, like=problem.table).columns[0]
    same(valid.entries, [7, NAN, 8, NAN])
    assert find_keys(problem.table) == []
    read = inspected_table({"weight": weights, "area": [f"{k},5 m²" for k in range(40)]})
    units = [(one.kind, one.from_text.unit) for one in read.columns]
    assert units == [("number", "kg"), ("number", "m²")]


def test_points_and_commas_are_decided_by_the_column():
    points = [f"{k}.{k:03d}" for k in range(100, 150)]
    read = column(*points, "1,5")  # one comma does not turn points into thousands
    assert read.from_text.strays == {50: "1,5"} and read.entries[0] == 100.1
    assert column("1,234", "5,678").from_text.notation == "thousands commas"
    table = as_table({"a": ["1,234", "5,678"], "b": ["1,5", "2,25"], "c": ["1.234", "5.678"]})
    notations = [one.from_text.notation for one in table.columns]
    assert notations == ["decimal commas", "decimal commas", ""]
    assert [one.entries[0] for one in table.columns] == [1.234, 1.5, 1.234]


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["1970-01-02", "1970-01-03 12:00", "1970-01-01T06:00:00.000"], [1, 2.5, 0.25]),
        (["1970-01-02T00:00:00Z", "1970-01-02 02:00+02:00", "1970-01-01 22:00:00-0200"], [1, 1, 1]),
        (["2.1.1970", "31.12.1969", "01.01.70 18:00"], [1, -1, 0.75]),
        (["1/2/1970", "1/31/70"], [1, 30]),
        (["2/1/1970", "31/1/70"], [1, 30]),
        (["02-01-1970", "31-01-1970"], [1, 30]),
        (["1970/01/02", "1970/1/3"], [1, 2]),
        (["1/1/1970 6:00 p.m.", "1/1/1970 12:00 AM", "1/1/70 12:00 PM"], [0.75, 0, 0.5]),
        (["1/1/68", "1/1/69"], [(dt.date(2068, 1, 1) - dt.date(1970, 1, 1)).days, -365]),
    ],
)
def test_dates_as_people_write_them(texts, days):
    read = column(*texts)
    assert read.kind == "date"
    same(read.entries, days)


def test_the_order_of_day_and_month_is_decided_by_the_column_and_told():
    assert column("1/2/2024", "3/4/2024").from_text.notation == "month first"
    read = column("1/2/2024", "13/4/2024")
    assert read.from_text.notation == "day first"
    assert read.from_text.example == ""  # there is no doubt


@pytest.mark.parametrize(
    "text", ["7:10 a.m.", "2024-13", "1.2.3", "12/2011", "2024-02-31", "13/13/2024", "5-6"]
)
def test_what_is_no_date_stays_text(text):
    assert column(text, text).kind == "category"


REGULAR = {
    "number": [str(k / 4) for k in range(50)],
    "date": [f"2024-01-{k % 28 + 1:02d}" for k in range(50)],
}


@pytest.mark.parametrize("kind", ["number", "date"])
@pytest.mark.parametrize("stray", ["x", "??", "1O", "2024-02-31", "#DIV/0!", "l2.5", "12 kg"])
def test_a_stray_does_not_change_the_kind(kind, stray):
    read = column(*REGULAR[kind], stray)
    assert read.kind == kind
    assert np.isnan(read.entries[50]) and not np.isnan(read.entries[:50]).any()
    assert read.from_text.strays == {50: stray}
    assert read.text()[50] == stray


@pytest.mark.parametrize("kind", ["number", "date"])
@pytest.mark.parametrize(
    "word",
    ["", "?", "NA", "N/A", "nan", "null", "-", "--", ".", "Unknown", "EMPTY", "none", "n.a."],
)
def test_words_for_nothing_are_no_strays(kind, word):
    read = column(*REGULAR[kind], word)
    assert read.kind == kind
    assert np.isnan(read.entries[50])
    assert read.from_text.strays == {} and read.text()[50] is None


def test_dashes_among_text_mean_something():
    assert column("+", "-", "+", "?").text() == ["+", "-", "+", None]
    assert column("none", "mild", "NA").text() == ["none", "mild", None]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "2", "3", "4", "x"], "category"),  # too few to tell
        (["1", "2", "3", "4", "5", "x"], "number"),
        (["1", "2", "3", "4", "5", "x", "y"], "category"),
        ([*map(str, range(90)), *"abcdefghij"], "number"),  # a tenth
        ([*map(str, range(89)), *"abcdefghij"], "category"),
        (["1", "2", "3"] * 40 + ["K"] * 2, "number"),
        (["1", "2", "3"] * 40 + ["K"] * 3, "category"),  # a code like the others
        ([str(k / 2) for k in range(100)] + ["K"] * 3, "number"),
        ([str(k) for k in range(100)] + ["K"] * 3, "number"),
        (["0"] * 95 + ["A", "A", "A", "B", "C"], "category"),
        (["A1", "B2", "12", "13"] * 10, "category"),
        (["true"] * 50 + ["tru"], "category"),
        (["true", "FALSE", "?"], "boolean"),
        (["?", "", "NA"], "number"),
        (["-", "-"], "category"),
    ],
)
def test_how_many_strays_are_few(texts, kind):
    assert column(*texts).kind == kind


AMONG_NUMBERS = ["0", "1", "2", "3"] * 25


@pytest.mark.parametrize(
    ("texts", "marks"),
    [
        ([*AMONG_NUMBERS, "refused", "n/a", "refused", "refused"], {"refused": [100, 102, 103], "n/a": [101]}),
        ([*AMONG_NUMBERS, "not measured", *["k.A."] * 2, *["not measured"] * 2],
         {"not measured": [100, 103, 104], "k.A.": [101, 102]}),
        ([*AMONG_NUMBERS, *["<0.5", "> 7"] * 50], {"<0.5": [*range(100, 200, 2)], "> 7": [*range(101, 200, 2)]}),
        ([*map(str, range(60)), "90+", "refused"], {"90+": [60]}),  # "refused" is a stray
        ([f"{k}.5" for k in range(50)] + ["T", "T", "T", "1-2"], {"T": [50, 51, 52], "1-2": [53]}),
        (["2024-01-01", "2024-02-02"] * 30 + ["open"] * 3, {"open": [60, 61, 62]}),
        ([*AMONG_NUMBERS, *["K"] * 3], None),  # a code like the others
        ([*AMONG_NUMBERS, *["refused"] * 20], None),  # more than a tenth
        (["1", "2"] * 30 + ["none of these", "both of them"] * 3, None),  # as many words as numbers
        (["<=50K", ">50K"] * 50, None), (["0-9", "10-19", "20+"] * 20, None),
        (["SW1A", "EC1", "10115"] * 20, None), (["12", "12a", "14"] * 20, None),
        (["A-1", "B-2", "refused"] * 20, None),
    ],
)  # fmt: skip
def test_an_inspection_counts_words_and_bounds_among_numbers_as_missing(texts, marks):
    for options in ({}, {"like": inspected_table({"a": texts})}):
        (read,) = inspected_table({"a": texts}, **options).columns
        assert (read.kind == "category") is (marks is None)
        found = {word: rows.tolist() for word, rows in read.from_text.marks.items()}
        assert found == (marks or {}) and read.written() == texts
    categorical = inspected_table(pd.DataFrame({"a": texts}, dtype="category"))
    assert categorical.columns[0].kind == "category"


def frames(data):
    frame = pd.DataFrame(data)
    yield frame
    yield frame.astype(object)
    yield pl.from_pandas(frame)
    yield pa.Table.from_pandas(frame, preserve_index=False)
    yield frame.to_numpy(dtype=object)


def test_every_frame_is_read_by_the_same_rule():
    data = {"n": [*REGULAR["number"], "x"], "d": [*REGULAR["date"], "soon"]}
    data["t"] = ["u", "v", "N/A"] * 17
    first, *others = [as_table(frame) for frame in frames(data)]
    assert [one.kind for one in first.columns] == ["number", "date", "category"]
    for other in others:
        for one, two in zip(first.columns, other.columns, strict=True):
            assert one.kind == two.kind and one.text() == two.text()
            np.testing.assert_array_equal(one.entries, two.entries)


def test_numbers_and_texts_in_one_column_of_objects():
    """As pandas reads a large file in parts, or as a spreadsheet comes."""
    items = [0.1 + 0.2, 2, np.float64(1e-7), "4.5", 5, 6, None, NAN, "??"]
    mixed = as_table(pd.DataFrame({"a": items}, dtype=object))
    assert mixed.columns[0].kind == "number"
    same(mixed.columns[0].entries, [0.1 + 0.2, 2, 1e-7, 4.5, 5, 6, NAN, NAN, NAN])
    assert mixed.columns[0].from_text.strays == {8: "??"}
    days = [dt.date(2024, 1, day) for day in range(1, 9)]
    dates = as_table(pd.DataFrame({"d": [*days, "soon"]}, dtype=object)).columns[0]
    assert dates.kind == "date" and dates.from_text.strays == {8: "soon"}


def test_a_warning_counts_the_strays_and_shows_some():
    X = {"a": [*REGULAR["number"], "x", "x", "y", "z", "w"]}
    X["b"] = [*REGULAR["date"], *["2024-01-01"] * 4, "soon"]
    with pytest.warns(InputWarning) as caught:
        make_problem(X, [0, 1] * 27 + [0])
    (message,) = {str(warning.message) for warning in caught}
    assert message == (
        "X: 6 entries do not match their column's type and are treated as missing: column 'a' has 5 "
        "that are not numbers ('x', 'y', 'z' and 1 more); column 'b' has 1 that is not a date ('soon'): "
        "correct them, or read the column as text with kinds={'a': 'text', 'b': 'text'}"
    )


def test_clean_columns_are_read_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = {"a": REGULAR["number"], "b": ["5%", "6%"] * 25, "c": ["$5", "$6"] * 25}
        make_problem({**X, "d": ["1,234.50", "5,678"] * 25}, [0, 1] * 25)


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["5%", "6%", *REGULAR["number"][2:]], "2 of its 50 numbers have '%', which is ignored"),
        (["1/2/2024", "3/4/2024"] * 10, r"read with the month first \('1/2/2024' is 2024-01-02\)"),
        (["1,234", "5,678"] * 10, r"read with commas between thousands \('1,234' is 1234\)"),
        (["1,25", "5,678"] * 10, r"read with decimal commas \('1,25' is 1.25\)"),
    ],
)
def test_what_may_be_read_in_two_ways_is_told(texts, told):
    with pytest.warns(InputWarning, match=f"column 'a': {told}"):
        make_problem({"a": texts}, [0, 1] * (len(texts) // 2))


@pytest.mark.parametrize(
    ("entries", "kind", "expected"),
    [
        (["1", "2", "x"], "number", ["1", "2", "x"]),
        ([1, 2, 2.5], "text", ["1", "2", "2.5"]),
        (["1", "2", "x"], "text", ["1", "2", "x"]),
        (["1.2.2024", "x", "y"], "date", ["1.2.2024", "x", "y"]),
        (pd.Categorical(["1", "2", "3"]), "number", ["1", "2", "3"]),
        ([True, False, True], "number", ["1", "0", "1"]),
        (pd.to_datetime(["1970-01-03", "1970-01-01", "1970-01-02"]), "number", ["2", "0", "1"]),
    ],
)
def test_the_user_knows_better(entries, kind, expected):
    (read,) = as_table(pd.DataFrame({"a": entries}), kinds={"a": kind}).columns
    assert read.kind == {"text": "category"}.get(kind, kind)
    assert read.text() == expected


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"b": "text"}, r"kinds=\{'b': 'text'\}: there is no column 'b'"),
        ({"a": "words"}, "a column holds 'number', 'date' or 'text'"),
        (["a"], "must be a dict"),
        ({"t": "number"}, "no entry of column 't' is a number, the first is 'x'"),
        ({"a": "date"}, "column 'a' holds numbers, not dates"),
    ],
)
def test_wrong_kinds(kinds, message):
    with pytest.raises(InputError, match=message):
        as_table(pd.DataFrame({"a": [1, 2], "t": ["x", "y"]}), kinds=kinds)


def test_validation_is_read_as_training_was():
    train = as_table(
        {"a": ["1,5", "2,5", "3"], "b": ["x", "1", "2"], "d": ["13/1/2024", "1/2/2024", "1/3/2024"]}
    )
    given = {"a": ["1,234", "oops", "2"], "b": ["1", "2", "3"]}
    given["d"] = ["1/2/2024", "2/2/2024", "3/2/2024"]
    with pytest.warns(InputWarning, match="column 'b' holds numbers, but in the training table"):
        valid = match_columns(as_table(given, "X_valid", like=train), train)
    assert [one.kind for one in valid.columns] == ["number", "category", "date"]
    same(valid.columns[0].entries, [1.234, NAN, 2])
    assert valid.columns[1].text() == ["1", "2", "3"]
    assert valid.columns[2].entries[0] == train.columns[2].entries[1]
    numbers = as_table({"a": [1.0, 2.0], "b": ["x", "y"]})
    message = "column 'a' holds text, but in the training table it holds numbers"
    with pytest.raises(InputError, match=message):
        match_columns(as_table({"a": ["u", "v"], "b": ["x", "y"]}, like=numbers), numbers)


def test_taking_rows_takes_strays_along():
    read = column("$1", "$2", "$3", "$4", "$5", "x", "$7").take(np.array([6, 5, 0]))
    assert read.from_text.strays == {1: "x"}
    assert read.text() == ["$7", "x", "$1"]


TARGET = [k / 4 for k in range(40)]


@pytest.mark.parametrize(
    "y", [[*TARGET, "x", "?x"], [*map(str, TARGET), "x", "?x"]], ids=["mixed", "texts"]
)
def test_rows_whose_target_is_a_stray_are_left_out(y):
    X = np.arange(84.0).reshape(42, 2)
    told = r"y holds numbers, but not in 2 of 42 rows \('x' in row 40, '\?x' in row 41\)"
    with pytest.warns(InputWarning, match=told):
        problem = make_problem(X, y)
    assert problem.target.task == "regression"
    assert problem.table.row_names.tolist() == list(range(40))
    np.testing.assert_array_equal(problem.target.codes, TARGET)
    with pytest.warns(InputWarning, match="y_valid holds numbers, but not in 2 of 42 rows"):
        (split,) = make_problem(X[:40], TARGET, X, y).splits
    assert split.valid.n_rows == split.y_valid.codes.size == 40


def test_classes_with_a_stray_keep_their_numbers():
    X = np.arange(42.0).reshape(21, 2)
    y = ["0", "1"] * 10 + ["l"]
    with pytest.warns(InputWarning, match="set task='classification' to use them as classes"):
        problem = make_problem(X, y)
    assert problem.target.classes.tolist() == [0, 1]
    assert make_problem(X, y, task="classification").target.classes.tolist() == ["0", "1", "l"]


def test_a_code_among_numbers_is_a_class():
    column, _ = target_column(["1", "2"] * 30 + ["K"] * 3, "y")
    assert column.from_text.strays == {} and column.categories == ("1", "2", "K")


def test_infinite_numbers_are_named_strays_or_not():
    for more in ([], ["x"]):
        with pytest.raises(InputError, match="column 'a' holds an infinite number in row 0"):
            as_table({"a": ["-inf", *REGULAR["number"], *more]})


@pytest.mark.parametrize(
    "y",
    [
        pd.date_range("2024-01-01", periods=24),
        [dt.date(2024, 1, day + 1) for day in range(24)],
        np.arange(24).astype("datetime64[D]"),
        [f"2024-01-{day + 1:02d}" for day in range(24)],
        [f"{day + 1}.1.2024" for day in range(23)] + ["soon"],
    ],
    ids=["pandas", "objects", "numpy", "texts", "stray"],
)
def test_dates_are_no_target(y):
    X = np.arange(48.0).reshape(24, 2)
    told = "y holds dates, .* or set task='classification' to use every date as a class"
    with pytest.raises(InputError, match=told):
        make_problem(X, y)
    with pytest.raises(InputError, match="y holds dates"):
        make_problem(X, y, task="regression")


def test_labels_that_mean_missing_are_missing_unless_categorical():
    X = np.arange(48.0).reshape(24, 2)
    y = ["NA", "EU"] * 12
    with pytest.raises(InputError, match=r"y is missing \(NaN\) in 12 rows"):
        make_problem(X, y)
    assert make_problem(X, pd.Categorical(y)).target.classes.tolist() == ["EU", "NA"]


def test_keys_are_found_and_named_together():
    n = 40
    X = pd.DataFrame(
        {
            "name": [f"N{k}" for k in range(n)],
            "mail": [f"{k}@x" if k else None for k in range(n)],
            "n": range(5, n + 5),
            "userId": [k * k for k in range(n)],
            "price": [k * k for k in range(n)],
            "city": ["A", "B"] * (n // 2),
        }
    )
    assert [(key.name, key.text) for key in find_keys(as_table(X))] == [
        ("name", True), ("mail", True), ("n", False), ("userId", False)]  # fmt: skip
    y = [0, 1] * (n // 2)
    with pytest.warns(InputWarning) as caught:
        make_problem(X, y)
    (message,) = {str(warning.message) for warning in caught}
    assert (
        "columns 'name' (40 different texts in 40 rows), 'mail' (39 different texts in" in message
    )
    assert "in 39 rows) look like keys" in message and "drop them (['name', 'mail'])" in message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_problem(X, y, kinds={"name": "text", "mail": "text"})
