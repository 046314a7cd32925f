"""The page of what moved, in a browser: lists, bars, edited entries, text that is only text."""

import numpy as np

from shapley2d import Valuation
from shapley2d._tables.convert import as_table

NASTY = "<img src=x onerror=alert(1)>"


def valuation(entries, seed):
    table = as_table({NASTY: entries, "b": [float(k) for k in range(60)]})
    values = np.random.default_rng(seed).normal(size=(60, 2))
    return Valuation(values, np.zeros((60, 2)), np.arange(60), table.column_names, _table=table)


def test_what_moved(open_file, tmp_path):
    entries = [f"row {k}" for k in range(60)]
    before, after = valuation(entries, 0), valuation([NASTY, *entries[1:]], 1)
    moved = after.compare(before)
    moved.to_html(tmp_path / "moved.html", title="Moved & more")
    page = open_file(tmp_path / "moved.html")
    assert page.title() == "Moved & more"
    columns = page.locator("#columns-list tbody tr")
    assert columns.count() == 2
    first = moved.columns.iloc[0]
    assert columns.first.inner_text().split("\t")[0] == first["column"]
    shown = columns.first.locator("td").last.inner_text()
    assert float(shown.replace("\N{MINUS SIGN}", "-")) == round(
        first.change, len(shown.split(".")[1])
    )
    kind = "good" if first.change > 0 else "harm"
    assert columns.first.locator(f".bar i.{kind}").count() == 1
    assert page.locator("#cells-list tbody tr").count() == 25
    marked, seen = 0, ""
    for step in range(5):  # 120 cells
        marked += page.locator("#cells-list .entry").count()
        seen += page.locator("#cells-list tbody").inner_text()
        if step < 4:
            page.click("#cells-pager button:text('Next'):enabled")
    assert marked == 2  # the entry that was edited, before and after
    assert "row 0" in seen
    assert NASTY in seen
    assert page.locator("img").count() == 0
