"""Pages on a phone and on a screen: no word is broken where it fits, no number is cut off."""

import numpy as np
import pandas as pd
import pytest

from shapley2d import inspect_cells, value_cells

WIDTHS = [390, 1280]
# words of at most 24 letters that are on more than one line, or beyond the edge of the window
BROKEN = """all => all.flatMap((box) => {
  const found = [], walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    for (const match of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const places = [...range.getClientRects()].filter((one) => one.width);
      const lines = new Set(places.map((one) => Math.round(one.top)));
      const out = places.some((one) => one.right > innerWidth + 0.5);
      if (match[0].length <= 24 && (lines.size > 1 || out)) found.push(match[0]);
    }
  }
  return found;
})"""


def broken(page, *places):
    return [word for place in places for word in page.locator(place).evaluate_all(BROKEN)]


def customers(n=120):
    """A table with the long words of German."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "Monatliches Haushaltsnettoeinkommen": random.normal(3000, 500, n).round(2),
            "Störungsanrufe": random.poisson(2, n),
            "Eintrittsdatum": [f"{1 + k % 28:02d}.03.2020" for k in range(n)],
            "Vertragsbezeichnung": np.array(["Komforttarif", "Basis"])[random.integers(2, size=n)],
            "W" * 90: random.normal(size=n).round(2),
        }
    )
    y = np.where(X["Störungsanrufe"] + random.normal(size=n) > 2, "gekündigt", "bleibt")
    X.loc[7, "Störungsanrufe"] = 999
    return X, y


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_a_report_of_cells_is_broken(open_report, width):
    X, y = customers()
    notes = ["customers.csv is not UTF-8: read as cp1252; if letters look wrong, set --encoding x"]
    facts = {"command": "shapley2d cells customers.csv --target y --drop-keys -o values.parquet"}
    page = open_report(value_cells(X, y), width=width, notes=notes, facts=facts)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    lists = ("#column-list tbody", "#row-list tbody", "#cell-list tbody .text")
    assert broken(page, *lists, ".findings", ".notes", ".facts", ".tiles") == []
    if width == 390:  # numbers stand beside their names
        align = "all => [...new Set(all.map((one) => getComputedStyle(one).textAlign))]"
        assert page.locator("#cell-list td.number").evaluate_all(align) == ["start"]
    names = page.locator("#column-list tbody th").all_inner_texts()
    assert "Monatliches Haushaltsnettoeinkommen" in names


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_an_inspection_is_broken(open_file, tmp_path, width):
    X, y = customers()
    page_path = tmp_path / "page.html"
    inspect_cells(X, y).to_html(page_path)
    page = open_file(page_path, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    lists = ("#suspects td.text:not(.change)", ".column-findings", ".row-around", ".tiles")
    assert broken(page, *lists, ".notes", "#next") == []
    assert page.locator("#suspects .acts button").first.is_visible()
