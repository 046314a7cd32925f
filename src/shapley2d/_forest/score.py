"""Scores of forests with all rows and columns, from the row counts of their leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest.cells import check_forest_scoring
from shapley2d._forest.fixed import TreePieces, read_model
from shapley2d._methods.baseline import votes_baseline
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def forest_score(problem: Problem, run: Run, model: Any) -> float:
    """The score of a model's trees less that of the labels alone: what Shapley values sum to."""
    check_forest_scoring(problem)
    problem = weigh_problem(replace(problem, label=None))
    ensembles, _ = read_model(model, problem, run)
    pieces = TreePieces(ensembles, problem, run)
    scores = []
    for game, trees in zip(pieces.games, pieces.trees, strict=True):
        leaves = (game.leaf_scores(game.leaf_weights(t), game.leaf_counts(t)) for t in trees)
        scores.append(np.mean([float(one.sum()) for one in leaves]) + game.without_rows())
    return float(np.mean(scores)) - float(votes_baseline(problem)["baseline_utility"])
