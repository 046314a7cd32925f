"""Removal of cells in the order of their values: the paper's check that the values mean something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._api.cells import value_cells
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.removal.claims import CLAIMS
from shapley2d_paper.removal.curves import removal_lines
from shapley2d_paper.removal.page import draw, headline, tables

if TYPE_CHECKING:
    from shapley2d._results.valuation import Valuation
    from shapley2d_paper.data.splits import Parts
    from shapley2d_paper.harness.experiment import Row

METHODS: dict[str, dict[str, Any]] = {
    "2D-KNN": {"method": "knn"},
    "2D-MC": {"method": "mc", "model": "tree"},
    "1D": {"method": "flat", "model": "tree"},
    "2D-LOO": {"method": "loo", "model": "tree"},
    "random": {"method": "random"},
}
"""Options of ``value_cells`` for every method."""

SAMPLED = ("2D-MC", "1D")
"""Methods that draw a given number of permutations; 2D-KNN takes column coalitions up to a tolerance."""


@dataclass(frozen=True)
class Size:
    """How much of a dataset is used: seeds, rows that train, validate and test, and permutations."""

    seeds: int
    n_train: int
    n_valid: int
    n_test: int
    permutations: int


FULL = {
    "census": Size(5, 100, 500, 2000, 500),
    "credit": Size(5, 80, 500, 2000, 500),
    "breast_cancer": Size(5, 241, 121, 121, 500),
    "heart": Size(4, 160, 432, 433, 300),
    "heart_distinct": Size(5, 100, 101, 101, 500),
    "wine": Size(5, 106, 36, 36, 500),
}
"""Sizes of the full run."""

QUICK = {
    "census": Size(2, 40, 100, 300, 10),
    "credit": Size(2, 30, 100, 300, 5),
    "breast_cancer": Size(2, 60, 121, 121, 15),
    "heart": Size(2, 60, 100, 200, 10),
    "wine": Size(2, 60, 36, 36, 15),
}
"""Sizes of the quick run, which goes without the distinct rows of Heart."""

SHARES = (0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Shares of the cells after which a model is trained."""

QUICK_SHARES = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)

ABOUT = """\
Cells are removed from the lowest and from the highest value on. A removed cell becomes the mean of the cells of its
column that are left, a model is trained on the table, and its accuracy is taken. Values and curves are computed for
every seed anew, which also draws the rows. Two models are trained: a decision tree, as in the paper, and ten nearest
neighbours on scaled columns. Accuracy is taken on the validation rows, which the values were computed with (the paper's
way), and on test rows that nobody has seen.

As in the paper, codes of categories (in Census, Credit and Heart) count as numbers, for all methods alike. That is
unlike `detection`, and unlike most methods of `typos`, which know the categories.

Where this differs from the paper: Census, Credit and Heart (in a quick run all tables) train on a small sample of their
rows, so that 2D-MC and 1D can have more permutations in the time; the paper took 500. The first table gives the sizes,
and how much of the variance of the values is sampling error. 2D-KNN uses the library's default distance, with columns
scaled. Credit goes without its running number. Cells of equal value are removed in random order, which matters for the
zeros of 2D-LOO. Nothing is truncated. Rows of Heart repeat others, so that test rows also train; where *Heart, distinct
rows* was run, it has each row once.
"""


def pieces(quick: bool) -> list[Piece]:
    """One piece per seed, dataset and method; a seed is done for all before the next begins."""
    sizes = QUICK if quick else FULL
    return [
        Piece(
            f"{dataset}-{method}-{seed}",
            {
                "dataset": dataset,
                "method": method,
                "seed": seed,
                "n_train": size.n_train,
                "n_valid": size.n_valid,
                "n_test": size.n_test,
                "permutations": size.permutations,
                "tolerance": 0.1 if quick else 0.025,
                "shares": list(QUICK_SHARES if quick else SHARES),
            },
        )
        for seed in range(max(size.seeds for size in sizes.values()))
        for dataset, size in sizes.items()
        if seed < size.seeds
        for method in METHODS
    ]


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
    curve = removal_lines(parts, valuation.values, shares, seed)
    return [{"what": "values", **of, **facts}, *({"what": "curve", **of, **line} for line in curve)]


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
    tables = zip((parts.X, parts.X_valid, parts.X_test), (parts.y, parts.y_valid, parts.y_test), strict=True)
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


EXPERIMENT = Experiment(
    name="removal",
    title="Removing cells from the lowest and from the highest value on",
    about=ABOUT.strip(),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
