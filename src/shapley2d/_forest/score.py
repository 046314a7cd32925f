"""Scores of models with all rows and columns, less that of the labels alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shapley2d._base.in_threads import count_threads
from shapley2d._forest.fixed import read_model
from shapley2d._forest.own_score import check_scoring, facts_of_models, hold_models
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def forest_score(problem: Problem, run: Run, model: Any) -> float:
    """The score of a model less that of the labels alone: what Shapley values sum to."""
    check_scoring(problem)
    problem = weigh_problem(replace(problem, label=None))
    ensembles, fitted = read_model(model, problem, run)
    facts = facts_of_models(hold_models(fitted, ensembles, problem, count_threads(run.n_jobs)))
    gain = facts["model_score"] - facts["baseline_utility"]
    return float(gain * (1.0 - facts["unexplained"]))
