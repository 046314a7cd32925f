"""New rows against a trusted table: the second half of a table judged by its first.

Run: SHAPLEY2D_DATA=folder python benchmarks/reference.py [--rows 1500] [--tables 20] [--time]

Tables are shuffled and cut in half. Errors are planted in the second half (planted_errors.py), which
is then inspected alone and against the clean first half. Average precision of both, and how many
cells of the clean second half are said to be wrong with a probability of .5 or more. --time measures
10,000 new rows of 20 columns against 10,000 trusted ones, read from the file of their inspection.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from planted_errors import made_up, spoiled
from sklearn import datasets
from sklearn.metrics import average_precision_score

from shapley2d import Inspection, inspect_cells
from shapley2d.datasets import load_breast_cancer_original, load_census, load_credit

DATA = Path(os.environ.get("SHAPLEY2D_DATA", ""))
MADE_UP = 7


def tables(most_rows: int):
    """Name and entries of every table, as text, in the order of the file or shuffled if longer."""
    random = np.random.default_rng(0)
    for name in ("beers", "flights", "hospital", "rayyan"):
        yield (
            name,
            pd.read_csv(DATA / "dirty" / f"{name}-clean.csv.gz", dtype=str, keep_default_na=False),
        )
    for name in ("breast_cancer", "heart", "wine"):
        yield name, pd.read_csv(DATA / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    for load in (load_breast_cancer_original, load_census, load_credit):
        X, y, *_ = load()
        yield load.__name__[5:], as_texts(pd.DataFrame(X).assign(label=np.asarray(y)))
    for load in (datasets.load_iris, datasets.load_diabetes, datasets.load_wine):
        yield f"sklearn {load.__name__[5:]}", as_texts(load(as_frame=True).frame)
    yield from made_up(MADE_UP, most_rows, random).items()


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(object).where(frame.notna(), "").astype(str)


def halves(most_rows: int):
    """Name, first half, clean second half, and second half with errors."""
    for k, (name, frame) in enumerate(tables(most_rows)):
        random = np.random.default_rng(k)
        rows = random.permutation(len(frame))[:most_rows]
        taken = frame.iloc[rows].reset_index(drop=True)
        first, second = taken[: len(taken) // 2], taken[len(taken) // 2 :].reset_index(drop=True)
        yield name, first, second, spoiled(second, "hand", random)


def read(frame: pd.DataFrame, folder: str, name: str) -> str:
    path = f"{folder}/{name}.csv"
    frame.to_csv(path, index=False)
    return path


def compare(most_rows: int, most_tables: int) -> None:
    sums = np.zeros(4)
    print(
        "table                  rows  columns  errors  AP alone  AP against  clean at .5: alone  against"
    )
    done = 0
    for name, first, second, dirty in list(halves(most_rows))[:most_tables]:
        wrong = (dirty.to_numpy() != second.to_numpy()).ravel()
        if not wrong.any():
            continue
        with tempfile.TemporaryDirectory() as folder:
            trusted = inspect_cells(read(first, folder, "first"), progress=False)
            paths = [read(one, folder, key) for key, one in (("dirty", dirty), ("clean", second))]
            found = [
                [inspect_cells(path, reference=one, progress=False) for one in (None, trusted)]
                for path in paths
            ]
        precision = [average_precision_score(wrong, one.probability.ravel()) for one in found[0]]
        alarms = [int((one.probability >= 0.5).sum()) for one in found[1]]
        print(
            f"{name[:21]:<21} {len(first):>5}  {first.shape[1]:>7}  {wrong.sum():>6}  "
            f"{precision[0]:>8.3f}  {precision[1]:>10.3f}  {alarms[0]:>18}  {alarms[1]:>7} of {second.size}",
            flush=True,
        )
        sums += [*precision, alarms[1], second.size]
        done += 1
    print(
        f"mean of {done} tables: alone {sums[0] / done:.3f}, against {sums[1] / done:.3f}; "
        f"clean cells at .5: {1000 * sums[2] / sums[3]:.2f} in 1,000"
    )


def timed() -> None:
    random = np.random.default_rng(0)

    def made(n: int) -> pd.DataFrame:
        hidden = random.normal(size=(n, 3))
        columns = {}
        for j in range(20):
            values = hidden @ np.random.default_rng(j).normal(size=3) + 0.5 * random.normal(size=n)
            levels = np.digitize(values, np.linspace(-3, 3, 7))
            columns[f"c{j}"] = values.round(3) if j % 2 else np.array(list("abcdefgh"))[levels]
        return pd.DataFrame(columns)

    trusted, new = made(10_000), made(10_000)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/trusted.parquet"
        inspect_cells(trusted, progress=False).save(path)
        inspect_cells(
            new[:10], reference=path, progress=False
        )  # compiles, or loads what was compiled
        begin, cpu = time.perf_counter(), time.process_time()
        reference = Inspection.load(path)
        inspect_cells(new[:1], reference=reference, progress=False)
        loaded, cpu_loaded = time.perf_counter(), time.process_time()
        inspect_cells(new, reference=reference, progress=False)
        end, cpu_end = time.perf_counter(), time.process_time()
    print(
        f"loading, growing the forests and 1 row: {loaded - begin:.1f} s (processors: "
        f"{cpu_loaded - cpu:.1f} s); 10,000 x 20: {end - loaded:.1f} s ({cpu_end - cpu_loaded:.1f} s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--time", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.time:
        timed()
    else:
        compare(given.rows, given.tables)


if __name__ == "__main__":
    main()
