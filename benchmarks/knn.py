"""KNN values against their peers, in one run on the same data, as ratios; and what they cost and are.

Run: python benchmarks/knn.py [--small] [PART ...]   (all parts but all-subsets by default)

authors      the algorithm of the paper's scripts (a rendition of ours in numpy and Python: one pass of Jia et al.'s
             recursion per column of a permutation, test row by test row), 1,000 permutations, timed
             on a few
pydvl        pyDVL's KNNShapleyValuation, per evaluation of one column subset. It wants an older numpy, so it lives in
             an environment of its own: python -m venv .venv-pydvl && .venv-pydvl/bin/pip install
             pydvl
kernel       nanoseconds per training row, validation row and column subset; two threads against one
definition   by how much values differ from those with all rows ranked, on the tables of the paper
first        seconds of CPU of the first call ever, compiling included, beside a later process
census       all 455,854 cells of Census against 1,000 validation rows at the default tolerance; a slice of the exact
             column axis on the same, extrapolated
all-subsets  that exact column axis in full: about three quarters of an hour on two cores

--small looks whether the parts run; its figures mean nothing. The tables are read from the folder
SHAPLEY2D_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from _knn_kernel import best, census_like, census_tables, kernel_seconds, timed

from shapley2d import KNN, value_cells
from shapley2d._knn.kernels.rows import NEAR
from shapley2d._knn.kriging import Kriging
from shapley2d._knn.metric import measure
from shapley2d._knn.neighbours import Neighbours
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import subsets as column_subsets

ROOT = Path(__file__).parent.parent


def problem_rows(*data, task: str = "classification"):
    """Row values of a training and a validation table."""
    (split,) = make_problem(*data, task=task).splits
    y, y_valid = split.y.codes, split.y_valid.codes
    columns = measure(split.train, split.valid)
    return Neighbours(columns, y, y_valid, task=task, n_neighbors=10)


def breast_cancer():
    """The authors' own split where it is at hand; else a table of its size and kind."""
    folder = os.environ.get("SHAPLEY2D_DATA")
    if folder:
        split = np.load(Path(folder) / "breast_cancer_paper_split.npz")
        return split["X_train"], split["y_train"], split["X_test"], split["y_test"]
    rng = np.random.default_rng(0)
    y, y_test = np.arange(241) % 2, np.arange(242) % 2
    return (
        np.clip(rng.poisson(2 + 4 * y[:, None], (241, 9)), 1, 10), y,
        np.clip(rng.poisson(2 + 4 * y_test[:, None], (242, 9)), 1, 10), y_test,
    )  # fmt: skip


def authors_permutation(X, y, X_test, y_test, order, K=10):
    """One permutation of the paper's 2D-KNN: for each further column the row values, test row by test row."""
    n, m = X.shape
    values = np.zeros((n, m))
    before = np.zeros(n)
    for k in range(m):
        columns = order[: k + 1]
        after = np.zeros(n)
        for x, label in zip(X_test[:, columns], y_test, strict=True):
            distance = ((X[:, columns] - x) ** 2).sum(axis=1)
            farthest_first = np.argsort(-distance)
            match = (
                y[farthest_first] == label
            ).tolist()  # plain numbers: numpy's would slow the loop down
            row_values = [match[0] / n]
            for r in range(1, n):
                rank = n - r
                row_values.append(
                    row_values[-1] + (match[r] - match[r - 1]) / K * min(K, rank) / rank
                )
            after[farthest_first] += row_values
        after /= len(y_test)
        values[:, order[k]] = after - before
        before = after
    return values


def authors(*, small: bool) -> None:
    data = breast_cancer()
    X, y_test = data[0], data[3]
    rng = np.random.default_rng(0)
    repeats = 1 if small else 3
    _, seconds = timed(
        lambda: [authors_permutation(*data, rng.permutation(X.shape[1])) for _ in range(repeats)]
    )
    theirs = seconds / repeats * 1000
    method = KNN(metric="sqeuclidean")
    ours = partial(value_cells, *data, method=method, baseline="zero", progress=False)
    one, every = best(partial(ours, n_jobs=1)), best(ours)
    print(f"breast cancer, {X.shape[0]} x {X.shape[1]}, {len(y_test)} test rows, K = 10")
    print(
        f"  the authors' algorithm, 1,000 permutations   {theirs:8.1f} s on one core (from {repeats} permutations)"
    )
    print(
        f"  ours, all 512 column subsets, one thread     {one:8.3f} s   {theirs / one:6.0f} x   no sampling error"
    )
    print(
        f"  ours, all cores                              {every:8.3f} s   {theirs / every:6.0f} x"
    )


