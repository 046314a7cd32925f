"""The report in a real browser: it loads, sorts, filters, zooms and shows the right values."""

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest

from made_valuations import made
from shapley2d._tables.convert import as_table
from shapley2d._valuation.valuation import Valuation

N, M = 60, 5


def make(n=N, m=M, *, error=0.01, seed=0, **options):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, m)).round(3)
    contents = rng.integers(100, size=(n, m)).astype(object)
    contents[:, 0] = np.array(["red", "green", "blue"], dtype=object)[rng.integers(3, size=n)]
    history = [(2**k, 2.0**-k) for k in range(6)] if error else []
    info = {"method": "knn", "task": "classification", "n_valid": 10, "versions": {"numpy": "2"}}
    target = np.array(["yes", "no"])[rng.integers(2, size=n)]
    columns = [f"column {j}" for j in range(m)]
    return made(
        values, error=error, contents=contents, target=target, columns=columns, info=info,
        history=history, **options,
    )  # fmt: skip


def view(page):
    page.wait_for_timeout(50)
    return dict(
        zip(
            ("top", "rows", "left", "columns"),
            map(float, page.get_attribute("#heatmap", "data-view").split()),
            strict=True,
        )
    )


def hover(page, r, c):
    """Move the pointer to the middle of the cell at a place of the map; return the words shown."""
    page.locator("#heatmap").scroll_into_view_if_needed()
    box = page.locator("#heatmap").bounding_box()
    x, y, w, h = map(float, page.get_attribute("#heatmap", "data-plot").split())
    shown = view(page)
    across = (c + 0.5 - shown["left"]) / shown["columns"]
    down = (r + 0.5 - shown["top"]) / shown["rows"]
    page.mouse.move(box["x"] + x + across * w, box["y"] + y + down * h)
    return page.inner_text("#tip")


def shown_value(value):
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_loads_quietly_and_fits_the_screen(open_report, scheme, width):
    page = open_report(make(), width=width, scheme=scheme, marked=[(0, 0)])
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#cell-list tbody tr").count() == 25
    assert page.locator("#column-list tbody tr").count() == M
    assert page.locator("#convergence-plot circle").count() == 6
    assert page.locator("#waterfall tbody tr").count() == M + 1


@pytest.mark.parametrize("shape", [(1, 1), (4, 300), (20_000, 3)])
def test_any_shape(open_report, shape):
    v = make(*shape)
    page = open_report(v)
    assert view(page) == {"top": 0, "rows": shape[0], "left": 0, "columns": shape[1]}
    if shape[0] < 100:
        assert f"column {shape[1] // 2}" in hover(page, 0, shape[1] // 2)


def test_hover_tells_the_cell(open_report):
    v = make()
    page = open_report(v)
    for i, j in [(0, 0), (31, 2), (N - 1, M - 1)]:
        words = hover(page, i, j)
        assert f"row {i}, labelled {v._labels[i]}" in words
        assert f"column {j} = {v._contents[j][i]}" in words
        assert f"value {shown_value(v.values[i, j])}"[:-1] in words
        assert "standard error 0.01" in words


def test_hover_over_a_shared_point_tells_the_largest_cell(open_report):
    v = make(20_000, 3)
    v.values[12_345, 1] = -50.0
    page = open_report(v)
    assert "row 12345" in hover(page, 12_345, 1)


def test_a_lone_bad_cell_is_drawn(open_report):
    v = make(20_000, 3)
    v.values[:] = 0.001
    v.values[12_345, 1] = -50.0
    page = open_report(v)
    found = page.evaluate(
        """() => {
          const canvas = document.getElementById("heatmap");
          const ratio = canvas.width / canvas.getBoundingClientRect().width;
          const [x, y, w, h] = canvas.dataset.plot.split(" ").map((part) => Number(part) * ratio);
          const context = canvas.getContext("2d");
          const middle = context.getImageData(Math.round(x + w / 2), Math.round(y), 1, Math.floor(h)).data;
          const places = [];
          for (let k = 0; k < middle.length; k += 4) if (middle[k] > middle[k + 2] + 60) places.push(k / 4 / h);
          return places;
        }"""
    )
    assert 1 <= len(found) <= 2
    assert found[0] == pytest.approx(12_345 / 20_000, abs=0.01)


def test_sorts_rows_and_columns(open_report):
    v = make()
    page = open_report(v)
    page.select_option("#row-order", "value")
    page.select_option("#column-order", "value")
    first, best = int(v.row_values.argmin()), int(v.column_values.argmax())
    assert f"row {first}," in hover(page, 0, 0)
    assert f"column {best} =" in hover(page, 0, 0)
    page.select_option("#row-order", "label")
    no = [i for i in range(N) if v._labels[i] == "no"]
    assert f"row {min(no, key=lambda i: v.row_values[i])}, labelled no" in hover(page, 0, 0)
    assert "labelled yes" in hover(page, len(no), 0)
    page.select_option("#row-order", "original")
    assert "row 0," in hover(page, 0, 0)


def test_zooms_and_pans(open_report):
    page = open_report(make())
    hover(page, 30, 2)
    page.mouse.wheel(0, -300)
    assert view(page)["rows"] == N  # the page scrolls past a map that no one asked for
    hover(page, 30, 2)
    page.mouse.down()
    page.mouse.up()
    page.mouse.wheel(0, -300)
    page.mouse.wheel(0, -300)
    zoomed = view(page)
    assert zoomed["rows"] < N / 1.5
    assert zoomed["columns"] == M
    assert "row 30," in hover(page, 30, 2)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Shift")
    assert view(page)["columns"] < M
    before = view(page)["top"]
    hover(page, 30, 2)
    page.mouse.down()
    page.mouse.move(page.viewport_size["width"] / 2 - 200, 380, steps=5)
    page.mouse.up()
    assert view(page)["top"] != before
    page.click("#zoom-all")
    assert view(page) == {"top": 0, "rows": N, "left": 0, "columns": M}
    page.click("#zoom-in")
    assert view(page)["rows"] == N / 2
    page.click("#zoom-out")
    assert view(page)["rows"] == N


def test_works_by_keyboard_alone(open_report):
    v = make()
    page = open_report(v)
    page.focus("#heatmap")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    live = page.inner_text("#cell-live")
    assert f"row 2, labelled {v._labels[2]}; column 1 = {v._contents[1][2]}; value" in live
    page.keyboard.press("Enter")
    assert page.inner_text("#row-title") == "Row 2"
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert view(page)["rows"] == N / 4
    page.keyboard.press("End")
    assert f"row {N - 1}," in page.inner_text("#cell-live")
    assert view(page)["top"] == N - N / 4
    page.keyboard.press("0")
    assert view(page)["rows"] == N
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"cell-search", "cell-column", "cell-download"} <= reached


