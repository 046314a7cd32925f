"""A draw: what every method gives, in a numbered list.

Permutations (Monte Carlo), chunks of validation rows (nearest neighbours), trees (forests) and
blocks of coalitions (exact values) are all draws of one matrix of values, whose weighted mean is
the answer (:mod:`shapley2d._estimation.total`). A draw depends on its number alone: it may be
computed by any worker, at any time, and again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.progress import IN_TIME
from shapley2d._base.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._base.time_limit import TimeLimit


LEAST_DRAWS = 8
"""Draws before there is an answer: errors by fewer mean little."""


class Stratum(NamedTuple):
    """Draws of one kind: those of a fold, or of validation rows that count alike.

    The answer is the sum over strata of ``share`` times the mean of their draws.

    Attributes
    ----------
    rows
        The players that it values, among the rows of the result.
    size
        The weight of all its draws together; infinite where they never end.
    """

    rows: Ints | slice = slice(None)
    share: float = 1.0
    size: float = math.inf


class Draw(NamedTuple):
    """Values of one draw.

    Attributes
    ----------
    values
        (n, m + 1): of rows and columns; the last column has what the rows are worth by
        their labels alone, without any column. Or (n, m + 1, 1 + lines): every value with
        its error by the validation rows, which all draws share.
    errors
        (lines, n, m + 1): their squares add up to the variance of the draw itself.
    dof
        Degrees of freedom behind that variance.
    notes
        Arrays to keep as they are, one after the other.
    """

    values: Floats
    weight: float = 1.0
    stratum: int = 0
    errors: Floats | None = None
    dof: float = math.inf
    notes: Mapping[str, NDArray[Any]] = {}


class Draws(ABC):
    """A numbered list of draws: what a method makes of a problem.

    Attributes
    ----------
    shape
        Rows and columns of the result.
    count
        Draws at most.
    first
        After how many the errors are looked at, at first.
    least
        After how many there is an answer.
    a_pass
        Draws that use all there is once.
    whole_passes
        Whether a run ends with a multiple of these.
    sure
        Draws at the beginning that have no error, before those that are sampled.
    exact
        Whether the list ends, its sum is the answer, and nothing is sampled.
    compiled
        Whether threads can share the work, as the lock of Python is not held.
    at_once
        Draws that may be computed at the same time; None for as many as there are workers.
    by_column
        Whether the values of a draw lie column by column in memory.
    lines
        Error lines of validation rows.
    judged
        Whether errors of ``"cells"`` or of ``"rows"`` say when there are enough draws.
    unit
        What a draw is, in words.
    limit
        The option that ``count`` comes from, for messages.
    in_time
        What a time limit would give a run that takes long, in words; empty for nothing.
    notes_kept
        The notes of draws, and how many numbers a line of each has.
    known
        Facts for the record of a run.
    level
        How much work a draw is, where the method can choose.
    deadline
        When work within a draw has to end, set by the run.
    """

    shape: tuple[int, int]
    strata: list[Stratum]
    count: int = 1
    first: int = 1
    a_pass: int = 1
    whole_passes: bool = False
    sure: int = 0
    exact: bool = False
    compiled: bool = False
    at_once: int | None = None
    by_column: bool = False
    lines: int = 0
    judged: str = "cells"
    unit: str = "draw"
    limit: str = ""
    level: int = 0
    in_time: str = IN_TIME
    deadline: TimeLimit | None = None
    notes_kept: Mapping[str, int] = MappingProxyType({})
    known: Mapping[str, Any] = MappingProxyType({})

    @cached_property
    def stop(self) -> Bools:
        """Set when results are no longer wanted; compiled code that sees it ends early."""
        return np.zeros(1, dtype=np.bool_)

    @abstractmethod
    def __call__(self, number: int, /) -> Draw:
        """Draw ``number``."""

    @property
    def least(self) -> int:
        """Draws after which there is an answer."""
        return self.count if self.exact else min(LEAST_DRAWS, self.first, self.count)

    def better(self, count: int, ratio: float, tolerance: float) -> tuple[int, float]:  # noqa: ARG002
        """The level from which starting again costs less than going on, and its cost in draws."""
        return 0, 0.0

    def at(self, level: int) -> Draws:  # noqa: ARG002
        """The list of another level."""
        return self

    def identity(self) -> dict[str, Any]:
        """What else than the options of the method and the tables decides the draws."""
        return {}

    def facts(self, count: int) -> dict[str, Any]:
        """What the record of a run says, after so many draws."""
        return {f"n_{self.unit}s": count}

    def note(self, count: int) -> str:
        """How far a run is after so many draws, in words."""
        return f"{count:,} of {counted(self.count, self.unit)}"


class OneDraw(Draws):
    """Values that are known: the list of a method that samples nothing.

    Parameters
    ----------
    values : ndarray of shape (n, m)
    labels : ndarray of shape (n,), optional
        What the rows are worth by their labels alone.
    facts : mapping
        For the record of the run.

    Examples
    --------
    >>> import numpy as np
    >>> OneDraw(np.ones((2, 3)))(0).values.shape
    (2, 4)
    """

    exact = True

    def __init__(
        self,
        values: Floats,
        labels: Floats | None = None,
        facts: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        values = np.asarray(values, dtype=np.float64)
        self.shape, self.strata = values.shape, [Stratum(size=1.0)]
        alone = np.zeros(len(values)) if labels is None else labels
        self._draw, self.known = Draw(np.column_stack([values, alone])), facts

    def __call__(self, number: int) -> Draw:  # noqa: ARG002
        return self._draw

    def facts(self, count: int) -> dict[str, Any]:  # noqa: ARG002
        return {}
