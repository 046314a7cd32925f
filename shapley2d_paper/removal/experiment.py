"""Removal of cells in the order of their values: the paper's check that the values mean something."""

from __future__ import annotations

from dataclasses import dataclass

from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.removal.claims import CLAIMS
from shapley2d_paper.removal.page import draw, headline, tables
from shapley2d_paper.removal.work import METHODS, work


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
column that are left, a model is trained on the table, and its accuracy is taken. Values and curves are computed
for every seed, which also draws the rows. Two models are trained: a decision tree, as in the paper, and ten nearest
neighbours on scaled columns. Accuracy is taken on the validation rows, which the values were computed with (the paper's
way), and on unseen test rows.

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
