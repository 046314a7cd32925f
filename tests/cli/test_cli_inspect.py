"""``shapley2d inspect`` and ``repair``: lists, files, decisions applied byte for byte, refusals."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run
from decision_file import FIELDS, write_decisions
from inspected_table import people
from shapley2d import Inspection, inspect_cells
from shapley2d._inspection.decisions import Decision
from shapley2d._inspection.tables.table_digest import file_digest
from shapley2d._tables.reading.files import read_table
from shapley2d.cli import main
from shapley2d.exceptions import InputError

TABLE, LABEL = people(80)
WHOLE = TABLE.assign(bought=LABEL, id=[f"K{k:03d}" for k in range(80)])
REPAIR = "repair people.csv decisions.csv -o clean.csv "


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    WHOLE.to_csv("people.csv", index=False)
    return tmp_path


def decide(path="decisions.csv", table="people.csv", made=None):
    made = made or [
        Decision(3, "income", TABLE["income"].astype(int).astype(str)[3], "accept", "31000.0"),
        Decision(5, "age", "433", "accept", "43", why="far off"),
        Decision(7, "city", "Brimingham", "edit", 'Birm"ingham, "Old"'),
        Decision(9, "income", "30.0", "right"),
    ]
    write_decisions(path, made, file_digest(read_table(table).table), "bought")
    return path


def test_new_rows_are_judged_by_a_trusted_table(capsys):
    right = WHOLE.drop(index=[5, 7, 9, 11])
    right.to_csv("known.csv", index=False)
    WHOLE.iloc[[7]].assign(age="old").to_csv("new.csv", index=False)
    run(capsys, "inspect known.csv --target bought --id id -o known.parquet --top 0")
    out = run(capsys, "inspect new.csv --id id --reference known.parquet --report new.html").out
    start = "new.csv: 1 row x 7 columns and the label 'bought', judged by 76 trusted rows; "
    assert out.startswith(start)
    assert "'Brimingham' (1 x), likely a misspelling of 'Birmingham'" in out
    assert "known.parquet" in Path("new.html").read_text(encoding="utf-8")
    by_table = "inspect new.csv --target bought --id id --reference known.csv --json"
    by_file = "inspect new.csv --id id --reference known.parquet --json"
    said = [json.loads(run(capsys, line).out) for line in (by_table, by_file)]
    assert said[0]["suspects"] == said[1]["suspects"]
    number = said[0]["stand_out"]
    assert number
    assert run(capsys, f"{by_file} --fail-if {number}").out
    assert main(f"{by_file} --fail-if {number - 1}".split()) == 3
    assert f"stand out, more than --fail-if {number - 1}" in capsys.readouterr().err
    assert main(f"{by_file} --drop senior --fail-if 0".split()) == 3
    assert "stand out, those of 1 missing column included, more" in capsys.readouterr().err
    assert main(["inspect", "new.csv", "--reference", "nowhere.csv"]) == 2
    assert "nowhere.csv" in capsys.readouterr().err


def test_the_list_says_what_is_wrong_and_what_it_should_say(capsys):
    out = run(capsys, "inspect people.csv --target bought --id id --top 6").out
    start = r"people.csv: 80 rows x 7 columns and the label 'bought'; \d entr(ies|y) stands? out, "
    assert re.match(start, out)
    columns, cells = out.split("Entries to check")
    assert "'Brimingham' (1 x), likely a misspelling of 'Birmingham'" in columns
    line = next(line for line in cells.splitlines() if "Brimingham" in line)
    assert line.split()[:5] == ["K007", "9", "city", "Brimingham", "Birmingham"]
    assert "far off for its row: expected" in out
    assert len([one for one in out.splitlines() if " % " in one]) >= 6


def test_no_target_is_needed_and_keys_are_welcome(capsys):
    out = run(capsys, "inspect people.csv --drop bought").out
    assert re.match(r"people.csv: 80 rows x 8 columns; \d entr(ies|y) stands? out, ", out)
    assert "80 rows x 9 columns" in run(capsys, "inspect people.csv").out


def test_labels_that_are_hardly_wrong_are_not_listed(capsys):
    kinds = [f"{k % 2}{k % 3}" for k in range(400)]
    pd.DataFrame({"kind": kinds, "twin": kinds, "label": kinds}).to_csv("same.csv", index=False)
    out = run(capsys, "inspect same.csv -t label --report page.html").out
    assert "Labels to check: none, each is less than 1 % likely wrong" in out
    assert "No label is 1 % likely wrong or more." in Path("page.html").read_text(encoding="utf-8")


def test_outputs(capsys):
    run(capsys, "inspect people.csv -t bought --drop id -o cells.parquet")
    saved = Inspection.load("cells.parquet")
    twin = inspect_cells(TABLE, LABEL, progress=False)
    np.testing.assert_allclose(saved.scores, twin.scores)
    assert saved._fingerprint == file_digest(read_table("people.csv").table)
    assert run(capsys, "report cells.parquet --title Again").out == "report: cells.html\n"
    assert "<title>Again</title>" in Path("cells.html").read_text(encoding="utf-8")
    refused = run(capsys, "report cells.parquet --against cells.parquet -o x.html", 2).err
    assert "cells.parquet is a Parquet file, but not a valuation saved by shapley2d" in refused
    run(capsys, "inspect people.csv -t bought --drop id -o cells.csv")
    assert read_table("cells.csv").table.num_rows == 80 * 8
    summary = json.loads(run(capsys, "inspect people.csv -t bought --drop id --json --top 3").out)
    assert len(summary["suspects"]) == 3 and summary["suspects"][0]["probability"] > 0.3
    assert summary["fingerprint"] == saved._fingerprint


def test_the_page_says_how_to_go_on(capsys):
    run(capsys, "inspect people.csv -t bought --drop id --text code --report page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    page = re.sub(r'<span class="whole">([^<]*)</span>', r"\1", page)  # keeps options on one line
    assert (
        "shapley2d repair people.csv decisions.csv -o people-clean.csv --report after.html "
        "--drop id --text code" in page
    )
    assert "shapley2d inspect people-clean.csv --target bought --decisions decisions.csv" in page


def test_decisions_are_applied_and_nothing_else_changes(capsys):
    decide()
    command = f"{REPAIR}--drop id --text code --model tree --report after.html"
    out = run(capsys, command).out
    old, new = (Path(one).read_bytes().decode().split("\n") for one in ("people.csv", "clean.csv"))
    pairs = enumerate(zip(old, new, strict=True))
    assert [k for k, pair in pairs if pair[0] != pair[1]] == [4, 6, 8]
    assert '"Birm""ingham, ""Old"""' in new[8]
    assert read_table("clean.csv").table["city"][7].as_py() == 'Birm"ingham, "Old"'
    assert ",31000.0," in new[4]
    assert "3 entries changed, 1 called right" in out
    assert "accuracy" in out and "as many random repairs" in out
    page = Path("after.html").read_text(encoding="utf-8")
    for words in ("3 entries were changed", "as many random repairs", "Birm&#34;ingham"):
        assert words in page


