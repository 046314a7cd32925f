"""What is known of the values without a run: the baseline, ways to count votes, constant columns.

Where right votes are divided by the votes there are, and not by K, the difference is a game of the
rows alone (:mod:`shapley2d._knn.few_rows`). It is added to the values after any run, whatever
computed them and however precisely, and adds no error.

A constant column is worth exactly 0 where no columns are worth a vote among all rows: it moves all
rows alike, so it changes no rank and no tie. It is left out before anything is computed, which
makes its zeros exact where subsets are sampled too, and takes half of the subsets away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.few_rows import FewRows
from shapley2d._methods.baseline import (
    BLIND_GUESS,
    MEAN_OF_ALL,
    votes_baseline,
    warn_of_perfect_zero,
)
from shapley2d._theory.semivalues import marginal_weights

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table


def knn_baseline(problem: Problem, n_neighbors: int, votes: str) -> dict[str, Any]:
    """The baseline for a result's record; empty where it is 0."""
    classifies, from_zero = problem.target.task == "classification", problem.baseline == "zero"
    if from_zero and votes == "k":
        if not classifies:
            warn_of_perfect_zero()
        return {}
    if not from_zero and problem.label is None:
        return votes_baseline(problem, n_neighbors, votes)
    if classifies and votes == "k":  # without a label no vote is right
        return {}
    utilities = [FewRows.of(split, n_neighbors).guess for split in problem.splits]
    words = BLIND_GUESS if classifies else MEAN_OF_ALL
    return {"baseline_utility": float(np.mean(utilities)), "baseline": words}


def with_votes(
    estimate: Estimate, problem: Problem, run: Run, n_neighbors: int, votes: str
) -> Estimate:
    """The estimate of ``votes="k"`` with the votes counted as asked.

    ``estimate``: of all columns, the label last if it is valued.
    ``problem``: with the weights of its validation rows.
    """
    from_zero = problem.baseline == "zero"
    if votes == "k" or (not from_zero and problem.label is None):
        return estimate
    of_columns = _column_weights(problem, run, from_zero=from_zero)
    of_rows = np.zeros(problem.table.n_rows)
    for split in problem.splits:
        few = FewRows.of(split, n_neighbors)
        # in regression no rows are a guess already where values count from the labels
        guessed = not from_zero and problem.target.task == "regression"
        of_rows[split.rows] += few.values(run.semivalues[0], 0.0 if guessed else few.guess)
    added = np.outer(of_rows / len(problem.splits), of_columns)
    return replace(estimate, values=estimate.values + added)


def _column_weights(problem: Problem, run: Run, *, from_zero: bool) -> Floats:
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


def varying_columns(table: Table) -> Ints:
    """Positions of the columns that are not constant; the first column where all are.

    >>> from shapley2d._tables.convert import as_table
    >>> varying_columns(as_table([[1, "a", None, 0], [1, "b", None, 0]]))
    array([1])
    """
    found = [varies(column.entries) for column in table.columns]
    return np.flatnonzero(found) if any(found) else np.zeros(1, dtype=np.intp)


def varies(entries: Floats) -> bool:
    """Whether not all entries of a column are the same, or all missing."""
    missing = np.isnan(entries)
    return not (missing.all() or (not missing.any() and bool((entries == entries[0]).all())))


def take_columns(problem: Problem, columns: Ints) -> Problem:
    """The problem of some of the columns."""

    def taken(table: Table) -> Table:
        return replace(table, columns=tuple(table.columns[j] for j in columns.tolist()))

    splits = [
        replace(split, train=taken(split.train), valid=taken(split.valid))
        for split in problem.splits
    ]
    return replace(problem, table=taken(problem.table), splits=splits)


def with_zeros(estimate: Estimate, columns: Ints, n_columns: int) -> Estimate:
    """The estimate of some columns as one of all; further ones (the label) come last."""
    values = estimate.values
    if columns.size == n_columns:
        return estimate
    extra = values.shape[1] - columns.size
    place = np.concatenate([columns, n_columns + np.arange(extra)])
    wide = np.zeros((2, len(values), n_columns + extra))
    wide[0][:, place], wide[1][:, place] = values, estimate.stderr
    column_stderr = np.zeros(n_columns + extra)
    column_stderr[place] = estimate.column_stderr
    return replace(estimate, values=wide[0], stderr=wide[1], column_stderr=column_stderr)
