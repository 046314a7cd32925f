"""Ugly random tables through the functions and through the command: mixed kinds, gaps, strays, any letters, huge and tiny
numbers, constants, single rows, wide ones.

A table is valued or refused with an error of ours, and nothing else. Values are finite, sum to what
the result says, agree between methods that value the same game, and follow rows and columns
wherever they are moved.

    python -m tests.campaign.fuzz --count 10000
"""

import contextlib
import csv
import datetime as dt
import gzip
import io
import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from shapley2d import (
    KNN,
    Forest,
    Inspection,
    MonteCarlo,
    Valuation,
    inspect_cells,
    value_cells,
)
from shapley2d.exceptions import InputError

from .common import main, quiet, run_command

COUNT = 10_000
LETTERS = ["a", "b", "é", "ß", "日", "😀", "\u202e", "\x1b[31m", "\x00", "\n", '"', ",", ";", "'", "<b>", "=1+1", " ", "\t", "\x7f", "\x9b",
           "\ufeff", "{", "}", "[red]", "%s", "\\", "$", "&amp;", "\ud800", "\udce9"]  # fmt: skip
STRAYS = ["x", "?", "NA", "n/a", "-", "1,5", "1.000,5", "$3", "12%", "1e5", "0x10", "\u0661", "l0", "inf", "nan", "TRUE", "2024-01-01",
          "", " ", "1 2", "(5)", "#REF!", "1e999", "--1"]  # fmt: skip


def text(random, length=6):
    return "".join(
        LETTERS[k] for k in random.integers(len(LETTERS), size=int(random.integers(1, length)))
    )


def gaps(random, items, share=None):
    """Some entries missing."""
    share = [0, 0, 0.1, 0.5][random.integers(4)] if share is None else share
    gone = random.random(len(items)) < share
    return [None if g else item for item, g in zip(items, gone, strict=True)]


def numbers(random, n):
    scale = 10.0 ** random.choice([0, 0, 0, 0, 3, -3, 10, -10, 100, -100, 148, -160, -300])
    digits = int(random.choice([0, 1, 2, 17]))
    return (random.normal(size=n).round(digits) * scale).tolist()


COLUMNS = {
    "numbers": numbers,
    "small whole": lambda random, n: random.integers(0, 4, n).tolist(),
    "whole": lambda random, n: random.integers(-(10**6), 10**6, n).tolist(),
    "long": lambda random, n: [int(k) + 12345678901234567 for k in random.integers(0, 50, n)],
    "longer": lambda random, n: [int(k) + 10**30 for k in random.integers(0, 50, n)],
    "constant": lambda random, n: [float(random.normal())] * n,
    "nothing": lambda random, n: [None] * n,
    "flags": lambda random, n: (random.random(n) < 0.5).tolist(),
    "dates": lambda random, n: [dt.date(2020, 1, 1) + dt.timedelta(days=int(k)) for k in random.integers(-10000, 10000, n)],
    "times": lambda random, n: [dt.datetime(2020, 1, 1) + dt.timedelta(seconds=int(k)) for k in random.integers(-(10**9), 10**9, n)],
    "spans": lambda random, n: [dt.timedelta(seconds=int(k)) for k in random.integers(-(10**6), 10**6, n)],
    "decimals": lambda random, n: [Decimal(int(k)) / 100 for k in random.integers(-1000, 1000, n)],
    "codes": lambda random, n: [f"c{k}" for k in random.integers(0, 3, n)],
    "texts": lambda random, n: [text(random) for _ in range(n)],
    "key": lambda random, n: [f"{text(random)}{k}" for k in range(n)],
    "strays": lambda random, n: [STRAYS[random.integers(len(STRAYS))] if random.random() < 0.15 else str(k) for k in random.integers(0, 99, n)],
    "commas": lambda random, n: [f"{k // 10},{k % 10}" for k in random.integers(0, 999, n)],
    "mixed": lambda random, n: [[1, 2.5, "x", True, None, dt.date(2020, 1, 1), "3"][k] for k in random.integers(0, 7, n)],
    "counter": lambda random, n: list(range(n)),
    "odd numbers": lambda random, n: [[0.0, -0.0, float("nan"), float("inf"), 1e308, 5e-324, 1.0][k] for k in random.integers(0, 7, n)],
    "nested": lambda random, n: [[1]] * n,
}  # fmt: skip
SHARES = {"numbers": 8, "small whole": 4, "codes": 4, "strays": 3, "flags": 2, "odd numbers": 0.3, "nested": 0.1, "mixed": 0.5, "key": 0.5,
          "texts": 0.7, "longer": 0.5}  # fmt: skip
