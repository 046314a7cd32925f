"""What a run of a forest will take: a few of its trees are valued and timed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads
from shapley2d._methods.forest.cells import GrownForests, check_forest_scoring
from shapley2d._methods.forest.fixed import PIECE_TREES, DeepDraws, TreePieces, read_model
from shapley2d._methods.work_price import price_draws, price_pieces
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from shapley2d._base.cost import Cost
    from shapley2d._methods.price import Price
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def price_forest(
    problem: Problem,
    run: Run,
    *,
    model: Any,
    scoring: str | None,
    max_trees: int,
    max_rounds: int,
    tolerance: float,
    **_: Any,
) -> Price:
    """What :func:`~shapley2d._methods.forest.cells.forest_cells` with these options will take."""
    check_forest_scoring(scoring, problem.target.task)
    problem = weigh_problem(problem, scoring)
    shape = (problem.table.n_rows, problem.table.n_columns + (problem.label is not None))
    jobs = count_threads(run.n_jobs)
    if model is None:
        return price_draws(
            GrownForests(problem, run).draws,
            shape,
            tolerance=tolerance,
            max_draws=max_trees,
            n_jobs=jobs,
            unit="tree",
        )
    ensembles, _model = read_model(model, problem, run)
    pieces = TreePieces(ensembles, problem, run)

    def value(count: int) -> float:
        for number in range(count):
            pieces(number % len(pieces))
        return float(count)

    cells = float(shape[0]) * shape[1]
    found = price_pieces(
        value,
        len(pieces),
        "trees",
        most=len(pieces),
        pieces=len(pieces),
        memory=8 * cells * (2 + 2 * jobs) + 2.0**26 * jobs,
        n_jobs=jobs,
    )
    n_trees = sum(len(ensemble.trees) for ensemble in ensembles)
    found = replace(found, amounts={"trees": (n_trees, n_trees)}, facts={"piece": PIECE_TREES})
    deep = DeepDraws(pieces, [split.rows for split in problem.splits], run.seed)
    if not deep.columns.any():
        return found
    values = np.zeros(shape)
    for number in range(min(2, len(pieces))):  # about how far apart the values are
        values[problem.splits[pieces.split_of(number)].rows] += pieces(number)
    values *= n_trees / (PIECE_TREES * min(2, len(pieces)))
    rounds = price_draws(
        partial(deep.values, values),
        shape,
        tolerance=tolerance,
        max_draws=max_rounds,
        n_jobs=jobs,
        unit="round",
    )
    return replace(
        rounds,
        low=_both(found.low, rounds.low),
        high=_both(found.high, rounds.high),
        memory=max(found.memory, rounds.memory),
        amounts={**found.amounts, **rounds.amounts},
    )


def _both(first: Cost, then: Cost) -> Cost:
    """The cost of two stretches of work, one after the other."""
    return replace(
        then,
        alone_s=first.alone_s + then.alone_s,
        shared_s=first.shared_s + then.shared_s,
        pieces=first.pieces + then.pieces,
    )