def test_a_row_is_explained_on_click(open_report):
    v = make(error=0.0)
    page = open_report(v)
    hover(page, 7, 3)
    page.mouse.down()
    page.mouse.up()
    assert page.inner_text("#row-title") == "Row 7"
    names = page.locator("#waterfall tbody th").all_inner_texts()
    assert names == [f"column {j}" for j in np.argsort(-np.abs(v.values[7]))] + ["the row's value"]
    numbers = page.locator("#waterfall td.number").all_inner_texts()
    read = [float(text.replace("\N{MINUS SIGN}", "-")) for text in numbers]
    assert sum(read[:-1]) == pytest.approx(read[-1], abs=0.03)
    assert read[-1] == pytest.approx(v.row_values[7], abs=0.01)
    page.locator("#row-list button").first.click()
    assert page.inner_text("#row-title") == f"Row {v.row_values.argmin()}"
    share = math.ceil(100 / len(v.row_values))
    assert f"among the {share} % most harmful rows; " in page.inner_text("#row-words")


def test_filters_the_cells(open_report):
    v = make()
    worst = np.argsort(v.values, axis=None, kind="stable")[:200]
    worst = [divmod(int(flat), M) for flat in worst if v.values.ravel()[flat] < 0]
    page = open_report(v, marked=[worst[3], worst[9]])
    assert page.inner_text("#cell-count") == f"{len(worst)} cells"
    page.select_option("#cell-column", "2")
    assert page.inner_text("#cell-count") == f"{sum(j == 2 for _, j in worst)} cells"
    page.select_option("#cell-column", "")
    page.fill("#cell-search", "GREEN")
    assert (
        page.inner_text("#cell-count")
        == f"{sum(v._contents[0][i] == 'green' for i, _ in worst)} cells"
    )
    page.fill("#cell-search", "nothing like it")
    assert page.inner_text("#cell-count") == "no cell matches"
    assert page.is_disabled("#cell-download")
    page.fill("#cell-search", "")
    page.check("#cell-marked")
    assert page.inner_text("#cell-count") == "2 cells"
    page.uncheck("#cell-marked")
    page.click("#cell-more")
    assert page.locator("#cell-list tbody tr").count() == len(worst)


def download(page):
    with page.expect_download() as caught:
        page.click("#cell-download")
    return list(
        csv.DictReader(
            io.StringIO(Path(caught.value.path()).read_text(encoding="utf-8-sig"), newline="")
        )
    )


