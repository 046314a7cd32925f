"""Cells valued by one method, and removed in the order of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d import KNN, Method, value_cells
from shapley2d_paper.baselines.flat import Flat
from shapley2d_paper.baselines.loo import LOO
from shapley2d_paper.baselines.random import Random
from shapley2d_paper.baselines.tree_mc import TreeMC
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.detectors.models import MODELS, accuracies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d import Valuation
    from shapley2d_paper.data.splits import Parts
    from shapley2d_paper.harness.records import Row

DIRECTIONS = ("lowest", "highest")
"""Which cells go first."""

EVALUATED_ON = ("validation", "test")
"""Rows that the values were computed with, and unseen rows."""


def removal_order(values: NDArray[np.float64], direction: str, seed: int) -> NDArray[np.intp]:
    """Flat numbers of the cells in the order of their removal.

    Cells of equal value come in random order: leave-one-out gives most cells a 0, and taking these
    row by row would remove whole rows.

    Examples
    --------
    >>> removal_order(np.array([[3.0, 1.0], [0.0, 2.0]]), "lowest", seed=0)
    array([2, 1, 3, 0])
    """
    flat = values.ravel()
    chance = np.random.default_rng(seed).permutation(flat.size)
    return np.lexsort((chance, flat if direction == "lowest" else -flat))


def refill(X: NDArray[np.float64], removed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A table with some cells replaced by the mean of the others in their column.

    Where a column has no others, all of it becomes its own mean.

    Examples
    --------
    >>> X = np.array([[1.0, 4.0], [3.0, 6.0], [8.0, 5.0]])
    >>> refill(X, np.array([[False, True], [False, True], [True, True]]))
    array([[1., 5.],
           [3., 5.],
           [2., 5.]])
    """
    kept = ~removed
    counts = kept.sum(axis=0)
    of_others = np.where(kept, X, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return np.where(removed, np.where(counts > 0, of_others, X.mean(axis=0)), X)


def column_name(direction: str, model: str, evaluated_on: str) -> str:
    """The column of the CSV file that holds an accuracy."""
    return f"{direction}_{model}_{evaluated_on}"


def removal_records(
    parts: Parts, values: NDArray[np.float64], shares: Sequence[float], seed: int
) -> list[Row]:
    """One record per share removed: accuracies in both directions, of every model, on both sets.

    Parameters
    ----------
    parts : Parts
    values : ndarray of shape (n, m)
        Of the cells of the training rows.
    shares : sequence of float
        Ascending.
    seed : int
        Of the model, and of the order of cells of equal value.
    """
    held_out = [(parts.X_valid, parts.y_valid), (parts.X_test, parts.y_test)]
    records: list[Row] = [{"share": share} for share in shares]
    for direction in DIRECTIONS:
        order = removal_order(values, direction, seed)
        removed = np.zeros(values.size, dtype=bool)
        for record in records:
            removed[order[: round(record["share"] * values.size)]] = True
            X = refill(parts.X, removed.reshape(values.shape))
            for model in MODELS:
                for evaluated_on, accuracy in zip(
                    EVALUATED_ON, accuracies(model, X, parts.y, held_out, seed), strict=True
                ):
                    record[column_name(direction, model, evaluated_on)] = round(accuracy, 4)
    return records


METHODS = ("2D-KNN", "2D-MC", "1D", "2D-LOO", "random")
"""The methods by name."""

SAMPLED = ("2D-MC", "1D")
"""Methods that draw a given number of permutations; 2D-KNN samples to a tolerance."""


def work(
    *,
    dataset: str,
    method: str,
    seed: int,
    n_train: int,
    n_valid: int,
    n_test: int,
    permutations: int,
    tolerance: float,
    shares: list[float],
) -> list[Row]:
    """Value the cells of one split by one method, and remove them: facts, then the curve."""
    parts = split_table(dataset, seed, n_train=n_train, n_valid=n_valid, n_test=n_test)
    valuation = cell_values(parts, method, seed, permutations, tolerance)
    of = {"dataset": dataset, "method": method}
    sampled = {"permutations": permutations if method in SAMPLED else None}
    facts = {**describe_parts(parts), **sampled, **describe_values(valuation)}
    curve = removal_records(parts, valuation.values, shares, seed)
    return [
        {"what": "values", **of, **facts},
        *({"what": "curve", **of, **record} for record in curve),
    ]


def cell_values(
    parts: Parts, method: str, seed: int, permutations: int, tolerance: float = 0.025
) -> Valuation:
    """Values by one of :data:`METHODS`, on one core; as in the paper, no columns are worth 0."""
    of: dict[str, Method] = {
        "2D-KNN": KNN(tolerance=tolerance),
        "2D-MC": TreeMC(max_draws=permutations, tolerance=0),
        "1D": Flat(max_draws=permutations, tolerance=0),
        "2D-LOO": LOO(),
        "random": Random(),
    }
    return value_cells(
        parts.X,
        parts.y,
        parts.X_valid,
        parts.y_valid,
        method=of[method],
        baseline="zero",
        task="classification",
        random_state=seed,
        n_jobs=1,
        progress=False,
    )


def describe_parts(parts: Parts) -> Row:
    """Sizes, how many rows repeat another one, and the share of test rows seen in training.

    Labels count as part of a row.
    """
    kinds = ("train", "valid", "test")
    tables = zip(
        (parts.X, parts.X_valid, parts.X_test), (parts.y, parts.y_valid, parts.y_test), strict=True
    )
    rows = {
        kind: [row.tobytes() for row in np.column_stack([X, y])]
        for kind, (X, y) in zip(kinds, tables, strict=True)
    }
    n_rows = sum(map(len, rows.values()))
    known = set(rows["train"])
    return {
        **{f"n_{kind}": len(rows[kind]) for kind in kinds},
        "n_columns": parts.X.shape[1],
        "repeats": n_rows - len({row for part in rows.values() for row in part}),
        "test_known": sum(row in known for row in rows["test"]) / len(rows["test"]),
    }


def describe_values(valuation: Valuation) -> Row:
    """The share of the values' variance that is sampling error, and of values exactly 0."""
    variance = float(valuation.values.var())
    return {
        "noise": float((valuation.stderr**2).mean()) / variance if variance else 0.0,
        "zeros": float((valuation.values == 0).mean()),
    }
