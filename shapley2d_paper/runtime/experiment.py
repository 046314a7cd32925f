"""Run times: the paper's table for 1,000 to 100,000 cells of Census, ours beside theirs."""

from __future__ import annotations

from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.runtime.claims import CLAIMS
from shapley2d_paper.runtime.page import draw, headline, tables
from shapley2d_paper.runtime.times import CELLS, MODELS
from shapley2d_paper.runtime.timing import N_COLUMNS, PERMUTATIONS, TOLERANCE, work


def pieces(quick: bool) -> list[Piece]:
    """Every method on every number of cells."""
    cells, n_valid, grid_rows = (CELLS[:2], 100, 12) if quick else (CELLS, 500, 100)
    common = {"n_valid": n_valid, "seed": 0}
    made = []
    for count in cells:
        repeats = 1 if quick or count > 20_000 else 3
        made.append(
            Piece(
                f"knn-{count}",
                {"part": "knn", "cells": count, "columns": "auto", "repeats": repeats, **common},
            )
        )
        made += [
            Piece(
                f"{model}-{count}",
                {
                    "part": "permutation",
                    "model": model,
                    "cells": count,
                    "grid_rows": grid_rows,
                    **common,
                },
            )
            for model in (MODELS if count <= 5_000 else ("tree", "gaussian_nb"))
            if not (quick and model == "sklearn" and count > 1_000)
        ]
    runs = {1_000: 20} if quick else {1_000: PERMUTATIONS, 5_000: PERMUTATIONS}
    made += [
        Piece(
            f"run-{count}", {"part": "run", "cells": count, "permutations": permutations, **common}
        )
        for count, permutations in runs.items()
    ]
    exact = () if quick else CELLS[:2]
    return made + [
        Piece(
            f"exact-{count}",
            {"part": "knn", "cells": count, "columns": "exact", "repeats": 1, **common},
        )
        for count in exact
    ]


EXPERIMENT = Experiment(
    name="runtime",
    title="Run times on Census beside the paper's",
    about=(
        f"Census has {N_COLUMNS} columns: 1,000 cells are 72 training rows, and 100,000 are 7,143. The paper does "
        "not say how many rows validate. All cores are used, whatever `--jobs` says, and nothing runs beside. 2D-KNN "
        f"runs until its largest standard error is {TOLERANCE} of the *range* of the values: the highest less the "
        "lowest. For 2D-MC the time of one permutation on one core is measured; where the grid of models is large, on "
        f"evenly spaced rows of it. *Projected* is that time for the paper's {PERMUTATIONS} permutations, shared by "
        "all cores; the last table has real runs of 2D-MC, which also show how precise they are. The paper's row for "
        "exact values is 1.4 s times 2 to the number of cells, as if every cell were a player of its own; the "
        "two-dimensional game has 2 to the number of rows and columns, fewer and still out of reach. With nearest "
        "neighbours only the columns need enumerating."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
    alone=True,
)
