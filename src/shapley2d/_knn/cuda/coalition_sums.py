"""Row values of many column coalitions from those of a few at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.cuda.batches import in_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device


def by_size(coalitions: NDArray[np.bool_], group: int) -> list[NDArray[np.intp]]:
    """Which coalitions to take together: those of one size have distances of one size, and can share a layout.

    Examples
    --------
    >>> by_size(np.array([[1, 1], [0, 0], [1, 0]], dtype=bool), 2)
    [array([1, 2]), array([0])]
    """
    order = np.argsort(coalitions.sum(axis=1), kind="stable")
    return [order[start : start + group] for start in range(0, order.size, group)]


def in_groups(
    device: Device,
    coalitions: NDArray[np.bool_],
    group: int,
    values: Callable[[NDArray[np.bool_]], Any],
    progress: Callable[[float], None] | None,
) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
    """Which coalitions were taken, and what was found for them."""
    parts = by_size(coalitions, group)
    done: list[tuple[NDArray[np.intp], NDArray[Any]]] = []

    def work(start: int, stop: int) -> None:
        there = []
        for number in range(start, stop):
            there.append(values(coalitions[parts[number]])[: parts[number].size])
            device.wait()
            if progress is not None:
                progress((number + 1) / len(parts))
        found = [device.download(one) for one in there]
        done.extend(zip(parts[start:stop], found, strict=True))

    in_batches(work, len(parts), len(parts))
    yield from done


def walk_by_sums(
    axis: Any,
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
