"""Methods whose players are groups of rows or of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._knn.method import KNN
from shapley2d._models.by_name import check_neighbours
from shapley2d._models.exact import Exact
from shapley2d._models.model_method import ModelMethod
from shapley2d._models.monte_carlo import MonteCarlo
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._methods.method import Method
    from shapley2d._tables.problem import Problem

MAX_UTILITIES = 2**16
"""Utilities of nearest neighbours up to which all subsets are evaluated.

More of them make runs longer that sampling ends early; fewer give up exact values sooner.
"""


def method_of_groups(method: Method, problem: Problem) -> Method:
    """The method that plays the game of groups.

    The closed form of nearest neighbours has single rows as players: their utility is played by all
    subsets of the groups, or by random orders where these are many.
    """
    option = "row_groups" if problem.row_groups is not None else "column_groups"
    if isinstance(method, KNN):
        check_neighbours(method, option)
        n, m = (
            single if groups is None else len(groups.names)
            for single, groups in (
                (problem.table.n_rows, problem.row_groups),
                (problem.table.n_columns + (problem.label is not None), problem.column_groups),
            )
        )
        if 2 ** (n + m) * len(problem.splits) <= MAX_UTILITIES:
            return Exact(method)
        return MonteCarlo(method, tolerance=method.tolerance)
    if not isinstance(method, ModelMethod):
        raise InputError(
            f"method={method.name!r} values single cells, but {option} makes groups the players: "
            'use MonteCarlo("random_forest") (--method mc --model random_forest), or MonteCarlo '
            "with another model"
        )
    return method
