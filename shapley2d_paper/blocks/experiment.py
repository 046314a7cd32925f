"""Blocks of Credit: what a contributor's block is worth, against the performance of a model trained on it alone."""

from __future__ import annotations

from shapley2d_paper.blocks.claims import CLAIMS, MEASURES
from shapley2d_paper.blocks.page import draw, headline, tables
from shapley2d_paper.blocks.work import work
from shapley2d_paper.harness.experiment import Experiment, Piece


def pieces(quick: bool) -> list[Piece]:
    """One random split into blocks per seed, for every measure."""
    n_splits, groups, n_train, n_held_out = (2, 3, 500, 1000) if quick else (12, 4, 4000, 4000)
    return [
        Piece(
            f"split-{seed}-{measure.replace(' ', '-')}",
            {
                "measure": measure,
                "n_train": n_train,
                "n_held_out": n_held_out,
                "row_groups": groups,
                "column_groups": groups,
                "seed": seed,
            },
        )
        for seed in range(n_splits)
        for measure in MEASURES
    ]


EXPERIMENT = Experiment(
    name="blocks",
    title="Value of a block against the performance of a model trained on it alone",
    about=(
        "Credit is cut at random into groups of rows and groups of columns, rows and columns in random order, as "
        "in the paper; every block gets its exact 2D-Shapley value (all coalitions of groups). The paper has 18,000 "
        "rows to train and 12,000 to validate and does not say into how many blocks it cut them; the table gives our "
        "sizes, and there are as many validation rows as training rows in the full run (4,000), twice as many in the "
        "quick one. Performance of a block alone is measured on as many test rows that the values have not seen, so "
        "that chance in the validation rows cannot link the two. The paper's measure is presumably the accuracy of its "
        "decision tree. Most clients pay, and a full-grown tree finds it hard to beat the guess that all do; therefore "
        "two more measures stand beside it: balanced accuracy of the same tree, and Gini (twice the ROC AUC less 1, "
        "which is 0 for guesses) of a logistic regression, a model that can learn from a few hundred rows."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