def test_what_was_called_right_is_not_asked_again(capsys):
    decide()
    run(capsys, f"{REPAIR}--model none --drop id")
    call = "inspect clean.csv -t bought --drop id --json --top 500"
    said = [json.loads(run(capsys, call + more).out) for more in ("", " --decisions decisions.csv")]
    cells = [{(one["row"], one["column"]) for one in each["suspects"]} for each in said]
    assert (9, "income") in cells[0] and (9, "income") not in cells[1]
    assert said[1]["settled"] == 4
    WHOLE.assign(income=1).to_csv("other.csv", index=False)
    noted = run(capsys, "inspect other.csv -t bought --drop id --decisions decisions.csv").err
    assert "decisions.csv: 1 entry called right has changed since, and is listed again" in noted


@pytest.mark.parametrize(
    ("separator", "encoding", "end", "packed"),
    [
        (";", "utf-8", "\n", False),
        ("\t", "cp1252", "\r\n", False),
        (",", "utf-8-sig", "\r\n", True),
        (",", "utf-16", "\n", False),
    ],
)
def test_csv_keeps_its_format_byte_for_byte(capsys, separator, encoding, end, packed):
    lines = [
        ["a", "b", "größe"],
        *([str(k), f'"q{k}"' if k % 2 else f" q{k} ", f"{k}.50"] for k in range(12)),
    ]
    data = (end.join(separator.join(line) for line in lines) + end).encode(encoding)
    name = "t.csv.gz" if packed else "t.csv"
    Path(name).write_bytes(gzip.compress(data) if packed else data)
    made = [
        Decision(1, "b", "q1", "edit", "ä"),
        Decision(2, "größe", "2.50", "edit", None),
        Decision(4, "b", "q4", "edit", "x"),
    ]
    decide(table=name, made=made)
    out = "clean.csv.gz" if packed else "clean.csv"
    run(capsys, f"repair {name} decisions.csv -o {out} --model none")
    written = Path(out).read_bytes()
    written = gzip.decompress(written) if packed else written
    lines[2][1], lines[3][2], lines[5][1] = '"ä"', "", "x"
    assert written == (end.join(separator.join(line) for line in lines) + end).encode(encoding)


