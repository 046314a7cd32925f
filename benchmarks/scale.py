"""How the cost of nearest neighbours grows, how workers share it, and how well a plan foretells it: one run, ratios.

Run: python benchmarks/scale.py [--out docs/figures/scale.json] [--only growth]   (five minutes on two quiet cores)
     python benchmarks/scale.py --only million   (five more, with up to 6 GB and 0.4 for every core; kept by the others)
     python benchmarks/scale.py --only memory   (two more, with up to 3 GB)
Then: python docs/make_scale.py   (the figure and the tables of docs/scale.md)

growth     CPU time against rows (10^3 to 10^6), validation rows, columns and subsets, each with its fitted exponent beside
           the theory's. Made-up tables; the kernels of a run, one thread, the best of some repeats.
workers    one and two worker processes by the clock; 4 to 1,024 by simulation from the times of single pieces and of
           handing them over, both measured
plans      what plan_cells says beside the CPU time and the memory that the run then takes, at three sizes that nothing was
           fitted on
billion    what 10^9 cells would take 100 workers at the pace of a million rows
million    a million rows of 50 columns on all cores of this machine: time by the clock, and memory
memory     what plan_cells says of memory beside what the run then takes, from 60,000 rows to a million, both forms, one thread
           and two
"""

from __future__ import annotations

import argparse
import ctypes
import heapq
import json
import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from shapley2d import plan_cells, value_cells
from shapley2d._base.cost import Cost
from shapley2d._estimation.workers import ordered_results
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.row_values import RowValues, row_values
from shapley2d._methods.knn.pieces import FIRST_PER_COLUMN, AllSubsetPieces, chunk_rows
from shapley2d._methods.knn.price import SENT_BYTES_S
from shapley2d._methods.price import HANDOVER_S
from shapley2d._tables.problem import make_problem
from shapley2d._theory.semivalues import marginal_weights

OUT = Path(__file__).parent.parent / "docs" / "figures" / "scale.json"
K = 10
SUBSETS = 16


def table(n: int, m: int, n_valid: int, seed: int = 0):
    """Numbers with two decimals, of which the first three columns say something."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + n_valid, m)).round(2)
    noise = random.normal(size=n + n_valid)
    y = (X[:, 0] + X[:, 1 % m] * X[:, 2 % m] + noise > 0).astype(int)
    return X[:n], y[:n], X[n:], y[n:]


def some_row_values(n: int, m: int, n_valid: int, form: str) -> RowValues:
    (split,) = make_problem(*table(n, m, n_valid)).splits
    columns = integer_columns(split.train, split.valid, "auto")
    return row_values(
        columns,
        split.y.codes,
        split.y_valid.codes,
        task="classification",
        n_neighbors=K,
        form=form,
        n_jobs=1,
    )


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


def line(name: str, theory: str, sizes, cost, **more) -> dict:
    """Costs at some sizes, with the exponent of the power that fits them best."""
    seconds = []
    for size in sizes:
        seconds.append(cost(size))
        print(f"  {name:<44} {size:>9,}   {1e3 * seconds[-1]:10.3f} ms", flush=True)
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    print(f"  {name:<44} exponent {exponent:.3f}, theory {theory}", flush=True)
    return {
        "name": name,
        "theory": theory,
        "sizes": list(sizes),
        "seconds": seconds,
        "exponent": exponent,
        **more,
    }


def growth() -> list[dict]:
    def by_rows(form: str):
        def cost(n: int) -> float:
            n_valid = max(2, 400_000 // n)
            part, some = some_row_values(n, 10, n_valid, form), subsets(SUBSETS, 10)
            part.values(some[:4], valid=np.arange(1))
            return cpu_s(lambda: part.values(some), 2 if n >= 10**6 else 3) / (n_valid * SUBSETS)

        return cost

    def by_valid(n_valid: int) -> float:
        return cpu_s(lambda: middle.values(some, valid=np.arange(n_valid)))

    def by_subsets(count: int) -> float:
        return cpu_s(lambda: middle.values(subsets(count, 10), valid=np.arange(4)))

    def by_columns(m: int) -> float:
        part, few = some_row_values(20_000, m, 8, "fast"), subsets(SUBSETS, m)
        return cpu_s(lambda: part.values(few))

    def by_all_subsets(m: int) -> float:
        part = some_row_values(5_000, m, 2, "fast")
        weights = marginal_weights("shapley", m)
        ends = np.append(0.0, weights), np.append(weights, 0.0)
        return cpu_s(lambda: part.walk(*ends))

    for form in ("exact", "fast"):
        some_row_values(2_000, 4, 2, form).values(subsets(4, 4))  # compiles
    some_row_values(2_000, 4, 2, "fast").walk(np.ones(5), np.ones(5))
    middle, some = some_row_values(20_000, 10, 256, "fast"), subsets(SUBSETS, 10)
    rows = (10**3, 10**4, 10**5, 10**6)
    return [
        line("rows, exact form", "1 and a logarithm", rows, by_rows("exact"), unit="rows"),
        line("rows, fast form", "1", rows, by_rows("fast"), unit="rows"),
        line("validation rows", "1", (16, 32, 64, 128, 256), by_valid, unit="validation rows"),
        line("column subsets", "1", (16, 32, 64, 128), by_subsets, unit="subsets"),
        line("columns, same subsets", "0 to 1", (5, 10, 20, 40, 80), by_columns, unit="columns"),
        _of_subsets(
            line("columns, all 2^m subsets", "", (6, 8, 10, 12), by_all_subsets, unit="columns")
        ),
    ]


def _of_subsets(found: dict) -> dict:
    """The exponent against the number of subsets, not of columns."""
    counts = 2.0 ** np.array(found["sizes"])
    found["exponent"] = float(np.polyfit(np.log(counts), np.log(found["seconds"]), 1)[0])
    found["theory"] = "1 (of 2^m)"
    print(
        f"  {found['name']:<44} exponent {found['exponent']:.3f} against 2^m, theory 1", flush=True
    )
    return found


class Nothing:
    """Pieces that take no time, with results as large as real ones."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def __call__(self, number: int) -> np.ndarray:  # noqa: ARG002
        return np.zeros(self.shape)


