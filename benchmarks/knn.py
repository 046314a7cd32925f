"""KNN values against their peers, in one run on the same data, as ratios.

Run: python benchmarks/knn.py [authors] [pydvl] [kernel] [census] [all-subsets]   (all but the last by default)

authors      the algorithm of the paper's scripts (a rendition of ours in numpy and Python: one pass of Jia et al.'s
             recursion per column of a permutation, test row by test row), 1,000 permutations, timed
             on a few
pydvl        pyDVL's KNNShapleyValuation, per evaluation of one column subset. It wants an older numpy, so it lives in
             an environment of its own: python -m venv .venv-pydvl && .venv-pydvl/bin/pip install
             pydvl
kernel       nanoseconds per training row, validation row and column subset; two threads against one
census       all 455,854 cells of Census against 1,000 validation rows at the default tolerance; a slice of the exact
             column axis on the same, extrapolated (needs SHAPLEY2D_DATA)
all-subsets  that exact column axis in full, in the fast form: about half an hour
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
from _knn_kernel import kernel_nanoseconds

from shapley2d import value_cells
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.row_values import row_values
from shapley2d._tables.problem import make_problem
from shapley2d._theory.semivalues import marginal_weights

ROOT = Path(__file__).parent.parent


def best(run, repeats: int = 3) -> float:
    run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


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


def authors() -> None:
    data = breast_cancer()
    X, y, X_test, y_test = data
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    repeats = 3
    for _ in range(repeats):
        authors_permutation(X, y, X_test, y_test, rng.permutation(X.shape[1]))
    theirs = (time.perf_counter() - start) / repeats * 1000
    one = best(
        lambda: value_cells(*data, metric="sqeuclidean", baseline="zero", n_jobs=1, progress=False)
    )
    two = best(lambda: value_cells(*data, metric="sqeuclidean", baseline="zero", progress=False))
    print(f"breast cancer, {X.shape[0]} x {X.shape[1]}, {len(y_test)} test rows, K = 10")
    print(
        f"  the authors' algorithm, 1,000 permutations   {theirs:8.1f} s on one core (from {repeats} permutations)"
    )
    print(
        f"  ours, all 512 column subsets, one thread     {one:8.3f} s   {theirs / one:6.0f} x   no sampling error"
    )
    print(f"  ours, all cores                              {two:8.3f} s   {theirs / two:6.0f} x")


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


def pydvl() -> None:
    python = Path(os.environ.get("PYDVL_PYTHON", ROOT / ".venv-pydvl" / "bin" / "python"))
    if not python.exists():
        print(f"pyDVL: there is no {python}; see the head of this script")
        return
    n, n_test, m = 5000, 500, 14
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
    (split,) = make_problem(X, y, X_test, y_test).splits
    columns = integer_columns(split.train, split.valid)
    coalitions = rng.random((64, m)) < 0.5
    print(f"{n:,} x {n_test}, {m} features, K = 10, one evaluation of one column subset, one core")
    print(
        f"  pyDVL KNNShapleyValuation     {theirs:8.3f} s   {theirs / n / n_test * 1e9:8.0f} ns per pair of rows"
    )
    for form in ("exact", "fast"):
        rows = row_values(columns, split.y.codes, split.y_valid.codes, task="classification", n_neighbors=10,
                         form=form, n_jobs=1)  # fmt: skip
        ours = best(lambda rows=rows: rows.values(coalitions)) / len(coalitions)
        print(
            f"  ours, {form:<5} form             {ours:8.4f} s   {ours / n / n_test * 1e9:8.1f} ns   {theirs / ours:6.0f} x"
        )


def kernel() -> None:
    print(
        "nanoseconds per training row, validation row and column subset, 32,561 rows x 14 columns"
    )
    print(
        f"  {'form':8}{'sampled, 1 thread':>20}{'2 threads':>12}{'speed-up':>10}{'all subsets, 1':>17}{'2 threads':>12}{'speed-up':>10}"
    )
    for form in ("exact", "fast"):
        one = kernel_nanoseconds(form, n_threads=1, n_valid=4, n_subsets=1024)
        two = kernel_nanoseconds(form, n_threads=2, n_valid=4, n_subsets=1024)
        print(
            f"  {form:8}{one['values']:20.2f}{two['values']:12.2f}{one['values'] / two['values']:9.2f}x"
            f"{one['walk']:17.2f}{two['walk']:12.2f}{one['walk'] / two['walk']:9.2f}x"
        )


def census_tables(n_valid: int):
    import pandas as pd

    folder = os.environ.get("SHAPLEY2D_DATA")
    if not folder:
        print("census: SHAPLEY2D_DATA does not name the folder with census_train.csv.gz")
        sys.exit(0)
    train = pd.read_csv(Path(folder) / "census_train.csv.gz")
    test = pd.read_csv(Path(folder) / "census_test.csv.gz").sample(n_valid, random_state=0)
    return (
        train.drop(columns="income"),
        train["income"],
        test.drop(columns="income"),
        test["income"],
    )


def census() -> None:
    data = census_tables(1000)
    start = time.perf_counter()
    v = value_cells(*data, progress=True)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"census, {v.values.size:,} cells, 1,000 validation rows, default tolerance")
    print(f"  {seconds:.0f} s, {memory:.2f} GB at most; {v.info['subsets']} column subsets ({v.info['n_subsets']}), "
          f"error {v.info['ratio']:.4f} of the spread, total {v.total:.4f}")  # fmt: skip
    slice_seconds = exact_slice(data, 4)
    print(f"  exact column axis, 16,384 subsets: {slice_seconds:.1f} s for 4 validation rows, "
          f"so {slice_seconds / 4 * 1000 / 60:.0f} min for 1,000")  # fmt: skip


def exact_slice(data, n_valid: int) -> float:
    (split,) = make_problem(*data).splits
    rows = row_values(integer_columns(split.train, split.valid), split.y.codes, split.y_valid.codes,
                     task="classification", n_neighbors=10, form="fast")  # fmt: skip
    joining = marginal_weights("shapley", 14)
    weights = np.append(0.0, joining), np.append(joining, 0.0)
    rows.walk(*weights, valid=np.arange(1))
    start = time.perf_counter()
    rows.walk(*weights, valid=np.arange(n_valid))
    return time.perf_counter() - start


def all_subsets() -> None:
    start = time.perf_counter()
    v = value_cells(*census_tables(1000), subsets="all", progress=True)
    print(f"census, exact column axis, 1,000 validation rows: {(time.perf_counter() - start) / 60:.1f} min, "
          f"total {v.total:.6f}")  # fmt: skip
    v.save("census-exact.parquet")


PARTS = {
    "authors": authors,
    "pydvl": pydvl,
    "kernel": kernel,
    "census": census,
    "all-subsets": all_subsets,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    chosen = parser.parse_args().parts or ["authors", "pydvl", "kernel", "census"]
    for part in chosen:
        PARTS[part]()
