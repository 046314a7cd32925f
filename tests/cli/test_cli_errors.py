"""Every wrong input gets one line that says what to do, exit code 2, and leaves no file."""

import errno
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run
from shapley2d import inspect_cells, value_cells
from shapley2d.cli import errors, main
from shapley2d.exceptions import InputError, UtilityError

LONG = "n" * 5000
ROWS = [f"P{k},{20 + k * k % 37},{'AB'[k % 2]},{'uv'[k // 2 % 2]}" for k in range(24)]
PEOPLE = "\n".join(["name,age,city,outcome", *ROWS])
TABLES = {
    "good.csv": PEOPLE,
    "other.csv": PEOPLE.replace("age", "agee"),
    "long.csv": PEOPLE.replace("age", LONG),
    "hollow.csv": PEOPLE.replace("name,", "none,").replace("P", ",P").replace("none", "none,name"),
    "more.csv": PEOPLE.replace("name,age", "label,age"),
    "texts.csv": re.sub(",[2-5]", ",x", PEOPLE),
    "keys.csv": "\n".join(
        [
            "count,name,mail,age,y",
            *(f"{k},N{k},{k}@x,{k % 7},{'' if k in (6, 9) else 'uv'[k % 2]}" for k in range(24)),
        ]
    ),
    "dates.csv": "\n".join(["a,day", *(f"{k % 5},2024-01-{k + 1:02d}" for k in range(24))]),
    "records.jsonl": '{"a": 1, "y": 2}\na,y\n',
    "ragged.csv": "a,b,y\n1,2,u\n3,v\n",
    "header.csv": "a,b,y\n",
    "empty.csv": "",
    "twice.csv": "a,a,y\n1,2,u\n",
    "single.csv": "a b y\n1 2 u\n",
    "constant.csv": "a,b,y\n1,2,u\n3,4,u\n",
    "same.csv": "a,b,y\n1,2,5\n3,4,5\n",
    "blank.csv": "a,b,y\n1,2,\n3,4,\n",
    "some.csv": "a,b,y\n1,2,u\n3,4,\n5,6,v\n",
    "infinite.csv": "a,y\n" + "1,u\n2,v\n" * 6 + "inf,u\n",
    "few.csv": "a,y\n1,u\n2,v\n3,u\n4,v\n",
    "numbers.csv": "a,y\n" + "".join(f"{k * k},{k * 1.5}\n" for k in range(30)),
    "not.parquet": "a,y\n1,2\n",
    "zip.xlsx": "PK\x03\x04...",
    "binary.csv": "a,y\0\0\1",
    "damaged.csv.gz": "",
    "rows.csv": "row,column\n0,\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHAPLEY2D_DEBUG", raising=False)
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "damaged.csv.gz").write_bytes(b"\x1f\x8bnonsense")
    (tmp_path / "folder.csv").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "plain.parquet")
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "rowless.parquet")
    return tmp_path