def test_parquet_and_json_stay_what_they_are(capsys):
    table = pa.table({"n": pa.array(range(30), pa.int32()), "t": [*"abc"] * 10, "f": [0.5] * 30})
    pq.write_table(table, "t.parquet")
    made = [Decision(3, "n", "3", "edit", "7"), Decision(4, "t", "b", "edit", None)]
    decide(table="t.parquet", made=made)
    run(capsys, "repair t.parquet decisions.csv -o clean.parquet --model none")
    clean = pq.read_table("clean.parquet")
    assert clean.schema == table.schema
    assert (clean["n"][3].as_py(), clean["t"][4].as_py()) == (7, None)
    Path("t.jsonl").write_text("".join(f'{{"n":{k},   "t": "{"ab"[k % 2]}"}}\n' for k in range(30)))
    decide(table="t.jsonl", made=made[:1])
    run(capsys, "repair t.jsonl decisions.csv -o clean.jsonl --model none")
    before, after = (Path(one).read_text().splitlines() for one in ("t.jsonl", "clean.jsonl"))
    assert json.loads(after[3]) == {"n": 7, "t": "b"}
    assert before[:3] + before[4:] == after[:3] + after[4:]


def test_a_spreadsheet_is_repaired_into_a_csv(capsys):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in (["a", "b"], *([k, f"q{k}, {k}"] for k in range(12))):
        book.active.append(row)
    book.save("t.xlsx")
    decide(table="t.xlsx", made=[Decision(3, "a", "3", "edit", "7")])
    run(capsys, "repair t.xlsx decisions.csv -o clean.csv --model none")
    lines = ["a,b", *(f'{7 if k == 3 else k},"q{k}, {k}"' for k in range(12))]
    assert Path("clean.csv").read_text().splitlines() == lines


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("repair people.csv decisions.csv -o people.csv", "would overwrite an input"),
        (
            "repair people.csv decisions.csv -o clean.parquet",
            "people.csv is written again as CSV: the name must end in .csv",
        ),
        (f"{REPAIR}--report clean.csv", "the name must end in .html"),
        ("repair people.csv nothing.csv -o clean.csv", "there is no file nothing.csv"),
        ("repair people.csv people.csv -o clean.csv", "people.csv is not a file of decisions"),
        (f"{REPAIR}--model forrest", "did you mean 'random_forest'?"),
        (f"{REPAIR}--target boght", "has no such column (did you mean 'bought'?)"),
        (
            "repair other.csv decisions.csv -o clean.csv",
            "was made for another table, or other.csv has changed since",
        ),
        (
            "repair people.csv tampered.csv -o clean.csv",
            "line 2: column 'age' in line 7 of people.csv is '433', not '44' as decided",
        ),
        (
            "repair people.csv far.csv -o clean.csv",
            "line 2: there is no row 500 in people.csv, whose 80 rows are 0 to 79: correct that line",
        ),
        (
            "repair people.csv wide.csv -o clean.csv",
            "line 2: there is no column 'agee' in people.csv (did you mean 'age'?): correct that",
        ),
        ("repair people.csv empty.csv -o clean.csv", "empty.csv holds no decisions"),
        (
            "repair - decisions.csv -o clean.csv",
            "--output needs the name of a table, not -: its format is",
        ),
        ("inspect people.csv --target boght", "has no such column (did you mean 'bought'?)"),
        ("inspect people.csv --report page.txt", "the name must end in .html"),
        ("inspect people.csv -o people.csv", "would overwrite an input"),
        ("inspect people.csv --decisions people.csv", "is not a file of decisions"),
        ("inspect people.csv -t bought --drop bought", "is the target"),
        (
            "inspect one.csv -t bought --drop age",
            "one.csv has no columns beside the target 'bought' and the dropped ones",
        ),
    ],
)
def test_mistakes_get_one_line_and_no_file(capsys, folder, command, words):
    decide()
    decide("tampered.csv", made=[Decision(5, "age", "44", "right")])
    decide("far.csv", made=[Decision(500, "age", "44", "right")])
    decide("wide.csv", made=[Decision(5, "agee", "44", "right")])
    write_decisions("empty.csv", [], "")
    WHOLE[["age", "bought"]].to_csv("one.csv", index=False)
    WHOLE.assign(age=1).to_csv("other.csv", index=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    error = run(capsys, command, code=2).err
    assert words in error and error.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_decisions_made_in_python_fit_the_file(capsys):
    TABLE.assign(bought=LABEL).to_csv("same.csv", index=False)
    found = inspect_cells(TABLE, LABEL, progress=False)
    made = [Decision(7, "city", "Brimingham", "accept", "Birmingham")]
    write_decisions("d.csv", made, found._fingerprint, "bought")
    run(capsys, "repair same.csv d.csv -o clean.csv --model none")
    assert found.repair(TABLE, cells="d.csv")[0].loc[7, "city"] == "Birmingham"


def test_letters_that_the_encoding_lacks(capsys):
    Path("t.csv").write_bytes("a,b\n1,é\n2,x\n3,y\n".encode("cp1252"))
    decide(table="t.csv", made=[Decision(1, "b", "x", "edit", "→")])
    error = run(capsys, "repair t.csv decisions.csv -o clean.csv --model none", code=2).err
    assert "t.csv is written in cp1252, which has no letter '→'" in error


def test_ctrl_c_leaves_nothing(capsys, monkeypatch, folder):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shapley2d._inspection.score.inspect_table", stop)
    before = sorted(folder.iterdir())
    assert main(["inspect", "people.csv", "--report", "page.html"]) == 130
    assert sorted(folder.iterdir()) == before


def test_parquet_is_not_packed_twice(capsys):
    pq.write_table(pa.table({"a": list(range(30))}), "t.parquet")
    decide(table="t.parquet", made=[Decision(5, "a", "5", "edit", "6")])
    error = run(capsys, "repair t.parquet decisions.csv -o clean.parquet.gz", code=2).err
    assert "Parquet is packed already: leave out .gz" in error


def test_a_file_a_frame_and_the_command_have_the_same_findings(tmp_path, capsys):
    n = 60
    table = pd.DataFrame(
        {
            "size": ["12.0 oz", "12.0 oz.", "16.0 ounce"] * (n // 3),
            "price": [f"{k + 20},50 €" for k in range(n)],
            "age": [str(20 + k % 50) for k in range(n)],
            "city": ["Leeds", "Bath", "Hull"] * (n // 3),
            "zip": ["LS1", "BA1", "HU1"] * (n // 3),
        }
    )
    table.loc[3, "price"], table.loc[4, "price"] = "EUR 24,10", "k.A."
    table.loc[[7, 8], "age"] = "-999"
    table.loc[9, "city"], table.loc[10, "zip"] = "Leedss", ""
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    of_frame, of_file = (inspect_cells(one, progress=False).findings for one in (table, path))
    assert {"units", "notation", "codes", "rule", "spellings"} <= {f.kind for f in of_frame}
    told = [(f.kind, f.text, f.rows.tolist(), f.suggestions) for f in of_frame]
    assert [(f.kind, f.text, f.rows.tolist(), f.suggestions) for f in of_file] == told
    capsys.readouterr()
    assert main(["inspect", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["kind"], one["text"]) for one in said] == [(f.kind, f.text) for f in of_frame]


GERMAN = [
    f"{20 + k % 30},{k % 10}0;{'Köln' if k % 3 else 'Ulm'};{1 + k % 28:02d}.03.2020"
    for k in range(60)
]


def german_decisions(lines, separator=","):
    """A file of decisions about ``german.csv``, as somebody edited it."""
    rows = list(GERMAN)
    rows[9] = "199,00;Köln;05.03.2020"
    text = "\r\n".join(["Beitrag;Ort;Seit", *rows, ""])
    Path("german.csv").write_bytes(text.encode("cp1252"))
    digest = file_digest(read_table("german.csv").table)
    made = [[*line, "0,93", "why", "", digest] for line in lines]
    text = "\r\n".join(separator.join(line) for line in [FIELDS, *made, []])
    Path("d.csv").write_bytes(text.encode("cp1252"))


def test_decisions_that_a_german_spreadsheet_saved_again(capsys):
    """It writes 199 for 199,00, 5.3.2020 for 05.03.2020, semicolons and letters of cp1252."""
    lines = [
        ["9", "", "Beitrag", "199", "accept", "19,9"],
        ["9", "", "Seit", "5.3.2020", "right", ""],
        ["3", "", "Ort", "Ulm", "edit", "Düren"],
    ]
    german_decisions(lines, ";")
    run(capsys, "repair german.csv d.csv -o clean.csv --model none")
    before, after = (Path(one).read_bytes().decode("cp1252") for one in ("german.csv", "clean.csv"))
    expected = before.replace("199,00;", "19,9;").split("\r\n")
    expected[4] = expected[4].replace("Ulm", "Düren")
    assert after == "\r\n".join(expected)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "11;;Beitrag;199,00;accept;19,90",
            "in line 13 of german.csv is '31,10', not '199,00' as decided (that is in line 11, row 9)",
        ),
        ("9;;Beitrag;198,00;accept;19,90", "is '199,00', not '198,00' as decided: correct"),
        ("9;;Beitrag;;accept;19,90", "is '199,00', not '' as decided: correct"),
        ("9;;Ort;Bonn;right;", "column 'Ort' in line 11 of german.csv is 'Köln', not 'Bonn'"),
        ("9;;Beiträge;1;accept;", "no column 'Beiträge' in german.csv (did you mean 'Beitrag'?)"),
        ("60;;Ort;Ulm;right;", "no row 60 in german.csv, whose 60 rows are 0 to 59"),
        ("line 11;;Ort;Ulm;right;", "is not the position of a row: write 0 for the first"),
    ],
)
def test_decisions_edited_by_hand_are_named_by_line_and_column(capsys, folder, line, words):
    german_decisions([line.split(";")], ";")
    before = sorted(path.name for path in folder.iterdir())
    error = run(capsys, "repair german.csv d.csv -o clean.csv --report page.html", code=2).err
    assert words in " ".join(error.split())
    assert "d.csv, line 2: " in error
    assert sorted(path.name for path in folder.iterdir()) == before


def test_typed_entries_are_compared_too(capsys):
    """Numbers of a Parquet file were not: a decision moved to another row was applied there."""
    pq.write_table(pa.table({"age": [30, 40, 433, 50] * 10, "city": ["A", "B"] * 20}), "t.parquet")
    decide(table="t.parquet", made=[Decision(1, "age", "433", "accept", "43")])
    error = run(capsys, "repair t.parquet decisions.csv -o c.parquet --model none", code=2).err
    assert "'age' in row 2 (counted from 1) of t.parquet is '40', not '433' as decided" in error
    decide(table="t.parquet", made=[Decision(2, "age", "433", "accept", "43")])
    run(capsys, "repair t.parquet decisions.csv -o c.parquet --model none")
    assert pq.read_table("c.parquet")["age"].to_pylist()[:4] == [30, 40, 43, 50]


def test_decisions_in_python_are_compared_with_the_table(tmp_path):
    found = inspect_cells(TABLE, LABEL, progress=False)
    write_decisions("d.csv", [Decision(8, "age", "433", "accept", "43")], found._fingerprint)
    with pytest.raises(InputError, match=r"'age' in row 8 of the table is .*\(that is in row 5\)"):
        found.repair(TABLE, cells="d.csv")


def test_a_line_added_by_hand_goes_with_the_others(capsys):
    decide()
    text = Path("decisions.csv").read_text(encoding="utf-8-sig")
    city = TABLE["city"][11]
    Path("decisions.csv").write_text(text.rstrip() + f"\n11,,city,{city},edit,Elsewhere,,,,\n")
    run(capsys, "repair people.csv decisions.csv -o clean.csv --model none")
    assert pd.read_csv("clean.csv")["city"][11] == "Elsewhere"


def test_decisions_in_a_spreadsheet_are_refused(capsys):
    Path("d.xlsx").write_bytes(b"PK\x03\x04 and so on")
    error = run(capsys, "repair people.csv d.xlsx -o clean.csv", code=2).err
    assert "d.xlsx is a spreadsheet: save it as CSV, with commas or semicolons" in error


@pytest.mark.parametrize("place", ["header", "entry", "decision"])
def test_a_spreadsheet_does_not_become_a_csv_that_runs(capsys, place):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    text = "=cmd|' /C calc'!A0"
    book = openpyxl.Workbook()
    rows = [["a", "b"], *([-k, "-" if k % 2 else "x"] for k in range(12))]
    if place != "decision":
        rows[0 if place == "header" else 5][1] = text
    for i, row in enumerate(rows, 1):
        for j, entry in enumerate(row, 1):
            cell = book.active.cell(i, j, entry)
            cell.data_type = "s" if entry == text else cell.data_type
    book.save("t.xlsx")
    made = [Decision(3, "a", "-3", "edit", text if place == "decision" else "-7")]
    decide(table="t.xlsx", made=made)
    command = "repair t.xlsx decisions.csv -o clean.csv --model none"
    told = run(capsys, command, code=2)
    assert "would run as a formula where a spreadsheet opens clean.csv" in told.err
    assert "=cmd" in told.err
    assert "or keep it with shapley2d repair --keep-formulas" in told.err
    assert not Path("clean.csv").exists()
    run(capsys, f"{command} --keep-formulas")
    assert text in Path("clean.csv").read_text()


def test_sure_suggestions_are_written_in_one_command(capsys):
    told = run(capsys, "inspect people.csv -t bought --id id --json --repair-sure sure.csv")
    said = json.loads(told.out)
    changed = {(one["line"], one["column"]): one["after"] for one in said["repaired"]}
    assert changed[9, "city"] == "Birmingham" and said["files"]["repaired"] == "sure.csv"
    for one in said["suspects"]:
        is_sure = one["probability"] >= 0.8 and one["sure"] >= 0.9
        assert ((one["line"], one["column"]) in changed) == is_sure
    old, new = (Path(one).read_bytes().split(b"\n") for one in ("people.csv", "sure.csv"))
    lines = {k + 1 for k, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]}
    assert lines == {line for line, _ in changed}
    out = run(capsys, "inspect people.csv -t bought --id id --repair-sure sure.csv").out
    assert f"{len(changed)} entry repaired\nrepaired: sure.csv" in out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("--repair-sure people.csv", "--repair-sure people.csv would overwrite an input"),
        (
            "--repair-sure sure.parquet",
            "--repair-sure sure.parquet: people.csv is written again as",
        ),
        ("--repair-sure x.csv -o x.csv", "both name x.csv"),
        ("--repair-sure nowhere/x.csv", "--repair-sure nowhere/x.csv"),
    ],
)
def test_sure_suggestions_go_to_a_file_of_their_own(capsys, folder, command, words):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    told = run(capsys, f"inspect people.csv {command}", code=2).err
    assert words in told and told.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    told = run(capsys, "inspect - --repair-sure x.csv", code=2).err
    assert "--repair-sure needs the name of a table, not -" in told
