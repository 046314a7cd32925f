"""Batches of numbered tasks, as a worker computes them.

The work is pickled once, unpickled once per process, and its tasks are computed one by one.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import threading
import time
import uuid
from collections import OrderedDict
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Work = Callable[[int], NDArray[np.float64]]  # numbered tasks: a number has one result
    Batch = tuple[list[NDArray[np.float64]], float]  # results, and the seconds they took

LARGE_BYTES = 2**22
"""Larger arrays are shared between the processes of a machine.

Sending 4 MB takes 0.04 s; files that are shared keep joblib waiting for a second after every call.
"""


def do_batch(work: Work, start: int, stop: int) -> Batch:
    """Compute tasks ``start .. stop - 1``, and measure the time."""
    begin = time.perf_counter()
    with single_threaded():
        results = [work(number) for number in range(start, stop)]
    return results, time.perf_counter() - begin


def pack(work: Work) -> tuple[NDArray[Any], ...]:
    """Pickle work, with its large arrays apart, for any number of calls of :func:`do_parcel`.

    Every part is an array of bytes, which joblib and Dask send once and share.
    """
    large: list[NDArray[Any]] = []

    def keep_inside(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes <= LARGE_BYTES:
            return True
        large.append(np.frombuffer(view, dtype=np.uint8))
        return False

    body = cloudpickle.dumps(work, protocol=5, buffer_callback=keep_inside)
    token = np.frombuffer(uuid.uuid4().bytes, dtype=np.uint8)
    return (token, np.frombuffer(body, dtype=np.uint8), *large)


_kept: OrderedDict[bytes, Work] = OrderedDict()
_lock = threading.Lock()


def do_parcel(
    start: int, stop: int, token: NDArray[Any], body: NDArray[Any], *large: NDArray[Any]
) -> Batch:
    """Compute tasks of pickled work, which this process unpickles only once."""
    key = token.tobytes()
    with _lock:
        if key not in _kept:
            while len(_kept) >= 2:  # the work of two runs, for calls that take turns
                _kept.popitem(last=False)
            buffers = [array if array.flags.writeable else array.copy() for array in large]
            _kept[key] = pickle.loads(body.data, buffers=buffers)  # noqa: S301  (packed by our own main process)
        work = _kept[key]
    return do_batch(work, start, stop)


def do_parcel_for(parent: int, start: int, stop: int, *parcel: NDArray[Any]) -> Batch:
    """Compute tasks of pickled work in a worker process, which ends when its ``parent`` does."""
    watch_parent(parent)
    return do_parcel(start, stop, *parcel)


def watch_parent(parent: int) -> None:
    """End this process soon after its parent; an idle orphan would stay for minutes."""
    with _lock:
        if parent in _watched or sys.platform == "win32":
            return
        _watched.add(parent)
    if os.getppid() != parent and not multiprocessing.current_process().name.startswith("Loky"):
        return  # someone else's workers, on another machine perhaps
    threading.Thread(
        target=_leave_with, args=(parent,), daemon=True, name="shapley2d-parent"
    ).start()


_watched: set[int] = set()


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


class _Threads:
    users = 0
    limit: Any = None


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
    """The libraries with threads of their own, found again after imports: it takes 7 ms."""
    return ThreadpoolController()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread: equal sums everywhere, and no idle threads.

    The limit holds for the whole process; of several threads that set it, the last one lifts it.
    """
    with _lock:
        if not _Threads.users:
            _Threads.limit = _libraries(len(sys.modules)).limit(limits=1)
        _Threads.users += 1
    try:
        yield
    finally:
        with _lock:
            _Threads.users -= 1
            if not _Threads.users:
                _Threads.limit.restore_original_limits()
