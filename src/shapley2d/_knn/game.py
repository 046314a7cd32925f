"""The game of the rows, and one interface for where its values are computed.

phi(F) are the row values of the K-nearest-neighbour game under a column subset F, in closed form
(Jia et al. 2019, arXiv:1908.08619). :class:`RowGame` holds what they are made of, with the training
rows in the order of their labels; :class:`RowValues` gives weighted sums of phi(F) over many
subsets, in the order of the table. :mod:`~shapley2d._knn.processor` and
:mod:`~shapley2d._knn.gpu` compute them.

One definition holds for every place and size. Rows at the same distance share their ranks: their
values are the mean over all their orders. Up to 1,024 training rows all are ranked. Of more rows
the nearest 512 are (:attr:`RowGame.near`), and the others share a rank with those whose distance
begins with the same ten bits behind the point, as if they tied.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._knn.kernels.rows import NEAR
from shapley2d._knn.lens import make_lens
from shapley2d._knn.rank_weights import rank_weights
from shapley2d._theory.semivalues import check_semivalue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from shapley2d._knn.metric import Columns
    from shapley2d._knn.rank_weights import RankWeights

    Floats = NDArray[np.float64]
    Subsets = NDArray[np.bool_]

_BLOCK_NUMBERS = 2**26  # row values of some subsets that are in memory at a time: 512 MB,
_BLOCK = (16, 1024)  # of this many subsets at least and at most


@dataclass(frozen=True)
class RowGame:
    """The K-nearest-neighbour game of a training and a validation table, rows sorted by label.

    ``classifies``: whether the utility is the share of matching labels among the K nearest, or
        minus the squared error of their mean, where neighbours that are not there count as the mean
        of ``y``.
    ``weights``: what a rank is worth.
    ``by_column, by_row`` (m, n) and (n, m): training entries.
    ``nominal`` (m,): which columns are categories.
    ``lens`` (T, m, 7): how validation rows see the entries (:mod:`shapley2d._knn.lens`).
    ``y, y_valid``: labels; in regression, targets less the mean of ``y``.
    ``valid_weights`` (T,): what each validation row counts, 1 on average.
    ``order``: the rows of the table in the order of the game.
    """

    classifies: bool
    n_neighbors: int
    weights: RankWeights
    by_column: Floats
    by_row: Floats
    nominal: NDArray[np.bool_]
    lens: Floats
    y: NDArray[np.generic]
    y_valid: NDArray[np.generic]
    valid_weights: Floats
    order: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        columns: Columns,
        y: NDArray[np.generic],
        y_valid: NDArray[np.generic],
        *,
        task: Literal["classification", "regression"],
        n_neighbors: int,
        semivalue: object = "shapley",
        valid_weights: NDArray[np.floating] | None = None,
    ) -> RowGame:
        """Set up the game.

        ``y`` (n,): classification: codes ``0 .. C-1``. Regression: float targets.
        ``y_valid`` (T,): same; the code -1 is a label that no training row has.
        ``valid_weights`` (T,): what each validation row counts, in any unit; by default all count
            alike.
        """
        n, n_valid = columns.n_rows, columns.n_valid
        if task not in ("classification", "regression"):
            raise ValueError(f"task={task!r} is not known: use 'classification' or 'regression'")
        if np.shape(y) != (n,) or np.shape(y_valid) != (n_valid,):
            raise ValueError(
                f"y and y_valid have shapes {np.shape(y)} and {np.shape(y_valid)}, "
                f"the columns have {n} training and {n_valid} validation rows"
            )
        if n_neighbors < 1 or n < 1:
            raise ValueError("at least one neighbour and one training row are needed")
        order = np.argsort(y, kind="stable")
        y, y_valid = np.asarray(y)[order], np.asarray(y_valid)
        if task == "regression":
            numbers = y.astype(np.float64)
            centre = float(np.mean(numbers))
            y, y_valid = numbers - centre, y_valid.astype(np.float64) - centre
        by_row = np.ascontiguousarray(columns.train.T[order])
        return cls(
            classifies=task == "classification",
            n_neighbors=int(n_neighbors),
            weights=rank_weights(check_semivalue(semivalue), n, int(n_neighbors)),
            by_column=np.ascontiguousarray(by_row.T),
            by_row=by_row,
            nominal=columns.nominal,
            lens=make_lens(columns),
            y=y,
            y_valid=y_valid,
            valid_weights=_scaled_weights(valid_weights, n_valid),
            order=order,
        )

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.by_row.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.by_row.shape[1])

    @property
    def n_valid(self) -> int:
        """Number of validation rows."""
        return len(self.y_valid)

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """Where each row of the table is in the order of the game."""
        return np.argsort(self.order)

    @property
    def near(self) -> int:
        """Rows that are ranked, at least: all of up to twice as many, and all who vote."""
        near = max(NEAR, self.n_neighbors)
        return self.n_rows if self.n_rows <= 2 * near else near

    @property
    def all_vote(self) -> bool:
        """Whether every row is a neighbour: then distances decide nothing."""
        return self.n_neighbors >= self.n_rows

    @cached_property
    def inverse(self) -> Floats:
        """``1 / g`` for every size of a tie group; 0 for none."""
        return np.append(0.0, 1.0 / np.arange(1, self.n_rows + 1))

    @cached_property
    def runs(self) -> NDArray[np.int64]:
        """First and last row (exclusive) with the label of each validation row: (T, 2)."""
        ends = [np.searchsorted(self.y, self.y_valid, side) for side in ("left", "right")]
        return np.ascontiguousarray(np.stack(ends, axis=1), dtype=np.int64)


class RowValues(ABC):
    """Weighted sums of phi(F), the row values under column subsets, computed somewhere.

    ``rows_at_a_time``: validation rows that are computed side by side: give at least as many.
    """

    rows_at_a_time: int = 1

    def __init__(self, game: RowGame) -> None:
        self.game = game
        self.n_rows, self.n_columns, self.n_valid = game.n_rows, game.n_columns, game.n_valid

    @abstractmethod
    def _contract(
        self, blocks: Iterable[tuple[Subsets, Floats]], n_lines: int, chosen: NDArray[np.intp]
    ) -> Floats:
        """Sums over blocks of subsets of ``weights @ phi``, in the order of the game: (lines, n).

        phi is summed over the chosen validation rows, each times its weight. A block has as many
        subsets as :attr:`block_size` at most.
        """

    @property
    def block_size(self) -> int:
        """Subsets whose row values are in memory at a time."""
        return int(np.clip(_BLOCK_NUMBERS // self.n_rows, *_BLOCK))

    def blocks(self, subsets: Subsets, weights: Floats) -> Iterator[tuple[Subsets, Floats]]:
        """Some column subsets (B, m) with their weights (lines, B), as many as are in memory."""
        subsets = np.ascontiguousarray(subsets, dtype=np.bool_)
        if subsets.ndim != 2 or subsets.shape[1] != self.n_columns:
            raise ValueError(
                f"subsets of shape {subsets.shape} do not have {self.n_columns} columns"
            )
        for start in range(0, len(subsets), self.block_size):
            part = slice(start, start + self.block_size)
            yield subsets[part], np.ascontiguousarray(weights[:, part], dtype=np.float64)

    def all_blocks(
        self, weights_of: Callable[[Subsets], Floats]
    ) -> Iterator[tuple[Subsets, Floats]]:
        """All column subsets, with the weights that a function gives some of them."""
        m = self.n_columns
        for start in range(0, 2**m, self.block_size):
            numbers = np.arange(start, min(start + self.block_size, 2**m))
            subsets = (numbers[:, None] >> np.arange(m) & 1).astype(np.bool_)
            yield subsets, np.ascontiguousarray(weights_of(subsets))

    def contract(
        self, subsets: Subsets, weights: Floats, *, valid: NDArray[np.integer] | None = None
    ) -> Floats:
        """Weighted sums over some column subsets, see :meth:`weighted_sums`."""
        return self.weighted_sums(self.blocks(subsets, weights), len(weights), valid)

    def contract_all(
        self,
        weights_of: Callable[[Subsets], Floats],
        n_lines: int,
        *,
        valid: NDArray[np.integer] | None = None,
    ) -> Floats:
        """Weighted sums over all column subsets, see :meth:`weighted_sums`."""
        return self.weighted_sums(self.all_blocks(weights_of), n_lines, valid)

    def values(self, subsets: Subsets, *, valid: NDArray[np.integer] | None = None) -> Floats:
        """phi(F) under each of some column subsets, mean over validation rows: (B, n)."""
        return self.contract(subsets, np.eye(len(subsets)), valid=valid)

    def weighted_sums(
        self,
        blocks: Iterable[tuple[Subsets, Floats]],
        n_lines: int,
        valid: NDArray[np.integer] | None = None,
    ) -> Floats:
        """Weighted sums of phi(F), mean over validation rows: (lines, n), rows as in the table.

        ``blocks``: of :meth:`blocks` or :meth:`all_blocks`. Without any column all rows tie: a vote
            among all of them.
        ``valid``: the validation rows to use; all by default. Of some of them, the mean of value
            times weight is taken, with weights whose mean over all validation rows is 1: so random
            parts are unbiased, and parts of all sizes add up.
        """
        chosen = np.arange(self.n_valid) if valid is None else np.asarray(valid, dtype=np.intp)
        if self.game.all_vote:  # phi is the same under all columns, here to the bit
            # in more digits than are kept: the order of columns changes no bit
            total = np.zeros(n_lines, dtype=np.longdouble)
            for _, weights in blocks:
                total += weights.sum(axis=1, dtype=np.longdouble)
            none = np.zeros((1, self.n_columns), dtype=np.bool_)
            lines = total.astype(np.float64)[:, None] * self._contract(
                [(none, np.ones((1, 1)))], 1, chosen
            )
        else:
            lines = self._contract(blocks, n_lines, chosen)
        found, place = np.empty_like(lines), self.game.place

        def put_back(k: int) -> None:
            np.take(lines[k], place, out=found[k], mode="clip")
            found[k] /= max(len(chosen), 1)

        map_columns(put_back, range(n_lines), self.n_rows * n_lines)
        return found


def _scaled_weights(weights: NDArray[np.floating] | None, n_valid: int) -> Floats:
    """Weights of validation rows whose mean is 1."""
    if weights is None:
        return np.ones(n_valid)
    scaled = np.asarray(weights, dtype=np.float64)
    fit = scaled.shape == (n_valid,) and np.isfinite(scaled).all()
    if not fit or (scaled < 0).any() or not scaled.any():
        raise ValueError(
            f"valid_weights of shape {scaled.shape} must be {n_valid} finite numbers from 0 on, "
            "one above 0 at least"
        )
    return np.ascontiguousarray(scaled / scaled.mean())
