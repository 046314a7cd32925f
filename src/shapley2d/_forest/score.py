"""Scores of forests with all rows and columns, from the row counts of their leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import without_warnings
from shapley2d._forest.cells import check_forest_scoring, forest_cells
from shapley2d._forest.fixed import TreePieces, read_model
from shapley2d._methods.baseline_utility import forest_baseline
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def forest_score(
    problem: Problem, run: Run, *, model: Any, scoring: str | None, **options: Any
) -> float:
    """The score of the trees less that of the labels alone: what Shapley values sum to.

    ``options`` are the other options of the method.
    """
    problem = replace(problem, label=None)
    check_forest_scoring(scoring, problem.target.task)
    if model is None:  # how many trees are grown depends on the values
        plain = replace(run, semivalues=("shapley", "shapley"), sums=None, progress=False)
        options = {**options, "model": None, "scoring": scoring, "baseline": "labels"}
        with without_warnings():
            return float(forest_cells(problem, plain, **options).values.sum())
    problem = weigh_problem(problem, scoring)
    ensembles, _ = read_model(model, problem, run)
    pieces = TreePieces(ensembles, problem, run)
    scores = []
    for game, trees in zip(pieces.games, pieces.trees, strict=True):
        leaves = (game.leaf_scores(game.leaf_weights(t), game.leaf_counts(t)) for t in trees)
        scores.append(np.mean([float(one.sum()) for one in leaves]) + game.without_rows())
    return float(np.mean(scores)) - float(forest_baseline(problem, "labels")["baseline_utility"])
