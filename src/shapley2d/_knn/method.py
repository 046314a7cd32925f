"""Method ``"knn"``: the row axis in closed form, the column axis exact or sampled."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import MIN_COALITIONS
from shapley2d._base.warnings import warn
from shapley2d._base.words import counted, plural
from shapley2d._methods.options import (
    BACKEND,
    BASELINE,
    CHECKPOINT,
    CLUSTER,
    KNN_SCORING,
    METRIC,
    N_NEIGHBORS,
    TOLERANCE,
    VOTES,
)
from shapley2d._methods.record import Method, Option, choice, whole
from shapley2d._models.by_name import check_knn_scoring
from shapley2d._models.model_games import score_model
from shapley2d.exceptions import InputWarning, Setting

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run, **options: Any) -> Estimate:
    """Values under the K-nearest-neighbour utility, whose row axis has a closed form."""
    from dataclasses import replace

    import numpy as np

    from shapley2d._estimation.checkpoint import check_place
    from shapley2d._knn.backend import devices
    from shapley2d._knn.metric import check_metric
    from shapley2d._knn.options import KnnOptions
    from shapley2d._knn.run import KnnRun
    from shapley2d._knn.votes import (
        take_columns,
        varying_columns,
        with_votes,
        with_zeros,
    )
    from shapley2d._methods.baseline_utility import knn_baseline
    from shapley2d._methods.score_facts import score_facts
    from shapley2d._tables.problem import weigh_problem

    scoring = options.pop("scoring", None)
    check_knn_scoring(scoring, problem.target.task)
    problem = weigh_problem(problem, scoring)
    # a text that is the same in every row too, though no distance needs it
    check_metric(options["metric"], problem.table)
    votes = options.pop("votes")
    facts = knn_baseline(problem, options["baseline"], options["n_neighbors"], votes)
    facts |= {"votes": votes}
    facts |= score_facts(problem, scoring, "neighbours", int(options["n_neighbors"]))
    asked = KnnOptions(**options)
    _warn_of_few_rows(problem, asked.n_neighbors, asked.baseline)
    n_columns = problem.table.n_columns
    kept = np.arange(n_columns) if asked.baseline == "zero" else varying_columns(problem.table)
    part, own = problem, run
    if kept.size < n_columns:
        part = take_columns(problem, kept)
        if run.sums is not None:
            beside = np.arange(n_columns, run.sums.columns.size)  # the label
            own = replace(run, sums=run.sums.take_columns(np.append(kept, beside)))
    asked.check(kept.size)
    if asked.checkpoint is not None:
        check_place(asked.checkpoint)  # before anything long is done
    backend = asked.backend if asked.cluster is None else "cpu"
    for attempt in devices(backend, asked.work(part)):
        with attempt as device:
            found = with_zeros(KnnRun(part, own, asked, device).value(), kept, n_columns)
            return with_votes(found, problem, run, asked, votes).noting(**facts)
    raise AssertionError("the processor is always tried")


def _warn_of_few_rows(problem: Problem, n_neighbors: int, baseline: str) -> None:
    """Warn where all rows are neighbours of every validation row: nothing depends on a column."""
    most = max(split.train.n_rows for split in problem.splits)
    if n_neighbors < most or baseline == "zero":
        return
    warn(
        InputWarning(
            Setting("n_neighbors", n_neighbors),
            f" is not below the {counted(most, 'row')} that "
            f"{plural(most, 'trains', 'train')}: all of them are always neighbours, so no column "
            f"matters and every entry is worth 0; use fewer, such as {max(1, math.isqrt(most))}",
        )
    )


METHOD = Method(
    name="knn",
    summary="nearest neighbours, trains no model",
    solve=solve,
    options=(
        N_NEIGHBORS,
        METRIC,
        VOTES,
        KNN_SCORING,
        choice(
            "subsets",
            ("auto", "all", "sampled"),
            "all column subsets, a sample of them, or whichever is cheaper for the tolerance",
        ),
        whole(
            "n_subsets",
            None,
            "the size of that sample",
            least=MIN_COALITIONS,
            shown_default="as many as the tolerance takes",
        ),
        TOLERANCE,
        BASELINE,
        BACKEND,
        Option(
            "valid_rows",
            None,
            "all validation rows; or auto, a sample of them, most influential first, until the "
            "tolerance is met; standard errors include the sampling",
            choices=("all", "auto"),
            shown_default="all, but auto for cells of more than 4,000 rows without a validation "
            "table",
        ),
        CHECKPOINT,
        CLUSTER,
    ),
    how="the {n_neighbors} nearest neighbours",
    averages=True,
    score=partial(score_model, model="knn"),
)
