"""Method ``"knn"``: the row axis in closed form, the column axis exact or sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import MIN_COALITIONS
from shapley2d._methods.options import METRIC, N_NEIGHBORS, TOLERANCE
from shapley2d._methods.record import Method, choice, whole

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run, **options: Any) -> Estimate:
    """Values under the K-nearest-neighbour utility, whose row axis has a closed form."""
    from shapley2d._methods.knn.cells import value_knn
    from shapley2d._methods.knn.label import value_knn_label

    return (value_knn if problem.label is None else value_knn_label)(problem, run, **options)


METHOD = Method(
    name="knn",
    summary="nearest neighbours, trains no model",
    solve=solve,
    options=(
        N_NEIGHBORS,
        METRIC,
        choice(
            "columns",
            ("auto", "exact", "sampled"),
            "all coalitions of columns, a sample of them, or whichever is cheaper for the tolerance",
            flag="--columns",
        ),
        whole(
            "n_coalitions",
            None,
            "the size of that sample",
            least=MIN_COALITIONS,
            flag="--coalitions",
            shown_default="doubled until the tolerance is met",
        ),
        TOLERANCE,
        choice(
            "empty",
            ("zero", "ties"),
            "what no columns are worth: 0, or a vote among all rows, which all tie",
            flag="--empty",
        ),
        choice("backend", ("auto", "cpu"), "where to compute", flag="--backend"),
        choice(
            "form",
            ("auto", "exact", "fast"),
            "rank all rows, or the near ones only with far rows binned under a proven bound",
            flag="--form",
        ),
    ),
    how="the {n_neighbors} nearest neighbours",
)