def test_downloads_the_cells(open_report):
    v = make()
    lines = download(open_report(v))
    i, j = divmod(int(v.values.argmin()), M)
    assert lines[0] == {
        "row": str(i),
        "column": f"column {j}",
        "entry": v._contents[j][i],
        "value": str(v.values[i, j]),
        "stderr": "0.01",
        "label": v._labels[i],
        "typical": lines[0]["typical"],
        "marked": "",
    }
    assert [float(line["value"]) for line in lines] == sorted(v.values[v.values < 0])[:200]


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\"double\" 'single' & \\",
    "=cmd|' /C calc'!A0",
    "+1+2",
    "@SUM(1)",
    "\tx",
    "-1.5",
    "שלום \u202eabc",
    "🍷\u2028\u2029",
    "long " * 2000,
]


def test_hostile_text_stays_text(open_report):
    n = len(HOSTILE)
    values = -np.arange(1.0, 2 * n + 1).reshape(n, 2)
    table = as_table(np.array([[text, text[::-1]] for text in HOSTILE], dtype=object))
    v = Valuation(
        values,
        np.zeros((n, 2)),
        np.array(HOSTILE, dtype=object),
        HOSTILE[:2],
        info={"method": HOSTILE[0], "settings": {"a": HOSTILE[1]}},
        _table=table,
        _target=np.array(HOSTILE, dtype=object),
    )
    page = open_report(v, title=HOSTILE[1])
    assert page.title() == HOSTILE[1]
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 5
    assert HOSTILE[0] in hover(page, 0, 0)
    page.locator("#cell-list button").last.click()
    lines = download(page)
    entries = {line["row"]: line["entry"] for line in lines if line["column"] == HOSTILE[0]}
    assert entries["'=cmd|' /C calc'!A0"] == "'=cmd|' /C calc'!A0"
    assert entries["'+1+2"] == "'+1+2"
    assert entries["'@SUM(1)"] == "'@SUM(1)"
    assert entries["'\tx"] == "x"  # entries are read without the blanks around them
    assert entries["-1.5"] == "-1.5"
    assert entries[HOSTILE[0]] == HOSTILE[0]
    assert entries[HOSTILE[3]] == HOSTILE[3]


def test_lists_of_rows_and_columns(open_report):
    v = make()
    page = open_report(v)
    rows = page.locator("#row-list tbody th")
    assert rows.all_inner_texts() == [str(i) for i in np.argsort(v.row_values)[:25]]
    page.click("#row-pager >> text=Next")
    assert rows.all_inner_texts() == [str(i) for i in np.argsort(v.row_values)[25:50]]
    page.select_option("#row-sort", "high")
    assert rows.first.inner_text() == str(v.row_values.argmax())
    page.fill("#row-search", "59")
    assert rows.all_inner_texts() == ["59"]
    columns = page.locator("#column-list tbody th")
    assert columns.all_inner_texts() == [f"column {j}" for j in np.argsort(-v.column_values)]
    page.select_option("#column-sort", "name")
    assert columns.all_inner_texts() == v.column_names


def test_the_map_has_a_table_beside_it(open_report):
    v = make()
    page = open_report(v)
    page.select_option("#row-order", "value")
    page.click("#table-view summary")
    page.wait_for_selector("#value-table td")
    first = page.locator("#value-table tbody tr").first
    assert first.locator("th").inner_text() == str(v.row_values.argmin())
    read = [
        float(text.replace("\N{MINUS SIGN}", "-")) for text in first.locator("td").all_inner_texts()
    ]
    np.testing.assert_allclose(read, v.values[v.row_values.argmin()], atol=0.01)


def test_controls_and_regions_have_names(open_report):
    page = open_report(make(), marked=[(0, 0)])
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, canvas, section, nav, aside, svg")]
          .filter((one) => !one.closest("[aria-hidden=true]") && !one.getAttribute("aria-label")
            && !one.getAttribute("aria-labelledby") && !(one.labels && one.labels.length) && !one.textContent.trim())
          .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    assert page.locator("main").count() == 1
    assert page.locator("h1").count() == 1


def test_exact_values_show_no_error(open_report):
    page = open_report(make(error=0.0))
    assert "standard error" not in hover(page, 0, 0)
    assert "±" not in page.inner_text("#column-list") + page.inner_text(
        "#row-list"
    ) + page.inner_text("#cell-list")
    assert page.locator("#convergence").count() == 0


def test_prints_every_listed_cell_in_light_colours(open_report):
    page = open_report(make(), scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#cell-list tbody tr").count() > 25
    assert not page.is_visible("nav")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_phone_does_not_break_the_names_of_facts(tmp_path, open_file):
    path = tmp_path / "report.html"
    command = "shapley2d cells customers.csv --target churned --report report.html " * 4
    make().to_html(path, facts={"table": "customers.csv", "command": command})
    page = open_file(path, width=390)
    name = page.locator(".facts dt", has_text="command")
    lines = """one => {
      const words = document.createRange();
      words.selectNodeContents(one);
      return words.getClientRects().length;
    }"""
    assert name.evaluate(lines) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
