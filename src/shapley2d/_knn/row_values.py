"""The row axis of the K-nearest-neighbour game in closed form, for any column subset."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from shapley2d._base.in_threads import count_threads, map_columns
from shapley2d._knn.columns.chunk_design import ChunkLines
from shapley2d._knn.far_bins import TOLERANCE_SHARE, largest_bin_error
from shapley2d._knn.rank_weights import rank_weights
from shapley2d._knn.row_axis import RowGame
from shapley2d._knn.small_table import SmallTable
from shapley2d._knn.threads import Threads
from shapley2d._theory.semivalues import check_semivalue

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.columns.chunk_design import ChunkDesign
    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._knn.row_axis import RowAxis

FAST_ROWS = 1024
"""Smaller tables are ranked exactly in either form: that is as fast."""


@dataclass(frozen=True)
class RowValues:
    """phi(F): the row values of the K-nearest-neighbour game under any column subset F.

    Rows at the same distance are averaged over all their orders, so the values depend neither on
    the order of the rows nor on a sorting routine. :func:`row_values` makes one.

    Attributes
    ----------
    columns : IntegerColumns
        The training and the validation table.
    axis : RowAxis
        Where the values are computed. Its rows are sorted by label.
    order, place : ndarray of int
        The rows of the table in the order of the axis, and where each of them is there.
    n_jobs : int
        Threads of the processor for what is done around the axis.
    """

    columns: IntegerColumns
    axis: RowAxis
    order: NDArray[np.intp]
    place: NDArray[np.intp]
    n_jobs: int

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.axis.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.axis.n_columns

    @property
    def n_valid(self) -> int:
        """Number of validation rows."""
        return self.axis.game.n_valid

    @property
    def is_binned(self) -> bool:
        """Whether far rows share bins, so that values carry an error."""
        return self.axis.is_binned

    @property
    def n_threads(self) -> int:
        """How many threads compute; 1 on a GPU."""
        return self.axis.n_threads

    @property
    def rows_at_a_time(self) -> int:
        """Validation rows to give :meth:`contract` at least: a GPU takes them side by side."""
        return self.axis.rows_at_a_time

    @property
    def squares_at_most(self) -> int:
        """Error lines of a column that :meth:`contract_squares` can square; 0 where it cannot."""
        return 0 if self.axis.game.all_vote else self.axis.squares_at_most

    @property
    def can_square(self) -> bool:
        """Whether :meth:`contract_squares` works: on a GPU with room for what is squared."""
        return self.squares_at_most > 1

    def ranked(self) -> RowValues:
        """These row values with all rows ranked; the tables are shared."""
        return replace(self, axis=self.axis.ranked())

    def finer(self) -> RowValues | None:
        """These row values with near rows ranked, where a GPU has all rows in bins."""
        return None if self.axis.finer is None else replace(self, axis=self.axis.finer)

    def walked(
        self, weights_in: NDArray[np.float64], weights_out: NDArray[np.float64]
    ) -> RowValues:
        """These row values with the bins of a walk of these weights, under every column subset."""
        return replace(self, axis=self.axis.walked(weights_in, weights_out))

    def on_one_thread(self) -> RowValues:
        """These row values on one thread of the processor; on a GPU, itself."""
        return replace(self, axis=self.axis.on_one_thread())

    def values(
        self,
        coalitions: NDArray[np.bool_],
        *,
        valid: slice | NDArray[np.integer] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """Row values under each of the column subsets, mean over the validation rows.

        Parameters
        ----------
        coalitions : ndarray of shape (B, m), bool
            Without any column all rows tie: a vote among all of them.
        valid : slice or ndarray of int, optional
            The validation rows to use; all by default. Of some of them, the mean of value times
            weight is taken, with weights whose mean over all validation rows is 1: so random parts
            are unbiased, and parts of all sizes add up.
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
        chosen = self._chosen(valid)
        if self.axis.game.all_vote:
            # phi is the same under all columns, here to the bit
            sums = np.repeat(
                self.axis.sums(self._no_columns(), chosen, progress), len(coalitions), axis=0
            )
        else:
            sums = self.axis.sums(coalitions, chosen, progress)

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
        """Weighted sums of the row values under each column subset, which are never all in memory.

        The bits do not depend on the number of threads where the linear algebra library has one of
        its own.

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
        if self.axis.game.all_vote:
            phi = self.values(self._no_columns(), valid=chosen)
            return np.asarray(weights.sum(axis=1)[:, None] * phi)
        lines = self.axis.contracted(
            np.ascontiguousarray(coalitions), weights / max(len(chosen), 1), chosen
        )
        map_columns(self._put_back, lines, self.n_rows)
        return lines

    def contract_squares(
        self, design: ChunkDesign, *, valid: slice | NDArray[np.integer] | None = None
    ) -> ChunkLines:
        """The lines of a design, with the squares of its errors added up where they are computed.

        Parameters
        ----------
        design : ChunkDesign
        valid : slice or ndarray of int, optional
            The validation rows to use, as in :meth:`values`.
        """
        chosen = self._chosen(valid)
        lines, of_columns = self.axis.contracted_squares(
            design.coalitions, design.weights / max(len(chosen), 1), chosen, design.error_lines
        )
        map_columns(self._put_back, lines, self.n_rows)
        m = self.n_columns
        return ChunkLines(lines[:m], squares=lines[m:], of_columns=of_columns)

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        *,
        valid: slice | NDArray[np.integer] | None = None,
    ) -> NDArray[np.float64]:
        """The exact column axis: the sum over all column subsets F of ``W[F, j] phi(F)``.

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
        m = self.n_columns
        weights_in = np.ascontiguousarray(weights_in, dtype=np.float64)
        weights_out = np.ascontiguousarray(weights_out, dtype=np.float64)
        if weights_in.shape != (m + 1,) or weights_out.shape != (m + 1,):
            raise ValueError(f"one weight per size 0 .. {m} is needed")
        if m == 0:
            return np.zeros((self.n_rows, 0))
        if self.axis.game.all_vote:
            others = np.array([math.comb(m - 1, size) for size in range(m)], dtype=float)
            phi = self.values(self._no_columns(), valid=valid)[0]
            return np.tile((phi * (others @ (weights_in[1:] - weights_out[:-1])))[:, None], m)
        chosen = self._chosen(valid)
        total = self.axis.walk(weights_in, weights_out, chosen)
        total /= max(len(chosen), 1)
        return np.ascontiguousarray(total.T[self.place])

    def walk_rows(self) -> int:
        """How many validation rows to give :meth:`walk` at a time: enough work, yet soon done."""
        return self.axis.walk_rows()

    def _chosen(self, valid: slice | NDArray[np.integer] | None) -> NDArray[np.integer]:
        """The numbers of the chosen validation rows."""
        return np.arange(self.n_valid)[slice(None) if valid is None else valid]

    def _no_columns(self) -> NDArray[np.bool_]:
        return np.zeros((1, self.n_columns), dtype=np.bool_)

    def _put_back(self, line: NDArray[np.float64]) -> None:
        """Bring the rows of a line from the order of labels into that of the table."""
        line[:] = line[self.place]


