"""The method ``Forest``: tree ensembles with their splits held fixed, exact in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from shapley2d._base.defaults import TOLERANCE
from shapley2d._methods.method import MOST, PRECISE, Method, Option
from shapley2d._models.by_name import MODELS, check_model
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._forest.draws import ForestDraws
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


CELLS_PER_S = 20_000
"""Cells that a core values in a second, a forest grown for them included (how_long.py)."""


@dataclass(frozen=True, repr=False)
class Forest(Method):
    """A tree ensemble, fitted or grown here, its splits held fixed: exact and in seconds.

    Without a model a forest is grown until the tolerance is met: a tree is a Monte Carlo draw, and
    standard errors are those of the mean over trees. The values of a given model are exact, except
    in deep leaves, with many columns on their path, where random orders of these are sampled.

    Parameters
    ----------
    model : estimator or str, optional
        A tree ensemble of scikit-learn, LightGBM, XGBoost or CatBoost, or a pipeline that ends in
        one, fitted or not; or the name of one of scikit-learn's.
    tolerance : float
        Stop when the largest standard error is at most this share of the spread of the values.
    max_draws : int
        Stop after this many trees that are grown, 8 at least; or, in a given model, after this many
        random orders of the columns of every leaf that has too many on its path for all subsets
        (more than 12 to 16).

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from shapley2d import Forest, value_cells
    >>> X, y = [[0, 5], [1, 5], [9, 5], [8, 5]] * 5, ["low", "low", "high", "high"] * 5
    >>> model = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> v = value_cells(X, y, X, y, method=Forest(model))
    >>> v.exact, v.column_values.round(6).tolist()
    (True, [0.5, 0.0])
    """

    name: ClassVar[str] = "forest"
    takes_column_groups: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "a tree ensemble, fitted or grown here, its splits held fixed: exact and in seconds"
    )
    how: ClassVar[str] = "{forest}, their splits held fixed"
    meaning: ClassVar[str] = (
        "what it adds, on average over all ways to build up the table, to the predictions in the "
        "leaves; what its row does to the splits is not valued"
    )

    model: Annotated[
        Any,
        Option(
            "a tree ensemble of scikit-learn, LightGBM, XGBoost or CatBoost, or a pipeline that "
            "ends in one, fitted or not; or the name of one of scikit-learn's",
            check=check_model,
            words=tuple(MODELS),
            shown_default="a forest grown until the tolerance is met",
        ),
    ] = None
    tolerance: Annotated[float, PRECISE] = TOLERANCE
    max_draws: Annotated[int, MOST] = 1000

    def draws(self, problem: Problem, run: Run) -> ForestDraws:
        """Trees of the model, or such as are grown here, their splits held fixed."""
        from shapley2d._forest.draws import GivenTrees, GrownTrees
        from shapley2d._tables.problem import weigh_problem

        if problem.row_groups is not None:
            raise InputError(
                "method='forest' values single rows, and row_groups makes groups of rows the "
                "players: use MonteCarlo('forest'), or sum the cells of each group with sum_by"
            )
        problem = weigh_problem(problem)
        if self.model is None:
            return GrownTrees(problem, run, self.max_draws)
        return GivenTrees(self.model, problem, run, self.max_draws)

    def solve(self, problem: Problem, run: Run) -> Estimate:
        """Values under a tree ensemble whose splits are held fixed, and the trees, for what if."""
        from shapley2d._base.in_threads import count_threads
        from shapley2d._forest.what_if import HeldForest
        from shapley2d._methods.solve import shares_of_labels, solve_draws

        draws = self.draws(problem, run)
        estimate = solve_draws(self, draws, run, problem)
        estimate.stderr[:, ~draws.sampled] = 0.0
        orders = run.seed, estimate.info.get("n_rounds", 0)
        estimate.held = HeldForest(
            problem,
            draws,
            shares_of_labels(draws, run, problem),
            n_trees=estimate.info["n_trees"],
            orders=orders,
            n_threads=count_threads(run.n_jobs),
        )
        return estimate

    def seconds(self, problem: Problem, run: Run) -> float:
        """How long a forest that is grown here takes, about."""
        from shapley2d._base.in_threads import count_threads

        cells = problem.table.n_rows * problem.table.n_columns
        return 1 + cells / (CELLS_PER_S * count_threads(run.n_jobs))

    def score(self, problem: Problem, run: Run) -> float:
        """The score of the trees with all rows and columns, less the baseline."""
        from shapley2d._base.warnings import without_warnings

        # how many trees are grown depends on the values
        plain = replace(run.quiet(), semivalues=("shapley", "shapley"))
        problem = replace(problem, label=None, baseline="labels")
        with without_warnings():
            if self.model is None:
                return float(self.solve(problem, plain).values.sum())
            facts = self.draws(problem, plain).facts(0)
        gain = facts["model_score"] - facts["baseline_utility"]
        return float(gain * (1.0 - facts["unexplained"]))

    def __repr__(self) -> str:
        """The code that makes it; what a fitted model has learned no code could write out."""
        from shapley2d._forest.ensemble import is_fitted

        if self.model is None or isinstance(self.model, str) or not is_fitted(self.model):
            return super().__repr__()
        rest = repr(replace(self, model=None)).removeprefix("Forest(")
        return f"Forest(model=model{', ' if rest != ')' else ''}{rest}"
