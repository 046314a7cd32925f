"""How much values depend on the validation rows: a jackknife of parts (Tukey, 1958)."""

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


def problems_without_a_part(problem: Problem, n_parts: int, seed: int) -> Iterator[Problem]:
    """The problem without each random part of validation rows in turn; the same rows train.

    Every split has parts of its own, of nearly equal sizes.
    """
    parts = _parts(problem, n_parts, seed)
    for left_out in range(n_parts):
        yield _with_rows(problem, [np.flatnonzero(part != left_out) for part in parts], n_parts)


def problems_of_parts(problem: Problem, n_parts: int, seed: int) -> Iterator[tuple[float, Problem]]:
    """The problem with each random part as its only validation rows, after the share of the part.

    Where values are means over validation rows, the values without a part follow from these.
    """
    parts = _parts(problem, n_parts, seed)
    for taken in range(n_parts):
        rows = [np.flatnonzero(part == taken) for part in parts]
        shares = [_weight(split, part) for split, part in zip(problem.splits, rows, strict=True)]
        yield float(np.mean(shares)), _with_rows(problem, rows, n_parts)


def _weight(split: Split, rows: NDArray[np.intp]) -> float:
    """The share of some validation rows in all, by weight."""
    if split.valid_weights is None:
        return rows.size / split.valid.n_rows
    return float(split.valid_weights[rows].sum() / split.valid_weights.sum())


def _parts(problem: Problem, n_parts: int, seed: int) -> list[NDArray[np.intp]]:
    """The part of every validation row, for each split."""
    smallest = min(split.valid.n_rows for split in problem.splits)
    whole = isinstance(n_parts, (int, np.integer)) and not isinstance(n_parts, bool)
    if not whole or not 2 <= n_parts <= smallest:
        raise InputError(
            Setting("valid_parts", n_parts),
            f" must be a whole number from 2 to {smallest}, the number of validation rows, or 0",
        )
    parts = []
    for number, split in enumerate(problem.splits):
        random = generator(seed, "validation groups", number)
        parts.append(random.permutation(np.arange(split.valid.n_rows) % n_parts))
    return parts


def _with_rows(problem: Problem, rows: list[NDArray[np.intp]], n_parts: int) -> Problem:
    """The problem with some of the validation rows of every split."""
    splits = [split.take_valid(kept) for split, kept in zip(problem.splits, rows, strict=True)]
    for split in splits:
        if split.valid_weights is not None and not split.valid_weights.any():
            raise InputError(
                Setting("valid_parts", n_parts),
                " makes a part, or its complement, without any weight: use another number, or 0",
            )
    return replace(problem, splits=splits)


def jackknife_covariance(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of estimates, from their values with one part left out at a time.

    ``replicates`` are (parts, estimates).

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
