"""The row axis of the K-nearest-neighbour game in closed form, for any column coalition."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from joblib import effective_n_jobs

from shapley2d._kernels.distance import coalition_distances, column_dissimilarities
from shapley2d._kernels.knn_columns import add_values, add_walk, walk_weights
from shapley2d._kernels.knn_row_games import (
    ExactClassification,
    ExactRegression,
    FastClassification,
    FastRegression,
)
from shapley2d._knn.bin_errors import (
    SHARE,
    bin_bounds,
    classification_tolerance,
    drop_variation,
    regression_tolerance,
)
from shapley2d._knn.rank_weights import rank_weights
from shapley2d._knn.rounding import classification_bounds, regression_bounds
from shapley2d._theory.semivalues import check_semivalue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns

R = TypeVar("R")
_Table = tuple["NDArray[Any]", "NDArray[Any]", tuple["NDArray[Any]", ...]]

# Coalitions that share one computation of a validation row's column dissimilarities.
_BLOCK = 16
# Row-coalition pairs after which a lane of the walk hands in its sums.
_LANE_WORK = 1 << 21
_LANE_ROWS = 64
# Smaller tables are ranked exactly in either form: that is as fast.
_FAST_ROWS = 1024


class RowValues:
    """phi(F): the row values of the K-nearest-neighbour game under any column coalition F.

    Rows at the same distance are averaged over all their orders, so the values depend neither on the order of the
    rows nor on a sorting routine.

    Parameters
    ----------
    columns : IntegerColumns
        The training and the validation table.
    y : ndarray of shape (n,)
        Classification: codes ``0 .. C-1``. Regression: float targets.
    y_valid : ndarray of shape (T,)
        Same; the code -1 is a label that no training row has.
    task : {"classification", "regression"}
        The utility: the share of matching labels among the K nearest, or minus the squared error of their mean,
        where neighbours that are not there count as the mean of ``y``.
    n_neighbors : int
        The number of neighbours K.
    semivalue : str or tuple, default "shapley"
        See :mod:`shapley2d._theory.semivalues`.
    form : {"exact", "fast"}, default "exact"
        ``"exact"`` ranks all rows; ``"fast"`` leaves far rows in bins as if they tied, see :meth:`error_bound`.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    share : float, default 0.01
        How far off a value of the fast form may be for one validation row, as a share of the most that one of K
        neighbours can be worth.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d._knn.distances import IntegerColumns
    >>> train, valid = np.array([[0, 1, 3], [0, 0, 5]], dtype=np.int32), np.zeros((2, 1), dtype=np.int32)
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
    ) -> None:
        if task not in ("classification", "regression"):
            raise ValueError(f"task={task!r} is not known: use 'classification' or 'regression'")
        if form not in ("exact", "fast"):
            raise ValueError(f"form={form!r} is not known: use 'exact' or 'fast'")
        self.n_rows, self.n_columns, self.n_valid = columns.n_rows, columns.n_columns, columns.n_valid
        if np.shape(y) != (self.n_rows,) or np.shape(y_valid) != (self.n_valid,):
            raise ValueError(
                f"y and y_valid have shapes {np.shape(y)} and {np.shape(y_valid)}, "
                f"the columns have {self.n_rows} training and {self.n_valid} validation rows"
            )
        if n_neighbors < 1 or self.n_rows < 1:
            raise ValueError("at least one neighbour and one training row are needed")
        self._task, self._form, self._k, self._share = task, form, int(n_neighbors), share
        self._weights = rank_weights(check_semivalue(semivalue), self.n_rows, self._k)
        # Where all rows vote, distances decide nothing: phi is the same under all columns, here to the bit.
        self._all_vote = self._k >= self.n_rows
        self._threads = effective_n_jobs(-1 if n_jobs is None else n_jobs)
        # Rows of one label lie together, so that a validation row's matches are one run of rows.
        self._order = np.argsort(y, kind="stable")
        self._place = np.empty_like(self._order)
        self._place[self._order] = np.arange(self.n_rows)
        self._y, self._y_valid = np.asarray(y)[self._order], np.asarray(y_valid)
        self._train = np.ascontiguousarray(columns.train[:, self._order])
        self._valid = np.ascontiguousarray(columns.valid.T)
        self.columns, self._measures = columns, columns.measures
        self._inverse = np.zeros(self.n_rows + 1)
        self._inverse[1:] = 1.0 / np.arange(1, self.n_rows + 1)
        if task == "regression":
            centre = float(np.mean(self._y, dtype=np.float64))
            self._z = self._y.astype(np.float64) - centre
            self._z_valid = self._y_valid.astype(np.float64) - centre
            self._magnitude = max(np.abs(self._z).max(), np.abs(self._z_valid).max(initial=0.0))
        self._fast = form == "fast" and self.n_rows >= _FAST_ROWS
        if self._fast:
            self._variation = drop_variation(self._weights.single)
            self._variation_pair = drop_variation(self._weights.pair)

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
            The validation rows to use; all by default.
        progress : callable, optional
            Called with the share done, between 0 and 1.

        Returns
        -------
        ndarray of shape (B, n)
        """
        coalitions = np.ascontiguousarray(coalitions, dtype=np.bool_)
        if coalitions.ndim != 2 or coalitions.shape[1] != self.n_columns:
            raise ValueError(f"coalitions of shape {coalitions.shape} do not have {self.n_columns} columns")
        if self._all_vote and len(coalitions) > 1:
            same = self.values(np.zeros((1, self.n_columns), dtype=np.bool_), valid=valid, progress=progress)
            return np.repeat(same, len(coalitions), axis=0)
        if self._all_vote:
            coalitions = coalitions & False
        chosen = self._chosen(valid)
        values = np.empty((len(coalitions), self.n_rows))
        block = max(1, min(_BLOCK, -(-len(coalitions) // self._threads)))
        starts = range(0, len(coalitions), block)

        def evaluate(start: int, stop: Event) -> None:
            part = coalitions[start : start + block]
            sums = np.zeros((len(part), self.n_rows))
            for t in chosen:
                if stop.is_set():
                    return
                add_values(*self._table(t), self._game(t), part, sums)
            sums /= max(len(chosen), 1)
            np.take(sums, self._place, axis=1, out=values[start : start + block], mode="clip")

        for done, _ in enumerate(_ordered_results(evaluate, starts, self._threads), start=1):
            if progress is not None:
                progress(done / len(starts))
        return values

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
            ``W[F, j]`` is ``weights_in[|F|]`` for a column j in F, and ``-weights_out[|F|]`` for one outside.
        valid : slice or ndarray of int, optional
            The validation rows to use; all by default. The result is the mean over them.

        Returns
        -------
        ndarray of shape (n, m)
        """
        weights_in = np.ascontiguousarray(weights_in, dtype=np.float64)
        weights_out = np.ascontiguousarray(weights_out, dtype=np.float64)
        if weights_in.shape != (self.n_columns + 1,) or weights_out.shape != (self.n_columns + 1,):
            raise ValueError(f"one weight per size 0 .. {self.n_columns} is needed")
        weights = walk_weights(weights_in, weights_out)
        chosen = self._chosen(valid)
        if self.n_columns == 0:
            return np.zeros((self.n_rows, 0))
        if self._all_vote:
            others = np.array(
                [math.comb(self.n_columns - 1, size) for size in range(self.n_columns)], dtype=float
            )
            phi = self.values(np.zeros((1, self.n_columns), dtype=np.bool_), valid=valid)[0]
            return np.tile((phi * (others @ (weights_in[1:] - weights_out[:-1])))[:, None], self.n_columns)
        # The length of a lane depends on the table alone, never on the number of threads, so neither do the sums.
        length = int(np.clip(_LANE_WORK // (self.n_rows << self.n_columns), 1, _LANE_ROWS))

        def evaluate(start: int, stop: Event) -> NDArray[np.float64]:
            lane = np.zeros((self.n_columns, self.n_rows))
            for t in chosen[start : start + length]:
                if stop.is_set():
                    break
                add_walk(*self._table(t), self._game(t), weights, lane)
            return lane

        total = np.zeros((self.n_columns, self.n_rows))
        for lane in _ordered_results(evaluate, range(0, len(chosen), length), self._threads):
            total += lane
        total /= max(len(chosen), 1)
        return np.ascontiguousarray(total.T[self._place])

    def error_bound(self) -> float:
        """Largest possible difference of an entry of :meth:`values` from the exact form, on any data.

        It is 0 in the exact form and for small tables. In the fast form it is a fixed share of what one of K
        neighbours can be worth, which the kernels keep to by ranking as many near rows as that takes; see
        :mod:`shapley2d._knn.bin_errors`. The typical error is ten times smaller or less, as the errors of bins cancel.
        """
        if not self._fast:
            return 0.0
        if self._task == "classification":
            return classification_tolerance(self._k, self._share)
        return regression_tolerance(self._k, self._share) * float(self._magnitude) ** 2

    @property
    def can_be_fast(self) -> bool:
        """Whether the fast form is another than the exact one, and :meth:`average_bounds` knows its errors."""
        return self._task == "classification" and self.n_rows >= _FAST_ROWS

    def average_bounds(
        self,
        shares: NDArray[np.float64],
        sample: list[tuple[int, NDArray[np.bool_]]],
    ) -> NDArray[np.float64]:
        """How far off the fast form can be on average, for the row where it can be farthest (classification).

        Parameters
        ----------
        shares : ndarray of shape (k,)
            Values of ``share`` to try.
        sample : list of (int, ndarray of bool)
            Validation rows with column coalitions to average over.

        Returns
        -------
        ndarray of shape (k,)
        """
        tolerances = np.array([classification_tolerance(self._k, share) for share in shares])
        total = np.zeros((len(shares), self.n_rows))
        dissimilarities = np.empty_like(self._train)
        distances = np.empty(self.n_rows, dtype=self._train.dtype)
        for t, coalition in sample:
            column_dissimilarities(*self._table(t), dissimilarities)
            coalition_distances(dissimilarities, coalition[None, :], distances[None, :])
            total += bin_bounds(distances, self._y == self._y_valid[t], self._weights.single, tolerances)
        return np.asarray(total.max(axis=1) / len(sample))

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
        total = np.zeros(self.n_rows)
        for t, coalition in sample:
            rounded = self.columns.distances(t, coalition)[self._order]
            true = reference.unrounded_distances(t, coalition)[self._order]
            if self._task == "classification":
                total += classification_bounds(rounded, true, self._y == self._y_valid[t], self._weights)
            elif self._magnitude > 0:
                bounds = regression_bounds(rounded, true, self._z / self._magnitude, self._k, self._weights)
                total += bounds * float(self._magnitude) ** 2
        return float(total.max() / max(len(sample), 1))

    def _chosen(self, valid: slice | NDArray[np.integer] | None) -> NDArray[np.integer]:
        """The numbers of the chosen validation rows."""
        return np.arange(self.n_valid)[slice(None) if valid is None else valid]

    def _table(self, t: int) -> _Table:
        """What the distances from validation row ``t`` are computed from."""
        return self._train, self._valid[t], self._measures

    def _game(self, t: int) -> ExactClassification | FastClassification | ExactRegression | FastRegression:
        """The row game of validation row ``t``."""
        weights = self._weights
        if self._task == "classification":
            label = self._y_valid[t]
            classification = ExactClassification(
                int(np.searchsorted(self._y, label, "left")),
                int(np.searchsorted(self._y, label, "right")),
                weights.single,
                weights.single_beyond,
                self._inverse,
            )
            if not self._fast:
                return classification
            return FastClassification(*classification, self._variation, self.error_bound())
        regression = ExactRegression(
            self._z, float(self._z_valid[t]), float(self._k), weights.alone, (*weights[:5], self._inverse)
        )
        if not self._fast:
            return regression
        return FastRegression(
            *regression,
            self._variation,
            self._variation_pair,
            1.0 / max(self._magnitude, np.finfo(np.float64).tiny),
            regression_tolerance(self._k, self._share),
        )


def _ordered_results(task: Callable[[int, Event], R], items: Iterable[int], threads: int) -> Iterator[R]:
    """Run a task on every item in threads and yield the results in the order of the items.

    At most two results per thread are waiting at any time. Where the consumer stops, or Ctrl-C arrives, running
    tasks see the event set and end after the kernel call they are in.
    """
    stop = Event()
    if threads == 1:
        for item in items:
            yield task(item, stop)
        return
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(task, item, stop))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