_NAMES = list(COLUMNS)
_CHANCES = np.array([SHARES.get(name, 1.0) for name in _NAMES])
_CHANCES /= _CHANCES.sum()


def make_columns(random, n, m):
    columns = {}
    for j in range(m):
        kind = _NAMES[random.choice(len(_NAMES), p=_CHANCES)]
        name = text(random) + str(j) if random.random() < 0.15 else f"c{j}"
        columns[name] = gaps(random, COLUMNS[kind](random, n))
    return columns


def make_target(random, n):
    kind = random.integers(10)
    if kind < 4:
        return [
            ["no", "yes", "maybe"][k] for k in random.integers(0, int(random.integers(2, 4)), n)
        ]
    if kind < 6:
        return random.integers(0, 2, n).tolist()
    if kind < 8:
        return (random.normal(size=n) * 10.0 ** random.choice([0, 0, 3, -5, 60])).tolist()
    name = _NAMES[random.choice(len(_NAMES), p=_CHANCES)]
    return gaps(random, COLUMNS[name](random, n), [0, 0, 0.1][random.integers(3)])


def as_frame(random, columns):
    """The table as something that a user may hold."""
    kind = ["dict", "pandas", "polars", "pyarrow", "array", "list", "objects"][random.integers(7)]
    try:
        if kind == "pandas":
            return pd.DataFrame(columns)
        if kind == "polars":
            return pl.DataFrame(columns, strict=False)
        if kind == "pyarrow":
            return pa.table(columns)
    except (ValueError, TypeError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError):
        return columns  # the library itself cannot hold it
    if kind in ("array", "objects"):
        lines = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
        for j, part in enumerate(columns.values()):
            lines[:, j] = part
        if kind == "array":
            with contextlib.suppress(ValueError, TypeError, OverflowError):
                return lines.astype(float)
        return lines
    return (
        columns if kind == "dict" else [list(line) for line in zip(*columns.values(), strict=True)]
    )


METHODS = {
    "knn": lambda random: KNN(random.integers(1, 6), metric=["auto", "auto", "sqeuclidean"][random.integers(3)]),
    "mc": lambda random: MonteCarlo(["knn", "gaussian_nb", "ridge", "tree"][random.integers(4)], max_draws=2, tolerance=0),
    "forest": lambda random: Forest(max_draws=4, tolerance=0),
}  # fmt: skip
METHOD_SHARES = [0.7, 0.15, 0.15]


def one_line(error):
    """How a refused table ends: with a message that is one line."""
    text = str(error)
    assert "\n" not in text.strip(), text
    return "refused"


def check(valuation):
    """What holds for every result."""
    assert np.isfinite(valuation.values).all(), "values are not finite"
    assert np.isfinite(valuation.stderr).all() and (valuation.stderr >= 0).all(), "stderr"
    assert valuation.values.shape == (len(valuation.row_names), len(valuation.column_names))
    scale = np.abs(valuation.values).sum() + 1e-300
    assert abs(valuation.row_values.sum() - valuation.total) <= 1e-9 * scale, (
        "rows do not sum to the total"
    )
    assert abs(valuation.column_values.sum() - valuation.total) <= 1e-9 * scale, (
        "columns do not sum to the total"
    )
    assert repr(valuation)
    json.dumps(valuation.info, allow_nan=False)


def close(one, other, scale):
    return np.allclose(one, other, rtol=1e-7, atol=1e-9 * scale + 1e-300)


