"""Pages work with a screen reader and a keyboard: axe finds nothing serious."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shapley2d import inspect_cells, value_cells

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"


def serious(page):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    found = axe.Axe().run(page).response["violations"]
    return {
        one["id"]: [node["html"][:200] for node in one["nodes"][:3]]
        for one in found
        if one["impact"] in ("serious", "critical")
    }


def people():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, 60),
            "city": random.choice(["Oslo", "Rome"], 60),
            "income": random.normal(size=60),
        }
    )
    return X, np.where(X["age"] + 10 * random.normal(size=60) > 50, "yes", "no")


LOOKS = [pytest.param(1280, "light", marks=pytest.mark.slow), (400, "dark")]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_report_of_cells(open_report, width, scheme):
    X, y = people()
    assert serious(open_report(value_cells(X, y), width=width, scheme=scheme)) == {}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_report_of_groups(open_report, width, scheme):
    X, y = people()
    v = value_cells(X, y, row_groups=["A"] * 30 + ["B"] * 30)
    page = open_report(v, width=width, scheme=scheme)
    assert serious(page) == {}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_inspection(open_file, tmp_path, width, scheme):
    X, y = people()
    X.loc[3, "age"] = 444
    inspect_cells(X, y).to_html(tmp_path / "page.html")
    assert serious(open_file(tmp_path / "page.html", width=width, scheme=scheme)) == {}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize(
    "name", ["index", "auto_examples/index", "generated/shapley2d.value_cells"]
)
def test_site(browser, name, width, scheme):
    if not (SITE / f"{name}.html").exists():
        pytest.skip("the documentation is not built: make docs")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto((SITE / f"{name}.html").as_uri())
    found = serious(page)
    cut_off = page.eval_on_selector_all(
        "h1", "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).length"
    )
    page.close()
    assert found == {}
    assert cut_off == 0
