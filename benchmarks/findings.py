"""How often the findings about columns are right, by kind.

Run: SHAPLEY2D_DATA=folder python benchmarks/findings.py

For each of the four dirty tables and each kind of finding: entries named, the mean chance of being
wrong that was said, the share that is wrong, and the share of suggestions that are the truth,
byte for byte. Then the entries of clean tables that were called likelier wrong than not: the clean
twins of the four, five of the paper's tables, four of scikit-learn's and three that are made up.
"""

from __future__ import annotations

import csv
import gzip
import os
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn import datasets

from shapley2d._inspection.columns.find import find_in_columns
from shapley2d._inspection.columns.finding import SURE_RIGHT
from shapley2d._inspection.suggestions import suggestion_chances
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._tables.reading.files import read_table

FOLDER = Path(os.environ["SHAPLEY2D_DATA"])
DIRTY = ("hospital", "flights", "beers", "rayyan")
CLEAN = ("breast_cancer", "census_train", "credit", "heart", "wine")


def texts(name):
    with gzip.open(FOLDER / "dirty" / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return np.array(list(csv.reader(file))[1:], dtype=object)


def read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about notations, which the tables are full of
        return inspected_table(read_table(str(path)).table)


def dirty() -> None:
    sure = []
    for name in DIRTY:
        table = read(FOLDER / "dirty" / f"{name}-dirty.csv.gz")
        found, truth = texts(f"{name}-dirty"), texts(f"{name}-clean")
        kinds = defaultdict(list)
        for finding in find_in_columns(table):
            j = table.column_names.index(finding.columns[0])
            chances = zip(
                finding.rows.tolist(), finding.row_chances, suggestion_chances(finding), strict=True
            )
            for i, said, sure_of_new in chances:
                new = finding.suggestions.get(i)
                right = np.nan if new is None else float(new == truth[i, j].strip())
                kinds[finding.kind].append((said, found[i, j] != truth[i, j], right))
                is_sure = said >= 0.5 and sure_of_new >= SURE_RIGHT
                if new is not None and is_sure:
                    sure.append(right)
        print(f"\n{name:<20} entries    said   wrong  suggestions right")
        for kind, rows in sorted(kinds.items()):
            said, wrong, right = np.array(rows, dtype=float).T
            known = right[~np.isnan(right)]
            exact = f"{known.size:8,} {known.mean():.2f}" if known.size else ""
            print(f"{kind:<20} {said.size:7,} {said.mean():7.2f} {wrong.mean():7.2f} {exact}")

    print(
        f"\n{len(sure):,} suggestions that may be accepted at once, {np.mean(sure):.3f} of them right"
    )


def made_up():
    random = np.random.default_rng(0)
    n = 1000
    yield "noise", dict(enumerate(random.normal(size=(9, n))))
    service, months = random.integers(0, 3, n), random.integers(0, 72, n)
    monthly = np.round(20 + 25 * service + random.integers(0, 600, n) / 20, 2)
    yield (
        "customers",
        {
            "id": [f"C{k:05d}" for k in random.permutation(n)],
            "internet": np.array(["No", "DSL", "Fiber"])[service],
            "monthly": monthly,
            "total": np.round(monthly * months, 2),
            "contract": random.choice(["Month-to-month", "One year", "Two year"], n),
        },
    )
    some = random.random((3, n)) < 0.5
    yield (
        "zeros",
        {
            "visits": random.poisson(random.gamma(0.5, 3, n)),
            "rain": np.where(some[0], 0, np.round(random.exponential(5, n), 1)),
            "given": np.where(some[1], 0, random.choice([5, 10, 20, 25, 50, 75, 100, 150, 200], n)),
            "loan": np.where(some[2], 0, np.round(5000 + random.gamma(2, 8000, n), -2)),
            "age": np.minimum(90, random.integers(17, 100, n)),
        },
    )


def clean_tables():
    for name in DIRTY:
        yield f"{name} (clean)", read(FOLDER / "dirty" / f"{name}-clean.csv.gz")
    for name in CLEAN:
        yield name, read(FOLDER / f"{name}.csv.gz")
    for load in (
        datasets.load_iris,
        datasets.load_diabetes,
        datasets.load_digits,
        datasets.load_linnerud,
    ):
        yield load.__name__[5:], inspected_table(load(as_frame=True).data)
    for name, columns in made_up():
        yield (
            name,
            inspected_table(pa.table({str(key): pa.array(one) for key, one in columns.items()})),
        )


def clean() -> None:
    print(f"\n{'clean':<20}   cells  likelier wrong than not, by kind")
    total = cells = 0
    for name, table in clean_tables():
        alarms = np.zeros(table.shape, dtype=bool)
        kinds = defaultdict(int)
        for finding in find_in_columns(table):
            rows = finding.rows[finding.row_chances >= 0.5]
            alarms[rows, table.column_names.index(finding.columns[0])] = True
            kinds[finding.kind] += rows.size
        total, cells = total + alarms.sum(), cells + alarms.size
        words = ", ".join(f"{kind} {count}" for kind, count in kinds.items() if count)
        print(f"{name:<20} {alarms.size:7,} {alarms.sum():5} {words}")
    print(f"{'all':<20} {cells:7,} {total:5}")


if __name__ == "__main__":
    dirty()
    clean()
