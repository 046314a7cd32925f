"""``shapley2d fragments``: files of contributors in; values, payments, best sets, a receipt out."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

import fragment_files
from command_line import errors, run
from fragment_files import COMMAND, FILES, QUESTION
from shapley2d import Valuation, value_fragments

BARE = f"fragments {FILES} --on customer -t default -m tree"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fragment_files.write(tmp_path)
    return tmp_path


def told(capsys, command, code=2):
    """The one line of an error."""
    lines = errors(run(capsys, command, code).err)
    assert len(lines) == 1
    return lines[0]


def test_one_command_says_who_is_worth_what(capsys, folder):
    out, err = run(capsys, f"{COMMAND} --pay 1000 -o v.parquet --receipt r.json")
    assert not errors(err)
    assert not [line for line in out.splitlines() if line != line.rstrip()]
    saved = Valuation.load("v.parquet", frame="pandas")
    first = out.splitlines()[0]
    assert first == "Valuation of 3 contributors of 80 rows x 4 columns, predicting 'default'"
    assert re.search(r"held     \d+ % of the entries, \d+ % by two or more$", out, re.MULTILINE)
    assert "(mean probability of the right label); the labels alone give " in out
    paid = saved.payments(1000)
    for line in paid.to_dict("records"):
        shown = re.search(rf"^{line['owner']} .*", out, re.MULTILINE)[0].split()
        assert float(shown[1]) == pytest.approx(100 * line["value"], abs=0.06)
        assert shown[2] == "+-" and float(shown[4].replace(",", "")) == line["amount"]
    table = out.split("What contributors are worth\n")[1].splitlines()
    assert table[0].split() == ["contributor", "points", "95", "%", "payment", "alone"]
    amounts = [float(line.split()[4].replace(",", "")) for line in table[1:4]]
    assert amounts == sorted(amounts, reverse=True) and sum(amounts) == pytest.approx(1000)
    assert "labels   everybody's: nobody is paid for them" in out
    best = out.split("Best set of every size\n")[1].splitlines()
    assert [line.split()[0] for line in best[1:4]] == ["1", "2", "3"]
    assert "scored   on 60 rows" in out
    assert "took     all 7 sets of contributors, 7 trainings, " in out
    assert "Best sets are chosen on the rows that score them, so they look a little too" in out
    assert out.endswith("values: v.parquet\nreceipt: r.json\n")
    assert json.loads((folder / "r.json").read_text())["paid"] == "1000.00"


def test_the_same_facts_for_machines(capsys, folder):
    out, _ = run(capsys, f"{COMMAND} --pay 1000 --json --seed 3")
    facts = json.loads(out)
    found = value_fragments(
        {name: folder / f"{name}.csv" for name in fragment_files.PIECES},
        "default",
        folder / "valid.csv",
        labels=folder / "labels.csv",
        on="customer",
        method="tree",
        random_state=3,
        progress=False,
    )
    assert facts["schema"] == "shapley2d fragments 1"
    assert facts["total"] == pytest.approx(found.total) and facts["paid"] == 1000
    each = {one["contributor"]: one for one in facts["contributors"]}
    low, high = (end[:, 0].tolist() for end in found.interval())
    for k, name in enumerate(found.row_names.tolist()):
        one = each[name]
        assert (one["file"], one["value"]) == (f"{name}.csv", found.row_values[k])
        assert (one["low"], one["high"]) == pytest.approx((low[k], high[k]))
        assert (one["alone"], one["without"]) == (found.alone[k], found.without[k])
    values = [one["value"] for one in facts["contributors"]]
    assert values == sorted(values, reverse=True)
    assert [one["size"] for one in facts["best_sets"]] == [1, 2, 3]
    assert facts["settings"]["random_state"] == 3 and facts["files"] == {}
    assert facts["labels"] == [] and one["through"] == {"all columns": one["value"]}


def test_every_contributor_through_every_column(capsys):
    out, _ = run(capsys, f"{COMMAND} --by column")
    head = out.split("Through which columns, points\n")[1].splitlines()[0].split()
    assert head[0] == "contributor" and {*head[1:]} == {"age", "limit", "town", "spent"}
    facts = json.loads(run(capsys, f"{COMMAND} --by column --json").out)
    for one in facts["contributors"]:
        assert sum(one["through"].values()) == pytest.approx(one["value"])
        assert {*one["through"]} == {"age", "limit", "town", "spent"}


def test_names_are_those_of_files_or_given(capsys, folder):
    (folder / "a=b.csv").write_bytes((folder / "shop.csv").read_bytes())
    command = f"fragments 'Bank North=north.csv' south.csv City=a=b.csv {QUESTION} -m tree"
    facts = json.loads(run(capsys, f"{command} --json").out)
    assert {one["contributor"] for one in facts["contributors"]} == {"Bank North", "south", "City"}
    assert told(capsys, f"{command} other/south.csv") == (
        "shapley2d: error: two files are named 'south': name one, as in OTHER=other/south.csv"
    )


def test_labels_that_some_hold_are_valued(capsys, folder):
    table = fragment_files.people(80)
    table[["customer", "spent", "default"]].to_csv("shop.csv", index=False)
    out, _ = run(capsys, f"{BARE} --valid valid.csv")
    assert "labels   held by shop: a row trains only where a set holds its label" in out
    assert "who holds all of them takes a large share" in out


def test_without_validation_rows_payments_need_trust(capsys, folder):
    command = f"{BARE} --labels labels.csv"
    out, err = run(capsys, command)
    assert "scored   by cross-validation, on 80 rows" in out
    assert "note: there is no validation table, so the contributors' own rows test each other" in (
        err
    )
    line = told(capsys, f"{command} --pay 100")
    assert "there is no validation table, so the contributors' own rows test each other" in line
    assert "or set --trusted if everybody's rows are trusted as a test" in line
    assert "payment" in run(capsys, f"{command} --pay 100 --trusted --cv 3").out


def test_costs_and_a_budget(capsys, folder):
    (folder / "costs.csv").write_text("contributor,cost\nnorth,10\nsouth,20\nshop,30\n")
    out, _ = run(capsys, f"{COMMAND} --costs costs.csv --budget 35 --pay 1000 --report page.html")
    assert out.endswith("report: page.html\n")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "north" in page and "</html>" in page
    lines = out.split("Sets that no cheaper one equals\n")[1].split("\n\n")[0].splitlines()
    assert lines[0].split()[-1] == "cost"
    costs = [float(line.split()[-1]) for line in lines[1:]]
    assert costs == sorted(costs) and max(costs) <= 35
    for content, message in [
        ("contributor,price\nnorth,1\n", "--costs cost: costs.csv has no such column"),
        ("contributor,cost\nnorth,1\nsouth,2\n", "costs.csv has no cost for 'shop'"),
        ("contributor,cost\nnorth,1\nsouth,2\nship,3\n", "names 'ship', who is no contributor"),
        ("contributor,cost\nnorth,1\nsouth,-2\nshop,3\n", "the cost of 'south' is -2.0, not a"),
    ]:
        (folder / "costs.csv").write_text(content)
        assert message in told(capsys, f"{COMMAND} --costs costs.csv")


def test_one_joined_file_and_who_holds_what(capsys, folder):
    table = fragment_files.people(80)
    table.to_csv("all.csv", index=False)
    (folder / "owners.csv").write_text("owner,row,column\nA,,age;limit\nB,,town;spent\n")
    command = "fragments all.csv --owners owners.csv --on customer -t default --valid valid.csv"
    facts = json.loads(run(capsys, f"{command} -m tree --json --receipt r.json").out)
    assert {one["contributor"]: one["file"] for one in facts["contributors"]} == {
        "A": None,
        "B": None,
    }
    assert told(capsys, f"{command} north.csv") == (
        "shapley2d: error: --owners is about one joined file: give one FILE, or leave --owners out"
    )


def test_nobody_who_is_worth_more_than_nothing_is_shown_and_not_paid(capsys, folder):
    table = fragment_files.people(80)
    for name, (rows, columns) in fragment_files.PIECES.items():
        part = table.loc[list(rows), ["customer", *columns]]
        part.assign(default=["yes", "no"] * (len(part) // 2)).drop(columns="default").to_csv(
            f"{name}.csv", index=False
        )
    valid = pd.read_csv("valid.csv")
    flipped = valid["default"].map({"yes": "no", "no": "yes"})
    valid.assign(default=flipped).to_csv("valid.csv", index=False)
    out, err = run(capsys, f"{COMMAND} --pay 100 --receipt r.json -o v.csv", 2)
    assert "What contributors are worth" in out and "payment" not in out
    assert errors(err) == [
        (
            "shapley2d: error: nobody is worth more than 0, so there is nothing to divide in "
            "proportion to"
        )
    ]
    assert (folder / "v.csv").exists() and not (folder / "r.json").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--pay 10.000", "10.000 may mean 10000 or 10.000: write 10000, or 10.00"),
        ("--pay 0.125", "--pay 0.125 has more than 2 decimals: round it"),
        ("--pay 0", "--pay 0 must be a positive number"),
        ("--key key.pem", "key.pem cannot be read: No such file or directory"),
        ("--key north.csv --receipt r.json", "north.csv is not a PEM file with a private Ed25519"),
        ("--budget 5", "--budget needs costs: what each contributor costs"),
        ("--cv 3", "--valid and --cv exclude each other: give one of them"),
        ("--receipt r.txt", "--receipt r.txt: the name must end in .json"),
        ("--receipt no/r.json", "--receipt no/r.json: the folder no does not exist"),
        ("--report page.txt", "--report page.txt: the name must end in .html"),
        ("-o north.csv", "--output north.csv would overwrite an input: choose another name"),
        ("--receipt r.json --checkpoint r.json", "--checkpoint and --receipt both name r.json"),
        ("--disagree maybe", "'maybe' is not one of 'error', 'first', 'missing'"),
        ("--by row", "'row' is not one of 'contributor', 'column'"),
        ("--scoring luck", "--scoring luck is not known: use one of"),
        ("--method luck", "--method luck is not known"),
        ("--semivalue luck", "'--semivalue': luck is not known"),
        ("missing.csv", "there is no file missing.csv"),
        ("--labels none.csv", "there is no file none.csv"),
        ("--on nobody", "labels.csv has no id column 'nobody'"),
        ("--target nothing", "labels.csv has no column 'nothing'"),
    ],
)
def test_what_cannot_be_is_named_in_one_line(options, message, capsys, folder):
    before = sorted(path.name for path in folder.iterdir())
    assert message in " ".join(told(capsys, f"{COMMAND} {options}").split())
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_key_needs_a_receipt(capsys, folder):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    (folder / "key.pem").write_bytes(pem)
    assert told(capsys, f"{COMMAND} --key key.pem").endswith(
        "--key signs a receipt: name its file by --receipt"
    )


def test_files_are_checked_before_the_work(capsys, monkeypatch):
    monkeypatch.setattr("shapley2d._fragments.value.value_fragments", None)
    assert "--receipt r.txt" in told(capsys, f"{COMMAND} --receipt r.txt")
    assert "--pay 0.125" in told(capsys, f"{COMMAND} --pay 0.125")


def test_errors_name_the_files(capsys, folder):
    pd.read_csv("north.csv").drop(columns="customer").to_csv("north.csv", index=False)
    assert told(capsys, COMMAND).startswith(
        "shapley2d: error: north.csv has no id column 'customer'"
    )
    fragment_files.write(folder)
    pd.concat([pd.read_csv("south.csv")] * 2).to_csv("south.csv", index=False)
    assert "south.csv: the id 'c0030' stands in 2 rows" in told(capsys, COMMAND)


def test_contributors_who_disagree(capsys, folder):
    table = pd.read_csv("south.csv")
    table.loc[table["customer"] == "c0035", "limit"] = 99
    table.to_csv("south.csv", index=False)
    line = told(capsys, COMMAND)
    assert "contributors disagree about 1 cell: 'limit' of 'c0035' is " in line
    assert "set --disagree first" in line
    _, err = run(capsys, f"{COMMAND} --disagree missing")
    assert "note: contributors disagree about 1 cell" in err


def test_ctrl_c_before_there_are_values_leaves_nothing(capsys, folder, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shapley2d._fragments.value.value_fragments", pressed)
    before = sorted(path.name for path in folder.iterdir())
    err = run(capsys, f"{COMMAND} -o v.parquet --receipt r.json", 130).err
    assert err == "shapley2d: interrupted before there were values; nothing was written\n"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_lines_of_many_sets_are_told(capsys, folder):
    table = fragment_files.people(80)
    names = [f"p{k:02}" for k in range(14)]
    for k, name in enumerate(names):
        part = table.loc[k : k + 60, ["customer", ["limit", "spent"][k % 2]]]
        part.to_csv(f"{name}.csv", index=False)
    files = " ".join(f"{name}.csv" for name in names)
    out, _ = run(capsys, f"fragments {files} {QUESTION} -m tree --max-time 3s")
    assert "Best set of every size (12 of 14)\n" in out
    assert "random orders of contributors, " in out


def test_kinds_of_columns(capsys, folder):
    run(capsys, f"{COMMAND} --text age")
    assert "note" not in run(capsys, f"{COMMAND} --number age").err
