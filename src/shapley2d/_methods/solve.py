"""From the draws of a method to an estimate: the baseline, the checkpoint, and the one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._estimation.draws import Draws
from shapley2d._estimation.run import run_draws
from shapley2d._theory.semivalues import marginal_weights
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve_draws(
    method: Any, draws: Draws, run: Run, problem: Problem | None = None, **known: Any
) -> Estimate:
    """The estimate of draws, whose values count from where the problem asks.

    ``known``: what else identifies the draws in a checkpoint.
    """
    tolerance = float(getattr(method, "tolerance", 0.0))
    estimate, total = run_draws(
        draws,
        first=shares_of_labels(draws, run, problem),
        tolerance=tolerance,
        title=method.name,
        n_jobs=run.n_jobs,
        cluster=run.cluster,
        progress=run.progress,
        limit=run.limit,
        checkpoint=checkpoint_of(method, draws, run, problem, **known),
    )
    limit = total.draws.limit
    if not total.draws.exact:
        stopped_at = estimate.info.get(limit, getattr(method, limit, 0))
        run.warn_of_precision(estimate, tolerance, limit, stopped_at)
    return estimate


def check_draws(draws: Any, problem: Problem, method: str) -> None:
    """Refuse what the ``draws`` of a method of one's own may give by mistake."""
    n, m = problem.table.n_rows, problem.table.n_columns + (problem.label is not None)
    wrong = "" if isinstance(draws, Draws) else type(draws).__name__
    if not wrong and not problem.grouped and draws.shape != (n, m):
        wrong = f"values of shape {draws.shape}"
    if wrong:
        raise InputError(
            f"draws of the method {method!r} gave {wrong}, not Draws of {n} rows and {m} columns: "
            "values that are known become OneDraw(values)"
        )


def shares_of_labels(draws: Draws, run: Run, problem: Problem | None) -> Floats | None:
    """What a column gets of what the labels alone predict, where values count from 0.

    The score of the labels alone is a game b(S) of the rows, wherever no column is. Counting from 0
    takes it away there, so a column gets the row values of b times the weight with which it joins
    first; with the label as a column, the first to join the label, which loses as much.
    """
    if problem is None or problem.baseline == "labels":
        return None
    m, semivalue = draws.shape[1], run.semivalues[1]
    if problem.label is None:
        return np.full(m, marginal_weights(semivalue, m)[0])
    first = np.full(m, marginal_weights(semivalue, m)[1] if m > 1 else 0.0)
    first[-1] = -marginal_weights(semivalue, m)[0]
    return first


def checkpoint_of(
    method: Any, draws: Draws, run: Run, problem: Problem | None, **known: Any
) -> Checkpoint | None:
    """The checkpoint of a run, known by the options of its method and the digests of its tables.

    How precise and how long is not part of it: a finer run goes on from a coarser one.
    """
    if run.checkpoint is None:
        return None
    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._estimation.fingerprint import describe
    from shapley2d._methods.identity import fingerprint_problem
    from shapley2d._version import __version__

    options = {
        name: value
        for name, value in {**vars(method), **known}.items()
        if name != "tolerance" and not name.startswith("max_")
    }
    identity = {
        "version": __version__,
        "random_state": run.seed,
        "semivalue": run.semivalues,
        "shape": draws.shape,
        **({} if problem is None else fingerprint_problem(problem)),
        **{name: describe(value, name) for name, value in options.items()},
        **({} if run.game is None else {"name": run.game}),
        **draws.identity(),
        "method": method.name,
    }
    return Checkpoint(run.checkpoint, identity)
