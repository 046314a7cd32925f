"""Size and speed of the report in headless Chromium, for a table of 32,561 x 14 cells.

Run: python benchmarks/report.py [--rows 32561] [--repeats 5]. Needs Chromium and the package
playwright.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from shapley2d._tables.table import Column, Table
from shapley2d._valuation.valuation import Valuation

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
_LEVELS = (9, 16, 7, 15, 6, 5, 2, 42)
_NUMBERS = (73, 1_200_000, 16, 100_000, 4000, 99)


def census_like(n_rows: int, seed: int = 0) -> Valuation:
    """Heavy-tailed values with errors, which compress worst; eight text and six number columns."""
    rng = np.random.default_rng(seed)
    columns = [
        Column(f"text_{k}", "category", rng.integers(levels, size=n_rows).astype(float),
               tuple(f"category-{k}-{level:03d}" for level in range(levels)))
        for k, levels in enumerate(_LEVELS)
    ] + [
        Column(f"number_{k}", "number", np.floor(rng.beta(2, 5, n_rows) * most))
        for k, most in enumerate(_NUMBERS)
    ]  # fmt: skip
    shape = (n_rows, len(columns))
    values = (
        rng.standard_t(3, shape) * rng.lognormal(0, 0.6, shape[1]) / n_rows / 30 + 1 / n_rows / 20
    )
    stderr = np.abs(values).mean() * rng.lognormal(-2, 0.5, shape)
    return Valuation(
        values,
        stderr,
        np.arange(n_rows),
        [column.name for column in columns],
        stderr.mean(axis=1) * 3,
        stderr.mean(axis=0) * np.sqrt(n_rows),
        info={"method": "knn", "task": "classification", "n_valid": 16281},
        history=[(2**k, 2.0**-k) for k in range(8)],
        _table=Table(tuple(columns), np.arange(n_rows), None),
        _target=np.array(["<=50K", ">50K"], dtype=object)[rng.integers(2, size=n_rows)],
    )


def text_bytes(valuation: Valuation) -> int:
    """Size of the table as a CSV file."""
    lines = zip(*(valuation._contents or []), valuation._labels or [], strict=True)
    return sum(len(",".join(text or "" for text in line).encode()) + 1 for line in lines)


def measure(path: Path, repeats: int) -> dict[str, list[float]]:
    """Milliseconds from navigation to ready, of each sort with its redraw, and of each zoom."""
    times: dict[str, list[float]] = {"ready": [], "sort and redraw": [], "redraw": []}
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(_FLAGS))
        for _ in range(repeats):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            times["ready"].append(
                page.evaluate("performance.getEntriesByName('ready')[0].startTime")
            )
            for order in ("value", "label", "original"):
                page.select_option("#row-order", order)
            durations = "name => performance.getEntriesByName(name).map((entry) => entry.duration)"
            times["sort and redraw"] += page.evaluate(durations, "sort")
            page.evaluate("performance.clearMeasures()")
            for button in ("#zoom-in", "#zoom-in", "#zoom-all"):
                page.click(button)
                page.evaluate(
                    "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
                )
            times["redraw"] += page.evaluate(durations, "draw")
            page.close()
        browser.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=32_561)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    valuation = census_like(options.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        start = time.perf_counter()
        valuation.to_html(path)
        seconds = time.perf_counter() - start
        size, text = path.stat().st_size, text_bytes(valuation)
        n, m = valuation.shape
        print(f"{n:,} x {m} cells: file {size / 1e6:.2f} MB, written in {seconds:.2f} s")
        sections = re.findall(r'id="(?:entries|texts)">([^<]*)<', path.read_text(encoding="utf-8"))
        print(f"of it the table's text, packed, {sum(map(len, sections)) / 1e6:.2f} MB")
        print(
            f"the table as CSV {text / 1e6:.2f} MB, the file beyond it {(size - text) / 1e6:.2f} MB"
        )
        for what, durations in measure(path, options.repeats).items():
            print(f"{what}: best {min(durations):.0f} ms, median {np.median(durations):.0f} ms, "
                  f"worst {max(durations):.0f} ms of {len(durations)}")  # fmt: skip


if __name__ == "__main__":
    main()
