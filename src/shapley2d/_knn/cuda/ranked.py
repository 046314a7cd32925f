"""Row values and utilities on a GPU by exact rank: what launches ``exact.cu``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.cuda.batches import in_batches, walk_by_sums
from shapley2d._knn.row_axis import RowAxis

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.row_axis import RowGame

THREADS = 256
_FEW = 4096  # rows that a block can sort on the chip
_PAIR_ROWS = 2**24  # of pairs that are ranked at a time
_NOWHERE = np.uint64(0)


class Ranking:
    """All rows in order of their exact distance, by validation row and column subset.

    Parameters
    ----------
    train : ndarray of shape (m, n)
    valid : ndarray of shape (T, m)
    measures : tuple of ndarray
        Of :class:`~shapley2d._knn.distances.IntegerColumns`.
    task : {"classification", "regression"}
    device : Device
    """

    def __init__(
        self,
        train: NDArray[Any],
        valid: NDArray[Any],
        measures: tuple[NDArray[Any], ...],
        task: str,
        device: Device,
    ) -> None:
        self.n_columns, self.n_rows = train.shape
        self.device = device
        self.launch = device.compile(
            "exact.cu", THREADS=THREADS, REGRESSION=int(task == "regression")
        )
        nominal, weight, missing = measures
        self._arguments: tuple[Any, ...] = (
            device.upload(_wide(train)),
            device.upload(_wide(valid)),
            device.upload(np.ascontiguousarray(nominal, dtype=np.bool_)),
            device.upload(weight.astype(np.int64)),
            device.upload(missing.astype(np.int64)),
            np.int32(self.n_rows),
            np.int32(self.n_columns),
        )

    def each(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        use: Callable[[Any, Any, Any, Any, int], None],
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Call ``use(keys, rows, valid, coalition, count)`` on all rankings, some at a time."""
        device = self.device
        count = len(coalitions) * chosen.size
        masks = device.upload(np.ascontiguousarray(coalitions))

        def work(start: int, stop: int) -> None:
            pairs = np.arange(start, stop)
            there = (
                device.upload(chosen[pairs // len(coalitions)].astype(np.int32)),
                device.upload((pairs % len(coalitions)).astype(np.int32)),
            )
            keys = device.empty((pairs.size, self.n_rows), np.int64)
            rows = device.empty((pairs.size, self.n_rows), np.int32)
            if self.n_rows <= _FEW:
                room = max(2, 1 << (self.n_rows - 1).bit_length())
                arguments = (*self._arguments, *there, masks, np.int32(room), keys, rows)
                self.launch("sort_few", (pairs.size,), THREADS, arguments, 12 * room)
            else:
                grid = (min(-(-self.n_rows // THREADS), 64), pairs.size)
                self.launch(
                    "find_distances", grid, THREADS, (*self._arguments, *there, masks, keys)
                )
                device.sort_lines(keys, rows)
            use(keys, rows, *there, pairs.size)
            device.wait()
            if progress is not None:
                progress(stop / count)

        in_batches(work, count, int(np.clip(_PAIR_ROWS // self.n_rows, 1, 65535)))


class RankedRows(RowAxis):
    """Row values with every row ranked.

    Parameters
    ----------
    game : RowGame
    device : Device
    """

    def __init__(self, game: RowGame, device: Device) -> None:
        super().__init__(game)
        self._ranking = Ranking(game.train, game.valid, game.measures, game.task, device)
        weights = game.weights
        self._magnitude = max(game.magnitude, np.finfo(np.float64).tiny)
        if game.classifies:
            labels = (device.upload(game.runs()), _NOWHERE, _NOWHERE)
        else:
            scaled = (game.y / self._magnitude, game.y_valid / self._magnitude)
            labels = (_NOWHERE, *(device.upload(np.ascontiguousarray(part)) for part in scaled))
        self._arguments: tuple[Any, ...] = (
            *labels,
            *(device.upload(np.ascontiguousarray(table)) for table in (*weights[:5], game.inverse)),
            np.float64(weights.alone),
            np.int32(game.n_neighbors),
        )

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        ranking, device = self._ranking, self._ranking.device
        fixed = fixed_point(self.game.value_bound, chosen.size)
        sums = device.zeros((len(coalitions), self.n_rows), np.int64)
        scratch = (1 if self.game.classifies else 2) * (self.n_rows + 1)

        def add(keys: Any, rows: Any, valid: Any, coalition: Any, count: int) -> None:
            before = device.empty((count, scratch), np.float64)
            arguments = (
                keys, rows, np.int32(self.n_rows), valid, coalition, *self._arguments,
                np.float64(fixed), before, sums,
            )  # fmt: skip
            ranking.launch("add_ranked", (count,), THREADS, arguments)

        ranking.each(coalitions, chosen, add, progress)
        return np.asarray(device.download(sums) * (self._magnitude**2 / fixed))

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return walk_by_sums(self, weights_in, weights_out, chosen)

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return 64


class Utilities:
    """Utilities of row and column coalitions, for :class:`shapley2d._games.nearest.KnnGame`.

    Parameters
    ----------
    train, valid, measures, task, device
        As in :class:`Ranking`.
    y, y_valid : ndarray of float
        Codes of the classes, or numbers less the mean of the training rows.
    n_neighbors : int
    """

    def __init__(
        self,
        train: NDArray[Any],
        valid: NDArray[Any],
        measures: tuple[NDArray[Any], ...],
        y: NDArray[np.float64],
        y_valid: NDArray[np.float64],
        *,
        task: str,
        n_neighbors: int,
        device: Device,
    ) -> None:
        self._ranking = Ranking(train, valid, measures, task, device)
        self._k, self._n_valid = n_neighbors, len(y_valid)
        largest = float(max(np.abs(y).max(), np.abs(y_valid).max(initial=0.0)))
        self._magnitude = (
            1.0 if task == "classification" else max(largest, np.finfo(np.float64).tiny)
        )
        self._bound = 1.0 if task == "classification" else 8.0
        self._labels = tuple(device.upload(part / self._magnitude) for part in (y, y_valid))

    def sums(
        self,
        groups: NDArray[np.int32],
        row_masks: NDArray[np.bool_],
        column_masks: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Utilities summed over the validation rows: (row coalitions, column coalitions).

        Parameters
        ----------
        groups : ndarray of shape (n,)
            A number for every training row.
        row_masks : ndarray of bool
            Row coalitions over those numbers.
        column_masks : ndarray of bool
        """
        ranking, device = self._ranking, self._ranking.device
        fixed = fixed_point(self._bound, self._n_valid)
        sums = device.zeros((len(row_masks), len(column_masks)), np.int64)
        there = (
            device.upload(groups.astype(np.int32)),
            device.upload(np.ascontiguousarray(row_masks)),
        )
        sizes = (row_masks.shape[1], len(row_masks), self._k, len(column_masks))

        def add(keys: Any, rows: Any, valid: Any, coalition: Any, count: int) -> None:
            arguments = (
                keys, rows, np.int32(ranking.n_rows), valid, coalition, *self._labels, *there,
                *(np.int32(size) for size in sizes), np.float64(fixed), sums,
            )  # fmt: skip
            ranking.launch("add_utilities", (count,), THREADS, arguments)

        ranking.each(column_masks, np.arange(self._n_valid), add)
        return np.asarray(device.download(sums) * (self._magnitude**2 / fixed))


def fixed_point(bound: float, count: int) -> float:
    """The factor with which ``count`` values of at most ``bound`` add up to 62 bits.

    Examples
    --------
    >>> fixed_point(1.0, 4) == 2.0**60
    True
    """
    return float(2.0 ** np.floor(np.log2(2.0**62 / (bound * max(count, 1)))))


def _wide(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Entries in 64 bits, missing ones as the smallest number of these."""
    wide = np.ascontiguousarray(codes).astype(np.int64)
    wide[codes == np.iinfo(codes.dtype).min] = np.iinfo(np.int64).min
    return wide
