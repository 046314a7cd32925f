"""The method ``Random``: a ranking that knows nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shapley2d._estimation.draws import OneDraw
from shapley2d._methods.method import Method
from shapley2d._rivals.refusals import refuse_options, refuse_semivalue

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


@dataclass(frozen=True, repr=False)
class Random(Method):
    """Evenly spaced numbers from -1 to 1, one for each cell, in random order.

    Examples
    --------
    >>> from shapley2d import Random, value_cells
    >>> v = value_cells([[1, 5], [2, 6]], ["a", "b"], method=Random())
    >>> sorted(v.values.ravel().round(3).tolist())
    [-1.0, -0.333, 0.333, 1.0]
    """

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "random numbers: a ranking to compare with"
    how: ClassVar[str] = "random numbers, to compare with"
    meaning: ClassVar[str] = "a random number"
    total: ClassVar[str] = ""
    caution: ClassVar[str] = (
        "The values are random numbers, to compare with; they say nothing about the table."
    )
    needs_validation: ClassVar[bool] = False

    def draws(self, problem: Problem, run: Run) -> OneDraw:
        """The numbers; the seed alone decides their order."""
        refuse_options(self.name, scoring=problem.scoring)
        refuse_semivalue(self.name, run, "it evaluates no subset")
        shape = problem.table.n_rows, problem.table.n_columns + (problem.label is not None)
        size = shape[0] * shape[1]
        values = (2.0 * np.arange(size) - (size - 1)) / max(1, size - 1)
        # a stream of its own: others break ties by default_rng(seed), in the same order
        stream = np.random.SeedSequence(run.seed, spawn_key=(int.from_bytes(b"random"),))
        return OneDraw(np.random.default_rng(stream).permutation(values).reshape(shape))
