"""The page on scale has the numbers that were measured, and they hold what the page says."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
RECORD = json.loads((DOCS / "figures" / "scale.json").read_text(encoding="utf-8"))


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_was_measured():
    page = (DOCS / "scale.md").read_text(encoding="utf-8")
    assert load(DOCS / "make_scale.py").with_tables(page, RECORD) == page
    assert (DOCS / "figures" / "scale.png").exists()


def test_costs_grow_as_the_theory_says():
    exponents = {one["name"]: one["exponent"] for one in RECORD["growth"]}
    assert 1.0 <= exponents["rows, exact form"] <= 1.35  # n log n, and caches
    for name in (
        "rows, fast form",
        "validation rows",
        "column subsets",
        "columns, all 2^m subsets",
    ):
        assert exponents[name] == pytest.approx(1.0, abs=0.15), name
    assert 0 <= exponents["columns, same subsets"] <= 1


def test_plans_were_within_a_quarter():
    assert len(RECORD["plans"]) == 3
    assert all(abs(one["off"]) <= 0.25 for one in RECORD["plans"])


def test_simulated_workers():
    scale = load(DOCS.parent / "benchmarks" / "scale.py")
    assert scale.simulate([1.0] * 8, 0.0, 1) == 8.0
    assert scale.simulate([1.0] * 8, 0.0, 4) == 2.0
    assert (
        scale.simulate([1.0] * 8, 0.5, 100) == 5.0
    )  # the last one is handed out after four seconds
    efficiency = [one["efficiency"] for one in RECORD["workers"]["simulated"]]
    assert efficiency == sorted(efficiency, reverse=True)


def test_a_million_rows_fit():
    assert RECORD["million"]["rows"] == 1_000_000
    assert RECORD["million"]["gigabytes"] < 1.5 * RECORD["million"]["planned_gb"]
