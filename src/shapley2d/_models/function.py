"""The game of any function of two masks, and how a coalition is named where a game fails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted
from shapley2d.exceptions import UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._base.time_limit import TimeLimit


class FunctionGame:
    """A game given by a function of two boolean masks.

    ``function(S, F)`` is the utility of rows ``S`` under columns ``F``, two boolean masks. It is
    not asked about coalitions without rows or without columns, which are worth 0 by definition; nor
    once the ``limit`` is over.
    """

    compiled = False

    def __init__(
        self,
        function: Callable[[Bools, Bools], float],
        n_rows: int,
        n_columns: int,
        limit: TimeLimit | None = None,
    ) -> None:
        self.function = function
        self.n_rows = n_rows
        self.n_columns = n_columns
        self.limit = limit

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities, one call of the function for each pair of coalitions."""
        matrix = np.zeros((len(rows), len(columns)))
        filled = np.flatnonzero(columns.any(axis=1))
        for a, row_mask in enumerate(rows):
            if not row_mask.any():
                continue
            for b in filled:
                matrix[a, b] = self._call(row_mask, columns[b])
        return matrix

    def _call(self, row_mask: Bools, column_mask: Bools) -> float:
        if self.limit is not None:
            self.limit.check()
        try:
            utility = float(self.function(row_mask.copy(), column_mask.copy()))
        except Exception as error:
            raise UtilityError(
                f"the game failed on {describe_coalition(row_mask, column_mask)}: {error}"
            ) from error
        if not math.isfinite(utility):
            raise UtilityError(
                f"the game returned {utility} on {describe_coalition(row_mask, column_mask)}"
            )
        return utility


def describe_coalition(
    row_mask: Bools,
    column_mask: Bools,
    row_names: NDArray[np.generic] | None = None,
    column_names: list[str] | None = None,
) -> str:
    """Name a coalition in a message, by its first few rows and columns."""

    def listed(mask: Bools, names: Any, what: str) -> str:
        members = np.flatnonzero(mask)
        shown = [str(k if names is None else names[k]) for k in members[:5]]
        dots = ", ..." if members.size > 5 else ""
        return f"{counted(members.size, what)} ({', '.join(shown)}{dots})"

    return f"{listed(row_mask, row_names, 'row')} and {listed(column_mask, column_names, 'column')}"