def simulate(pieces: list[float], handover: float, workers: int) -> float:
    """Seconds until all pieces are done: one process hands them out in order, a worker takes the next when it is free."""
    free = [0.0] * workers
    clock = 0.0
    for piece in pieces:
        clock += handover
        begin = max(clock, heapq.heappop(free))
        heapq.heappush(free, begin + piece)
    return max(free)


def workers(n: int = 10_000, m: int = 11, n_valid: int = 32, in_all: int = 2048) -> dict:
    """Pieces of all column subsets, as a cluster gets them."""
    part = some_row_values(n, m, n_valid, "fast")
    weights = marginal_weights("shapley", m)
    ends = np.append(0.0, weights), np.append(weights, 0.0)
    size = 4
    chunks = [(0, np.arange(first, first + size)) for first in range(0, n_valid, size)]
    work = AllSubsetPieces([part], chunks, ends)
    times = [cpu_s(lambda number=number: work(number), 1) for number in range(len(chunks))]
    clock = {1: np.inf, 2: np.inf}
    for _ in range(2):
        for count in (1, 2):
            with ProcessPoolExecutor(count) as pool:
                list(
                    ordered_results(work, 0, count, cluster=pool)
                )  # starts, and loads compiled code
                start = time.perf_counter()
                list(ordered_results(work, 0, len(chunks), cluster=pool))
                clock[count] = min(clock[count], time.perf_counter() - start)
    with ProcessPoolExecutor(1) as pool:
        empty = Nothing((n, m))
        list(ordered_results(empty, 0, 4, cluster=pool))
        # of the process that hands out and takes back: workers do their part at the same time
        handover = cpu_s(lambda: list(ordered_results(empty, 0, 256, cluster=pool))) / 256
    print(f"  a piece takes {np.mean(times):.3f} s of CPU ({min(times):.3f} to {max(times):.3f})")
    print(
        f"  handing one over takes {1e3 * handover:.2f} ms, with a result of {8 * n * m / 1e6:.1f} MB"
    )
    print(
        f"  {len(chunks)} pieces, one worker {clock[1]:.1f} s, two {clock[2]:.1f} s: {clock[1] / clock[2]:.2f} times"
    )
    drawn = np.random.default_rng(0).choice(times, in_all).tolist()
    alone = sum(drawn)
    simulated = []
    for count in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        seconds = simulate(drawn, handover, count)
        simulated.append(
            {"workers": count, "seconds": seconds, "efficiency": alone / (count * seconds)}
        )
        print(
            f"  {in_all:,} pieces, {count:>5,} workers: {seconds:9.1f} s, efficiency {alone / (count * seconds):.2f}"
        )
    return {
        "piece_s": float(np.mean(times)),
        "handover_s": handover,
        "measured": {str(count): seconds for count, seconds in clock.items()},
        "pieces": in_all,
        "simulated": simulated,
    }


