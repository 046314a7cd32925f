"""Random values: what a ranking of cells looks like that knows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._estimation.estimate import Estimate
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

_STREAM = int.from_bytes(b"random")


def random_cells(problem: Problem, run: Run) -> Estimate:
    """Evenly spaced numbers from -1 to 1, one for each cell, in random order.

    Examples
    --------
    >>> from shapley2d._methods.run import Run
    >>> from shapley2d._tables.problem import make_problem
    >>> problem = make_problem([[1, 5], [2, 6]], ["a", "b"], validates=False)
    >>> sorted(random_cells(problem, Run.create()).values.ravel().round(3).tolist())
    [-1.0, -0.333, 0.333, 1.0]
    """
    if run.semivalues != ("shapley", "shapley"):
        raise InputError("method='random' has no semivalue: it looks at no coalition; leave semivalue out")
    shape = problem.table.n_rows, problem.table.n_columns + (problem.label is not None)
    size = shape[0] * shape[1]
    values = (2.0 * np.arange(size) - (size - 1)) / max(1, size - 1)
    # a stream of its own: ``default_rng(seed)``, which others take to break ties, must not give the same order
    random = np.random.default_rng(np.random.SeedSequence(run.seed, spawn_key=(_STREAM,)))
    return Estimate.exact(random.permutation(values).reshape(shape))
