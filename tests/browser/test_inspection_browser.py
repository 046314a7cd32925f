"""The page on which a person decides, and the whole loop from planted errors to the gain."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from inspected_table import people
from shapley2d import inspect_cells
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.decisions import Decision, read_decisions
from shapley2d._inspection.page import write_inspection
from shapley2d._inspection.ranking import rank_cells
from shapley2d._inspection.suggestions import with_suggestions
from shapley2d._tables.reading.files import read_table
from shapley2d.cli import main

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><b>',
    "</script>",
    "=cmd|' /C calc'!A0",
    "\u202eevil",
    'line\nbreak, "quote"',
    "'=1+1",
    "\u2028",
    "{{7*7}}",
]


def inspected(n=120, chance=0.9, **options):
    table, label = people(n)
    finding = ColumnFinding(
        ("note",),
        "codes",
        "column 'note' says 'ok' <b>everywhere</b>",
        np.array([1, 2, 3]),
        {1: "fine", 2: "fine"},
        chance,
    )
    found = inspect_cells(table, label, **options)
    cells = dataclasses.replace(found._cells, suggested={})
    return dataclasses.replace(found, _cells=with_suggestions(cells, [finding]), findings=[finding])


@pytest.fixture(scope="module")
def inspection():
    return inspected()


@pytest.fixture
def open_inspection(open_file, tmp_path):
    def open_page(inspection, *, width=1280, scheme="light", context=None, **options):
        path = tmp_path / "page.html"
        write_inspection(inspection, path, **options)
        return open_file(path, width=width, scheme=scheme, context=context)

    return open_page


def lines(page):
    return page.locator("#suspects tbody tr[data-place]")


def downloaded(page, tmp_path, key=None):
    with page.expect_download() as download:
        if key:
            page.keyboard.press(key)
        else:
            page.click("#download")
    path = tmp_path / "decisions.csv"
    download.value.save_as(path)
    return read_decisions(path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_fits_the_screen_in_light_and_dark(open_inspection, inspection, width, scheme):
    page = open_inspection(inspection, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert lines(page).count() >= 40
    assert page.locator("#finding-list > li").count() == 1
    assert page.locator("#finding-list b").count() == 0  # text stays text


def test_the_first_suspect_is_shown_with_its_row(open_inspection, inspection):
    page = open_inspection(inspection)
    first = inspection.rank(1).iloc[0]
    words = page.inner_text("#detail")
    assert first["column"] in words and f"row {first['row']}" in words
    assert first["entry"] in page.inner_text("#detail .change")
    assert first["expected"] in page.inner_text("#detail .change")
    assert f"the suggestion {100 * first['sure']:.0f} % likely right" in words
    assert lines(page).first.locator(".sure").inner_text() == f"{100 * first['sure']:.0f} %"
    assert "Why" in words and "The row around it" in words
    assert page.locator(".row-around tr").count() == 8
    assert page.locator(".row-around tr.here th").inner_text() == first["column"]


def test_keys_decide_move_select_and_undo(open_inspection, inspection, tmp_path):
    page = open_inspection(inspection)
    ranked = inspection.rank(12)
    page.keyboard.press("a")  # the first, and on to the second
    page.keyboard.press("r")
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.id") == "new-entry"
    page.keyboard.type("my own")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+J")
    page.keyboard.press("Shift+J")
    assert "3 entries are selected" in page.inner_text("#detail")
    page.keyboard.press("r")
    assert page.inner_text("#tally") == "1 accepted, 1 edited, 4 right"
    assert page.inner_text("#tile-decided") == "6"
    page.keyboard.press("u")
    assert page.inner_text("#tally") == "1 accepted, 1 edited, 1 right"
    page.keyboard.press("Control+z")
    assert page.inner_text("#tally") == "1 accepted, 1 right"
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("#suspects tr.chosen").get_attribute("data-place") == "2"
    page.keyboard.press("e")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.place") == "2"
    made = downloaded(page, tmp_path, "d").made
    assert [(one.row, one.column, one.verdict) for one in made] == [
        (ranked["row"][0], ranked["column"][0], "accept"),
        (ranked["row"][1], ranked["column"][1], "right"),
    ]
    assert made[0].new == ranked["expected"][0] and made[0].entry == ranked["entry"][0]
    assert made[0].probability == pytest.approx(ranked["probability"][0], abs=1e-4)


def test_the_mouse_does_the_same(open_inspection, inspection, tmp_path):
    page = open_inspection(inspection)
    lines(page).nth(1).locator("button[data-verdict=accept]").click()
    lines(page).nth(3).click()
    lines(page).nth(6).click(modifiers=["Shift"])
    page.click("#detail >> text=This is right")
    assert page.inner_text("#tally") == "1 accepted, 4 right"
    lines(page).nth(8).click()
    lines(page).nth(10).click(modifiers=["Control"])
    page.fill("#new-entry", "both")
    page.click("#detail >> text=Set")
    assert page.inner_text("#tally") == "1 accepted, 2 edited, 4 right"
    made = {(one.row, one.column): one for one in downloaded(page, tmp_path).made}
    assert sum(one.new == "both" for one in made.values()) == 2


def test_a_finding_changes_at_once_what_is_likely_wrong(open_inspection, inspection, tmp_path):
    cells = inspection._cells
    probability = cells.probability.copy()
    probability[1:4, cells.names.index("note")] = 0.9
    sure = dataclasses.replace(
        inspection, _cells=dataclasses.replace(cells, probability=probability)
    )
    page = open_inspection(sure)
    page.click("#finding-list button")
    assert page.inner_text("#tally") == "2 accepted"
    made = {(one.row, one.column): one for one in downloaded(page, tmp_path).made}
    assert made[1, "note"].new == "fine" and made[1, "note"].verdict == "accept"
    page.click("#finding-list button")
    page.click("#undo")
    assert page.inner_text("#tally") == "2 accepted"


def test_a_doubtful_finding_offers_no_edit_of_all_its_rows(open_inspection):
    page = open_inspection(inspected(chance=0.4))
    # the page says what the list says of these entries, not what the finding claims by itself
    assert "< 1 % likely wrong" in page.inner_text("#finding-list")
    assert page.locator("#finding-list .suggestion").count() == 1  # the same change, shown once
    assert page.locator("#finding-list button").count() == 0
    assert "decide in the list" in page.inner_text("#finding-list")


def test_a_finding_without_suggestions_lists_its_entries(open_inspection):
    ages = np.random.default_rng(0).integers(18, 90, 200).astype(float)
    ages[7] = 640.0
    page = open_inspection(inspect_cells({"age": ages, "town": np.resize(["Ulm", "Bonn"], 200)}))
    (card,) = page.locator("#finding-list > li", has_text="numbers far outside").all()
    assert "640" in card.locator(".examples li").inner_text()
    assert card.locator(".suggestion").count() == 0
    assert "decide in the list" not in card.inner_text()


def test_the_card_says_what_the_key_writes(open_inspection, tmp_path):
    """An entry with a finding and another prediction: one suggestion, and that is accepted."""
    table, label = people(120)
    found = inspect_cells(table, label)
    right = np.array([0.92])
    finding = ColumnFinding(("city",), "rule", "so", np.array([7]), {7: "Hull"}, 0.95, right=right)
    cells = with_suggestions(dataclasses.replace(found._cells, suggested={}), [finding])
    page = open_inspection(dataclasses.replace(found, _cells=cells, findings=[finding]))
    page.select_option("#filter-column", label="city")
    page.fill("#search", "Brimingham")
    page.keyboard.press("Escape")
    lines(page).first.click()
    assert page.inner_text("#detail .change .suggestion") == "Hull"
    assert "92 % likely right" in page.inner_text("#detail .facts-line")
    page.keyboard.press("a")
    (made,) = downloaded(page, tmp_path).made
    assert (made.row, made.column, made.new, made.verdict) == (7, "city", "Hull", "accept")


def test_filters(open_inspection, inspection):
    page = open_inspection(inspection)
    page.select_option("#filter-column", label="city")
    assert set(page.locator("#suspects tbody td:nth-child(3)").all_inner_texts()) == {"city"}
    page.keyboard.press("Escape")
    page.select_option("#filter-column", "")
    page.fill("#search", "brimingham")
    assert lines(page).count() >= 1 and "Brimingham" in lines(page).first.inner_text()
    page.fill("#search", "nothing like this")
    assert "no entry matches" in page.inner_text("#suspects")
    page.fill("#search", "")
    page.select_option("#filter-state", "decided")
    assert "no entry matches" in page.inner_text("#suspects")
    page.select_option("#filter-state", "")
    assert page.locator("#suspects tr.chosen").count() == 1


def test_a_reload_keeps_the_decisions(browser, open_inspection, inspection):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = open_inspection(inspection, context=context)
    page.keyboard.press("a")
    page.keyboard.press("r")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.inner_text("#tally") == "1 accepted, 1 right"
    assert page.locator("#suspects tr.is-accept").count() == 1
    other = open_inspection(
        dataclasses.replace(inspection, _fingerprint="another"), context=context
    )
    assert (
        other.inner_text("#tally") == "nothing decided yet"
    )  # those of another table are none of its business
    page.evaluate(
        "localStorage.setItem(Object.keys(localStorage).find((k) => !k.includes('another')), '{broken')"
    )
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.inner_text("#tally") == "nothing decided yet"


def test_hostile_text_stays_text_and_comes_back_as_it_was(open_inspection, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "<u>a</u>": rng.choice(HOSTILE, 80),
            "b": rng.choice(HOSTILE, 80),
            "n": rng.normal(size=80),
        }
    )
    label = rng.choice(["<i>x</i>", "y"], 80)
    found = inspect_cells(table, label)
    finding = ColumnFinding(
        ("b",), "<s>", "<img src=x onerror=alert(1)>", np.array([0]), {0: "<b>"}, 0.5
    )
    found = dataclasses.replace(found, findings=[finding])
    rows = [("<script>alert(2)</script>", "<b>", None, "<i>", "<svg onload=alert(3)>")]
    page = open_inspection(
        found, title="<script>alert(4)</script>", changes=rows, facts={"table": "<b>x</b>"}
    )
    assert (
        page.evaluate("document.querySelectorAll('main u, main s, main img, main svg').length") == 0
    )
    for _ in range(8):
        page.keyboard.press("Shift+J")
    page.keyboard.press("a")
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.keyboard.type('=HYPERLINK("x")')
    page.keyboard.press("Enter")
    made = downloaded(page, tmp_path).made
    assert len(made) == 10 and made[-1].new == '=HYPERLINK("x")'
    entries = {
        name: column.text()
        for name, column in zip(found._cells.names, found._cells.columns, strict=True)
    }
    assert all(one.entry == entries[one.column][one.row] for one in made)


def test_what_was_right_before_goes_into_the_file_again(open_inspection, inspection, tmp_path):
    earlier = Decision(50, "age", "x", "right", why="I know her")
    page = open_inspection(inspection._settle([(50, 0)]), remembered=[earlier])
    made = downloaded(page, tmp_path).made
    assert [(one.row, one.column, one.verdict, one.why) for one in made] == [
        (50, "age", "right", "I know her")
    ]


def test_many_suspects_are_loaded_as_one_goes(open_inspection):
    found = inspected(400)
    falling = np.linspace(0.9, 0.05, found._cells.scores.size).reshape(found._cells.scores.shape)
    found = dataclasses.replace(
        found, _cells=dataclasses.replace(found._cells, probability=falling)
    )
    page = open_inspection(found, n=500)
    assert lines(page).count() == 60
    page.keyboard.press("End")
    assert page.locator("#suspects tr.chosen").get_attribute("data-place") == str(
        lines(page).count() - 1
    )
    page.keyboard.press("Home")
    assert page.locator("#suspects tr.chosen").get_attribute("data-place") == "0"


def test_the_whole_loop(open_file, tmp_path, monkeypatch, capsys):
    """Thirty planted errors are found, accepted by keyboard and repaired, and the model gains."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    n = 160
    level = rng.uniform(0, 100, n)
    truth = pd.DataFrame(
        {
            name: (level * scale + rng.normal(0, 1, n)).round(1)
            for name, scale in (("a", 1), ("b", 2), ("c", 0.5))
        }
    )
    truth["grade"] = np.where(level > 50, "high", "low")
    dirty = truth.copy()
    planted = [
        (int(row), str(rng.choice(["a", "b", "c"]))) for row in rng.choice(n, 30, replace=False)
    ]
    for row, column in planted:
        dirty.loc[row, column] = round(dirty.loc[row, column] * 10 + 400, 1)
    dirty.to_csv("mine.csv", index=False)
    assert main(["inspect", "mine.csv", "--target", "grade", "--report", "page.html"]) == 0
    page = open_file(tmp_path / "page.html")
    for _ in range(30):
        page.keyboard.press("a")
    assert page.inner_text("#tally") == "30 accepted"
    made = downloaded(page, tmp_path, "d")
    found = {(one.row, one.column) for one in made.made} & set(planted)
    assert len(found) >= 24
    command = [
        "repair",
        "mine.csv",
        "decisions.csv",
        "-o",
        "clean.csv",
        "--model",
        "logistic_regression",
        "--report",
        "after.html",
    ]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "30 entries changed, 0 called right" in out
    clean = read_table("clean.csv").table.to_pandas()
    for row, column in found:
        assert abs(float(clean.loc[row, column]) - truth.loc[row, column]) < abs(
            dirty.loc[row, column] - truth.loc[row, column]
        )
    after = open_file(tmp_path / "after.html")
    assert "30 entries were changed" in after.inner_text("#changes")
    gain = after.locator("#gain tbody tr").nth(1).locator("b").inner_text()
    assert float(gain.removesuffix(" points")) > 0
    assert f"after: {gain} (" in out


