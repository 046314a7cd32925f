"""How much values depend on the validation rows: a grouped jackknife (Tukey, 1958)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.streams import generator
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shapley2d._tables.problem import Problem, Split


def problems_without_a_group(problem: Problem, n_groups: int, seed: int) -> Iterator[Problem]:
    """The problem without each random group of validation rows in turn; the same rows train.

    Every split has groups of its own, of nearly equal sizes.
    """
    groups = _groups(problem, n_groups, seed)
    for left_out in range(n_groups):
        yield _with_rows(problem, [np.flatnonzero(group != left_out) for group in groups], n_groups)


def problems_of_groups(
    problem: Problem, n_groups: int, seed: int
) -> Iterator[tuple[float, Problem]]:
    """The problem with each random group as its only validation rows, after the group's share.

    Where values are means over validation rows, the values without a group follow from these.
    """
    groups = _groups(problem, n_groups, seed)
    for taken in range(n_groups):
        rows = [np.flatnonzero(group == taken) for group in groups]
        shares = [_weight(split, part) for split, part in zip(problem.splits, rows, strict=True)]
        yield float(np.mean(shares)), _with_rows(problem, rows, n_groups)


def _weight(split: Split, rows: NDArray[np.intp]) -> float:
    """The share of some validation rows in all, by weight."""
    if split.valid_weights is None:
        return rows.size / split.valid.n_rows
    return float(split.valid_weights[rows].sum() / split.valid_weights.sum())


def _groups(problem: Problem, n_groups: int, seed: int) -> list[NDArray[np.intp]]:
    """The group of every validation row, for each split."""
    smallest = min(split.valid.n_rows for split in problem.splits)
    whole = isinstance(n_groups, (int, np.integer)) and not isinstance(n_groups, bool)
    if not whole or not 2 <= n_groups <= smallest:
        raise InputError(
            Setting("validation_groups", n_groups),
            f" must be a whole number from 2 to {smallest}, the number of validation rows, or 0",
        )
    groups = []
    for number, split in enumerate(problem.splits):
        random = generator(seed, "validation groups", number)
        groups.append(random.permutation(np.arange(split.valid.n_rows) % n_groups))
    return groups


def _with_rows(problem: Problem, rows: list[NDArray[np.intp]], n_groups: int) -> Problem:
    """The problem with some of the validation rows of every split."""
    splits = [split.take_valid(kept) for split, kept in zip(problem.splits, rows, strict=True)]
    for split in splits:
        if split.valid_weights is not None and not split.valid_weights.any():
            raise InputError(
                Setting("validation_groups", n_groups),
                " makes a group, or its complement, without any weight: use another number, or 0",
            )
    return replace(problem, splits=splits)


def jackknife_covariance(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of estimates, from their values with one group left out at a time.

    ``replicates`` are (groups, estimates).

    >>> numbers = np.arange(4.0)
    >>> without_one = (numbers.sum() - numbers) / 3
    >>> jackknife_covariance(without_one[:, None]).round(6), float(numbers.var(ddof=1) / 4)
    (array([[0.416667]]), 0.4166666666666667)
    """
    off = replicates - replicates.mean(axis=0)
    return np.asarray((len(off) - 1) / len(off) * off.T @ off)


def jackknife_spread(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """A matrix of the replicates' shape whose product with itself is that covariance.

    For any number of estimates: it does not grow with their square.
    """
    off = replicates - replicates.mean(axis=0)
    return np.asarray(off * np.sqrt((len(off) - 1) / len(off)))
