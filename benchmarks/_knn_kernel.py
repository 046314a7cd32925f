"""Nanoseconds per training row, validation row and column subset of the KNN kernels."""

from __future__ import annotations

import argparse
import time

import numpy as np

from shapley2d._knn.distances import IntegerColumns
from shapley2d._knn.row_values import row_values

# Like a census: levels of the categorical columns, and (levels, share at the most frequent one) of
# the numeric ones.
_CATEGORIES = (9, 16, 7, 15, 6, 5, 2, 42)
_NUMBERS = ((73, 0.03), (20000, 0.0), (16, 0.3), (119, 0.92), (92, 0.95), (94, 0.47))


def census_like(
    n_rows: int, n_valid: int, seed: int = 0
) -> tuple[IntegerColumns, np.ndarray, np.ndarray]:
    """A table of 14 columns with heavy ties, and a label of two classes."""
    rng = np.random.default_rng(seed)
    total = n_rows + n_valid
    unit = 1 << 24
    columns, mismatch = [], []
    for levels in _CATEGORIES:
        shares = rng.dirichlet(np.full(levels, 0.5))
        columns.append(rng.choice(levels, size=total, p=shares))
        mismatch.append(unit)
    for levels, mode in _NUMBERS:
        numbers = np.where(rng.random(total) < mode, 0, rng.beta(2, 5, total) * levels).astype(int)
        scaled = numbers / max(numbers.std(), 1e-9)
        columns.append(
            np.round(np.clip(scaled - scaled.mean(), -2.5, 2.5) * np.sqrt(unit / 2)).astype(int)
        )
        mismatch.append(0)
    table = np.array(columns, dtype=np.int64)
    y = (rng.random(total) < 0.24 + 0.1 * (table[0] == 0)).astype(np.int64)
    columns = IntegerColumns(
        np.ascontiguousarray(table[:, :n_rows]),
        np.ascontiguousarray(table[:, n_rows:]),
        np.array(mismatch) > 0,
        np.maximum(mismatch, 1),
        np.full(14, unit, dtype=np.int64),
        float(unit),
    )
    return columns, y[:n_rows], y[n_rows:]


def kernel_nanoseconds(
    form: str,
    n_rows: int = 32561,
    n_valid: int = 16,
    n_subsets: int = 256,
    n_threads: int = 1,
    repeats: int = 3,
) -> dict[str, float]:
    """Time ``values`` on random pairs of complements, and ``walk`` on log2(n_subsets) columns."""
    columns, y, y_valid = census_like(n_rows, n_valid)
    n_columns = columns.n_columns
    options = {"task": "classification", "n_neighbors": 10, "form": form, "n_jobs": n_threads}
    rows = row_values(columns, y, y_valid, **options)
    rng = np.random.default_rng(1)
    half = rng.random((n_subsets // 2, n_columns)) < 0.5
    coalitions = np.concatenate([half, ~half])  # as they are sampled
    # The walk takes both kinds of columns in turn.
    few = min(n_columns, max(1, int(np.log2(n_subsets))))
    kept = np.argsort(np.r_[np.arange(8), np.arange(6) + 0.5], kind="stable")[:few]
    narrow = row_values(
        IntegerColumns(
            columns.train[kept],
            columns.valid[kept],
            columns.nominal[kept],
            columns.weight[kept],
            columns.missing[kept],
        ),
        y,
        y_valid,
        **options,
    )
    weights = np.full(few + 1, 1.0 / (1 << few))
    tasks = {
        "values": (lambda: rows.values(coalitions), n_rows * n_valid * n_subsets),
        "walk": (lambda: narrow.walk(weights, weights), n_rows * n_valid * (1 << few)),
    }
    result = {}
    for name, (run, work) in tasks.items():
        run()
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        result[name] = min(times) / work * 1e9
    return result


def main() -> None:
    """Print a small table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=32561)
    parser.add_argument("--valid", type=int, default=16)
    parser.add_argument("--n-subsets", type=int, default=256)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--forms", nargs="+", default=["exact", "fast"])
    options = parser.parse_args()
    print(f"{'form':8}{'threads':>8}{'values ns':>12}{'walk ns':>12}")
    for form in options.forms:
        for threads in options.threads:
            times = kernel_nanoseconds(
                form, options.rows, options.valid, options.n_subsets, threads
            )
            print(f"{form:8}{threads:>8}{times['values']:>12.2f}{times['walk']:>12.2f}")


if __name__ == "__main__":
    main()
