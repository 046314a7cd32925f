"""Cells valued by one method, and removed in the order of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d import value_cells
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.removal.curves import removal_records

if TYPE_CHECKING:
    from shapley2d import Valuation
    from shapley2d_paper.data.splits import Parts
    from shapley2d_paper.harness.records import Row


METHODS: dict[str, dict[str, Any]] = {
    "2D-KNN": {"method": "knn", "baseline": "zero"},
    "2D-MC": {"method": "mc", "model": "tree", "baseline": "zero"},
    "1D": {"method": "flat", "model": "tree"},
    "2D-LOO": {"method": "loo", "model": "tree", "baseline": "zero"},
    "random": {"method": "random"},
}
"""Options of ``value_cells`` for every method; as in the paper, no columns are worth 0."""

SAMPLED = ("2D-MC", "1D")
"""Methods that draw a given number of permutations; 2D-KNN takes column coalitions up to a tolerance."""


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
    """Value the cells of one split by one method, and remove them: facts about the values, then the curve."""
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
    """Values by one of :data:`METHODS`, on one core."""
    options = dict(METHODS[method])
    if method in SAMPLED:
        options |= {"max_permutations": permutations, "tolerance": 0}
    if method == "2D-KNN":
        options["tolerance"] = tolerance
    return value_cells(
        parts.X,
        parts.y,
        parts.X_valid,
        parts.y_valid,
        task="classification",
        random_state=seed,
        n_jobs=1,
        progress=False,
        **options,
    )


def describe_parts(parts: Parts) -> Row:
    """Sizes, how many of all rows repeat another one, and the share of test rows that a training row equals.

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
    """The share of the values' variance that is sampling error, and the share of values that are exactly 0."""
    variance = float(valuation.values.var())
    return {
        "noise": float((valuation.stderr**2).mean()) / variance if variance else 0.0,
        "zeros": float((valuation.values == 0).mean()),
    }