PYDVL = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from joblib import parallel_config
from sklearn.neighbors import KNeighborsClassifier
from pydvl.valuation.dataset import Dataset
from pydvl.valuation.methods.knn_shapley import KNNShapleyValuation
data = np.load(sys.argv[1])
train, test = Dataset(data["X"], data["y"]), Dataset(data["X_test"], data["y_test"])
with parallel_config(n_jobs=1):
    start = time.process_time()
    valuation = KNNShapleyValuation(KNeighborsClassifier(n_neighbors=10), test, progress=False)
    valuation.fit(train)
    seconds = time.process_time() - start
print(json.dumps({"seconds": seconds}))
"""


def pydvl(*, small: bool) -> None:
    python = Path(os.environ.get("PYDVL_PYTHON", ROOT / ".venv-pydvl" / "bin" / "python"))
    if not python.exists():
        print(f"pyDVL: there is no {python}; see the head of this script")
        return
    n, n_test, m = (600, 20, 14) if small else (5000, 500, 14)
    rng = np.random.default_rng(0)
    X, X_test = rng.normal(size=(n, m)), rng.normal(size=(n_test, m))
    y, y_test = (X[:, 0] + X[:, 1] > 0).astype(int), (X_test[:, 0] + X_test[:, 1] > 0).astype(int)
    path = ROOT / ".pydvl-data.npz"
    np.savez(path, X=X, y=y, X_test=X_test, y_test=y_test)
    try:
        out = subprocess.run(
            [python, "-c", PYDVL, path], capture_output=True, text=True, check=True
        ).stdout
    finally:
        path.unlink()
    theirs = json.loads(out.splitlines()[-1])["seconds"]
    rows = problem_rows(X, y, X_test, y_test)
    subsets = rng.random((64, m)) < 0.5
    ours = best(lambda: rows(subsets, np.ones((1, 64)), np.arange(rows.n_valid))) / 64
    print(f"{n:,} x {n_test}, {m} features, K = 10, one evaluation of one column subset, one core")
    for name, seconds in (("pyDVL KNNShapleyValuation", theirs), ("ours", ours)):
        print(f"  {name:28}  {seconds:8.4f} s   {seconds / n / n_test * 1e9:8.1f} ns per pair of rows   {theirs / seconds:6.0f} x")  # fmt: skip


def kernel(*, small: bool) -> None:
    n, n_subsets = (2000, 64) if small else (32561, 256)
    table = census_like(n, 4 if small else 16)
    print(
        f"nanoseconds per training row, validation row and column subset, {n:,} rows x 14 columns"
    )
    print(
        f"  {'':16}{'sampled, 1 thread':>20}{'2 threads':>12}{'all subsets, 1':>17}{'2 threads':>12}"
    )
    for task in ("classification", "regression"):
        one, two = (kernel_seconds(table, n_subsets, task=task, n_threads=jobs) for jobs in (1, 2))
        times = (one["sampled"], two["sampled"], one["all"], two["all"])
        print(f"  {task:16}{times[0] * 1e9:20.2f}{times[1] * 1e9:12.2f}{times[2] * 1e9:17.2f}{times[3] * 1e9:12.2f}")  # fmt: skip


TARGETS = {  # table: the class, columns to leave out, and a number to predict
    "census": ("income", [], "age"),
    "credit": ("default_payment_next_month", ["ID"], "LIMIT_BAL"),
    "heart": ("target", [], "thalach"),
    "wine": ("class", [], "proline"),
    "breast_cancer": ("class", ["id"], "clump_thickness"),
}


def paper_table(name: str, target: str, n_valid: int, n_rows: int | None):
    """Random rows of a table of the paper validate, the others train."""
    import pandas as pd

    file = "census_train" if name == "census" else name
    frame = pd.read_csv(Path(os.environ["SHAPLEY2D_DATA"]) / f"{file}.csv.gz")
    frame = frame.drop(columns=TARGETS[name][1]).sample(frac=1, random_state=0)[:n_rows]
    X, y = frame.drop(columns=target), frame[target]
    return X[n_valid:], y[n_valid:], X[:n_valid], y[:n_valid]


def definition(*, small: bool) -> None:
    n_valid, n_subsets, n_rows = (4, 64, 3000) if small else (64, 256, None)
    print(f"difference from the values with all rows ranked, of the spread of those; {n_valid} validation rows, "
          f"{n_subsets} sampled column subsets, the nearest {NEAR} ranked")  # fmt: skip
    print(f"  {'':30}{'rows':>8}{'row values: largest':>22}{'rms':>10}{'cells: largest':>17}{'rms':>10}{'column sums':>14}")  # fmt: skip
    for name, (label, _, number) in TARGETS.items():
        for task, target in (("classification", label), ("regression", number)):
            rows = problem_rows(*paper_table(name, target, n_valid, n_rows), task=task)
            kriging = Kriging(rows.n_columns, "shapley")
            design = kriging.design(n_subsets, np.random.default_rng(0))
            # of some subsets the row values by themselves: the first two are none and all columns
            lines = np.concatenate([np.eye(len(design.coalitions))[1:33], design.weights[0]])
            every = np.arange(rows.n_valid)
            found = rows(design.coalitions, lines, every)
            rows.near = rows.n_rows
            full = rows(design.coalitions, lines, every)
            off = found - full
            spread = np.ptp(full[:32], axis=1)
            told = spread > 1e-9 * spread.max()  # under which not all rows are worth the same
            by_row = np.abs(off[:32][told]) / spread[told, None]
            cells = np.abs(off[32:]) / np.ptp(full[32:])
            sums = np.abs(off[32:].sum(axis=1)).max() / np.ptp(full[32:])
            figures = (by_row.max(), np.sqrt(np.mean(by_row**2)), cells.max(), np.sqrt(np.mean(cells**2)), sums)  # fmt: skip
            print(f"  {name + ', ' + task:30}{rows.n_rows:8,}{figures[0]:22.1e}{figures[1]:10.1e}{figures[2]:17.1e}{figures[3]:10.1e}{figures[4]:14.1e}",
                  flush=True)  # fmt: skip


FIRST = """
import sys, time
import numpy as np
from shapley2d import KNN, value_cells
random = np.random.default_rng(0)
X = random.normal(size=(int(sys.argv[2]), 20)).round(2)
y = X[:, 0] + X[:, 1]
y = y if sys.argv[1] == "regression" else y > 0
start = time.process_time()
method = KNN(n_subsets=60, device="cpu")
value_cells(X[8:], y[8:], X[:8], y[:8], method=method, n_jobs=1, progress=False)
print(time.process_time() - start)
"""


def first(*, small: bool) -> None:
    n = 600 if small else 5000
    print(f"seconds of CPU of a first call in a process, {n:,} x 20, 8 validation rows, 60 subsets, one thread")  # fmt: skip
    for task in ("classification", "regression"):
        with tempfile.TemporaryDirectory() as cache:
            ever, later = (first_seconds(task, n, cache) for _ in range(2))
        print(f"  {task:16} nothing compiled yet {ever:7.2f}   a later process {later:6.2f}", flush=True)  # fmt: skip


def first_seconds(task: str, n: int, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", FIRST, task, str(n)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def census(*, small: bool) -> None:
    n_valid = 32 if small else 1000
    data = census_tables(n_valid)
    v, seconds = timed(
        lambda: value_cells(*data, method=KNN(tolerance=0.2 if small else 0.025), progress=True)
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"census, {v.values.size:,} cells, {n_valid:,} validation rows, default tolerance")
    print(f"  {seconds:.0f} s, {memory:.2f} GB at most; {v.info['subsets']} column subsets ({v.info['n_subsets']}), "
          f"error {v.info['ratio']:.4f} of the spread, total {v.total:.4f}")  # fmt: skip
    few, rows = (1 if small else 4), problem_rows(*data)
    _, seconds = timed(
        lambda: rows(
            column_subsets(14), np.ones((14, 2**14)), np.arange(few), n_threads=os.cpu_count()
        )
    )
    print(f"  exact column axis, 16,384 subsets: {seconds:.1f} s for {few} validation rows, "
          f"so {seconds / few * 1000 / 60:.0f} min for 1,000")  # fmt: skip


def all_subsets(*, small: bool) -> None:
    data = census_tables(1 if small else 1000)
    v, seconds = timed(lambda: value_cells(*data, method=KNN(subsets="all"), progress=True))
    print(f"census, exact column axis, {len(data[3]):,} validation rows: {seconds / 60:.1f} min, total {v.total:.6f}")  # fmt: skip
    v.save("census-exact.parquet")


PARTS = {
    "authors": authors,
    "pydvl": pydvl,
    "kernel": kernel,
    "definition": definition,
    "first": first,
    "census": census,
    "all-subsets": all_subsets,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    for part in options.parts or [part for part in PARTS if part != "all-subsets"]:
        PARTS[part](small=options.small)
