"""Convergence: error against effort on games whose exact values are known, and after the paper's 500 permutations."""

from __future__ import annotations

from shapley2d_paper.convergence.claims import CLAIMS, LIMIT, PERMUTATIONS
from shapley2d_paper.convergence.page import draw, headline, tables
from shapley2d_paper.convergence.runs import NEIGHBOURS, work
from shapley2d_paper.harness.experiment import Experiment, Piece


def pieces(quick: bool) -> list[Piece]:
    """The three parts, for every seed; the tables of the last one by dataset."""
    n_seeds, table_seeds = (1, 1) if quick else (10, 3)
    wine = {"n_train": 40, "n_valid": 40} if quick else {"n_train": 106, "n_valid": 72}
    budgets = [26, 130, 650, 6500] if quick else [26, 52, 130, 260, 650, 1300, 2600, 6500]
    counts = [10, 20, 50, 100, 200, 500] if quick else [10, 20, 50, 100, 200, 500, 1000, 2000]
    small = (
        {"n_train": 8, "n_valid": 100, "n_columns": 5}
        if quick
        else {"n_train": 10, "n_valid": 168, "n_columns": 6}
    )
    tables = (
        {"wine": {"n_train": 20, "n_valid": 40}}
        if quick
        else {
            "wine": wine,
            "breast_cancer": {"n_train": 241, "n_valid": 221},
            "census": {"n_train": 72, "n_valid": 500},
        }
    )
    made = []
    for seed in range(n_seeds):
        made += [
            Piece(f"columns-{seed}", {"part": "columns", "budgets": budgets, **wine, "seed": seed}),
            Piece(
                f"knn-{seed}",
                {"part": "game", "model": "knn", "counts": counts, **wine, "seed": seed},
            ),
            Piece(
                f"small-{seed}",
                {"part": "game", "model": "gaussian_nb", "counts": counts, **small, "seed": seed},
            ),
        ]
    at_most = [count for count in counts if count <= PERMUTATIONS]
    return made + [
        Piece(
            f"tree-{name}-{seed}",
            {"part": "table", "dataset": name, "counts": at_most, **sizes, "seed": seed},
        )
        for seed in range(table_seeds)
        for name, sizes in tables.items()
    ]


EXPERIMENT = Experiment(
    name="convergence",
    title="Error against effort, and where 500 permutations lead",
    about=(
        "Three questions. *How to sample columns:* every column coalition of the nearest-neighbour game of Wine (13 "
        f"columns, {NEIGHBOURS} neighbours) is evaluated, all {2**13:,}, so the exact values are known; the paper's "
        "permutations stand beside the package's estimators A (ridge on complementary pairs) and B (a kernel, then A). "
        "*How good is Monte Carlo:* pairs of permutations on two games with exact values, the same one and naive Bayes "
        "on a few rows and columns of Wine, and whether the standard errors are calibrated. "
        f"*Are {PERMUTATIONS} permutations enough*, as the paper says without showing it: nearest neighbours, and the "
        "decision tree on small tables. The tables give rows, columns and seeds; a seed sets the split and the draws. "
        "The paper names no criterion; here it is the largest standard error relative to the *range* of the values, "
        f"the highest less the lowest: {LIMIT} or less."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