PLANS = {
    "5,000 x 12, 40 validation rows, all subsets": ((5_000, 12, 40), {"subsets": "all"}),
    "30,000 x 20, 120 validation rows, 162 subsets": (
        (30_000, 20, 120),
        {"n_subsets": 162},
    ),
    "200,000 x 30, 24 validation rows, 122 subsets": (
        (200_000, 30, 24),
        {"n_subsets": 122},
    ),
}


def plans() -> list[dict]:
    found = []
    for name, (shape, options) in PLANS.items():
        data = table(*shape, seed=3)
        settings = {"n_jobs": 1, "progress": False, "backend": "cpu", **options}
        found_plans, seconds = [], []
        for _ in range(2):  # in turn, so that both meet the same machine
            found_plans.append(plan_cells(*data, **settings))
            seconds.append(
                cpu_s(lambda data=data, settings=settings: value_cells(*data, **settings), 1)
            )
        plan, actual = min(found_plans, key=lambda one: one.high.shared_s), min(seconds)
        planned = (plan.low.seconds(1), plan.high.seconds(1))
        nearest = float(np.clip(actual, *planned))
        off = nearest / actual - 1
        needed = in_new_process(peak_bytes, shape, settings)["bytes"]
        print(
            f"  {name:<52} planned {planned[0]:.1f} to {planned[1]:.1f} s, took {actual:.1f} s of CPU: {off:+.0%}; "
            f"planned {plan.memory / 1e6:.0f} MB, took {needed / 1e6:.0f} MB: {plan.memory / needed:.2f} times",
            flush=True,
        )
        found.append(
            {
                "name": name,
                "planned": planned,
                "actual": actual,
                "off": off,
                "planned_bytes": plan.memory,
                "bytes": needed,
            }
        )
    return found


