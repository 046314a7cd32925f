"""The method ``Flat``: 1D values, in which every cell of a row is worth the same.

Row and column sums of 2D-Shapley values are the 1D-Shapley values of rows and of columns (Corollary
3.4 of the paper). So 1D values are a linear map of the draws of any method, with their errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from shapley2d._estimation.draws import Draw, Draws
from shapley2d._knn.method import KNN
from shapley2d._methods.method import Method, Option
from shapley2d._tables.per_row import PlayerGroups
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def _check_method(value: Any, name: str) -> None:
    such = "as in Flat(KNN()) or Flat(MonteCarlo('tree'))"
    if not isinstance(value, Method):
        raise InputError(f"{name} must be a method, {such}")
    if isinstance(value, Flat) or not value.needs_validation:
        raise InputError(f"{name}={value!r} gives no 1D values: use one that does, {such}")


_METHOD = Option("what values the rows", check=_check_method, python_only=True)
_KNN = KNN()


@dataclass(frozen=True, repr=False)
class Flat(Method):
    """1D values spread over cells: the value of a row in equal shares for its columns.

    Parameters
    ----------
    method : Method
        What values the rows.
    of : {"rows", "both"}
        ``"rows"``: all columns are one player, whose value with a row goes to its cells in equal
        shares. ``"both"``: the mean of that and of the values of columns in equal shares for rows.

    Examples
    --------
    >>> from shapley2d import KNN, Flat, value_cells
    >>> X, y = [[0, 5], [1, 5], [9, 5], [8, 5]], ["low", "low", "high", "high"]
    >>> value_cells(X, y, X, y, method=Flat(KNN(2))).values.round(4).tolist()
    [[0.0625, 0.0625], [0.0625, 0.0625], [0.0625, 0.0625], [0.0625, 0.0625]]
    """

    name: ClassVar[str] = "flat"
    summary: ClassVar[str] = "1D values spread over cells: a row's value in equal shares"
    how: ClassVar[str] = "1D values in equal shares"
    meaning: ClassVar[str] = "an equal share of what its row is worth"

    method: Annotated[Any, _METHOD] = _KNN
    of: Annotated[
        Literal["rows", "both"], Option("rows alone, or the mean of rows and of columns")
    ] = "rows"

    @property
    def tolerance(self) -> float:
        """That of the method which values the rows."""
        return float(getattr(self.method, "tolerance", 0.0))

    @property
    def max_draws(self) -> int:
        """Likewise, where it has a limit."""
        return int(getattr(self.method, "max_draws", 0))

    def draws(self, problem: Problem, run: Run) -> Draws:
        """The draws of the method, spread flat."""
        if problem.grouped or problem.label is not None:
            raise InputError(
                f"method={self.name!r} spreads the values of rows over the cells of a table: leave "
                "row_groups, column_groups and include_label out"
            )
        m = problem.table.n_columns
        if self.of == "rows":
            together = PlayerGroups(np.zeros(m, dtype=np.intp), ["all columns"])
            problem = replace(problem, column_groups=together)
        return Spread(self.method.draws(problem, run), m)

    def score(self, problem: Problem, run: Run) -> float:
        """The score of the whole table less the baseline."""
        return float(self.method.score(problem, run))

    def about(self, facts: dict[str, Any]) -> dict[str, str]:
        """The words about the method, and what its values sum to."""
        own = super().about(facts)
        return {**self.method.about(facts), **{name: own[name] for name in ("how", "meaning")}}


class Spread(Draws):
    """The draws of a method, whose sums are spread flat.

    ``n_columns``: of the result; draws of one column have the values of rows alone.
    """

    def __init__(self, draws: Draws, n_columns: int) -> None:
        self._draws, self.shape = draws, (draws.shape[0], n_columns)
        for name in Draws.__annotations__.keys() - {"shape", "deadline"}:
            setattr(self, name, getattr(draws, name))
        self.stop = draws.stop

    @property
    def deadline(self) -> TimeLimit | None:
        """That of the draws, which look at it while they compute."""
        return self._draws.deadline

    @deadline.setter
    def deadline(self, deadline: TimeLimit | None) -> None:
        self._draws.deadline = deadline

    def __call__(self, number: int) -> Draw:
        draw = self._draws(number)
        errors = None if draw.errors is None else self._spread(draw.errors)
        return draw._replace(values=self._spread(draw.values), errors=errors)

    def _spread(self, values: Floats) -> Floats:
        """Values (..., n, columns + 1), the last column being what labels alone give."""
        found = np.empty((*values.shape[:-1], self.shape[1] + 1))
        cells, n, m = values[..., :-1], values.shape[-2], self.shape[1]
        found[..., :-1] = cells.sum(axis=-1, keepdims=True) / m
        if cells.shape[-1] == m > 1:
            found[..., :-1] += cells.sum(axis=-2, keepdims=True) / n
            found[..., :-1] /= 2.0
        found[..., -1] = values[..., -1]
        return found

    @property
    def least(self) -> int:
        return self._draws.least

    def better(self, count: int, ratio: float, tolerance: float) -> tuple[int, float]:
        return self._draws.better(count, ratio, tolerance)

    def at(self, level: int) -> Draws:
        return Spread(self._draws.at(level), self.shape[1])

    def identity(self) -> dict[str, Any]:
        return self._draws.identity()

    def facts(self, count: int) -> dict[str, Any]:
        return self._draws.facts(count)

    def note(self, count: int) -> str:
        return self._draws.note(count)
