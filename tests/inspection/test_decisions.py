"""Files of decisions: they come back as they were, and what does not fit is refused by line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decision_file import decisions_text, write_decisions
from shapley2d import InputError
from shapley2d._inspection.decisions import Decision, parse_decisions, read_decisions
from shapley2d.exceptions import InputWarning

HEAD = "row,column,entry,decision,new,table\n"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(column=texts, entry=texts, new=texts, why=texts, target=texts)
def test_any_text_comes_back_as_it_was(column, entry, new, why, target):
    made = Decision(3, column, entry or None, "edit", new or None, "x", why, 0.25)
    back = parse_decisions(decisions_text([made], "9f", target).removeprefix("\ufeff"))
    assert back.made == [replace(made, line=back.made[0].line)]
    assert (back.table, back.target) == ("9f", target)


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\t=1", "'=1", "''+x", "\uff1d1"])
def test_no_field_is_a_formula(text):
    line = decisions_text([Decision(0, "a", text, "right")], "9f").splitlines()[1]
    assert f"'{text}"[:3] in line
    assert (
        parse_decisions(decisions_text([Decision(0, "a", text, "right")], "9f")).made[0].entry
        == text
    )


def test_numbers_need_no_guard():
    assert ",-5," in decisions_text([Decision(0, "a", "-5", "right")], "9f")


def test_a_spreadsheet_may_have_saved_it(tmp_path):
    path = tmp_path / "decisions.csv"
    write_decisions(path, [Decision(0, "a", "é", "accept", "ä")], "9f", "y")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert read_decisions(path).made[0].new == "ä"
    path.write_text("row;column;entry;decision;new;table\n1;a;x;Right;;9f\n")
    assert read_decisions(path).made[0].verdict == "right"
    path.write_bytes(
        "row;column;entry;decision;new;table\r\n1;a;x;edit;Köln €;9f\r\n".encode("cp1252")
    )
    with pytest.warns(InputWarning, match="is not UTF-8: read as Western European letters"):
        assert read_decisions(path).made[0].new == "Köln €"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no column 'row'"),
        ("a,b\n1,2\n", "it has no column 'row'"),
        (HEAD + "x,a,1,edit,2,9f\n", "line 2: row 'x' is not the position of a row"),
        (HEAD + "-1,a,1,edit,2,9f\n", "line 2: row '-1' is not the position of a row"),
        (HEAD + "1,a,1,perhaps,2,9f\n", "line 2: decision 'perhaps' is not known"),
        (HEAD + "1,a,1,edit,2\n", "line 2: 5 fields, but the header has 6"),
        (HEAD + "1,a,1,edit,2,9f\n2,a,1,edit,2,8e\n", "line 3: decisions about two tables"),
        (HEAD + "1,a,1,edit,2,9f\n1,a,1,right,,9f\n", "line 3: row 1, column 'a' was decided in line 2 already"),
        (HEAD + '1,a,1,edit,"2,9f\n', "not readable as CSV"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_by_its_line(text, words):
    with pytest.raises(InputError, match=words):
        parse_decisions(text)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_decisions(tmp_path)
    with pytest.raises(InputError, match="there is no file"):
        read_decisions(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_bytes(b"\x00\x01")
    with pytest.raises(InputError, match="is not a text file"):
        read_decisions(tmp_path / "x.csv")


def test_no_file_of_decisions_is_that_large(tmp_path, monkeypatch):
    monkeypatch.setattr("shapley2d._base.limits.FREE_BYTES", 3)
    (tmp_path / "x.csv").write_text("row,column")
    with pytest.raises(InputError, match=r"x\.csv has more than [\d,]+ bytes"):
        read_decisions(tmp_path / "x.csv")