def row_values(
    columns: IntegerColumns,
    y: NDArray[np.generic],
    y_valid: NDArray[np.generic],
    *,
    task: Literal["classification", "regression"],
    n_neighbors: int,
    semivalue: object = "shapley",
    form: Literal["exact", "fast"] = "exact",
    n_jobs: int | None = None,
    tolerance_share: float = TOLERANCE_SHARE,
    valid_weights: NDArray[np.floating] | None = None,
    device: Device | None = None,
    small: bool = False,
) -> RowValues:
    """The row values of a training and a validation table.

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
        ``"exact"`` ranks all rows; ``"fast"`` leaves far rows in bins as if they tied. What that
        changes :mod:`shapley2d._methods.knn.bin_correction` estimates.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    tolerance_share : float
        See :func:`~shapley2d._knn.far_bins.largest_bin_error`.
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
    >>> train = np.array([[0, 1, 3], [0, 0, 5]], dtype=np.int64)
    >>> valid, none = np.zeros((2, 1), dtype=np.int64), np.zeros(2, dtype=np.int64)
    >>> rows = row_values(
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
    if task not in ("classification", "regression"):
        raise ValueError(f"task={task!r} is not known: use 'classification' or 'regression'")
    if form not in ("exact", "fast"):
        raise ValueError(f"form={form!r} is not known: use 'exact' or 'fast'")
    n, n_valid = columns.n_rows, columns.n_valid
    if np.shape(y) != (n,) or np.shape(y_valid) != (n_valid,):
        raise ValueError(
            f"y and y_valid have shapes {np.shape(y)} and {np.shape(y_valid)}, "
            f"the columns have {n} training and {n_valid} validation rows"
        )
    if n_neighbors < 1 or n < 1:
        raise ValueError("at least one neighbour and one training row are needed")
    order = np.argsort(y, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(n)
    y, y_valid = np.asarray(y)[order], np.asarray(y_valid)
    if task == "regression":
        numbers = y.astype(np.float64)
        centre = float(np.mean(numbers))
        y, y_valid = numbers - centre, y_valid.astype(np.float64) - centre
    game = RowGame(
        task=task,
        n_neighbors=int(n_neighbors),
        weights=rank_weights(check_semivalue(semivalue), n, int(n_neighbors)),
        train=_in_order(columns.train, order),
        valid=np.ascontiguousarray(columns.valid.T),
        measures=columns.measures,
        y=y,
        y_valid=y_valid,
        valid_weights=_scaled_weights(valid_weights, n_valid),
    )
    threads = count_threads(n_jobs)
    fast = form == "fast" and n >= FAST_ROWS
    # All of these value tie groups by the same formula. They differ in how rows are put in order: a
    # GPU in bins; small tables by kernels that compile in 4 s instead of 20 s; large ones by faster
    # kernels, where the fast form ranks near rows only and takes a quarter of the time.
    axis: RowAxis
    if device is not None:
        axis = _on_device(game, device, fast=fast)
    elif small:
        axis = SmallTable(game, n_threads=threads)
    else:
        tolerance = largest_bin_error(game, tolerance_share) if fast else None
        axis = Threads(game, tolerance=tolerance, n_threads=threads)
    return RowValues(columns, axis, order, place, threads)


def _on_device(game: RowGame, device: Device, *, fast: bool) -> RowAxis:
    """The row values of a GPU, whose kernels know no weights of validation rows."""
    from shapley2d._knn.cuda.binned import BinnedRows
    from shapley2d._knn.cuda.ranked import RankedRows
    from shapley2d._knn.cuda.weight_levels import WeightLevels

    alike = replace(game, valid_weights=np.ones(game.n_valid))
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
    fit = scaled.shape == (n_valid,) and np.isfinite(scaled).all()
    if not fit or (scaled < 0).any() or not scaled.any():
        raise ValueError(
            f"valid_weights of shape {scaled.shape} must be {n_valid} finite numbers from 0 on, "
            "one above 0 at least"
        )
    return np.ascontiguousarray(scaled / scaled.mean())
