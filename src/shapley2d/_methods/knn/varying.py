"""Constant columns, which are worth exactly 0 where no columns are worth a vote among all rows.

Such a column moves all rows alike, so it changes no rank and no tie. It is left out before anything
is computed, which makes its zeros exact where coalitions are sampled too, and takes half of the
coalitions away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table


def varying_columns(table: Table) -> NDArray[np.intp]:
    """Positions of the columns that are not constant; the first column where all are.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> varying_columns(as_table([[1, "a", None, 0], [1, "b", None, 0]]))
    array([1])
    """
    found = [varies(column.entries) for column in table.columns]
    return np.flatnonzero(found) if any(found) else np.zeros(1, dtype=np.intp)


def varies(entries: NDArray[np.float64]) -> bool:
    """Whether not all entries of a column are the same, or all missing."""
    missing = np.isnan(entries)
    return not (missing.all() or (not missing.any() and bool((entries == entries[0]).all())))


def take_columns(problem: Problem, columns: NDArray[np.intp]) -> Problem:
    """The problem of some of the columns."""

    def taken(table: Table) -> Table:
        return replace(table, columns=tuple(table.columns[j] for j in columns.tolist()))

    splits = [
        replace(split, train=taken(split.train), valid=taken(split.valid))
        for split in problem.splits
    ]
    return replace(problem, table=taken(problem.table), splits=splits)


def with_zeros(estimate: Estimate, columns: NDArray[np.intp], n_columns: int) -> Estimate:
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
