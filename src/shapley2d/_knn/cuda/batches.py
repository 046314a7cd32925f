"""GPU work in pieces: batches that fit the memory, and column subsets that share a launch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.cuda.device import DeviceError
from shapley2d._knn.cuda.kernel_inputs import FEW_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.row_axis import RowAxis


class ListedSums(ABC):
    """Row values under a few listed column subsets at a time, left on the GPU.

    Attributes
    ----------
    group : int
        Column subsets that share a launch.
    unit : float
        What the numbers of :meth:`values` are multiples of.
    adder : str
        The kernel of ``contract.cu`` that adds them up.
    """

    group: int
    unit: float = 1.0
    adder: str = "add_weighted"

    @abstractmethod
    def values(self, coalitions: NDArray[np.bool_], chosen: NDArray[np.integer]) -> Any:
        """Row values under each of a few column subsets, summed over the chosen validation rows.

        Parameters
        ----------
        coalitions : ndarray of shape (B, m), bool
            At most :attr:`group`.
        chosen : ndarray of int

        Returns
        -------
        device array of shape (B or more, n)
            Multiples of :attr:`unit`.
        """


def in_batches(work: Callable[[int, int], None], count: int, batch: int) -> None:
    """Call ``work(start, stop)`` on consecutive batches, halved whenever it raises MemoryError.

    Examples
    --------
    >>> def work(start, stop):
    ...     if stop - start > 3:
    ...         raise MemoryError
    ...     print(start, stop)
    >>> in_batches(work, 5, 4)
    0 2
    2 4
    4 5
    """
    start = 0
    while start < count:
        stop = min(start + batch, count)
        try:
            work(start, stop)
        except MemoryError as error:
            batch = (stop - start) // 2
            if batch == 0:
                raise DeviceError("its memory does not suffice for this table") from error
        else:
            start = stop


def by_size(coalitions: NDArray[np.bool_], group: int) -> list[NDArray[np.intp]]:
    """Which column subsets to take together: those of one size have similar distances.

    Those of few columns are apart, so that every subset has the bins that it has alone.

    Examples
    --------
    >>> by_size(np.array([[1, 1], [0, 0], [1, 0]], dtype=bool), 2)
    [array([1, 2]), array([0])]
    """
    sizes = coalitions.sum(axis=1)
    order, few = np.argsort(sizes, kind="stable"), int((sizes <= FEW_COLUMNS).sum())
    return [
        part[start : start + group]
        for part in (order[:few], order[few:])
        for start in range(0, part.size, group)
    ]


def listed_sums(
    listed: ListedSums,
    device: Device,
    n_rows: int,
    coalitions: NDArray[np.bool_],
    chosen: NDArray[np.integer],
    progress: Callable[[float], None] | None,
) -> NDArray[np.float64]:
    """Row values under any number of column subsets, on the processor: (B, n)."""
    parts = by_size(coalitions, listed.group)
    total = np.empty((len(coalitions), n_rows))

    def work(start: int, stop: int) -> None:
        there = []
        for number in range(start, stop):
            part = parts[number]
            there.append(listed.values(coalitions[part], chosen)[: part.size])
            device.wait()
            if progress is not None:
                progress((number + 1) / len(parts))
        for part, found in zip(parts[start:stop], there, strict=True):
            total[part] = device.download(found) * listed.unit

    in_batches(work, len(parts), len(parts))
    return total


def walk_by_sums(
    axis: RowAxis,
    weights_in: NDArray[np.float64],
    weights_out: NDArray[np.float64],
    chosen: NDArray[np.integer],
    step: int = 256,
) -> NDArray[np.float64]:
    """The walk over all coalitions from the row values of a few of them at a time."""
    m = axis.n_columns
    total = np.zeros((m, axis.n_rows))
    for start in range(0, 1 << m, step):
        numbers = np.arange(start, min(start + step, 1 << m))
        coalitions = (numbers[:, None] >> np.arange(m) & 1).astype(np.bool_)
        total += contract(coalitions, axis.sums(coalitions, chosen), weights_in, weights_out)
    return total


def contract(
    coalitions: NDArray[np.bool_],
    sums: NDArray[np.float64],
    weights_in: NDArray[np.float64],
    weights_out: NDArray[np.float64],
) -> NDArray[np.float64]:
    """What coalitions with these row values add to every column: (m, n)."""
    size = coalitions.sum(axis=1)
    weights = np.where(coalitions, weights_in[size][:, None], -weights_out[size][:, None])
    return np.asarray(weights.T @ sums)
