"""The demo: what is planted, found and restored, and what it says."""

import csv
import json
import re
from pathlib import Path

import pytest

import shapley2d
from command_line import run
from shapley2d.cli import main
from shapley2d.cli.demo import planted_errors


def once(real):
    """A function that answers as it did the first time."""
    kept = []

    def answer(*given, **named):
        if not kept:
            kept.append(real(*given, **named))
        return kept[0]

    return answer


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What one run prints as JSON, and its folder; another run takes its values."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("value_cells", "value_fragments", "inspect_cells"):
            patch.setattr(shapley2d, name, once(getattr(shapley2d, name)))
        with pytest.MonkeyPatch.context() as first:
            first.chdir(folder)
            printed = []
            first.setattr("shapley2d.cli.demo.show_json", printed.append)
            assert main(["demo", "--json"]) == 0
        yield json.loads(json.dumps(printed[0], default=str)), folder / "shapley2d-demo"


@pytest.fixture(scope="module")
def kinds(demo):
    """Of every kind of error, an example, and how many are planted, stand out and are suggested."""
    cells = shapley2d.inspect_cells(demo[1] / "table.csv", "returned")._cells
    found = {}
    for one in planted_errors():
        i, j = int(one["row"]), cells.names.index(one["column"])
        out, right = bool(cells.standing_out[i, j]), cells.expected_text(i, j) == one["was"]
        kind = found.setdefault(one["kind"], [f"{one['became']} for {one['was']}", 0, 0, 0])
        kind[1:] = [a + b for a, b in zip(kind[1:], (1, out, out and right), strict=True)]
    return found


def texts(path):
    with path.open(newline="", encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    return dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))


def test_every_error_is_in_the_table_and_nothing_else_is_wrong(demo):
    errors, columns = planted_errors(), texts(demo[1] / "table.csv")
    for one in errors:
        entries, row = columns[one["column"]], int(one["row"])
        assert entries[row] == one["became"] != one["was"]
        entries[row] = one["was"]
    assert len({one["row"] for one in errors}) == len(errors) == demo[0]["planted"]
    for i, total in enumerate(columns["total"]):  # the table without its errors adds up
        quantity, price = float(columns["quantity"][i]), float(columns["price"][i])
        assert float(total) == pytest.approx(quantity * price, abs=0.006)
    assert len(set(columns["order"])) == len(columns["order"])


def test_it_finds_what_people_do_wrong_and_accuses_nothing_else(demo, kinds):
    assert demo[0]["inspect"]["stand_out"] == sum(out for _, _, out, _ in kinds.values()) >= 20
    for name, (_, planted, out, _) in kinds.items():
        if name not in ("another product", "wrong label"):  # which no single entry gives away
            assert out == planted, name
    assert sum(planted for _, planted, _, _ in kinds.values()) == demo[0]["planted"]


def test_what_was_repaired_is_what_was_there(demo):
    """No entry is changed that was right, and no suggestion that was applied is wrong."""
    found, folder = demo
    before, after = texts(folder / "table.csv"), texts(folder / "clean.csv")
    right = {(one["column"], int(one["row"])): one["was"] for one in planted_errors()}
    changed = {
        (name, i): new
        for name in before
        for i, (old, new) in enumerate(zip(before[name], after[name], strict=True))
        if old != new
    }
    assert changed.items() <= right.items() and len(changed) == found["restored"] >= 15
    assert "decided of the" in (folder / "page.html").read_text()
    assert (folder / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_three_contributors_share_the_amount(demo):
    """Who knows the days until delivery is worth most; the page says who is paid what."""
    found, folder = demo
    worth = [one["contributor"] for one in found["fragments"]["contributors"]]
    assert worth[0] == "carrier" and {*worth} == {"shop", "carrier", "service"}
    assert len(texts(folder / "shop.csv")["order"]) == len(texts(folder / "labels.csv")["order"])
    held = {name for one in worth for name in texts(folder / f"{one}.csv")} - {"order"}
    assert held == {*texts(folder / "later.csv")} - {"returned"}
    page = (folder / "contributors.html").read_text()
    assert all(name in page for name in worth) and "10,000" in page


def test_two_screens(demo, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, notes = run(capsys, "demo --out again")
    lines = out.splitlines()
    assert "likely wrong" not in notes and lines[0].startswith("1,200 orders of a made-up shop")
    assert len(lines) < 120
    commands = [line.split()[2] for line in lines if line.startswith("$ shapley2d ")]
    assert commands == ["inspect", "cells", "fragments"]
    assert f"{demo[0]['restored']} of the 37 planted errors are now what they were" in out
    assert "--labels again/labels.csv --valid again/later.csv --pay 10000" in out
    assert "e-0" not in out and "x average" not in out
    assert len(run(capsys, "demo --out again").out.splitlines()) == len(lines)  # its own files


def test_ctrl_c_ends_it(tmp_path, capsys, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shapley2d, "inspect_cells", pressed)
    printed = run(capsys, "demo", 130)
    assert "nothing was written" in printed.err and "shapley2d cells" not in printed.out


@pytest.mark.parametrize("name", ["table.csv", "page.html", "later.csv"])
def test_a_file_of_the_user_is_never_overwritten(tmp_path, capsys, name):
    (tmp_path / name).write_text("mine")
    told = run(capsys, f"demo --out {tmp_path}", 2).err
    assert f"{tmp_path / name} is there already: name another folder" in told
    assert [one.read_text() for one in tmp_path.iterdir()] == ["mine"]


def test_the_evidence_quotes_the_demo(demo, kinds):
    page = (Path(__file__).parents[2] / "docs" / "evidence" / "inspection.md").read_text("utf-8")
    assert f"On this table {demo[0]['inspect']['stand_out']} entries stand out" in page
    for name, (example, *counts) in kinds.items():
        line = rf"^{name} +{re.escape(example)} +{' +'.join(map(str, counts))}$"
        assert re.search(line, page, re.MULTILINE), name
