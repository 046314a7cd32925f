"""The game: what the rows of a coalition are worth under the columns of a coalition.

A game answers one question, :meth:`Game.utilities`, and knows nothing of Shapley. No rows are worth
the same under all columns, and no columns what the game says they are: 0, or what the rows' labels
alone predict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._theory.coalitions import Coalitions


@runtime_checkable
class Game(Protocol):
    """Anything that has utilities of row coalitions under column coalitions."""

    @property
    def n_rows(self) -> int:
        """Number of players on the row axis."""

    @property
    def n_columns(self) -> int:
        """Number of players on the column axis."""

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities: one row per row coalition, one column per column coalition."""
