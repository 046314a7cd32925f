"""The game of all cells: a model trained on all rows, absent cells filled, and then scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import counted
from shapley2d._games.fitting import Trainer
from shapley2d._games.pruning import names_columns
from shapley2d._methods.flat.fill import EncodedCells, NativeCells, encode_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split


class FlatGame(Protocol):
    """A game whose players are the cells of a table; cell (i, j) is player ``i * n_columns + j``.

    Attributes
    ----------
    n_rows, n_columns : int
    baseline_utility, utility_all : float
        The utilities of the table without any cell and with all of them.
    """

    n_rows: int
    n_columns: int
    baseline_utility: float
    utility_all: float

    def along(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """Utilities while the cells join in this order, from none of them to all.

        Once a utility is within ``truncation`` of that of all cells, it is taken for all that
        follow.
        """


class FlatModelGame:
    """The performance of a scikit-learn model trained on all rows, with some cells known.

    Parameters
    ----------
    model, scoring, preprocess, random_state
        As in :class:`~shapley2d._games.model.ModelGame`.
    split : Split
    truncation : float or None
        Along an order of the cells, once the utility is within ``truncation`` of that of all cells,
        train no more. None trains everywhere.

    Notes
    -----
    An entry that is missing in the table is missing while its cell is present, and filled while it
    is absent. A model that does not take missing entries gets the filled one in either case, so
    that such a cell is worth 0. No model is trained for a cell that equals what stands in for it.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [4], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = FlatModelGame(None, split)
    >>> game.baseline_utility, game.utility_all
    (0.5, 1.0)
    >>> game.along(np.array([3, 0, 2, 1]))
    array([0.5 , 0.75, 0.75, 1.  , 1.  ])
    """

    def __init__(
        self,
        model: Any,
        split: Split,
        *,
        scoring: Any = None,
        preprocess: str = "auto",
        truncation: float | None = None,
        random_state: int = 0,
    ) -> None:
        self._trainer = Trainer(
            model,
            split.y,
            split.y_valid,
            scoring=scoring,
            weights=split.valid_weights,
            random_state=random_state,
        )
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self._truncation = np.nan if truncation is None else float(truncation)
        self._cells: EncodedCells | NativeCells
        if preprocess == "none" or names_columns(self.model):
            self._cells, self._valid = NativeCells(split.train), split.valid.native
        else:
            keep_missing = self._trainer.takes_missing
            self._cells = encode_cells(split.train, split.valid, keep_missing=keep_missing)
            self._valid = self._cells.valid
        self._matters = self._cells.matters()
        table = self._empty_table()
        self.baseline_utility = self._score_table(table)
        for cell in np.ndindex(self._matters.shape):
            table.add(*cell)
        self.utility_all = self._score_table(table)

    @property
    def model(self) -> Any:
        """The model that is trained, with every open seed set."""
        return self._trainer.model

    def along(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """Utilities while the cells join in this order, from none of them to all."""
        utilities = np.full(order.size + 1, self.baseline_utility)
        table = self._empty_table()  # of this call alone: threads share the game
        for k, player in enumerate(order.tolist()):
            if self._near_all(utilities[k]):
                utilities[k:] = utilities[k]
                break
            cell = divmod(player, self.n_columns)
            table.add(*cell)
            utilities[k + 1] = self._score_table(table) if self._matters[cell] else utilities[k]
        return utilities

    def _empty_table(self) -> _EncodedTable | _NativeTable:
        if isinstance(self._cells, EncodedCells):
            return _EncodedTable(self._cells, self._matters.shape)
        return _NativeTable(self._cells, self._matters.shape)

    def _near_all(self, utility: float) -> bool:
        return abs(utility - self.utility_all) <= self._truncation  # never, if that is NaN

    def _score_table(self, table: _EncodedTable | _NativeTable) -> float:
        def describe() -> str:
            present = table.present
            cells = counted(present.size, "cell")
            return f"the table with {present.sum():,} of its {cells}, the others filled"

        rows = np.arange(self.n_rows)
        with without_warnings():  # models warn about columns that do not vary, as most do at first
            return self._trainer.utility(self.model, table.train(), self._valid, rows, describe)


class _EncodedTable:
    """A table of numbers, whose cells come one by one."""

    def __init__(self, cells: EncodedCells, shape: tuple[int, ...]) -> None:
        self._cells = cells
        self._now = np.tile(cells.absent, (shape[0], 1))
        self.present = np.zeros(shape, dtype=bool)

    def add(self, i: int, j: int) -> None:
        """Let a cell join."""
        self.present[i, j] = True
        start, stop = self._cells.starts[j], self._cells.starts[j + 1]
        self._now[i, start:stop] = self._cells.train[i, start:stop]

    def train(self) -> NDArray[np.float64]:
        """The table as it is now."""
        return self._now


class _NativeTable:
    """The user's table, whose cells come one by one."""

    def __init__(self, cells: NativeCells, shape: tuple[int, ...]) -> None:
        self._cells = cells
        self.present = np.zeros(shape, dtype=bool)

    def add(self, i: int, j: int) -> None:
        """Let a cell join."""
        self.present[i, j] = True

    def train(self) -> Any:
        """The table as it is now."""
        return self._cells.filled(self.present)
