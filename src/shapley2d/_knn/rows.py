"""The row axis of the K-nearest-neighbour game in closed form, for any column coalition."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from shapley2d._base.in_threads import count_threads, map_columns, map_in_threads
from shapley2d._knn.bin_errors import (
    SHARE,
    classification_tolerance,
    regression_tolerance,
)
from shapley2d._knn.columns.chunk_design import ChunkLines
from shapley2d._knn.rank_weights import rank_weights
from shapley2d._knn.rounding import average_bound
from shapley2d._knn.row_axis import RowGame
from shapley2d._knn.small import SmallTable
from shapley2d._knn.threads import Threads
from shapley2d._knn.weight_levels import WeightLevels
from shapley2d._theory.semivalues import check_semivalue

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.columns.chunk_design import ChunkDesign
    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._knn.row_axis import RowAxis

# Smaller tables are ranked exactly in either form: that is as fast.
FAST_ROWS = 1024

# Coalitions whose row values are in memory at a time, by how many numbers they are; and rows of one
# product.
_BLOCK_NUMBERS = 2**25
_BLOCK = (16, 128)
_TILE = 2**14

# Threads that bound rounding, each with some tables of the length of a column.
_ROUNDING_THREADS = 6


class RowValues:
    """phi(F): the row values of the K-nearest-neighbour game under any column coalition F.

    Rows at the same distance are averaged over all their orders, so the values depend neither on
    the order of the rows nor on a sorting routine.

    Parameters
    ----------
    columns : IntegerColumns
        The training and the validation table.
    y : ndarray of shape (n,)
        Classification: codes ``0 .. C-1``. Regression: float targets.
    y_valid : ndarray of shape (T,)
        Same; the code -1 is a label that no training row has.
    task : {"classification", "regression"}
        The utility: the share of matching labels among the K nearest, or minus the squared error of
        their mean, where neighbours that are not there count as the mean of ``y``.
    n_neighbors : int
        The number of neighbours K.
    semivalue : str or tuple, default "shapley"
        See :mod:`shapley2d._theory.semivalues`.
    form : {"exact", "fast"}, default "exact"
        ``"exact"`` ranks all rows; ``"fast"`` leaves far rows in bins as if they tied, see
        :meth:`error_bound`. What that changes :mod:`shapley2d._methods.knn.bin_correction`
        estimates.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    share : float, default 0.03
        How far off a value of the fast form may be for one validation row, as a share of the most
        that one of K neighbours can be worth.
    valid_weights : ndarray of shape (T,), optional
        What each validation row counts, in any unit: means over validation rows are weighted means.
        By default all count alike.
    device : Device, optional
        A GPU; without one the processor computes. There the fast form has bins only, which follow
        the ranks.
    small : bool, default False
        Use kernels that take less time to compile and more to run, which rank all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d._knn.distances import IntegerColumns
    >>> train, valid = np.array([[0, 1, 3], [0, 0, 5]], dtype=np.int64), np.zeros((2, 1), dtype=np.int64)
    >>> none = np.zeros(2, dtype=np.int64)
    >>> rows = RowValues(
    ...     IntegerColumns(train, valid, none > 0, none + 1, none),
    ...     np.array([0, 1, 0]),
    ...     np.array([0]),
    ...     task="classification",
    ...     n_neighbors=1,
    ... )
    >>> rows.values(np.array([[True, False], [False, True]])).round(4)
    array([[ 0.8333, -0.1667,  0.3333],
           [ 0.5833, -0.4167,  0.3333]])
    """

    columns: IntegerColumns
    n_rows: int
    n_columns: int
    n_valid: int
    is_binned: bool

    def __init__(
        self,
        columns: IntegerColumns,
        y: NDArray[np.generic],
        y_valid: NDArray[np.generic],
        *,
        task: Literal["classification", "regression"],
        n_neighbors: int,
        semivalue: object = "shapley",
        form: Literal["exact", "fast"] = "exact",
        n_jobs: int | None = None,
        share: float = SHARE,
        valid_weights: NDArray[np.floating] | None = None,
        device: Device | None = None,
        small: bool = False,
    ) -> None:
        if task not in ("classification", "regression"):
            raise ValueError(f"task={task!r} is not known: use 'classification' or 'regression'")
        if form not in ("exact", "fast"):
            raise ValueError(f"form={form!r} is not known: use 'exact' or 'fast'")
        self.n_rows, self.n_columns, self.n_valid = (
            columns.n_rows,
            columns.n_columns,
            columns.n_valid,
        )
        if np.shape(y) != (self.n_rows,) or np.shape(y_valid) != (self.n_valid,):
            raise ValueError(
                f"y and y_valid have shapes {np.shape(y)} and {np.shape(y_valid)}, "
                f"the columns have {self.n_rows} training and {self.n_valid} validation rows"
            )
        if n_neighbors < 1 or self.n_rows < 1:
            raise ValueError("at least one neighbour and one training row are needed")
        self._task, self._k, self._share, self._n_jobs = task, int(n_neighbors), share, n_jobs
        weights = rank_weights(check_semivalue(semivalue), self.n_rows, self._k)
        # Where all rows vote, distances decide nothing: phi is the same under all columns, here to
        # the bit.
        self._all_vote = self._k >= self.n_rows
        self._order = np.argsort(y, kind="stable")
        self._place = np.empty_like(self._order)
        self._place[self._order] = np.arange(self.n_rows)
        y, y_valid = np.asarray(y)[self._order], np.asarray(y_valid)
        if task == "regression":
            numbers = y.astype(np.float64)
            centre = float(np.mean(numbers))
            y, y_valid = numbers - centre, y_valid.astype(np.float64) - centre
        self._game = RowGame(
            task=task,
            n_neighbors=self._k,
            weights=weights,
            train=_in_order(columns.train, self._order),
            valid=np.ascontiguousarray(columns.valid.T),
            measures=columns.measures,
            y=y,
            y_valid=y_valid,
            valid_weights=_scaled_weights(valid_weights, self.n_valid),
        )
        self.columns = columns
        self._magnitude = self._game.magnitude if task == "regression" else 1.0
        self._device = device
        self._axis: RowAxis
        if device is None and small:
            self._axis, self.is_binned = SmallTable(self._game, n_jobs=n_jobs), False
        else:
            self._use(fast=form == "fast" and self.n_rows >= FAST_ROWS)

    def _use(self, *, fast: bool) -> None:
        """Rank all rows, or leave far ones in bins."""
        self.is_binned = fast
        if self._device is not None:
            self._axis = _on_device(self._game, self._device, fast=fast)
            return
        tolerance = None
        if fast:
            bound = (
                classification_tolerance if self._task == "classification" else regression_tolerance
            )
            tolerance = bound(self._k, self._share)
        self._axis = Threads(self._game, tolerance=tolerance, n_jobs=self._n_jobs)

    def ranked(self) -> RowValues:
        """The same with all rows ranked; the tables are shared."""
        exact = copy(self)
        if self.is_binned:
            exact._use(fast=False)  # noqa: SLF001
        return exact

    @property
    def n_threads(self) -> int:
        """How many threads compute; 1 on a GPU."""
        return int(getattr(self._axis, "n_threads", 1))

    def on_one_thread(self) -> RowValues:
        """The same on one thread of the processor; on a GPU, itself."""
        if self.n_threads == 1:
            return self
        alone = copy(self)
        alone._axis = copy(self._axis)  # noqa: SLF001
        alone._axis.n_threads = 1  # type: ignore[attr-defined]  # noqa: SLF001
        return alone

    def values(
        self,
        coalitions: NDArray[np.bool_],
        *,
        valid: slice | NDArray[np.integer] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """Row values under each of the column coalitions, mean over the validation rows.

        Parameters
        ----------
        coalitions : ndarray of shape (B, m), bool
            Without any column all rows tie: a vote among all of them.
        valid : slice or ndarray of int, optional
            The validation rows to use; all by default. Of some of them, the mean of value times
            weight is taken, with weights whose mean over all validation rows is 1: so random parts
            are off to neither side, and parts of all sizes add up.
        progress : callable, optional
            Called with the share done, between 0 and 1.

        Returns
        -------
        ndarray of shape (B, n)
        """
        coalitions = np.ascontiguousarray(coalitions, dtype=np.bool_)
        if coalitions.ndim != 2 or coalitions.shape[1] != self.n_columns:
            raise ValueError(
                f"coalitions of shape {coalitions.shape} do not have {self.n_columns} columns"
            )
        if self._all_vote and len(coalitions) > 1:
            same = self.values(
                np.zeros((1, self.n_columns), dtype=np.bool_), valid=valid, progress=progress
            )
            return np.repeat(same, len(coalitions), axis=0)
        if self._all_vote:
            coalitions = coalitions & False
        chosen = self._chosen(valid)
        sums = self._axis.sums(coalitions, chosen, progress)

        def finish(line: NDArray[np.float64]) -> None:
            self._put_back(line)
            line /= max(len(chosen), 1)

        map_columns(finish, sums, self.n_rows * min(len(sums), self.n_threads), self.n_threads)
        return sums

    def contract(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        *,
        valid: slice | NDArray[np.integer] | None = None,
    ) -> NDArray[np.float64]:
        """Weighted sums of the row values under each of the column coalitions, which are never all in memory.

        The bits do not depend on the number of threads where the library of linear algebra has one
        of its own.

        Parameters
        ----------
        coalitions : ndarray of shape (B, m), bool
        weights : ndarray of shape (L, B)
        valid : slice or ndarray of int, optional
            The validation rows to use, as in :meth:`values`.

        Returns
        -------
        ndarray of shape (L, n)
        """
        chosen = self._chosen(valid)
        if self._all_vote:
            nothing = np.zeros((1, self.n_columns), dtype=np.bool_)
            return np.asarray(weights.sum(axis=1)[:, None] * self.values(nothing, valid=chosen))
        coalitions, weights = np.ascontiguousarray(coalitions), weights / max(len(chosen), 1)
        on_device = getattr(self._axis, "contracted", None)
        total: NDArray[np.float64]
        if on_device is not None:
            total = on_device(coalitions, weights, chosen)
        else:
            total = self._contracted(coalitions, weights, chosen)
        map_columns(self._put_back, total, self.n_rows)
        return total

    @property
    def can_square(self) -> bool:
        """Whether :meth:`contract_squares` works: on a GPU, whose memory has room for what is squared."""
        return self.squares_at_most > 1

    @property
    def squares_at_most(self) -> int:
        """Changes of every value that can be squared."""
        return 0 if self._all_vote else int(getattr(self._axis, "squares_at_most", 0))

    def contract_squares(
        self, design: ChunkDesign, *, valid: slice | NDArray[np.integer] | None = None
    ) -> ChunkLines:
        """The lines of a design, with the squares of its changes added up where they are computed.

        Parameters
        ----------
        design : ChunkDesign
        valid : slice or ndarray of int, optional
            The validation rows to use, as in :meth:`values`.
        """
        chosen = self._chosen(valid)
        lines, of_columns = self._axis.contracted_squares(  # type: ignore[attr-defined]
            design.coalitions, design.weights / max(len(chosen), 1), chosen, design.left_out
        )
        map_columns(self._put_back, lines, self.n_rows)
        m = self.n_columns
        return ChunkLines(
            lines[:m], lines[2 * m :], squares=lines[m : 2 * m], of_columns=of_columns
        )

    def _put_back(self, line: NDArray[np.float64]) -> None:
        """Bring the rows of a line from the order of labels into that of the table."""
        line[:] = line[self._place]

    def _contracted(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """Weighted sums of row values in the order of labels, some coalitions and rows at a time."""
        total = np.zeros((len(weights), self.n_rows))
        step = int(np.clip(_BLOCK_NUMBERS // self.n_rows, *_BLOCK))
        tiles = [slice(start, start + _TILE) for start in range(0, self.n_rows, _TILE)]
        for start in range(0, len(coalitions), step):
            block = slice(start, start + step)
            sums = self._axis.sums(coalitions[block], chosen)
            factors = np.ascontiguousarray(weights[:, block])

            def add(
                tile: slice,
                sums: NDArray[np.float64] = sums,
                factors: NDArray[np.float64] = factors,
            ) -> None:
                total[:, tile] += factors @ sums[:, tile]

            for _ in map_in_threads(add, tiles, self.n_threads):
                pass
        return total

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        *,
        valid: slice | NDArray[np.integer] | None = None,
    ) -> NDArray[np.float64]:
        """The exact column axis: the sum over all coalitions F of ``W[F, j] phi(F)``.

        Parameters
        ----------
        weights_in, weights_out : ndarray of shape (m + 1,)
            ``W[F, j]`` is ``weights_in[|F|]`` for a column j in F, and ``-weights_out[|F|]`` for
            one outside.
        valid : slice or ndarray of int, optional
            The validation rows to use; all by default. The result is the mean over them, as in
            :meth:`values`.

        Returns
        -------
        ndarray of shape (n, m)
        """
        weights_in = np.ascontiguousarray(weights_in, dtype=np.float64)
        weights_out = np.ascontiguousarray(weights_out, dtype=np.float64)
        if weights_in.shape != (self.n_columns + 1,) or weights_out.shape != (self.n_columns + 1,):
            raise ValueError(f"one weight per size 0 .. {self.n_columns} is needed")
        chosen = self._chosen(valid)
        if self.n_columns == 0:
            return np.zeros((self.n_rows, 0))
        if self._all_vote:
            others = np.array(
                [math.comb(self.n_columns - 1, size) for size in range(self.n_columns)], dtype=float
            )
            phi = self.values(np.zeros((1, self.n_columns), dtype=np.bool_), valid=valid)[0]
            return np.tile(
                (phi * (others @ (weights_in[1:] - weights_out[:-1])))[:, None], self.n_columns
            )
        total = self._axis.walk(weights_in, weights_out, chosen)
        total /= max(len(chosen), 1)
        return np.ascontiguousarray(total.T[self._place])

    def walk_rows(self) -> int:
        """How many validation rows to give :meth:`walk` at a time, so that work is neither idle nor hard to stop."""
        return self._axis.walk_rows()

    @property
    def rows_at_a_time(self) -> int:
        """How many validation rows :meth:`contract` should be given at least: a GPU takes them beside one another."""
        return int(getattr(self._axis, "rows_at_a_time", 1))

    def finer(self) -> RowValues | None:
        """The same with near rows ranked, where a GPU has all rows in bins."""
        axis = getattr(self._axis, "finer", None)
        if axis is None:
            return None
        finer = copy(self)
        finer._axis = axis  # noqa: SLF001  (of the same class)
        return finer

    def error_bound(self) -> float:
        """Largest possible difference of an entry of :meth:`values` from the exact form, over all validation rows.

        It is 0 in the exact form and for small tables, and not known on a GPU. In the fast form it
        is a fixed share of what one of K neighbours can be worth, which the kernels keep to by
        ranking as many near rows as that takes; see :mod:`shapley2d._knn.bin_errors`. The typical
        error is ten times smaller or less, as the errors of bins cancel.
        """
        if not self.is_binned or self._device is not None:
            return 0.0
        if self._task == "classification":
            return classification_tolerance(self._k, self._share)
        return regression_tolerance(self._k, self._share) * float(self._magnitude) ** 2

    def average_rounding(
        self, reference: IntegerColumns, sample: list[tuple[int, NDArray[np.bool_]]]
    ) -> float:
        """How far off values can be on average because distances are rounded, for the row where it can be farthest.

        Parameters
        ----------
        reference : IntegerColumns
            The same tables as finely as there is room for.
        sample : list of (int, ndarray of bool)
            Validation rows with column coalitions to average over.

        Returns
        -------
        float
        """
        return average_bound(
            self._game,
            self.columns,
            reference,
            self._order,
            sample,
            n_threads=min(count_threads(self._n_jobs), _ROUNDING_THREADS),
        )

    def _chosen(self, valid: slice | NDArray[np.integer] | None) -> NDArray[np.integer]:
        """The numbers of the chosen validation rows."""
        return np.arange(self.n_valid)[slice(None) if valid is None else valid]


def _on_device(game: RowGame, device: Device, *, fast: bool) -> RowAxis:
    """The row values of a GPU, whose sums know no weights of validation rows."""
    from shapley2d._knn.cuda.binned import BinnedRows
    from shapley2d._knn.cuda.exact import RankedRows

    alike = replace(game, valid_weights=np.ones(len(game.y_valid)))
    axis = (BinnedRows if fast else RankedRows)(alike, device)
    return axis if (game.valid_weights == 1.0).all() else WeightLevels(axis, game.valid_weights)


def _in_order(lines: NDArray[np.int64], order: NDArray[np.intp]) -> NDArray[np.int64]:
    ordered = np.empty(lines.shape, dtype=lines.dtype)

    def fill(j: int) -> None:
        np.take(lines[j], order, out=ordered[j], mode="clip")

    map_columns(fill, range(len(lines)), order.size)
    return ordered


def _scaled_weights(weights: NDArray[np.floating] | None, n_valid: int) -> NDArray[np.float64]:
    """Weights of validation rows whose mean is 1."""
    if weights is None:
        return np.ones(n_valid)
    scaled = np.asarray(weights, dtype=np.float64)
    if (
        scaled.shape != (n_valid,)
        or not np.isfinite(scaled).all()
        or (scaled < 0).any()
        or not scaled.any()
    ):
        raise ValueError(
            f"valid_weights of shape {scaled.shape} must be {n_valid} finite numbers from 0 on, one above 0 at least"
        )
    return np.ascontiguousarray(scaled / scaled.mean())
