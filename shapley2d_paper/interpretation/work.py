"""Pairs of rows of nearly the same 1D value, and how much their cells agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d import value_cells
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.outliers.tables import authors_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.harness.records import Row


ALIKE, UNLIKE = 0.9, 0.1
"""Cells are alike from this correlation on, and unrelated (or opposed) up to that one."""

_BINS = np.linspace(-1.0, 1.0, 21)

AUTHORS = "the authors' table"
"""What its records are marked with."""


def work(*, seed: int, table: str, within: float) -> list[Row]:
    """Value the cells, and look through all pairs of rows."""
    X, y, X_valid, y_valid, names = _table(table, seed)
    values = value_cells(
        X, y, X_valid, y_valid, method="knn", baseline="zero", n_jobs=1, progress=False
    ).values
    first, second = np.triu_indices(len(X), 1)
    # identical rows have identical cells for certain: they would say nothing
    distinct = (X[first] != X[second]).any(axis=1)
    first, second = first[distinct], second[distinct]
    agreement = correlations(values, first, second)
    near = near_pairs(values.sum(axis=1), first, second, within)
    mark: Row = {"table": AUTHORS if table == "authors" else f"split {seed}"}
    records = [
        {
            **mark,
            "what": "count",
            "pairs": int(near.sum()),
            "alike": float((agreement[near] >= ALIKE).mean()) if near.any() else None,
            "unlike": float((agreement[near] <= UNLIKE).mean()) if near.any() else None,
            "all_alike": float((agreement >= ALIKE).mean()),
            "all_unlike": float((agreement <= UNLIKE).mean()),
            "median": float(np.median(agreement[near])) if near.any() else None,
        }
    ]
    shares = [
        np.histogram(part, _BINS)[0] / max(part.size, 1) for part in (agreement[near], agreement)
    ]
    records += [
        {**mark, "what": "histogram", "from": float(low), "near": float(a), "all": float(b)}
        for low, a, b in zip(_BINS[:-1], *shares, strict=True)
    ]
    for kind, of in (("alike", np.argmax), ("unlike", np.argmin)):
        if near.any():
            best = np.flatnonzero(near)[of(agreement[near])]
            records += _pair(
                X, y, values, int(first[best]), int(second[best]), names, {**mark, "kind": kind}
            )
    return records


def near_pairs(
    rows: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp], within: float
) -> NDArray[np.bool_]:
    """Which pairs have nearly the same 1D value.

    Examples
    --------
    >>> first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> near_pairs(np.array([0.0, 10.0, 10.05]), first, second, 0.01).tolist()
    [False, False, True]
    """
    near: NDArray[np.bool_] = np.abs(rows[first] - rows[second]) < within * rows.std(ddof=1)
    return near


def correlations(
    values: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The correlation of the cells of two rows, for many pairs; 0 where a row is constant.

    Examples
    --------
    >>> cells = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]])
    >>> correlations(cells, np.array([0, 0]), np.array([1, 2])).round(6).tolist()
    [1.0, -1.0]
    """
    centred = values - values.mean(axis=1, keepdims=True)
    size = np.linalg.norm(centred, axis=1, keepdims=True)
    flat = size <= 1e-12 * np.abs(values).max(axis=1, keepdims=True)
    unit = np.where(flat, 0.0, centred / np.where(flat, 1.0, size))
    return np.asarray(np.clip(np.einsum("pj,pj->p", unit[first], unit[second]), -1.0, 1.0))


def _table(table: str, seed: int) -> tuple[Any, Any, Any, Any, list[str]]:
    """Training rows and labels, validation rows and labels, and the names of the columns."""
    if table == "authors":
        injected = authors_table(seed)
        task = injected.task
        return (
            injected.clean,
            task.labels,
            task.valid_numbers,
            task.valid_labels,
            list(task.column_names),
        )
    parts = split_table("breast_cancer", seed)
    return parts.X, parts.y, parts.X_valid, parts.y_valid, parts.column_names


def _pair(
    X: NDArray[np.float64],
    y: NDArray[np.intp],
    values: NDArray[np.float64],
    a: int,
    b: int,
    names: list[str],
    mark: Row,
) -> list[Row]:
    """The records of one pair: what the two rows share, and their cells."""
    from scipy.stats import spearmanr

    cells_a, cells_b = values[a], values[b]
    pair = np.array([a]), np.array([b])
    summary = {
        **mark,
        "what": "pair",
        "row_a": a,
        "row_b": b,
        "value_a": float(cells_a.sum()),
        "value_b": float(cells_b.sum()),
        "same_class": int(y[a] == y[b]),
        "correlation": float(correlations(values, *pair)[0]),
        "rank_correlation": float(spearmanr(cells_a, cells_b).statistic),
        "cosine": float(cells_a @ cells_b / (np.linalg.norm(cells_a) * np.linalg.norm(cells_b))),
    }
    cells = [
        {
            **mark,
            "what": "cell",
            "column": name,
            "content_a": float(X[a, j]),
            "content_b": float(X[b, j]),
            "value_a": float(cells_a[j]),
            "value_b": float(cells_b[j]),
        }
        for j, name in enumerate(names)
    ]
    return [summary, *cells]
