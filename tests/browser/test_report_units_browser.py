"""Every number of the report against the result, at two widths: points, shares, multiples."""

import numpy as np
import pandas as pd
import pytest

from made_valuations import made
from shapley2d import Exact, Valuation, value_cells
from shapley2d._valuation.facts import Facts
from shapley2d._valuation.typeset import typeset

N, M, FACTOR = 40, 4, 100 / 8e9


def make(*, error=0.0, positive=True):
    """A regression whose utility is in squares of a price: 100 % is a variance of 8e9."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, M)) * 2e7 + (3e7 if positive else -3e7)
    values[:, 1] *= -0.2
    info = {
        "method": "knn", "task": "regression", "n_valid": 400, "semivalue": ["shapley"] * 2,
        "baseline_utility": -8.5e9,
        "about": {"total": "the model's score less -8.5e+09, what the rows' labels alone predict"},
        "score": {
            "name": "variance explained", "says": "R squared", "factor": FACTOR, "shift": 100.0,
            "per_cent": True, "squared": True,
            "rarest": {"label": "a", "share": 0.03, "n_classes": 2},
        },
    }  # fmt: skip
    contents = rng.integers(100, size=(N, M))
    prices = np.round(rng.normal(250_000, 50_000, N))
    columns = ["age", "income per household and year", "city", "noise"]
    return made(values, error=error, contents=contents, target=prices, columns=columns, info=info)


def numbers(texts):
    """The first number of each text."""
    plain = [text.replace("\N{MINUS SIGN}", "-").replace(",", "") for text in texts]
    return np.array([float(text.split()[0].removesuffix("%")) for text in plain])


def column(page, table, k):
    return numbers(page.locator(f"{table} tbody tr td.number:nth-child({k})").all_inner_texts())


@pytest.mark.parametrize("width", [1280, 390])
def test_every_number_is_that_of_the_result(open_report, width):
    v = make()
    page = open_report(v, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for name in ("column-list", "row-list", "waterfall"):  # no number is cut off
        fits = "one => one.scrollWidth <= one.parentElement.clientWidth"
        assert page.locator(f"#{name}").evaluate(fits), name
    words = page.inner_text("#score")
    assert words.startswith(typeset(Facts.of(v).score))
    score, start, gain = numbers(page.locator(".tiles strong").all_inner_texts()[:3])
    assert score == pytest.approx(100 + FACTOR * (v.total - 8.5e9), abs=0.06)
    assert start == pytest.approx(100 - FACTOR * 8.5e9, abs=0.06)
    assert gain == pytest.approx(FACTOR * v.total, abs=0.06)
    remarks = page.locator("#summary .notes li").all_inner_texts()
    assert remarks == [Facts.of(v).notes[0]]
    order = np.argsort(-v.column_values)
    np.testing.assert_allclose(
        column(page, "#column-list", 3), FACTOR * v.column_values[order], atol=0.051
    )
    shares = (100 * v.column_values[order] / v.total).round()
    np.testing.assert_array_equal(column(page, "#column-list", 4), shares)
    lowest_rows = np.sort(v.row_values)[:25]
    units = v._units
    np.testing.assert_allclose(
        column(page, "#row-list", 4), units.rows.factor * lowest_rows, rtol=0.01, atol=0.01
    )
    below = np.sort(v.values, axis=None)
    below = below[below < 0][:25]
    np.testing.assert_allclose(column(page, "#cell-list", 6), units.cells.factor * below, rtol=0.01)
    i, j = divmod(int(v.values.argmin()), M)
    assert page.inner_text("#row-title") == f"Row {i}"
    read = dict(
        zip(
            page.locator("#waterfall tbody th").all_inner_texts(),
            column(page, "#waterfall", 4),
            strict=False,
        )
    )
    assert read[v.column_names[j]] == pytest.approx(units.cells.factor * v.values[i, j], rel=0.01)
    assert numbers([page.inner_text("#legend-high")])[0] > 0
    assert page.inner_text("#legend-high").endswith(f" {units.cells.words}")
    shown = page.inner_text("main")
    assert "10⁹" not in shown and "10⁶" not in shown and "e+" not in shown


def test_the_order_is_score_columns_rows_cells(open_report):
    page = open_report(make())
    sections = page.locator("main > section").evaluate_all("all => all.map((one) => one.id)")
    assert sections == ["summary", "columns", "rows", "map", "cells", "making"]
    links = page.locator("nav a").evaluate_all("all => all.map((one) => one.hash.slice(1))")
    assert links == sections


def test_without_a_gain_there_are_no_shares(open_report):
    v = make(positive=False, error=1e5)
    page = open_report(v, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert "share" not in page.locator("#column-list thead th").all_inner_texts()
    lowest, unit = np.sort(v.row_values)[:25], v._units.rows
    assert page.locator("#row-list thead th").last.inner_text() == unit.words
    np.testing.assert_allclose(column(page, "#row-list", 4), unit.factor * lowest, rtol=0.01)


@pytest.mark.parametrize("width", [1280, 390])
def test_blocks_are_in_points_and_never_called_cells(open_report, width):
    v = Valuation(
        np.array([[0.05, 0.01], [-0.02, 0.03]]),
        np.full((2, 2), 0.001),
        np.array(["north", "south"]),
        ["bank", "shop"],
        info={
            "players": ["group of rows", "group of columns"], "semivalue": ["shapley"] * 2, "baseline_utility": 0.5,
            "about": {"total": "the model's score less 0.5, what the rows' labels alone predict"},
            "score": {"name": "accuracy", "factor": 100.0, "per_cent": True},
        },
    )  # fmt: skip
    page = open_report(v, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    np.testing.assert_allclose(column(page, "#column-list", 3), [4, 3], atol=0.051)
    np.testing.assert_allclose(column(page, "#row-list", 3), [1, 6], atol=0.051)
    heads = page.locator("#column-list thead th").all_inner_texts()
    assert heads[0].lower() == "group of columns"
    shown = page.inner_text("main").lower()
    assert " cell" not in shown and "average" not in shown
    assert "the columns add 7.0 points" in shown


@pytest.mark.parametrize("width", [1280, 390])
def test_groups_of_rows_are_named_and_in_points(open_report, width):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 3)), columns=["age", "pay", "noise"])
    y = np.where(X["age"] + 0.5 * X["pay"] > 0, "ill", "well")
    groups = [f"office {k % 4}" for k in range(80)]
    v = value_cells(X[:80], y[:80], X[80:], y[80:], method=Exact("gaussian_nb"), row_groups=groups)
    page = open_report(v, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    names = page.locator("#row-list tbody th").all_inner_texts()
    assert names == list(v.row_names[np.argsort(v.row_values)])
    order = np.argsort(-v.column_values)
    np.testing.assert_allclose(
        column(page, "#column-list", 3), 100 * v.column_values[order], atol=0.051
    )