@pytest.mark.parametrize("width", [1280, 390])
def test_rows_of_a_file_go_by_their_lines(open_file, tmp_path, width):
    """Each number of the list against the inspection; a field of two lines moves the lines on."""
    table, label = people(80)
    lines = table.assign(note=["one\ntwo" if k == 2 else "one" for k in range(80)], bought=label)
    lines.to_csv(tmp_path / "t.csv", index=False)
    starts = [2, 3, 4, *range(6, 83)]  # the third row has two lines
    found = inspect_cells(tmp_path / "t.csv", "bought")
    assert found.lines.tolist() == starts
    assert f"line {starts[rank_cells(found, 1)[0][0]]}, " in repr(found)
    assert "<th>line</th>" in found._repr_html_()
    found.to_html(tmp_path / "page.html")
    page = open_file(tmp_path / "page.html", width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    listed = rank_cells(found, 20, part="entries")
    shown = page.locator("td[data-name=line]").all_inner_texts()[:20]
    assert shown == [str(starts[i]) for i, _ in listed]
    i, j = listed[0]
    name = found._cells.names[j]
    assert page.inner_text("#detail-title") == f"{name} in line {starts[i]}"
    if width == 390:
        return
    wrong = page.locator("td.wrong").all_inner_texts()[:20]
    for text, (i, j) in zip(wrong, listed, strict=True):
        assert text in ("< 1 %", f"{round(100 * found._cells.probability[i, j])} %")
