"""Random numbers, to compare rankings with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._estimation.estimate import Estimate
from shapley2d._methods.record import Method
from shapley2d_paper.baselines.checks import refuse_semivalue

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run) -> Estimate:
    """Evenly spaced numbers from -1 to 1, one for each cell, in random order.

    Examples
    --------
    >>> from shapley2d._methods.run import Run
    >>> from shapley2d._tables.problem import make_problem
    >>> problem = make_problem([[1, 5], [2, 6]], ["a", "b"], validates=False)
    >>> sorted(solve(problem, Run.create()).values.ravel().round(3).tolist())
    [-1.0, -0.333, 0.333, 1.0]
    """
    refuse_semivalue("random", run, "it evaluates no subset")
    shape = problem.table.n_rows, problem.table.n_columns + (problem.label is not None)
    size = shape[0] * shape[1]
    values = (2.0 * np.arange(size) - (size - 1)) / max(1, size - 1)
    # a stream of its own: default_rng(seed), with which others break ties, must not give the same
    # order
    stream = np.random.SeedSequence(run.seed, spawn_key=(int.from_bytes(b"random"),))
    return Estimate.exact(np.random.default_rng(stream).permutation(values).reshape(shape))


RANDOM = Method(
    name="random",
    summary="random numbers: a ranking to compare with",
    solve=solve,
    how="random numbers, as a baseline",
    meaning="a random number",
    total="",
    caution="The values are random numbers, to compare with; they say nothing about the table.",
    validates=False,
)
