"""What the benchmarks of nearest neighbours share: tables, timers, and the time of the kernels."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from shapley2d._knn.gpu import GpuNeighbours
from shapley2d._knn.metric import Columns
from shapley2d._knn.neighbours import Neighbours
from shapley2d._theory.axes import subsets as all_subsets

# Like a census: levels of the categorical columns, and (levels, share at the most frequent one) of
# the numeric ones.
_CATEGORIES = (9, 16, 7, 15, 6, 5, 2, 42)
_NUMBERS = ((73, 0.03), (20000, 0.0), (16, 0.3), (119, 0.92), (92, 0.95), (94, 0.47))


def timed(run):
    """What a call returns, and its seconds by the clock."""
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def best(run, repeats: int = 3) -> float:
    """The least seconds of some calls after a first one."""
    run()
    return min(timed(run)[1] for _ in range(repeats))


def census_tables(n_valid: int | None = None):
    """Census from the folder SHAPLEY2D_DATA, with some test rows or all."""
    import pandas as pd

    folder = Path(os.environ["SHAPLEY2D_DATA"])
    train, test = (pd.read_csv(folder / f"census_{part}.csv.gz") for part in ("train", "test"))
    test = test if n_valid is None else test.sample(n_valid, random_state=0)
    return (
        train.drop(columns="income"), train["income"],
        test.drop(columns="income"), test["income"],
    )  # fmt: skip


def census_like(n_rows: int, n_valid: int) -> tuple[Columns, np.ndarray, np.ndarray]:
    """A table of 14 columns with heavy ties, and a label of two classes."""
    rng = np.random.default_rng(0)
    total = n_rows + n_valid
    table = [
        rng.choice(levels, size=total, p=rng.dirichlet(np.full(levels, 0.5)))
        for levels in _CATEGORIES
    ]
    for levels, mode in _NUMBERS:
        numbers = np.where(rng.random(total) < mode, 0, rng.beta(2, 5, total) * levels).astype(int)
        table.append(np.clip((numbers - numbers.mean()) / numbers.std(), -2.5, 2.5))
    # kinds in turn, so that the first columns are of both
    order = np.argsort(np.r_[np.arange(8), np.arange(6) + 0.5], kind="stable")
    nominal = order < len(_CATEGORIES)
    entries = np.array(table, dtype=np.float64)[order]
    y = (rng.random(total) < 0.24 + 0.1 * (entries[0] == 0)).astype(np.int64)
    weight = np.where(nominal, 1.0, 0.5)
    columns = Columns(entries[:, :n_rows], entries[:, n_rows:], nominal, weight, np.ones(14))
    return columns, y[:n_rows], y[n_rows:]


def first_columns(columns: Columns, count: int) -> Columns:
    """The same table with fewer columns."""
    fields = ("train", "valid", "nominal", "weight", "missing")
    return Columns(*(getattr(columns, name)[:count] for name in fields))


def kernel_seconds(table, n_subsets: int, **options) -> dict[str, float]:
    """Seconds per training row, validation row and column subset.

    Parameters
    ----------
    table : tuple of Columns, ndarray, ndarray
        Columns, ``y`` and ``y_valid``.
    n_subsets : int
        Random pairs of complements, as they are sampled; and all subsets of as many columns as have
        so many.
    **options
        Of :class:`~shapley2d._knn.neighbours.Neighbours`; ``device`` for a GPU; ``n_threads``.
    """
    columns, y, y_valid = table
    options = {"task": "classification", "n_neighbors": 10, **options}
    kind = GpuNeighbours if "device" in options else Neighbours
    n_threads = options.pop("n_threads", 1)
    rows = kind(columns, y, y_valid, **options)
    every = np.arange(rows.n_valid)
    half = np.random.default_rng(1).random((n_subsets // 2, columns.n_columns)) < 0.5
    subsets = np.concatenate([half, ~half])
    weights = np.ones((2 * columns.n_columns, len(subsets)))  # values and errors of every column
    few = min(columns.n_columns, n_subsets.bit_length() - 1)
    narrow = kind(first_columns(columns, few), y, y_valid, **options)
    all_of_few = all_subsets(few)
    pairs = rows.n_rows * rows.n_valid
    everything = best(
        lambda: narrow(all_of_few, np.ones((few, 2**few)), every, n_threads=n_threads)
    )
    return {
        "sampled": best(lambda: rows(subsets, weights, every, n_threads=n_threads))
        / pairs
        / len(subsets),
        "all": everything / pairs / 2**few,
    }