class Fuzz:
    """Cases by number: one table each."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __call__(self, number, random):
        n = int(
            random.choice(
                [1, 2, 5, 8, 10, 12, 16, 24, 40],
                p=[0.03, 0.03, 0.06, 0.2, 0.2, 0.2, 0.15, 0.1, 0.03],
            )
        )
        m = int(random.choice([1, 2, 3, 4, 6, 12, 40], p=[0.1, 0.25, 0.3, 0.2, 0.11, 0.03, 0.01]))
        columns, target = make_columns(random, n, m), make_target(random, n)
        kind = random.random()
        if kind < 0.25:
            return self.through_command(random, columns, target)
        if kind < 0.35:
            return self.as_groups(random, columns, target)
        if kind < 0.45:
            return self.inspected(random, columns, target)
        return self.through_python(random, columns, target)

    def through_python(self, random, columns, target):
        name = list(METHODS)[random.choice(len(METHODS), p=METHOD_SHARES)]
        asked = {"method": METHODS[name](random), "progress": False, "n_jobs": 1}
        if name == "knn":
            asked["baseline"] = ["labels", "zero"][random.integers(2)]
            asked["include_label"] = bool(random.random() < 0.1)
        n = len(target)
        X, valid = as_frame(random, columns), random.random() < 0.5
        cv = int(random.integers(2, 4))
        # some rows again, so that no validation label is unseen
        rows = random.integers(0, n, size=int(random.integers(1, 7)))
        given = taken(X, rows, range(len(columns))), [target[i] for i in rows]
        tables = given if valid else ()
        try:
            v = quiet(value_cells, X, target, *tables, cv=cv, **asked)
        except InputError as error:
            return one_line(error)
        check(v)
        if random.random() < 0.1:
            self.keep(v)
        if valid and name == "knn" and len(v.row_names) == n:
            self.compare(random, X, target, rows, v, asked)
            return "valued and compared"
        return "valued"

    def compare(self, random, X, target, valid, v, asked):
        """The same table with its rows and columns moved, and the same game by permutations."""
        n_columns = v.values.shape[1] - asked["include_label"]
        rows, order = random.permutation(len(target)), random.permutation(n_columns)
        y, y_valid = ([target[i] for i in part] for part in (rows, valid))
        exact = v.info.get("subsets") == "all"
        try:
            moved, other = taken(X, rows, order), taken(X, valid, order)
            w = quiet(value_cells, moved, y, other, y_valid, **asked)
        except InputError as error:
            raise AssertionError(f"refused once moved: {error}") from error
        scale = np.abs(v.values).max()
        if exact and w.info.get("subsets") == "all":
            found = w.values[np.argsort(rows)]
            place = np.append(np.argsort(order), np.arange(n_columns, v.values.shape[1]))
            assert close(found[:, place], v.values, scale), (
                "the values depend on the order of rows or columns"
            )
        else:
            assert close(w.total, v.total, scale * v.values.size), (
                "the total depends on the order of rows or columns"
            )
        if asked["baseline"] == "labels" and not asked["include_label"]:
            method = MonteCarlo(asked["method"], max_draws=1, tolerance=0)
            tables = X, target, taken(X, valid, range(n_columns)), y_valid
            u = quiet(value_cells, *tables, method=method, progress=False)
            one, two = (r.total + r.info["baseline_utility"] for r in (u, v))
            assert close(one, two, max(abs(one), abs(two), abs(v.info["baseline_utility"]))), (
                f"totals differ: {one} and {two}"
            )

    def keep(self, valuation):
        """What was saved is what is loaded; a page, a frame and a plot can be made."""
        path = self.folder / "kept.parquet"
        valuation.save(path)
        again = quiet(Valuation.load, path)
        assert np.array_equal(again.values, valuation.values)
        assert again.column_names == valuation.column_names
        assert again._contents == valuation._contents and again._labels == valuation._labels
        quiet(valuation.to_html, self.folder / "kept.html")
        str(valuation).encode()
        str(valuation.to_frame()).encode()

    def inspected(self, random, columns, target):
        """Scores go with rows and columns wherever they are moved."""
        rows, order = random.permutation(len(target)), random.permutation(len(columns))
        names = list(columns)
        y = target if random.random() < 0.5 else None
        moved = {names[j]: [columns[names[j]][i] for i in rows] for j in order}
        try:
            one = quiet(inspect_cells, columns, y, progress=False, n_jobs=1)
        except InputError as error:
            return one_line(error)
        turned = None if y is None else [y[i] for i in rows]
        two = quiet(inspect_cells, moved, turned, progress=False, n_jobs=1)
        scores = one.scores[np.ix_(rows, order)]
        assert np.allclose(two.scores, scores, rtol=0, atol=1e-9), (
            "the scores depend on the order of rows or columns"
        )
        one.save(self.folder / "inspected.parquet")
        again = Inspection.load(self.folder / "inspected.parquet")
        assert np.array_equal(again.scores, one.scores)
        one.to_html(self.folder / "inspected.html")
        return "inspected"

    def as_groups(self, random, columns, target):
        groups = [f"g{k}" for k in random.integers(0, 3, len(target))]
        labels = [f"h{k}" for k in random.integers(0, 2, len(columns))]
        try:
            v = quiet(value_cells, as_frame(random, columns), target, row_groups=groups, column_groups=labels,
                      method=KNN(n_neighbors=3), cv=2, progress=False)  # fmt: skip
        except InputError:
            return "refused"
        check(v)
        sums = np.asarray(v.sum_by(v.row_names)["value"], dtype=float)
        assert close(sums.sum(), v.total, np.abs(v.values).sum()), "the groups do not add up"
        return "groups valued"

    def through_command(self, random, columns, target):
        path = self.write(random, {**columns, "target": target})
        names = list(columns)
        arguments = ["cells", str(path), "-t", "target", "--cv", "2", "-k", "2", "--top", "3"]
        if random.random() < 0.5:
            arguments += ["--drop-keys"]
        if random.random() < 0.3:
            arguments += ["--drop-missing-target"]
        if random.random() < 0.2:
            arguments += ["--id", names[random.integers(len(names))]]
        if random.random() < 0.3:
            arguments += ["--json"]
        if random.random() < 0.15:
            arguments += ["-o", str(self.folder / ["v.parquet", "v.csv"][random.integers(2)])]
        if random.random() < 0.1:
            arguments += ["--report", str(self.folder / "r.html")]
        code, printed, _ = run_command(arguments)
        if code == 0 and "--json" in arguments:
            assert np.isfinite(json.loads(printed)["total"])
        return "command refused" if code else "command valued"

    def write(self, random, columns):
        kind = ["csv", "csv", "tsv", "gz", "parquet"][random.integers(5)]
        if kind == "parquet":
            try:
                pq.write_table(pa.table(columns), self.folder / "t.parquet")
            except (pa.ArrowException, ValueError, TypeError, OverflowError):
                pass
            else:
                return self.folder / "t.parquet"
        buffer = io.StringIO()
        mark = "\t" if kind == "tsv" else [",", ";"][random.integers(2)]
        writer = csv.writer(buffer, delimiter=mark)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        data = buffer.getvalue().encode(
            ["utf-8", "utf-8", "utf-16"][random.integers(3)], errors="replace"
        )
        path = self.folder / ("t.csv.gz" if kind == "gz" else "t.csv")
        path.write_bytes(gzip.compress(data) if kind == "gz" else data)
        return path


def taken(X, rows, order):
    """Some rows and columns of a table, by position, as the same kind of thing."""
    if isinstance(X, dict):
        names = list(X)
        return {names[j]: [X[names[j]][i] for i in rows] for j in order}
    if isinstance(X, np.ndarray):
        return X[np.ix_(rows, order)]
    if isinstance(X, list):
        return [[X[i][j] for j in order] for i in rows]
    frame = nw.from_native(X)
    return frame[[int(i) for i in rows], [int(j) for j in order]].to_native()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(main("fuzz", __doc__, Fuzz(place), COUNT))
