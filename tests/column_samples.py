"""Column values of plain games from one sample of pairs, as the estimators of the package give them."""

from types import SimpleNamespace

import numpy as np

from shapley2d._knn.columns.chunk_design import chunk_design
from shapley2d._knn.columns.semivalue import ColumnSemivalue
from shapley2d._theory.semivalues import check_semivalue, marginal_weights

ERROR_LINES = 64  # of random signs, whose squares are the variances


def estimate_columns(phi, n_columns, *, n_subsets, semivalue="shapley", random_state=0):
    """Values (n, m) with their standard errors, and those of the sums of rows and columns.

    ``phi`` takes masks (B, m) to row values (B, n).
    """
    seed = random_state
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    target = ColumnSemivalue(n_columns, check_semivalue(semivalue))
    design = chunk_design(target, n_subsets, seed, error_lines=ERROR_LINES)
    values, *errors = design.weights @ phi(design.coalitions)
    errors = np.array(errors)
    row_stderr = np.sqrt(np.square(errors.sum(axis=1)).sum(axis=0))
    return SimpleNamespace(
        values=values.T,
        stderr=np.sqrt(np.square(errors).sum(axis=0)).T,
        column_stderr=np.sqrt(np.square(errors.sum(axis=2)).sum(axis=0)),
        row_stderr=0 * row_stderr if target.efficient else row_stderr,
        dof=design.dof,
        n_subsets=len(design.coalitions),
    )


def all_coalitions(m):
    return ((np.arange(2**m)[:, None] >> np.arange(m)) & 1).astype(bool)


def exact_values(utilities, m, semivalue="shapley"):
    """The definition: weighted marginal contributions over all coalitions; utilities has a line for each."""
    weights = marginal_weights(check_semivalue(semivalue), m)
    values = np.zeros((utilities.shape[1], m))
    coalitions = all_coalitions(m)
    for j in range(m):
        without = np.flatnonzero(~coalitions[:, j])
        gains = utilities[without + 2**j] - utilities[without]
        values[:, j] = weights[coalitions[without].sum(axis=1)] @ gains
    return values
