"""How much values depend on the choice of validation rows: a jackknife that leaves out groups of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.streams import generator
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shapley2d._tables.problem import Problem


def problems_without_a_group(problem: Problem, n_groups: int, seed: int) -> Iterator[Problem]:
    """The problem once for every random group of validation rows, evaluated without them; the same rows train.

    Parameters
    ----------
    problem : Problem
    n_groups : int
        Number of groups; every split has its own, of nearly equal sizes.
    seed : int
    """
    smallest = min(split.valid.n_rows for split in problem.splits)
    if (
        not isinstance(n_groups, (int, np.integer))
        or isinstance(n_groups, bool)
        or not 2 <= n_groups <= smallest
    ):
        raise InputError(
            Setting("validation_groups", n_groups),
            f" must be a whole number from 2 to {smallest}, the number of validation rows, or 0 for none",
        )
    groups = []
    for number, split in enumerate(problem.splits):
        random = generator(seed, "validation groups", number)
        groups.append(random.permutation(np.arange(split.valid.n_rows) % n_groups))
    for left_out in range(n_groups):
        splits = []
        for split, group in zip(problem.splits, groups, strict=True):
            splits.append(split.take_valid(np.flatnonzero(group != left_out)))
            weights = splits[-1].valid_weights
            if weights is not None and not weights.any():
                raise InputError(
                    Setting("validation_groups", n_groups),
                    " leaves a group out without which no validation row has a weight: use a larger number, or 0",
                )
        yield replace(problem, splits=splits)


def jackknife_covariance(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of the errors of estimates, from their values with one group left out at a time.

    Parameters
    ----------
    replicates : ndarray of shape (groups, estimates)

    Examples
    --------
    The mean of 0, 1, 2, 3 and its squared standard error:

    >>> numbers = np.arange(4.0)
    >>> without_one = (numbers.sum() - numbers) / 3
    >>> jackknife_covariance(without_one[:, None]).round(6), float(numbers.var(ddof=1) / 4)
    (array([[0.416667]]), 0.4166666666666667)
    """
    off = replicates - replicates.mean(axis=0)
    return np.asarray((len(off) - 1) / len(off) * off.T @ off)
