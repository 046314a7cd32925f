"""KNN values on a GPU, beside the processor of the same machine.

Run: python benchmarks/gpu.py [kernel] [census] [all-subsets] [million] [threshold] [processor]   (all by default)

kernel       picoseconds per training row, validation row and column subset, at 32,561 and at 1,000,000 rows, with limits
census       Census (32,561 x 14) against all 16,281 test rows at the default tolerance
all-subsets  the same with all 16,384 column subsets, reading included; its error on 64 test rows against the processor's
             exact form
million      1,000,000 rows x 50 columns against 10,000 validation rows at the default tolerance
threshold    from which work on a GPU pays, its start included
processor    Census against 1,000 test rows at the default tolerance, on all cores of the processor and on the GPU

Census is read from the folder SHAPLEY2D_DATA. Kernels are compiled before anything is timed, except
in `threshold`.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from shapley2d import value_cells
from shapley2d._knn.cuda.binned import BinnedRows
from shapley2d._knn.device import find_device
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.rank_weights import rank_weights
from shapley2d._knn.row_axis import RowGame
from shapley2d._knn.row_values import row_values
from shapley2d._tables.problem import make_problem
from shapley2d._theory.semivalues import marginal_weights


def census_tables(n_valid: int | None = None):
    import pandas as pd

    folder = Path(os.environ["SHAPLEY2D_DATA"])
    train, test = (
        pd.read_csv(folder / "census_train.csv.gz"),
        pd.read_csv(folder / "census_test.csv.gz"),
    )
    test = test if n_valid is None else test.sample(n_valid, random_state=0)
    return (
        train.drop(columns="income"),
        train["income"],
        test.drop(columns="income"),
        test["income"],
    )


def timed(run):
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def versions() -> None:
    import cupy

    device = find_device()
    runtime = cupy.cuda.runtime
    print(f"{datetime.now(UTC):%Y-%m-%d}, {device.name}, {os.cpu_count()} cores of {platform.machine()}, Python "
          f"{platform.python_version()}, numpy {np.__version__}, CuPy {cupy.__version__}, CUDA {runtime.runtimeGetVersion()}, "
          f"driver {runtime.driverGetVersion()}")  # fmt: skip


def limits(share: float, n_columns: int, low: int, picoseconds: float) -> None:
    """What the GPU allows per row, test row and subset of a walk.

    ``share`` of the rows are counted, the others agree with one of them. For a subset each is
    counted and looked up in the memory on the chip, whose 32 banks serve one word a clock each, and
    takes some 38 instructions (as ncu counts them on Census). For all subsets of a launch it reads
    its columns, keeps and reads again what was added up, and adds to the sums.
    """
    device = find_device()
    clock, conflicts, instructions, cache = 1.98e9, 3.5, 38, 5.5e12
    shared = share * 2 * conflicts / 32 / (device.processors * clock) * 1e12
    issued = share * instructions / (device.processors * 128 * clock) * 1e12
    moved = 4 * (n_columns / 2 + low / 2) + 2 * 2 * (low + 1) + 4 * (low + 1)
    print(f"    {share:.2f} of the rows are distinct; limits: {issued:.2f} ps for {instructions} instructions; {shared:.2f} ps for a count "
          f"and a look-up with {conflicts} conflicts each; {share * moved / (1 << low) / cache * 1e12:.2f} ps for {moved:.0f} bytes per row "
          f"and {1 << low} subsets from the second cache; measured {picoseconds:.2f}")  # fmt: skip


def kernel() -> None:
    device = find_device()
    (split,) = make_problem(*census_tables()).splits
    columns = integer_columns(split.train, split.valid)
    rows = row_values(
        columns, split.y.codes, split.y_valid.codes, task="classification", n_neighbors=10
    )
    axis = BinnedRows(rows.axis.game, device)
    joining = marginal_weights("shapley", 14)
    weights = np.append(0.0, joining), np.append(joining, 0.0)
    chosen = np.arange(axis.walk_rows())
    axis.walk(*weights, chosen[:2])
    _, seconds = timed(lambda: axis.walk(*weights, chosen))
    ps = seconds / (32561 * chosen.size * 2**14) * 1e12
    print(
        f"census, all subsets: {ps:.2f} ps per row, test row and subset ({chosen.size:,} test rows)"
    )
    subsets = axis._subsets
    distinct = np.mean([rows.first.size for rows in subsets._distinct()])
    limits(distinct / 32561, 14, subsets.group.bit_length() - 1, ps)
    coalitions = np.random.default_rng(0).random((64, 14)) < 0.5
    chosen = np.arange(16 * device.processors)
    for name, run in (("all rows in bins", axis.sums), ("near rows ranked", axis.finer.sums)):
        run(coalitions, chosen[:2])
        _, seconds = timed(lambda run=run: run(coalitions, chosen))
        print(
            f"census, sampled subsets, {name}: {seconds / (32561 * chosen.size * 64) * 1e12:.2f} ps"
        )
    n, m, rng = 1_000_000, 50, np.random.default_rng(0)
    train, valid = rng.integers(0, 5000, (m, n)), rng.integers(0, 5000, (1024, m))
    nominal, weight = np.zeros(m, dtype=bool), np.ones(m, dtype=np.int64)
    game = RowGame("classification", 10, rank_weights("shapley", n, 10), train, valid, (nominal, weight, weight),
                   np.sort(rng.integers(0, 2, n)), rng.integers(0, 2, 1024), np.ones(1024))  # fmt: skip
    axis = BinnedRows(game, device)
    coalitions, chosen = rng.random((128, m)) < 0.5, np.arange(512)
    weights = np.ones((1, len(coalitions)))
    axis.contracted(coalitions, weights, chosen)
    _, seconds = timed(lambda: axis.contracted(coalitions, weights, chosen))
    ps = seconds / (n * chosen.size * len(coalitions)) * 1e12
    print(
        f"1,000,000 x 50, sampled subsets, all rows in bins: {ps:.2f} ps per row, validation row and subset"
    )
    print(f"    limits: {2 * 64 / 990e12 * 1e12:.2f} ps for 64 multiplications and additions of half floats at 990 TFLOPS; {6 / 4.8e12 * 1e12:.2f} ps for "
          f"a bin of 2 bytes, written once and read twice, at 4.8 TB/s; {2 * 3.5 / 32 / (device.processors * 1.98e9) * 1e12:.2f} ps for a count and a look-up "
          f"on the chip with 3.5 conflicts each")  # fmt: skip
    axis.finer.sums(coalitions[:16], np.arange(4))
    _, seconds = timed(lambda: axis.finer.sums(coalitions[:16], np.arange(528)))
    print(
        f"1,000,000 x 50, sampled subsets, near rows ranked: {seconds / (n * 528 * 16) * 1e12:.2f} ps"
    )


def census() -> None:
    value_cells(*census_tables(), backend="cuda", progress=False)
    data, reading = timed(census_tables)
    there, gpu = timed(lambda: value_cells(*data, backend="cuda", progress=False))
    print(f"census, 16,281 test rows, default tolerance: GPU {gpu:.2f} s, and {reading:.2f} s for reading; {there.info['n_subsets']} "
          f"subsets, error {there.info['ratio']:.4f} of the spread")  # fmt: skip


def processor() -> None:
    data = census_tables(1000)
    few = census_tables(64)
    value_cells(*few, backend="cpu", n_subsets=32, progress=False)  # compiled before
    value_cells(*few, backend="cuda", progress=False)
    there, gpu = timed(lambda: value_cells(*data, backend="cuda", progress=False))
    here, cpu = timed(lambda: value_cells(*data, backend="cpu", progress=False))
    off = np.sqrt(np.mean((there.values - here.values) ** 2)) / np.ptp(here.values)
    print(f"census, 1,000 test rows, default tolerance: GPU {gpu:.2f} s, processor {cpu:.1f} s ("
          f"{here.info['n_subsets']} subsets): {cpu / gpu:.0f} x; rms difference {off:.5f} of the spread")  # fmt: skip


def all_subsets() -> None:
    value_cells(*census_tables(64), subsets="all", backend="cuda", progress=False)
    values, seconds = timed(
        lambda: value_cells(*census_tables(), subsets="all", backend="cuda", progress=False)
    )
    print(f"census, all 16,384 subsets, all 16,281 test rows: {seconds:.1f} s with reading; total {values.total:.6f}")  # fmt: skip
    few = census_tables(64)
    there = value_cells(*few, subsets="all", backend="cuda", progress=False)
    here, cpu = timed(lambda: value_cells(*few, subsets="all", backend="cpu", progress=False))
    off = there.values - here.values
    print(f"  64 test rows against the processor ({cpu:.1f} s there): rms {np.sqrt(np.mean(off**2)) / np.ptp(here.values):.6f} of "
          f"the spread, largest {np.abs(off).max() / np.ptp(here.values):.5f}")  # fmt: skip


def million() -> None:
    import cupy

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_010_000, 50)).astype(np.float32).round(2).astype(np.float64)
    y = (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    data = X[:1_000_000], y[:1_000_000], X[1_000_000:], y[1_000_000:]
    few = X[:70_000], y[:70_000], X[-64:], y[-64:]
    value_cells(
        *few, backend="cuda", subsets="sampled", n_subsets=400, progress=False
    )  # compiled before
    values, seconds = timed(lambda: value_cells(*data, backend="cuda", progress=False))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    used = cupy.get_default_memory_pool().total_bytes() / 2**30
    info = values.info
    print(f"1,000,000 x 50, 10,000 validation rows, default tolerance: {seconds:.1f} s; {info['n_subsets']} subsets, error {info['ratio']:.4f} "
          f"of the spread; {memory:.1f} GB, GPU {used:.1f} GB")  # fmt: skip


TINY = """
import sys, time
import numpy as np
from shapley2d import value_cells
rng = np.random.default_rng(0)
n, backend = int(sys.argv[1]), sys.argv[2]
X = rng.normal(size=(n + 2000, 14)).round(2)
y = (X[:, 0] > 0).astype(int)
start = time.perf_counter()
value_cells(X[:n], y[:n], X[n:], y[n:], n_subsets=256, backend=backend, progress=False)
print(time.perf_counter() - start)
"""


def threshold() -> None:
    print(
        "seconds of a fresh process, 2,000 validation rows, 14 columns, 256 subsets (compiled code kept)"
    )
    for backend in ("cpu", "cuda"):
        seconds_of(10_000, backend)
    for n in (5_000, 10_000, 20_000, 40_000):
        seconds = {backend: seconds_of(n, backend) for backend in ("cpu", "cuda")}
        print(f"  {n:7,} rows, 2^{np.log2(n * 2000.0 * 256):.1f} triples: processor {seconds['cpu']:.2f} s, GPU {seconds['cuda']:.2f} s")  # fmt: skip


def seconds_of(n: int, backend: str) -> float:
    command = [sys.executable, "-c", TINY, str(n), backend]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


PARTS = {
    "kernel": kernel,
    "census": census,
    "all-subsets": all_subsets,
    "million": million,
    "threshold": threshold,
    "processor": processor,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    versions()
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()
        sys.stdout.flush()
