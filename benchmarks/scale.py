"""How the cost of nearest neighbours grows, and what a million rows take (docs/evidence/scale.md).

Run: python benchmarks/scale.py   (some minutes on a quiet core)
     python benchmarks/scale.py --only million   (five more, with up to 6 GB and 0.4 for every core)

growth     CPU time against rows (10^3 to 10^6), validation rows, columns and subsets, each with its fitted exponent beside
           the theory's. Made-up tables; the kernels of a run, one thread, the best of some repeats.
million    a million rows of 50 columns on all cores of this machine: time by the clock, and memory
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from shapley2d import KNN, value_cells
from shapley2d._knn.metric import measure
from shapley2d._knn.neighbours import Neighbours
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import subsets as all_subsets

K = 10
SUBSETS = 16


def table(n: int, m: int, n_valid: int, seed: int = 0):
    """Numbers with two decimals, of which the first three columns say something."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + n_valid, m)).round(2)
    noise = random.normal(size=n + n_valid)
    y = (X[:, 0] + X[:, 1 % m] * X[:, 2 % m] + noise > 0).astype(int)
    return X[:n], y[:n], X[n:], y[n:]


def some_row_values(n: int, m: int, n_valid: int) -> Neighbours:
    (split,) = make_problem(*table(n, m, n_valid)).splits
    columns, y, y_valid = measure(split.train, split.valid), split.y.codes, split.y_valid.codes
    return Neighbours(columns, y, y_valid, task="classification", n_neighbors=K)


def subsets(count: int, m: int) -> np.ndarray:
    """Random subsets, of all sizes alike."""
    random = np.random.default_rng(1)
    size = random.integers(1, m + 1, count)
    return random.permuted(np.arange(m)[None, :] < size[:, None], axis=1)


def cpu_s(work, repeats: int = 3) -> float:
    """CPU seconds, the best of some repeats: what others do on the machine counts little."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def line(name: str, theory: str, sizes, cost, count=float) -> None:
    """Costs at some sizes, with the exponent of the power of ``count(size)`` that fits them best."""
    seconds = []
    for size in sizes:
        seconds.append(cost(size))
        print(f"  {name:<44} {size:>9,}   {1e3 * seconds[-1]:10.3f} ms", flush=True)
    exponent = np.polyfit(np.log([count(size) for size in sizes]), np.log(seconds), 1)[0]
    print(f"  {name:<44} exponent {exponent:.3f}, theory {theory}", flush=True)


def cost(rows: Neighbours, some: np.ndarray, n_valid: int, repeats: int = 3) -> float:
    """CPU seconds of some subsets, with the lines of values and errors that a run has."""
    weights, chunk = np.ones((2 * some.shape[1], len(some))), np.arange(n_valid)
    return cpu_s(lambda: rows(some, weights, chunk), repeats)


def growth() -> None:
    def by_rows(n: int) -> float:
        n_valid = max(4, 400_000 // n)
        seconds = cost(some_row_values(n, 10, n_valid), some, n_valid, 2 if n >= 10**6 else 3)
        return seconds / (n_valid * SUBSETS)

    def by_columns(m: int) -> float:
        return cost(some_row_values(20_000, m, 8), subsets(SUBSETS, m), 8)

    def by_all_subsets(m: int) -> float:
        rows = some_row_values(5_000, m, 4)
        every = all_subsets(m)
        return cpu_s(lambda: rows(every, np.ones((m, len(every))), np.arange(4)))

    some = subsets(SUBSETS, 10)
    middle = some_row_values(20_000, 10, 256)
    cost(middle, some, 1)  # compiles
    line("rows", "1", (10**3, 10**4, 10**5, 10**6), by_rows)
    line("validation rows", "1", (16, 32, 64, 128, 256), lambda count: cost(middle, some, count))
    line(
        "column subsets", "1", (16, 32, 64, 128), lambda count: cost(middle, subsets(count, 10), 4)
    )
    line("columns, same subsets", "0 to 1", (5, 10, 20, 40, 80), by_columns)
    line("columns, all 2^m subsets", "1 (of 2^m)", (6, 8, 10, 12), by_all_subsets, lambda m: 2.0**m)


def peak_bytes(shape: tuple[int, int, int], method: KNN) -> dict:
    """The most memory that a run had beside the table, and its seconds by the clock (Linux)."""
    small = table(min(shape[0], 20_000), shape[1], 8)
    value_cells(*small, method=method, progress=False)  # compiles, or loads what was compiled
    data = table(*shape, seed=3)
    ctypes.CDLL(None).malloc_trim(0)  # what the first run has freed is nobody's
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    started = time.perf_counter()
    values = value_cells(*data, method=method, progress=False)
    seconds = time.perf_counter() - started
    facts = {name: values.info[name] for name in ("n_valid_used", "n_subsets")}
    peak = _status("VmHWM")
    return {"bytes": peak - before, "process_bytes": peak, "seconds": seconds, **facts}


def _status(name: str) -> int:
    """Bytes of this process, as Linux counts them."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def million() -> None:
    shape, method = (1_000_000, 50, 32), KNN(n_subsets=202, device="cpu")
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # whose memory nothing else has used
        took = pool.submit(peak_bytes, shape, method).result()
    print(
        f"  {shape[0]:,} rows of {shape[1]} columns against {took['n_valid_used']} validation rows under "
        f"{took['n_subsets']} subsets, {os.cpu_count()} cores: {took['seconds'] / 60:.1f} minutes "
        f"and {took['process_bytes'] / 2**30:.1f} GB, {took['bytes'] / 2**30:.1f} GB of them beside the table"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("growth", "million"), default="growth")
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    )
    {"growth": growth, "million": million}[parser.parse_args().only]()


if __name__ == "__main__":
    main()
