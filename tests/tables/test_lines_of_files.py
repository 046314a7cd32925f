"""Rows of a file go by the line where they start, in Python as on the command line."""

import csv
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from campaign.crafted import valuation_parts, write_valuation
from report_page import html_of
from shapley2d import Exact, Inspection, Valuation, inspect_cells, value_cells
from shapley2d._tables.convert import as_table
from shapley2d.cli import main
from shapley2d.exceptions import InputError, InputWarning

N = 40


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def write(path, *, seed=0, price=None):
    """A file with fields of several lines and blank lines; the line where each row starts."""
    random = np.random.default_rng(seed)
    lines, line = [], 3
    with Path(path).open("w", newline="") as file:
        file.write("size,note,day,kind,price\n\n")
        writer = csv.writer(file, lineterminator="\n")
        for i in range(N):
            kind = ["ale", "lager"][int(random.integers(2))]
            note = "two\nlines" if i % 5 == 0 else ["old", "new"][i % 2]
            cost = 1.5 * i if price is None or i not in price else price[i]
            writer.writerow([round(random.normal() + (kind == "ale"), 3), note, i, kind, cost])
            lines.append(line)
            line += 2 if i % 5 == 0 else 1
            if i % 7 == 3:
                file.write("\n")
                line += 1
    return lines


def test_every_row_goes_by_the_line_where_it_starts():
    lines = write("t.csv")
    text = Path("t.csv").read_text().split("\n")  # what an editor shows
    v = value_cells("t.csv", "kind", progress=False)
    assert v.lines.tolist() == lines
    sizes = v._contents[v.column_names.index("size")]
    assert all(
        float(text[at - 1].split(",")[0]) == float(s) for at, s in zip(lines, sizes, strict=True)
    )
    frame = v.to_frame()
    assert list(frame.columns) == ["row", "line", "column", "value", "stderr"]
    assert frame["line"].tolist() == np.repeat(lines, 4).tolist()
    assert frame["row"].tolist() == np.repeat(range(N), 4).tolist()
    worst = v.lowest(1).iloc[0]
    assert f"at line {worst['line']}, column {worst['column']!r}" in repr(v)
    assert (
        f"at line {worst['line']}, column {html.escape(repr(worst['column']))}" in v._repr_html_()
    )


class _Words(HTMLParser):
    def __init__(self):
        super().__init__()
        self.text = ""

    def handle_data(self, data):
        self.text += " " + data


def listed(page):
    """The cells that a report lists first, as a person reads them."""
    words = _Words()
    words.feed(page)
    return re.findall(r"\b(line|row)\s+(\d+)\s+,", words.text)


@pytest.mark.parametrize("valid", [False, True])
def test_python_and_the_command_line_name_the_same_rows(capsys, valid):
    write("t.csv")
    write("other.csv", seed=1)
    more, flags = ({}, [])
    if valid:
        more, flags = {"X_valid": "other.csv"}, ["--valid", "other.csv"]
    v = value_cells("t.csv", "kind", progress=False, **more)
    v.to_html("python.html")
    arguments = ["cells", "t.csv", "-t", "kind", *flags, "--json", "-o", "v.parquet"]
    assert main([*arguments, "--report", "line.html"]) == 0
    told = json.loads(capsys.readouterr().out)
    lowest = v.lowest(10)
    assert [cell["line"] for cell in told["lowest"]] == lowest["line"].tolist()
    assert [cell["row"] for cell in told["lowest"]] == lowest["row"].tolist()
    saved = Valuation.load("v.parquet")
    assert saved == v
    assert saved.lines.tolist() == v.lines.tolist()
    first, second = (listed(Path(name).read_text()) for name in ("python.html", "line.html"))
    assert first
    assert {word for word, _ in first} == {"line"}
    assert first == second == listed(html_of(saved))  # shapley2d report, too


def test_rows_that_are_left_out_do_not_shift_the_lines():
    lines = write("t.csv", price={0: "much", 7: "much more", 12: "much"})
    with pytest.warns(
        InputWarning, match=rf"'much' in line {lines[0]}, 'much more' in line {lines[7]}, "
    ):
        v = value_cells("t.csv", "price", progress=False)
    kept = [i for i in range(N) if i not in (0, 7, 12)]
    assert v.row_names.tolist() == kept
    assert v.lines.tolist() == [lines[i] for i in kept]


def test_groups_and_columns_of_options_keep_the_lines():
    lines = write("t.csv")
    v = value_cells("t.csv", "kind", groups="note", cv=2, progress=False)
    assert "note" not in v.column_names
    assert v.lines.tolist() == lines