GOOD = "cells good.csv -t outcome --drop name "
CASES = [
    # files
    ("cells god.csv -t y", "there is no file god.csv: did you mean good.csv?"),
    ("cells no/god.csv -t y", "there is no file no/god.csv: the folder no does not exist either"),
    ("cells folder.csv -t y", "folder.csv is a folder: name a CSV or Parquet file in it"),
    ("cells empty.csv -t y", "empty.csv is empty: it needs a header line and rows"),
    ("cells header.csv -t y", "header.csv has a header but no rows"),
    ("cells rowless.parquet -t a", "rowless.parquet has no rows"),
    ("cells ragged.csv -t y", "ragged.csv, line 3: 2 fields, but the header has 3: fix the line"),
    ("cells twice.csv -t y", "twice.csv, line 1: the column name 'a' occurs twice: rename one of them"),
    ("cells single.csv -t y", "single.csv has a single column ('a b y'): if it has more, set --separator"),
    ("cells not.parquet -t y", "not.parquet is not a readable Parquet file: rename it if it is CSV"),
    ("cells zip.xlsx -t y", "zip.xlsx is damaged: copy or download it again"),
    ("cells https://example.com/t.csv -t y", "https://example.com/t.csv is an address, not a file: download it first"),
    ("cells binary.csv -t y", "binary.csv is not a text file: save the table as CSV or Parquet"),
    ("cells damaged.csv.gz -t y", "damaged.csv.gz is a damaged gzip file"),
    (GOOD + "--encoding klingon", "--encoding klingon is not known: use for instance utf-8"),
    (GOOD + "--encoding utf-16", "not written in utf-16: set --encoding to another one"),
    (GOOD + "--separator ab", "--separator ab is not known: use one ASCII character, or comma, semicolon, tab, pipe"),
    (GOOD + "--separator é", "--separator 'é' is not known: use one ASCII character"),
    (GOOD + "--encoding punycode", "good.csv cannot be read with --encoding punycode"),
    (GOOD + "--encoding undefined", "good.csv cannot be read with --encoding undefined"),
    # columns
    ("cells good.csv -t outcom", "--target outcom: good.csv has no such column (did you mean 'outcome'?)"),
    ("cells good.csv -t xyz", "--target xyz: good.csv has no such column: it has 'name', 'age', 'city', 'outcome'"),
    ("cells good.csv -t outcome --drop nam", "--drop nam: good.csv has no such column (did you mean 'name'?)"),
    ("cells good.csv -t outcome --id nam", "--id nam: good.csv has no such column (did you mean 'name'?)"),
    ("cells good.csv -t outcome --drop outcome", "--drop outcome is the target: name another column, or choose another --target"),
    (GOOD + "--drop age,city", "good.csv has no columns beside the target 'outcome' and the dropped ones"),
    ("cells keys.csv -t y", "keys.csv: column 'y' is missing (NaN) in 2 rows, first in line 8: drop those rows (--drop-missing-target) or fill them"),
    ("cells keys.csv -t y --drop-keys --drop age,count --drop-missing-target", "keys.csv: all columns look like keys"),
    ("cells good.csv -t name", "good.csv: the target 'name' looks like a key (24 different texts in 24 rows)"),
    (GOOD + "--number ages", "--number ages: good.csv has no such column (did you mean 'age'?)"),
    (GOOD + "--number city", "--number city: no entry of column 'city' is a number, the first is 'A'"),
    (GOOD + "--date age", "--date age: no entry of column 'age' is a date, the first is '20'"),
    (GOOD + "--number age --text age", "--text age and --number: give one of them"),
    (GOOD + "--text name", "--text name is left out by --drop: give one of them"),
    ("cells infinite.csv -t y", "infinite.csv: column 'a' holds an infinite number in line 14: replace it by a number"),
    # target
    ("cells same.csv -t y", "same.csv: column 'y' holds a single class (5): there is nothing to learn"),
    ("cells constant.csv -t y", "constant.csv: column 'y' holds a single class (u): there is nothing to learn"),
    ("cells blank.csv -t y", "blank.csv: column 'y' is missing (NaN) in 2 rows, first in line 2: drop those rows"),
    ("cells some.csv -t y", ("some.csv: column 'y' is missing (NaN) in 1 row, first in line 3: drop that row "
     "(--drop-missing-target) or fill it")),
    ("cells dates.csv -t day", ("dates.csv: column 'day' holds dates, which are neither numbers nor classes: predict a "
     "number (such as days since the first date) or a class (such as the year), or set --task classification")),
    ("cells records.jsonl -t y", "records.jsonl, line 2 is not a JSON record"),
    ("cells few.csv -t y", "4 rows are too few for --cv 5"),
    (GOOD + "--task regression", ("good.csv: column 'outcome' holds text, which regression cannot use: set --task "
     "classification")),
    # validation
    (GOOD + "--valid other.csv", ("other.csv must have the columns of the training table, but it lacks 'age' and "
     "adds 'agee': rename or drop them")),
    (GOOD + "--valid more.csv", "more.csv must have the columns of the training table, but it adds 'label'"),
    (GOOD + "--valid texts.csv", "texts.csv: column 'age' holds text, but in the training table it holds numbers"),
    (GOOD + "--valid good.csv --cv 3", "--valid and --cv exclude each other"),
    (GOOD + "--valid good.csv --groups city", "--groups says which rows validate others, but there is a validation table good.csv"),
    (GOOD + "--groups town", "--groups town: good.csv has no such column: it has 'name', 'age', 'city', 'outcome'"),
    (GOOD + "--valid-weight mass", "--valid-weight mass: good.csv has no such column"),
    (GOOD + "--valid-weight city", "--valid-weight must hold a number for every row"),
    (GOOD + "--scoring f1_macro", "has no closed form: it is not a mean over validation rows: use 'probability' or"),
    (GOOD + "--time-order outcome", "--time-order outcome is the target: name another column"),
    (GOOD + "--groups city", "--groups has 2 groups, too few for --cv 5: ask for fewer folds"),
    (GOOD + "--time-order city", "--time-order must hold a number or a date for every row"),
    (GOOD + "--time-order age --number age", "--number age is left out by --time-order: give one of them"),
    # options
    (GOOD + "--method best", "'best' is not one of 'knn', 'mc', 'exact', 'forest', 'loo',"),
    (GOOD + "--bogus 3", "No such option: --bogus"),
    (GOOD + "--cv 1", "'--cv': it must be at least 2"),
    (GOOD + "--jobs x", "it must be a whole number"),
    (GOOD + "--method forrest", "(did you mean 'forest'?)"),
    (GOOD + "--task clasification", "(did you mean 'classification'?)"),
    ("cells good.csv", "Missing option '--target'"),
    ("bogus", "No such command 'bogus'"),
    (GOOD + "--model tree", ("--model goes with --method mc or exact or forest or loo, not with --method knn: choose that, "
     "or leave --model out")),
    (GOOD + "--method forest --truncation 0.1", "--truncation goes with --method mc, not with --method forest"),
    (GOOD + "--method mc -k 3", ("--n-neighbors goes with --method knn, or with --model knn of mc, exact, loo, not with "
     "--method mc: choose that, or leave")),
    (GOOD + "--method mc --model tree -k 3", "not with --method mc: choose that, or leave --n-neighbors out"),
    (GOOD + "--method mc --model knn --subsets all", "--subsets goes with --method knn, not with --method mc"),
    (GOOD + "--method exact --model ridge --tolerance 0.1", "goes with --method knn or mc or forest, not with --method exact"),
    (GOOD + "-k 0", "--n-neighbors 0 must be a whole number of at least 1"),
    (GOOD + "--model ridge --method mc --scoring neg_log_loss", ("--scoring neg_log_loss cannot be computed by the built-in --model ridge "
     "in classification: use accuracy, balanced_accuracy, or a model of")),
    (GOOD + "--model forrest --method mc", "'forrest' is not one of 'tree'"),
    (GOOD + "--method mc --scoring acuracy", ("--scoring acuracy is not one of scikit-learn's scores: did you mean "
     "'accuracy'?")),
    (GOOD + "--semivalue beta:inf,1", "'--semivalue': beta:inf,1 is not known: use shapley, banzhaf, or beta:A,B such as"),
    (GOOD + "--semivalue beta:1", "'--semivalue': beta:1 is not known: use shapley, banzhaf, or beta:A,B such as"),
    (GOOD + "--semivalue beta:1e308,1e308", "is not known: use shapley, banzhaf"),
    (GOOD + "--method mc --tolerance inf", "--tolerance inf must be a number"),
    (GOOD + "--jobs 0 --method mc", "--jobs 0 must be a whole number of workers, or -1 for all cores"),
    ("cells numbers.csv -t y --method mc --model logistic_regression", ("--model logistic_regression predicts classes, but the task is "
     "regression: use --model ridge or --model tree, or set --task classification")),
    (GOOD + "--method exact --valid good.csv", "use --method mc or --method knn, or value groups (--row-groups, --column-groups)"),
    # outputs
    (GOOD + "-o no/v.parquet", "--output no/v.parquet: the folder no does not exist: make it first"),
    (GOOD + "-o v.xlsx", "--output v.xlsx: the name must end in .parquet or .csv"),
    (GOOD + "-o folder.csv", "--output folder.csv is a folder: name a file in it"),
    (GOOD + "-o good.csv", "--output good.csv would overwrite an input: choose another name"),
    (GOOD + "--report no/r.html", "--report no/r.html: the folder no does not exist: make it first"),
    (GOOD + "--report r.pdf", "--report r.pdf: the name must end in .html"),
    ("report plain.parquet -o r.html", "plain.parquet is a Parquet file, but not a valuation saved by shapley2d"),
    ("report good.csv -o r.html", "good.csv is not a readable Parquet file"),
    ("report none.parquet -o r.html", "there is no file none.parquet"),
    ("report plain.parquet -o no/r.html", "--output no/r.html: the folder no does not exist: make it first"),
    ("demo --out good.csv", "--out good.csv is a file: name a folder"),
    # groups
    (GOOD + "--row-groups outcome", "--row-groups outcome is the target: name another column"),
    (GOOD + "--row-groups citi", "--row-groups citi: good.csv has no such column (did you mean 'city'?)"),
    (GOOD + "--row-groups city --method forest", "--method forest values single cells, but --row-groups makes groups the players: use"),
    (GOOD + "--row-groups city --method mc --truncation 0.1", "--truncation does not go with groups, whose subsets are few: leave it out"),
    (GOOD + "--row-groups city --subsets all", "--subsets all does not go with --row-groups: leave it out"),
    (GOOD + "--column-groups x", "--column-groups x: write NAME=COLUMN,COLUMN"),
    (GOOD + "--column-groups x=ag", "--column-groups ag: good.csv has no such column (did you mean 'age'?)"),
    (GOOD + "--column-groups x=age --column-groups y=age", "--column-groups: column 'age' is in 'x' and in 'y'"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "message"), CASES, ids=[command for command, _ in CASES])
