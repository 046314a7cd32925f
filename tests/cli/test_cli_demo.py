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
    """The summary of one run, and its folder; another run takes its values and its inspection."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("value_cells", "value_fragments", "inspect_cells", "measure_repair"):
            patch.setattr(shapley2d, name, once(getattr(shapley2d, name)))
        with pytest.MonkeyPatch.context() as first:
            first.chdir(folder)
            printed = []
            first.setattr("shapley2d.cli.demo.show_json", printed.append)
            assert main(["demo", "--json"]) == 0
        yield json.loads(json.dumps(printed[0], default=str)), folder / "shapley2d-demo"


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


def test_it_finds_what_people_do_wrong_and_accuses_nothing_else(demo):
    found, kinds = demo[0], demo[0]["kinds"]
    assert found["stand_out"] == found["true"] >= 20
    for name, kind in kinds.items():
        if name not in ("another product", "wrong label"):  # which no single entry gives away
            assert kind["stand_out"] == kind["planted"], name
    assert sum(kind["planted"] for kind in kinds.values()) == found["planted"]


def test_what_was_repaired_is_what_was_there(demo):
    """No entry is changed that was right, and no suggestion that was applied is wrong."""
    found, folder = demo
    assert found["restored"] == found["repaired"] >= 15
    before, after = texts(folder / "table.csv"), texts(folder / "clean.csv")
    right = {(one["column"], int(one["row"])): one["was"] for one in planted_errors()}
    changed = {
        (name, i): new
        for name in before
        for i, (old, new) in enumerate(zip(before[name], after[name], strict=True))
        if old != new
    }
    assert changed.items() <= right.items() and len(changed) == found["repaired"]
    assert "decided of the" in (folder / "page.html").read_text()
    assert (folder / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_three_contributors_share_the_amount(demo):
    """Who knows the days until delivery is worth most; the page says who is paid what."""
    found, folder = demo
    worth = found["contributors"]
    assert [*worth] == ["shop", "carrier", "service"] and max(worth, key=worth.get) == "carrier"
    assert len(texts(folder / "shop.csv")["order"]) == len(texts(folder / "labels.csv")["order"])
    held = {name for one in worth for name in texts(folder / f"{one}.csv")} - {"order"}
    assert held == {*texts(folder / "later.csv")} - {"returned"}
    page = (folder / "contributors.html").read_text()
    assert all(name in page for name in worth) and "10,000" in page


def test_one_screen(demo, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, notes = run(capsys, "demo --out again")
    lines = out.splitlines()
    assert "likely wrong" not in notes and lines[0].startswith("1,200 orders of a made-up shop")
    assert len(lines) < 65 and max(map(len, lines[:-5])) < 240
    for title in (
        "1. Which entries are wrong?",
        "2. Repair:",
        "3. What is it worth?",
        "4. Who contributed",
    ):
        assert title in out
    assert "shapley2d inspect again/table.csv --target returned" in out
    assert "--labels again/labels.csv --valid again/later.csv --pay 10000" in out
    assert "e-0" not in out and "x average" not in out
    assert run(capsys, "demo --out again").out == out  # its own files are no one else's


@pytest.mark.parametrize("name", ["table.csv", "page.html", "later.csv"])
def test_a_file_of_the_user_is_never_overwritten(tmp_path, capsys, name):
    (tmp_path / name).write_text("mine")
    told = run(capsys, f"demo --out {tmp_path}", 2).err
    assert f"{tmp_path / name} is there already: name another folder" in told
    assert [one.read_text() for one in tmp_path.iterdir()] == ["mine"]


def test_the_evidence_quotes_the_demo(demo):
    page = (Path(__file__).parents[2] / "docs" / "evidence" / "inspection.md").read_text("utf-8")
    found = demo[0]
    assert f"On this table {found['stand_out']} entries stand out" in page
    for name, kind in found["kinds"].items():
        numbers = " +".join(str(kind[one]) for one in ("planted", "stand_out", "suggested"))
        line = rf"^{name} +{re.escape(kind['example'])} +{numbers}$"
        assert re.search(line, page, re.MULTILINE), name
