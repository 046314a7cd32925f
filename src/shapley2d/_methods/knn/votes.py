"""Values where right votes are divided by the votes there are, from those divided by K.

The difference is a game of the rows alone (:mod:`shapley2d._knn.few_rows`), so it is added to the
values after any run, whatever computed them and however precisely, and adds no error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._methods.baseline_utility import few_rows
from shapley2d._theory.semivalues import marginal_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.knn.choices import KnnOptions
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def with_votes(
    estimate: Estimate, problem: Problem, run: Run, options: KnnOptions, votes: str
) -> Estimate:
    """The estimate of ``votes="k"`` with the votes counted as asked.

    Parameters
    ----------
    estimate : Estimate
        Of all columns, the label last if it is valued.
    problem : Problem
        With the weights of its validation rows.
    run : Run
    options : KnnOptions
    votes : {"share", "k"}
    """
    from_zero = options.baseline == "zero"
    if votes == "k" or (not from_zero and problem.label is None):
        return estimate
    of_columns = _column_weights(problem, run, from_zero=from_zero)
    of_rows = np.zeros(problem.table.n_rows)
    for split in problem.splits:
        few = few_rows(split, int(options.n_neighbors))
        # in regression no rows are a guess already where values count from the labels
        guessed = not from_zero and problem.target.task == "regression"
        of_rows[split.rows] += few.values(run.semivalues[0], 0.0 if guessed else few.guess)
    added = np.outer(of_rows / len(problem.splits), of_columns)
    return replace(estimate, values=estimate.values + added)


def _column_weights(problem: Problem, run: Run, *, from_zero: bool) -> NDArray[np.float64]:
    """What every column is worth in the game that is 1 where the difference is there.

    From zero: where any column is there, and the label if it is valued. Counted from the labels:
    where the label is there.
    """
    m, semivalue = problem.table.n_columns, run.semivalues[1]
    if problem.label is None:
        return np.full(m, marginal_weights(semivalue, m)[0])
    if not from_zero:
        return np.append(np.zeros(m), 1.0)
    joins = marginal_weights(semivalue, m + 1)
    return np.append(np.full(m, joins[1]), 1.0 - joins[0])