def test_one_line_that_says_what_to_do(folder, capsys, command, message):
    before = sorted(folder.iterdir())
    out, err = run(capsys, command, 2)
    assert out == ""
    assert message in err
    assert err.startswith("shapley2d: error: ")
    assert err.count("\n") == 1 and "Input should" not in err
    assert sorted(folder.iterdir()) == before


def fail(error):
    def raising(*_, **__):
        raise error

    return raising


@pytest.mark.parametrize("name", ["v.parquet", "v.csv"])
def test_full_disk(folder, capsys, monkeypatch, name):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(os, "fsync", fail(full))
    before = sorted(folder.iterdir())
    told = run(capsys, f"{GOOD} --cv 2 -o {name}", 2).err
    assert f"{name}: the disk is full: free some space or write elsewhere" in told
    assert sorted(folder.iterdir()) == before


def test_unwritable_folder(folder, capsys, monkeypatch):
    refused = OSError(errno.EACCES, os.strerror(errno.EACCES))
    monkeypatch.setattr("shapley2d._base.atomic_write.os.open", fail(refused))
    assert main([*GOOD.split(), "-o", "v.parquet"]) == 2
    assert "--output v.parquet: the folder . cannot be written to" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        f"cells good.csv -t {LONG}",
        f"{GOOD} --{LONG}",
        f"{GOOD} --method {LONG}",
        f"cells long.csv -t outcome --number {LONG}x",
        f"cells long.csv -t outcome --drop name --drop {LONG}x",
        f"inspect good.csv -t {LONG}",
    ],
)
def test_messages_quote_at_most_80_characters_of_a_name(command, capsys):
    found = run(capsys, command, 2).err
    assert "n" * 81 not in found
    assert len(max(found.splitlines(), key=len)) < 600


