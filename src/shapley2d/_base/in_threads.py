"""The package's one map over threads: results come in the order of the items."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, TypeVar

from joblib import effective_n_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from concurrent.futures import Future

    from shapley2d._base.arrays import Bools
    from shapley2d._base.time_limit import TimeLimit

    T = TypeVar("T")
    R = TypeVar("R")

LONG = 2**17
"""Rows from which threads pay for work on one column: numpy releases the lock for long enough."""


def map_in_threads(
    task: Callable[[T], R],
    items: Iterable[T],
    n_threads: int,
    *,
    stop: Bools | None = None,
    limit: TimeLimit | None = None,
) -> Generator[R, None, None]:
    """Run a task on every item in threads and yield the results in the order of the items.

    At most two results per thread are waiting or under way, so memory stays bounded. Tasks never
    run on the main thread, even with ``n_threads=1``: only the main thread receives Ctrl-C, and it
    cannot while compiled code runs on it. The flag ``stop`` is set when the consumer stops, a task
    fails or Ctrl-C arrives. Tasks that look at it can end early; tasks that have not started are
    dropped in any case. A result that is not there when a ``limit`` is over is not waited for:
    that is an :class:`~shapley2d.exceptions.OutOfTimeError`.
    """
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(task, item))
                if len(waiting) >= 2 * n_threads:
                    yield result_in_time(waiting.popleft(), limit)
            while waiting:
                yield result_in_time(waiting.popleft(), limit)
        finally:
            if stop is not None:
                stop[0] = True
            pool.shutdown(cancel_futures=True)


def result_in_time(task: Future[R], limit: TimeLimit | None) -> R:
    """The result of a task, waited for until a limit is over."""
    if limit is not None:
        wait([task], min(max(limit.left(), 0.0), TIMEOUT_MAX))
        if not task.done():
            limit.check()
    return task.result()


def count_threads(n_jobs: int | None) -> int:
    """Threads that ``n_jobs`` asks for, as in joblib; None asks for all cores."""
    return int(effective_n_jobs(-1 if n_jobs is None else n_jobs))


def map_columns(
    task: Callable[[T], R], columns: Iterable[T], n_rows: int, n_threads: int = 16
) -> list[R]:
    """Run a task on every column, in threads where columns are long; over 16 wait for memory."""
    if n_rows < LONG or n_threads == 1:
        return [task(column) for column in columns]
    return list(map_in_threads(task, columns, min(n_threads, os.cpu_count() or 1)))