def test_rows_are_found_by_their_line():
    lines = write("t.csv")
    v = value_cells("t.csv", "kind", progress=False)
    pd.testing.assert_frame_equal(v.explain_row(line=lines[9]), v.explain_row(9))
    assert v.plot_waterfall(line=lines[9]).get_title() == v.plot_waterfall(9).get_title()
    names = [tick.get_text() for tick in v.plot_heatmap().get_yticklabels()]
    assert names[0] == str(lines[0])
    with pytest.raises(
        InputError, match=f"there is no line 1: rows start on lines {lines[0]}, {lines[1]}"
    ):
        v.explain_row(line=1)
    for given in ({}, {"row": 1, "line": 5}):
        with pytest.raises(InputError, match="give row or line"):
            v.explain_row(**given)
    other = value_cells([[1], [2], [3], [4]], [0, 0, 1, 1], cv=2, progress=False)
    assert other.lines is None
    with pytest.raises(InputError, match="line=3 needs values of a file whose rows have lines"):
        other.explain_row(line=3)


def test_an_inspection_keeps_its_lines_in_frames_logs_and_files():
    lines = write("t.csv")
    inspection = inspect_cells("t.csv", "kind", progress=False)
    ranked = inspection.rank(5)
    assert ranked["line"].tolist() == [lines[i] for i in ranked["row"]]
    _, log = inspection.repair("t.csv", n=1)
    assert log["line"].tolist() == [lines[i] for i in log["row"]]
    inspection.save("i.parquet")
    again = Inspection.load("i.parquet")
    assert again.lines.tolist() == lines
    assert repr(again) == repr(inspection)
    frame = pd.read_csv("t.csv")
    assert "line" not in inspect_cells(frame, "kind", progress=False).rank(1)


def test_messages_name_the_line():
    lines = write("t.csv")
    text = Path("t.csv").read_text()
    Path("t.csv").write_text(text.replace("ale,6.0", ",6.0").replace("lager,6.0", ",6.0"))
    with pytest.raises(InputError, match=f"first in line {lines[4]}: drop that row"):
        value_cells("t.csv", "kind", progress=False)
    write("t.csv")
    days = [f"{i}" if i != 8 else "soon" for i in range(N)]
    with pytest.raises(InputError, match=f"holds 'soon' in line {lines[8]}"):
        value_cells("t.csv", "kind", time_order=days, progress=False)
    lines = write("t.csv", price={3: "1e300"})
    with pytest.raises(InputError, match=f"column 'price' holds .* in line {lines[3]}:"):
        value_cells("t.csv", "kind", progress=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: pa.array([str(line) for line in lines]), "its lines are not whole numbers"),
        (lambda lines: pa.array([None, *lines[1:]]), "its lines are not whole numbers"),
        (lambda lines: pa.array([0] * len(lines)), "its lines do not fit its rows"),
        (lambda lines: pa.array([*lines[:-1], 999]), "its lines do not fit its rows"),
    ],
)
def test_lines_of_a_saved_file_are_checked(change, message):
    write("t.csv")
    value_cells("t.csv", "kind", progress=False).save("v.parquet")
    record, table = valuation_parts("v.parquet")
    new = table.set_column(1, "line", change(table["line"].to_pylist()))
    write_valuation("v.parquet", record, new)
    with pytest.raises(InputError, match=message):
        Valuation.load("v.parquet")
    write_valuation("v.parquet", record, table.drop(["line"]))  # as an earlier version wrote it
    assert Valuation.load("v.parquet").lines is None


@pytest.mark.skipif(sklearn.__version__ < "1.7", reason="its pipelines take no Arrow table")
def test_a_pipeline_gets_the_numbers_of_a_file():
    """Columns of a CSV file are text until they are read: a model is trained on what they say."""
    rows = [f"{k % 5},5;{'ab'[k % 2]};{'xy'[k % 5 > 2]}" for k in range(20)]
    Path("german.csv").write_text("\n".join(["Größe;Art;Ziel", *rows]))
    parts = [("n", StandardScaler(), ["Größe"]), ("c", OneHotEncoder(), ["Art"])]
    model = make_pipeline(ColumnTransformer(parts), DecisionTreeClassifier(random_state=0))
    options = {"row_groups": [0, 1] * 10, "method": Exact(model), "progress": False}
    with pytest.warns(InputWarning, match="read with decimal commas"):
        from_file = value_cells("german.csv", "Ziel", **options)
    frame = pd.DataFrame({"Größe": [k % 5 + 0.5 for k in range(20)], "Art": list("ab") * 10})
    twin = value_cells(frame, ["xy"[k % 5 > 2] for k in range(20)], **options)
    np.testing.assert_array_equal(from_file.values, twin.values)


def test_files_without_lines_have_positions():
    pd.DataFrame({"a": [1, 2, 3, 4], "y": [0, 0, 1, 1]}).to_parquet("t.parquet")
    assert as_table("t.parquet").lines is None
    assert value_cells("t.parquet", "y", cv=2, progress=False).lines is None