def test_keys_are_noted(capsys):
    told = run(capsys, "cells good.csv -t outcome").err
    assert (
        "column 'name' (24 different texts in 24 rows) looks like a key, from which no model "
        "learns: drop it (--drop-keys, or --drop), or keep it with --text name" in told
    )


def test_an_empty_column_is_named(capsys):
    told = run(capsys, "cells hollow.csv -t outcome --drop name").err
    assert "column 'none' is empty throughout: nothing can be learned from it, so drop it" in told


def test_more_neighbours_than_rows_have_no_score(capsys):
    found = run(capsys, f"{GOOD} --n-neighbors 500")
    assert "all of them are always neighbours" in found.err
    assert "Score" not in found.out + found.err


def caused(error, cause):
    """An error that another one led to."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("cv=9 is\ntoo many"), 2, "shapley2d: error: --cv 9 is too many\n"),
        (UtilityError("Tree failed on rows 1"), 2, "shapley2d: error: the model cannot be trained: Tree failed on"),
        (PermissionError(errno.EACCES, "Permission denied", "a.csv"), 2, "a.csv: permission denied: choose another"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.csv"), 2, "a.csv: No such file or directory"),
        (MemoryError(), 2, "not enough memory: value fewer rows, use fewer --jobs, or raise the limit (ulimit -v"),
        (ImportError("libopenblas.so: failed to map segment from shared object"), 2, "not enough memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 2, "not enough memory"),
        (caused(OSError("could not load libllvmlite.so"), OSError("failed to map segment")), 2, "not enough memory"),
        (RuntimeError("can't start new thread"), 2, "the system allows no more threads or processes: use --jobs 1"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), 2, "allows no more threads or processes"),
        (caused(ValueError("pool"), RuntimeError("can't start new thread")), 2, "allows no more threads"),
        (ZeroDivisionError("division by zero"), 1, ("ZeroDivisionError: division by zero (this is a bug in shapley2d; "
         "to see where, run it again with SHAPLEY2D_DEBUG=1)")),
    ],
)  # fmt: skip
def test_other_errors(capsys, monkeypatch, error, code, line):
    monkeypatch.setattr("shapley2d.cli.cells.read_inputs", fail(error))
    assert main(GOOD.split()) == code
    err = capsys.readouterr().err
    assert line in err
    assert "Traceback" not in err


def test_traceback_on_request(capsys, monkeypatch):
    monkeypatch.setattr("shapley2d.cli.cells.read_inputs", fail(ZeroDivisionError()))
    monkeypatch.setenv("SHAPLEY2D_DEBUG", "1")
    assert main(GOOD.split()) == errors.OUR_ERROR
    assert "Traceback" in capsys.readouterr().err


def test_a_tolerance_whose_square_is_no_number(capsys):
    command = f"{GOOD} -m mc --model knn --tolerance 1e-300 --max-draws 11"
    assert "wanted --tolerance 1e-300" in run(capsys, command).err


def test_too_many_columns_are_refused(tmp_path, capsys, monkeypatch):
    def prepare(*_, **__):
        raise AssertionError("prepared")

    path = tmp_path / "wide.csv"
    rows = np.random.default_rng(0).integers(0, 1000, (40, 1100)).astype(str).tolist()
    lines = [[f"c{k}" for k in range(1100)], *rows]
    path.write_text("\n".join(map(",".join, lines)))
    assert main(["cells", str(path), "--target", "c0"]) == 2
    told = capsys.readouterr().err
    assert "1,099 columns are more than the 1,024 that --method knn can take" in told
    with pytest.raises(InputError, match="1,099 columns are more than the 1,024"):
        value_cells(str(path), "c0")
    monkeypatch.setattr("shapley2d.cli.inspected.inspected_table", prepare)
    assert main(["inspect", str(path)]) == 2
    assert "wide.csv has 1,100 columns: an inspection predicts each" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"X has 1,025 columns: .* at most 1,024; drop columns"):
        inspect_cells(np.zeros((3, 1025)))
