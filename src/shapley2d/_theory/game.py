"""Games: the utility of a row coalition under a column coalition.

A game has one method, :meth:`Game.utilities`, and knows nothing of Shapley. The empty row coalition
has one utility under all columns; the empty column coalition has the baseline: 0, or the score of
predicting from the labels of the rows alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._theory.coalitions import Coalitions


@runtime_checkable
class Game(Protocol):
    """A function of row coalitions and column coalitions that computes utilities."""

    @property
    def n_rows(self) -> int:
        """Number of players on the row axis."""

    @property
    def n_columns(self) -> int:
        """Number of players on the column axis."""

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities: one row per row coalition, one column per column coalition."""
