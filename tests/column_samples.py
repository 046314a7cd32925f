"""Column values of plain games from one sample of pairs, as the estimators of the package give them."""

from types import SimpleNamespace

import numpy as np

from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.pair_fit import fit_pairs, pair_parts
from shapley2d._knn.columns.semivalue import ColumnSemivalue
from shapley2d._theory.semivalues import check_semivalue, marginal_weights


def estimate_columns(
    phi, n_columns, *, n_subsets, semivalue="shapley", random_state=0, estimator="B"
):
    """Values (n, m) with their standard errors, and those of the sums of rows and columns.

    ``phi`` takes masks (B, m) to row values (B, n). All subsets give exact values.
    """
    seed = random_state
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    target = ColumnSemivalue(n_columns, check_semivalue(semivalue))
    sequence = PairSequence(n_columns, seed, target.shares)
    pairs = sequence.take((n_subsets - 2) // 2)
    ends = with_sum(phi(np.array([[False] * n_columns, [True] * n_columns])))
    halves = [with_sum(phi(masks)) if len(masks) else ends[:0] for masks in (pairs, ~pairs)]
    parts = pair_parts(target, *halves)
    if len(pairs) == sequence.n_pairs:
        values = (ends.T @ np.array(target.ends))[:, None] + sum(
            part.T @ weights.T
            for part, weights in zip(parts, target.exact_weights(pairs), strict=True)
        )
        return SimpleNamespace(values=values[:-1], stderr=np.zeros_like(values[:-1]))
    fit = fit_pairs(target, pairs, parts, ends, estimator=estimator, penalised=True)
    row_stderr = np.sqrt(np.square(fit.deviations[:, :-1].sum(axis=2)).sum(axis=0))
    return SimpleNamespace(
        values=fit.values[:-1],
        stderr=fit.stderr[:-1],
        column_stderr=fit.stderr[-1],  # of the game that is the sum over all rows
        row_stderr=0 * row_stderr if target.efficient else row_stderr,
        dof=fit.dof,
        estimator=fit.estimator,
        n_subsets=2 + 2 * len(pairs),
    )


def with_sum(lines):
    return np.column_stack([lines, lines.sum(axis=1)])


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
