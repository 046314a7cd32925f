"""Mistyped ages in Census: how many cells one inspects until most of them are found."""

from __future__ import annotations

from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.typos.claims import CLAIMS
from shapley2d_paper.typos.page import draw, headline, tables
from shapley2d_paper.typos.work import RAW, RAW_Z, work

FAST = ("2D-KNN", RAW, "2D-OOB", "2D-OOB distance", "random", "z-score")
"""Methods that take seconds; the 1D baseline takes a minute or two."""


def pieces(quick: bool) -> list[Piece]:
    """Samples with all methods, and one large table with 2D-KNN alone."""
    sample = (
        {"rows": 300, "valid": 150, "typos": 6}
        if quick
        else {"rows": 1000, "valid": 1000, "typos": 15}
    )
    large = (
        {"rows": 1500, "valid": 60, "typos": 6}
        if quick
        else {"rows": 32561, "valid": 300, "typos": 15}
    )
    made = [Piece("large-0", {"seed": 0, **large, "methods": ["2D-KNN"], "permutations": 0})]
    for seed in range(1 if quick else 5):
        one = {"seed": seed, **sample}
        permutations = 1 if quick else 10
        made += [
            Piece(f"sample-{seed}-1D", {**one, "methods": ["1D"], "permutations": permutations}),
            Piece(f"sample-{seed}-others", {**one, "methods": list(FAST), "permutations": 0}),
            Piece(f"sample-{seed}-z", {**one, "methods": [RAW_Z], "permutations": 0}),
        ]
    return made


EXPERIMENT = Experiment(
    name="typos",
    title="Mistyped ages",
    about=(
        "Census, 14 columns. 15 ages are mistyped: 17 for 71, 18 for 81, 19 for 91 or the other way round. Five random "
        "samples of 1,000 rows (14,000 cells), validated on 1,000 others, and once all 32,561 training rows (455,854 "
        "cells) on 300. (The quick run has 6 typos in 300 and in 1,500 rows.) The paper does not say how many rows it "
        "valued. *2D-KNN* knows which columns are categories and scales the numbers, *2D-KNN raw* takes the codes as "
        "numbers, as the paper does. With 14 columns either may be sampled, until the largest standard error of a "
        "value is at most 2.5 % of the spread of the values; in `outliers`, with 9 columns, they are exact. *1D* takes "
        "the codes as numbers too, with a decision tree and 10 permutations of all cells, each of 14,000 trainings "
        "(the quick run: one permutation). 2D-OOB has 1,000 trees. Cells are inspected from the "
        "lowest value on: all cells, or only the ages, as one would where that column is known to be at risk. "
        "*z-score* is the distance of a number from the mean of the class, in standard deviations, and minus the "
        "logarithm of the share of its class that has a category, so that rare categories compete with the typos. "
        "*z-score raw* takes the codes as numbers, as the paper does, and few of them lie far out."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
