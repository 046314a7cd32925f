"""From files to what the library values: targets, rows, dropped columns, notes."""

import pytest

from shapley2d.cli.reading.inputs import read_inputs
from shapley2d.exceptions import InputError


def rows(*lines):
    return "\n".join(lines) + "\n"


def test_validation_file_takes_the_text_columns_of_training(tmp_path):
    (tmp_path / "train.csv").write_text(rows("a,y", "1,u", "x,v", "2,u"))
    (tmp_path / "valid.csv").write_text(rows("y,a", "u,1", "v,2"))
    inputs = read_inputs(str(tmp_path / "train.csv"), "y", valid=str(tmp_path / "valid.csv"))
    assert inputs.X_valid.to_pydict() == {"a": ["1", "2"]}


def test_rows_without_a_target_can_be_left_out(tmp_path):
    (tmp_path / "train.csv").write_text(rows("a,y", "1,u", "2,", "3,v"))
    inputs = read_inputs(str(tmp_path / "train.csv"), "y", drop_missing_target=True)
    assert inputs.rows.tolist() == [0, 2]
    assert inputs.y.tolist() == ["u", "v"]


def test_rows_named_by_a_column(tmp_path):
    (tmp_path / "train.csv").write_text(rows("who,a,y", "Ann,1,u", "Bob,2,v"))
    inputs = read_inputs(str(tmp_path / "train.csv"), "y", row_id="who")
    assert inputs.row_names.tolist() == ["Ann", "Bob"]
    assert inputs.X.column_names == ["a"]


def test_drop_takes_lists_and_names_with_commas(tmp_path):
    (tmp_path / "train.csv").write_text(rows('"a,b",c,d,e,y', "1,2,3,4,u", "5,6,7,8,v"))
    inputs = read_inputs(str(tmp_path / "train.csv"), "y", drop=["a,b", "c, d"])
    assert inputs.X.column_names == ["e"]


def test_notes_of_counters_and_of_few_texts_among_numbers(tmp_path):
    lines = [f"{k},{'x' if k == 7 else k % 3},{'uv'[k % 2]}" for k in range(40)]
    (tmp_path / "train.csv").write_text(rows("n,a,y", *lines))
    notes = read_inputs(str(tmp_path / "train.csv"), "y").notes
    assert any("column 'n' only counts the rows" in str(note) for note in notes)
    assert any(
        "column 'a' holds numbers except for 1 of its entries, first 'x' in line 9" in str(note)
        for note in notes
    )


def test_broken_numbers_are_named_rather_than_called_a_key(tmp_path):
    lines = [f"{'1O' if k == 7 else k * 1.5},{'uv'[k % 2]}" for k in range(40)]
    (tmp_path / "train.csv").write_text(rows("a,y", *lines))
    with pytest.raises(
        InputError, match="numbers except for 1 of its entries, first '1O' in line 9: correct them"
    ):
        read_inputs(str(tmp_path / "train.csv"), "y")
