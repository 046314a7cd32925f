"""Method ``"forest"``: tree ensembles with their splits held fixed, exact in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._methods.options import BASELINE, KEPT, KNN_SCORING, TOLERANCE
from shapley2d._methods.record import Method, Option, whole
from shapley2d._models.by_name import MODELS, check_model

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run, **options: Any) -> Estimate:
    """Values under a tree ensemble whose splits are held fixed."""
    from shapley2d._forest.cells import forest_cells

    return forest_cells(problem, run, **options)


def score(problem: Problem, run: Run, **options: Any) -> float:
    """The score of the trees with all rows and columns, less the baseline."""
    from shapley2d._forest.score import forest_score

    return forest_score(problem, run, **options)


METHOD = Method(
    name="forest",
    summary="a tree ensemble, fitted or grown here, its splits held fixed: exact and in seconds",
    solve=solve,
    options=(
        Option(
            "model",
            None,
            "a tree ensemble of scikit-learn, LightGBM, XGBoost or CatBoost, or a pipeline that "
            "ends in one, fitted or not; or the name of one of scikit-learn's",
            names=tuple(MODELS),
            check=check_model,
            shown_default="a forest grown until the tolerance is met",
        ),
        KNN_SCORING.but(
            help="for classes accuracy, the mean probability of the right label, or "
            "balanced_accuracy, in which all classes count the same; for numbers "
            "neg_mean_squared_error",
        ),
        whole("max_trees", 1000, "without a model, stop after this many trees"),
        whole(
            "max_rounds",
            100,
            "for leaves with too many columns on their path for all subsets (more than 12 to 16), "
            "stop after this many random orders of these",
        ),
        TOLERANCE,
        BASELINE,
        *KEPT,
    ),
    how="{forest}, their splits held fixed",
    meaning="what it adds, on average over all ways to build up the table, to the predictions in "
    "the leaves; what its row does to the splits is not valued",
    averages=True,
    score=score,
)
