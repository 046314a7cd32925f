"""Work in batches that become smaller where the GPU's memory does not suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._knn.cuda.device import DeviceError

if TYPE_CHECKING:
    from collections.abc import Callable


def in_batches(work: Callable[[int, int], None], count: int, batch: int) -> None:
    """Call ``work(start, stop)`` on consecutive batches, half as large from where it raises MemoryError on.

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