def in_new_process(work, *given):
    """What a function returns in a process of its own, whose memory nothing else has used."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def peak_bytes(shape: tuple[int, int, int], settings: dict, seed: int = 3) -> dict:
    """The most memory that a run had beside the table, and its seconds by the clock (Linux)."""
    small = table(min(shape[0], 20_000), shape[1], 8)  # with the kernels of large tables
    value_cells(*small, **settings)  # compiles, or loads what was compiled
    data = table(*shape, seed)
    ctypes.CDLL(None).malloc_trim(0)  # what the first run has freed is nobody's
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    started = time.perf_counter()
    values = value_cells(*data, **settings)
    seconds = time.perf_counter() - started
    facts = {name: values.info[name] for name in ("n_valid_used", "n_subsets")}
    facts["form"] = "fast" if "bin_stderr" in values.info else "exact"
    peak = _status("VmHWM")
    return {"bytes": peak - before, "process_bytes": peak, "seconds": seconds, **facts}


def _status(name: str) -> int:
    """Bytes of this process, as Linux counts them."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def billion(lines: list[dict]) -> dict:
    """10^9 cells: 20 million rows of 50 columns, in chunks of validation rows that 100 workers share."""
    per_pair = lines[1]["seconds"][-1]  # fast form: a million rows, one validation row, one subset
    n, m, n_valid, n_workers = 20_000_000, 50, 1_000, 100
    count = FIRST_PER_COLUMN * m
    core_s = n / 1e6 * per_pair * n_valid * count
    pieces = -(-n_valid // chunk_rows(n, n_valid, m, count))
    back = 16.0 * n * m  # bytes of the results of a piece: values, and what their errors take
    cost = Cost(0.0, core_s, pieces, 1, HANDOVER_S + back / SENT_BYTES_S)
    both = cost.seconds(n_workers)
    print(
        f"  {n:,} rows x {m} columns = 10^9 cells, {n_valid:,} validation rows, {count} subsets: "
        f"{n * n_valid * count:.3g} triples x {1e3 * per_pair:.1f} ns = {core_s / 3600:.1f} core hours; "
        f"{pieces} pieces with results of {back / 1e9:.0f} GB; {both / 3600:.1f} h on {n_workers} workers"
    )
    return {
        "rows": n, "columns": m, "valid": n_valid, "subsets": count, "workers": n_workers, "pieces": pieces,
        "ns_per_triple": 1e3 * per_pair, "core_s": core_s, "back_bytes": back, "back_s": pieces * cost.handover_s,
        "seconds": both,
    }  # fmt: skip


def million() -> dict:
    shape, settings = (1_000_000, 50, 32), {"n_subsets": 202, "progress": False, "backend": "cpu"}
    cores = os.cpu_count() or 1
    plan = in_new_process(_plan_of, shape, settings)
    took = in_new_process(peak_bytes, shape, settings)
    found = {
        "rows": shape[0], "columns": shape[1], "valid": took["n_valid_used"], "subsets": took["n_subsets"],
        "form": took["form"], "cores": cores, "planned": list(plan.seconds), "planned_gb": plan.memory / 2**30,
        "seconds": took["seconds"], "gigabytes": took["process_bytes"] / 2**30,
        "bytes": took["bytes"],
    }  # fmt: skip
    print(f"  planned {found['planned'][0]:.0f} to {found['planned'][1]:.0f} s and {plan.memory / 1e9:.2f} GB, "
          f"took {found['seconds']:.0f} s and {took['bytes'] / 1e9:.2f} GB, beside the table")  # fmt: skip
    return found


def _plan_of(shape: tuple[int, int, int], settings: dict):
    return plan_cells(*table(*shape, 3), **settings)


MEMORY = {
    "60,000 x 16, 8 validation rows, 64 subsets": ((60_000, 16, 8), {"n_subsets": 64}),
    "60,000 x 9, 8 validation rows, all subsets": ((60_000, 9, 8), {"subsets": "all"}),
    "200,000 x 30, 8 validation rows, 32 subsets": ((200_000, 30, 8), {"n_subsets": 32}),
    "1,000,000 x 10, 4 validation rows, 32 subsets": ((1_000_000, 10, 4), {"n_subsets": 32}),
}


def memory() -> list[dict]:
    found = []
    for name, (shape, options) in MEMORY.items():
        for n_jobs in (1, 2):
            settings = {"progress": False, "backend": "cpu", "n_jobs": n_jobs, **options}
            planned = in_new_process(_plan_of, shape, settings).memory
            took = in_new_process(peak_bytes, shape, settings)["bytes"]
            print(
                f"  {name:<46} {n_jobs} threads: planned {planned / 1e6:6.0f} MB, "
                f"took {took / 1e6:6.0f} MB: {planned / took:.2f} times",
                flush=True,
            )
            found.append({"name": name, "threads": n_jobs, "planned_bytes": planned, "bytes": took})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=("growth", "workers", "plans", "million", "memory"),
        help="measure these again, keep the rest of the file",
    )
    given = parser.parse_args()
    record = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    started = time.perf_counter()
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    )
    print(machine)
    for name, measure in {
        "growth": growth,
        "workers": workers,
        "plans": plans,
        "million": million,
        "memory": memory,
    }.items():
        if name in (given.only or ("growth", "workers", "plans")):
            print(name, flush=True)
            record[name] = measure()
            record.setdefault("machines", {})[name] = machine
            if name == "growth":
                print("billion")
                record["billion"] = billion(record["growth"])
            given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{time.perf_counter() - started:.0f} s; written: {given.out}")


if __name__ == "__main__":
    main()
