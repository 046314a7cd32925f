"""From files to what the library values: targets, rows, dropped columns, notes."""

import json

from command_line import run
from shapley2d.cli import main
from shapley2d.cli.inputs import read_inputs
from shapley2d.cli.options import Reading


def read(path, *, valid=None, drop_keys=False, drop_missing_target=False, **how):
    return read_inputs(
        str(path),
        "y",
        None if valid is None else str(valid),
        Reading(**how),
        {},
        drop_keys=drop_keys,
        drop_missing_target=drop_missing_target,
    )


def rows(*lines):
    return "\n".join(lines) + "\n"


def test_validation_file_takes_the_text_columns_of_training(tmp_path):
    (tmp_path / "train.csv").write_text(rows("a,y", "1,u", "x,v", "2,u"))
    (tmp_path / "valid.csv").write_text(rows("y,a", "u,1", "v,2"))
    inputs = read(tmp_path / "train.csv", valid=tmp_path / "valid.csv")
    assert inputs.valid.table["a"].to_pylist() == ["1", "2"]


def test_drop_takes_lists_and_names_with_commas(tmp_path):
    (tmp_path / "train.csv").write_text(rows('"a,b",c,d,e,y', "1,2,3,4,u", "5,6,7,8,v"))
    inputs = read(tmp_path / "train.csv", drop=["a,b", "c, d"])
    assert inputs.features == ["e"]


def test_notes_of_numbers_that_may_be_keys(tmp_path, capsys):
    lines = [f"{k},{k * k},{k % 3},{'uv'[k % 2]}" for k in range(40)]
    (tmp_path / "train.csv").write_text(rows("n,user_id,a,y", *lines))
    told = run(capsys, f"cells {tmp_path / 'train.csv'} -t y --cv 2").err
    assert (
        "may be keys: 'n' (it only counts the rows), 'user_id' (40 different numbers in 40 rows)"
        in told
    )
    assert "leave them out with --drop-keys" in told


def test_keys_are_left_out_together(tmp_path, capsys):
    lines = [f"{k},N{k},{k % 3},{'uv'[k % 2]}" for k in range(40)]
    (tmp_path / "train.csv").write_text(rows("n,name,a,y", *lines))
    (tmp_path / "valid.csv").write_text(rows("n,name,a,y", *lines[:7]))
    inputs = read(tmp_path / "train.csv", valid=tmp_path / "valid.csv", drop_keys=True)
    assert inputs.features == ["a"]
    assert inputs.train.table.column_names == inputs.valid.table.column_names == ["a", "y"]
    (note,) = capsys.readouterr().err.splitlines()
    assert (
        "left out as keys: 'n' (it only counts the rows), 'name' (40 different texts in 40 rows)"
        in note
    )


def test_a_column_that_the_user_calls_text_is_no_key(tmp_path):
    (tmp_path / "train.csv").write_text(rows("name,y", *(f"N{k},{'uv'[k % 2]}" for k in range(40))))
    inputs = read(tmp_path / "train.csv", text=["name"])
    assert inputs.features == ["name"]
    assert inputs.kinds == {"name": "text"}


def test_rows_whose_target_is_a_stray_are_left_out(tmp_path, capsys):
    lines = [f"{k % 7},{'x1' if k in (3, 8) else k * 1.5},g{k % 4},n{k}" for k in range(40)]
    path = tmp_path / "train.csv"
    path.write_text(rows("a,y,g,n", *lines))
    command = f"cells {path} -t y --groups g --cv 2 --json --top 99"
    out, err = run(capsys, f"{command} --drop n")
    cells = json.loads(out)["lowest"]
    assert [one["line"] - 2 for one in cells] == [one["row"] for one in cells]
    assert {one["row"] for one in cells} == {*range(40)} - {3, 8}
    assert (
        "train.csv: column 'y' holds numbers, but not in 2 of 40 rows ('x1' in line 5, 'x1' in "
        "line 10)" in err
    )
    named = json.loads(run(capsys, f"{command} --id n").out)["lowest"]
    assert all(one["row"] == f"n{one['line'] - 2}" for one in named)


def test_the_target_may_be_called_text(tmp_path):
    (tmp_path / "train.csv").write_text(rows("a,y", *(f"{k % 7},{k % 3}" for k in range(40))))
    path = tmp_path / "train.csv"
    assert read(path).train.table["y"].to_pylist()[:3] == ["0", "1", "2"]
    assert read(path, number=["y"]).train.table["y"].to_pylist()[:3] == [0, 1, 2]
    labels = read(path, text=["y"]).train.table["y"]
    assert labels.to_pylist()[:3] == ["0", "1", "2"] and hasattr(labels.chunk(0), "dictionary")


def test_names_of_rows_keep_their_zeros(tmp_path):
    (tmp_path / "train.csv").write_text(rows("who,a,y", "007,1,u", "008,2,v"))
    assert read(tmp_path / "train.csv", row_id="who").names.tolist() == ["007", "008"]
    (tmp_path / "train.csv").write_text(rows("who,a,y", "70,1,u", "8,2,v"))
    assert read(tmp_path / "train.csv", row_id="who").names.tolist() == [70, 8]


def test_a_message_names_a_row_by_the_line_where_it_starts(tmp_path, capsys):
    path = tmp_path / "t.csv"
    lines = ['1,"two\nlines",u', "2,x,v", "", "3,x,", "1e400,z,u", "4,z,v", "5,x,u", "6,x,v"]
    path.write_text("\n".join(["a,b,y", *lines, ""]), encoding="utf-8")
    assert main(["cells", str(path), "-t", "y", "--text", "b", "--drop-missing-target"]) == 2
    assert "column 'a' holds an infinite number in line 7: replace" in capsys.readouterr().err
