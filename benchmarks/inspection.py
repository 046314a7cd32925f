"""Seconds and memory of an inspection, and how they grow with rows and columns.

Run: SHAPLEY2D_DATA=folder python benchmarks/inspection.py [--quick] [--jobs 2] [--million]

Synthetic tables: half of the columns are numbers, half categories of eight, all of them noisy
copies of three hidden numbers. With the data also Census: 32,561 rows, 14 columns and the label.
--quick uses smaller tables and leaves Census out; --million adds a million rows of 14 columns.
Every table is inspected in a process of its own; the memory includes compiled code, the seconds do
not.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from shapley2d._inspection.score import inspect_table
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import with_targets
from shapley2d._tables.target import as_target


def made(n_rows: int, n_columns: int):
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_rows, 3))
    data = {}
    for j in range(n_columns):
        values = hidden @ rng.normal(size=3) + 0.5 * rng.normal(size=n_rows)
        levels = np.digitize(values, np.linspace(-3, 3, 7))
        data[f"c{j}"] = values if j % 2 == 0 else np.array(list("abcdefgh"))[levels]
    table = as_table(data)
    return table, as_target(hidden[:, 0] > 0, table)


def census():
    X, y, *_ = with_targets(
        Path(os.environ["SHAPLEY2D_DATA"]) / "census_train.csv.gz", "income", None, None
    )
    table = as_table(X)
    return table, as_target(y, table)


def one(what: str, jobs: int) -> None:
    """Inspect a table after a small one, and print the figures."""
    small, labels = made(60, 4)
    inspect_table(small, labels, progress=False, n_jobs=1)
    table, target = census() if what == "census" else made(*map(int, what.split("x")))
    start, cpu = time.perf_counter(), time.process_time()
    inspect_table(table, target, progress=False, n_jobs=jobs)
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "cpu": time.process_time() - cpu,
                "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
            }
        )
    )


def measure(what: str, jobs: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", what, "--jobs", str(jobs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def show(title: str, tables: list[str], sizes: list[int], jobs: int) -> None:
    found = [measure(table, jobs) for table in tables]
    for table, one_found in zip(tables, found, strict=True):
        print(
            f"{title:<8} {table:>12}  {one_found['seconds']:7.1f} s  {one_found['cpu']:7.1f} s of "
            f"processors  {one_found['gigabytes']:.2f} GiB"
        )
    if len(found) > 1:
        power = np.log(found[-1]["cpu"] / found[-2]["cpu"]) / np.log(sizes[-1] / sizes[-2])
        print(f"{title:<8} grows with the power {power:.2f} between the last two")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--quick", action="store_true")
    options.add_argument("--million", action="store_true")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--one")
    given = options.parse_args()
    if given.one:
        one(given.one, given.jobs)
        return
    rows = [200, 1000, 5000] if given.quick else [1000, 8000, 64000]
    columns = [5, 10, 20] if given.quick else [15, 60, 120]
    fixed = 500 if given.quick else 2000
    print(f"{given.jobs} threads")
    show("rows", [f"{n}x14" for n in rows], rows, given.jobs)
    show("columns", [f"{fixed}x{m}" for m in columns], columns, given.jobs)
    if given.million:
        show("million", ["1000000x14"], [1], given.jobs)
    if not given.quick and os.environ.get("SHAPLEY2D_DATA"):
        show("Census", ["census"], [1], given.jobs)


if __name__ == "__main__":
    main()
