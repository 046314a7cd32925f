"""KNN values on a GPU, beside the processor of the same machine.

Run: python benchmarks/gpu.py [PART ...]   (all parts by default)

kernel       picoseconds per training row, validation row and column subset, at 32,561 x 14 and at 1,000,000 x 50
census       Census (32,561 x 14) against all 16,281 test rows at the default tolerance
all-subsets  the same with all 16,384 column subsets, reading included
million      1,000,000 rows x 50 columns against 10,000 validation rows at the default tolerance
threshold    from which work on a GPU pays, its start included
processor    Census against 1,000 test rows under 256 subsets, on all cores of the processor and on the GPU, and by how much
             row values differ under the same subsets

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
from datetime import UTC, datetime

import numpy as np
from _knn_kernel import census_like, census_tables, kernel_seconds, timed

from shapley2d import KNN, value_cells
from shapley2d._knn.device import find_device
from shapley2d._knn.gpu import GpuNeighbours
from shapley2d._knn.metric import Columns
from shapley2d._knn.neighbours import Neighbours


def on_gpu(*data, **options):
    return value_cells(*data, method=KNN(device="cuda", **options), progress=False)


def versions() -> None:
    import cupy

    runtime = cupy.cuda.runtime
    print(f"{datetime.now(UTC):%Y-%m-%d}, {find_device().name}, {os.cpu_count()} cores of {platform.machine()}, Python "
          f"{platform.python_version()}, numpy {np.__version__}, CuPy {cupy.__version__}, CUDA {runtime.runtimeGetVersion()}, "
          f"driver {runtime.driverGetVersion()}")  # fmt: skip


def kernel() -> None:
    rng = np.random.default_rng(0)
    n, m, n_valid = 1_000_000, 50, 512
    entries = rng.normal(size=(m, n + n_valid)).round(2)
    columns = Columns(entries[:, :n], entries[:, n:], np.zeros(m, bool), np.ones(m), np.ones(m))
    wide = columns, rng.integers(0, 2, n), rng.integers(0, 2, n_valid)
    tables = {"32,561 x 14": (census_like(32561, 2048), 256), "1,000,000 x 50": (wide, 64)}
    for name, (table, n_subsets) in tables.items():
        for task in ("classification", "regression"):
            seconds = kernel_seconds(table, n_subsets, task=task, device=find_device())
            print(f"{name}, {task}: {seconds['sampled'] * 1e12:.2f} ps per row, validation row and sampled subset, "
                  f"{seconds['all'] * 1e12:.2f} ps with all subsets of {n_subsets.bit_length() - 1} columns")  # fmt: skip


def census() -> None:
    on_gpu(*census_tables())
    data, reading = timed(census_tables)
    found, seconds = timed(lambda: on_gpu(*data))
    print(f"census, 16,281 test rows, default tolerance: {seconds:.2f} s, and {reading:.2f} s for reading; "
          f"{found.info['n_subsets']} subsets, error {found.info['ratio']:.4f} of the spread")  # fmt: skip


def processor() -> None:
    data, few = census_tables(1000), census_tables(64)
    on_cpu = KNN(device="cpu", n_subsets=256)
    value_cells(*few, method=on_cpu, progress=False)  # compiled before
    on_gpu(*few, n_subsets=256)
    gpu = timed(lambda: on_gpu(*data, n_subsets=256))[1]
    cpu = timed(lambda: value_cells(*data, method=on_cpu, progress=False))[1]
    print(f"census, 1,000 test rows, 256 subsets: GPU {gpu:.2f} s, processor {cpu:.1f} s, {cpu / gpu:.0f} x; "
          f"largest difference {difference():.1e} of the spread")  # fmt: skip


def difference() -> float:
    """Between the row values of a GPU and of the processor, under the same subsets.

    Whole runs deal validation rows into other chunks there, which sample other subsets.
    """
    columns, y, y_valid = census_like(32561, 64)
    subsets = (
        np.random.default_rng(2).random((64, columns.n_columns)) < np.linspace(0, 1, 64)[:, None]
    )
    found = [
        kind(columns, y, y_valid, task="classification", n_neighbors=10, **device).values(subsets)
        for kind, device in ((GpuNeighbours, {"device": find_device()}), (Neighbours, {}))
    ]
    return float(
        (np.abs(found[0] - found[1]).max(axis=1) / np.ptp(found[1], axis=1).clip(1e-300)).max()
    )


def all_subsets() -> None:
    on_gpu(*census_tables(64), subsets="all")
    found, seconds = timed(lambda: on_gpu(*census_tables(), subsets="all"))
    print(f"census, all 16,384 subsets, all 16,281 test rows: {seconds:.1f} s with reading; total {found.total:.6f}")  # fmt: skip


def million() -> None:
    import cupy

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_010_000, 50)).astype(np.float32).round(2).astype(np.float64)
    y = (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    on_gpu(X[:70_000], y[:70_000], X[-64:], y[-64:], n_subsets=400)  # compiled before
    data = X[:1_000_000], y[:1_000_000], X[1_000_000:], y[1_000_000:]
    found, seconds = timed(lambda: on_gpu(*data))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    used = cupy.get_default_memory_pool().total_bytes() / 2**30
    print(f"1,000,000 x 50, 10,000 validation rows, default tolerance: {seconds:.1f} s; {found.info['n_subsets']} subsets, "
          f"error {found.info['ratio']:.4f} of the spread; {memory:.1f} GB, GPU {used:.1f} GB")  # fmt: skip


TINY = """
import sys, time
import numpy as np
from shapley2d import KNN, value_cells
rng = np.random.default_rng(0)
n, device = int(sys.argv[1]), sys.argv[2]
X = rng.normal(size=(n + 2000, 14)).round(2)
y = (X[:, 0] > 0).astype(int)
start = time.perf_counter()
value_cells(X[:n], y[:n], X[n:], y[n:], method=KNN(n_subsets=256, device=device), progress=False)
print(time.perf_counter() - start)
"""


def threshold() -> None:
    print(
        "seconds of a fresh process, 2,000 validation rows, 14 columns, 256 subsets (compiled code kept)"
    )
    for device in ("cpu", "cuda"):
        seconds_of(10_000, device)
    for n in (5_000, 10_000, 20_000, 40_000):
        seconds = {device: seconds_of(n, device) for device in ("cpu", "cuda")}
        print(f"  {n:7,} rows, 2^{np.log2(n * 2000.0 * 256):.1f} triples: processor {seconds['cpu']:.2f} s, GPU {seconds['cuda']:.2f} s")  # fmt: skip


def seconds_of(n: int, device: str) -> float:
    command = [sys.executable, "-c", TINY, str(n), device]
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
    parts = parser.parse_args().parts or PARTS
    versions()
    for part in parts:
        PARTS[part]()
        sys.stdout.flush()
