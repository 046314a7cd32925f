"""Methods whose players are groups of rows or of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._knn.method import KNN
from shapley2d._models.by_name import check_neighbours
from shapley2d._models.methods import Exact, ModelMethod, MonteCarlo
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._methods.method import Method
    from shapley2d._tables.problem import Problem

MAX_UTILITIES = 2**16
"""Utilities of nearest neighbours up to which all subsets are evaluated.

More of them make runs longer that sampling ends early; fewer give up exact values sooner.
"""


def method_of_groups(method: Method, problem: Problem) -> Method:
    """The method that values groups: the given one where it has a closed form for them.

    That of nearest neighbours has single rows as players: for groups of rows their utility is a
    game, played by all subsets of the groups, or by random orders where these are many.
    """
    of_rows, of_columns = problem.row_groups, problem.column_groups
    if isinstance(method, ModelMethod) or (of_rows is None and method.takes_column_groups):
        return method
    option = "column_groups" if of_rows is None else "row_groups"
    if not isinstance(method, KNN):
        raise InputError(
            f"method={method.name!r} values single cells, but {option} makes groups the players: "
            'use MonteCarlo("random_forest") (--method mc --model random_forest), or MonteCarlo '
            "with another model"
        )
    check_neighbours(method, option)
    table, label = problem.table, problem.label is not None
    n = table.n_rows if of_rows is None else len(of_rows.names)
    m = table.n_columns + label if of_columns is None else len(of_columns.names)
    if 2 ** (n + m) * len(problem.splits) <= MAX_UTILITIES:
        return Exact(method)
    return MonteCarlo(method, tolerance=method.tolerance)
