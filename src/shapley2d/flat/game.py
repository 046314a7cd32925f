"""The game of all cells: a model trained on the whole table, absent cells filled, and scored on a validation table."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shapley2d.flat.fill import NativeCells, encode_cells
from shapley2d.model_game import ModelGame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d.splits import Split


class FlatGame(Protocol):
    """A game whose players are the cells of a table; cell (i, j) is player ``i * n_columns + j``.

    Attributes
    ----------
    n_rows, n_columns : int
    none, all : float
        The utilities of the table without any cell and with all of them.
    """

    n_rows: int
    n_columns: int
    none: float
    all: float

    def along(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """Utilities while the cells join in this order: of nobody first, of the whole order last.

        Once a utility is within ``truncation`` of that of all cells, it is taken for all that follow.
        """


class FlatModelGame(ModelGame):
    """The performance of a scikit-learn model trained on all rows, of which only some cells are known.

    Parameters
    ----------
    model, scoring, encoding, random_state
        As in :class:`~shapley2d.model_game.ModelGame`.
    split : Split
    truncation : float or None
        Along an order of the cells, once the utility is within ``truncation`` of that of all cells, train no more.
        None trains everywhere.

    Notes
    -----
    An entry that is missing in the table is missing while its cell is present, and filled while it is absent. A model
    that cannot be given missing entries gets the filled one in either case, so that such a cell is worth 0. No model is
    trained for a cell that equals what stands in for it.

    Examples
    --------
    >>> from shapley2d.splits import make_problem
    >>> X, y = [[0], [1], [4], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = FlatModelGame(None, split)
    >>> game.none, game.all
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
        encoding: str = "auto",
        truncation: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            model,
            split.train,
            split.y,
            split.valid,
            split.y_valid,
            scoring=scoring,
            encoding=encoding,  # type: ignore[arg-type]
            truncation=truncation,
            random_state=random_state,
        )
        self._table: _EncodedTable | _NativeTable
        if self._native is None:
            self._table = _EncodedTable(split, keep_missing=self._takes_missing)
        else:
            self._table = _NativeTable(split)
        self._n_present = 0
        cells = np.arange(self.n_rows * self.n_columns)
        self.none, self.all = self._coalition(cells[:0]), self._coalition(cells)

    def along(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """Utilities while the cells join in this order: of nobody first, of the whole order last."""
        utilities = np.full(order.size + 1, self.none)
        self._table.clear()
        for k, player in enumerate(order.tolist()):
            if self._near_all(utilities[k]):
                utilities[k:] = utilities[k]
                break
            changed = self._table.add(*divmod(player, self.n_columns))
            utilities[k + 1] = self._score_table(k + 1) if changed else utilities[k]
        return utilities

    def _coalition(self, cells: NDArray[np.intp]) -> float:
        self._table.clear()
        for player in cells.tolist():
            self._table.add(*divmod(player, self.n_columns))
        return self._score_table(cells.size)

    def _near_all(self, utility: float) -> bool:
        return not math.isnan(self._truncation) and abs(utility - self.all) <= self._truncation

    def _score_table(self, n_present: int) -> float:
        self._n_present = n_present
        rows, columns = np.arange(self.n_rows), np.ones(self.n_columns, dtype=bool)
        with warnings.catch_warnings():
            # models grumble at tables that are mostly filled; that is the game
            warnings.simplefilter("ignore")
            return self._utility(self.model, self._table.train(), self._table.valid, rows, columns)

    def _describe(self, chosen: NDArray[np.intp], column_mask: NDArray[np.bool_]) -> str:
        n_cells = chosen.size * column_mask.size
        return f"the table with {self._n_present} of its {n_cells} cells, the others filled"


class _EncodedTable:
    """The table as numbers, whose cells come one by one."""

    def __init__(self, split: Split, *, keep_missing: bool) -> None:
        self._cells = encode_cells(split.train, split.valid, keep_missing=keep_missing)
        self._matters = self._cells.matters()
        self._now = np.empty_like(self._cells.train)
        self.valid = self._cells.valid

    def clear(self) -> None:
        self._now[:] = self._cells.absent

    def add(self, i: int, j: int) -> bool:
        """Let a cell join; whether the table is another one now."""
        start, stop = self._cells.starts[j], self._cells.starts[j + 1]
        self._now[i, start:stop] = self._cells.train[i, start:stop]
        return bool(self._matters[i, j])

    def train(self) -> NDArray[np.float64]:
        return self._now


class _NativeTable:
    """The table as it came, whose cells come one by one."""

    def __init__(self, split: Split) -> None:
        self._cells = NativeCells(split.train)
        self._matters = self._cells.matters()
        self._present = np.zeros(self._matters.shape, dtype=bool)
        self.valid = split.valid.native

    def clear(self) -> None:
        self._present[:] = False

    def add(self, i: int, j: int) -> bool:
        """Let a cell join; whether the table is another one now."""
        self._present[i, j] = True
        return bool(self._matters[i, j])

    def train(self) -> Any:
        return self._cells.filled(self._present)
