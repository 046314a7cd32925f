"""Column values of plain games from one sample of pairs, as the estimators of the package give them."""

from types import SimpleNamespace

import numpy as np

from shapley2d._knn.kriging import Kriging
from shapley2d._theory.semivalues import check_semivalue, marginal_weights

ERROR_LINES = 64  # of random signs, whose squares are the variances


def estimate_columns(phi, n_columns, *, n_subsets, semivalue="shapley", random_state=0):
    """Values (n, m) with their standard errors, and those of the sums of rows and columns.

    ``phi`` takes masks (B, m) to row values (B, n).
    """
    semivalue = check_semivalue(semivalue)
    random = np.random.default_rng(random_state)
    design = Kriging(n_columns, semivalue).design(n_subsets, random, ERROR_LINES)
    values, *errors = design.weights @ phi(design.coalitions)
    errors = np.array(errors)
    row_stderr = np.sqrt(np.square(errors.sum(axis=1)).sum(axis=0))
    return SimpleNamespace(
        values=values.T,
        stderr=np.sqrt(np.square(errors).sum(axis=0)).T,
        column_stderr=np.sqrt(np.square(errors.sum(axis=2)).sum(axis=0)),
        row_stderr=0 * row_stderr if semivalue == "shapley" else row_stderr,
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
