"""Numbered draws, computed by threads, processes, a pool or a cluster; results come in order.

A draw depends on its number alone, so it may be computed anywhere and more than once: when a worker
dies, its missing draws are computed again. Workers change no bit of the results.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import get_active_backend

from shapley2d._base.in_threads import count_threads, result_in_time
from shapley2d._estimation.parcels import draw_parcel, pack
from shapley2d.exceptions import UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._estimation.draws import Draw, Draws

    # ``submit(number)`` gives a future; the other function counts workers, which come and go
    Workers = AbstractContextManager[tuple[Callable[[int], Any], Callable[[], int]]]

MAX_LOSSES = 3
"""Times in a row that workers may die without a single result before the run gives up."""


def in_order(
    draws: Draws,
    first: int,
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
    limit: TimeLimit | None = None,
) -> Generator[Draw, None, None]:
    """Draws from number ``first`` on, in their order, computed a few ahead.

    ``n_jobs``: threads for compiled draws, all cores by default. Otherwise processes; None asks
        joblib's active ``parallel_config``, and is 1 without one.
    ``cluster``: the address of a Dask scheduler, a Dask client, or a pool with ``submit``.
    ``limit``: a compiled draw that is not there somewhat later is dropped.
    """
    if cluster is None and not draws.compiled:
        cluster, n_jobs = _active_cluster(n_jobs)
    done, losses = first, 0
    if cluster is None and not draws.compiled and _n_processes(n_jobs) == 1:
        while done < draws.count:  # here, so that Ctrl-C need not wait
            yield draws(done)
            done += 1
        return
    latest = (
        None if limit is None or not draws.compiled or cluster is not None else limit.at_latest()
    )
    while done < draws.count:
        try:
            with _workers(draws, n_jobs, cluster) as (submit, n_workers):
                for draw in _ahead(submit, n_workers, range(done, draws.count), latest):
                    done, losses = done + 1, 0
                    yield draw
        except lost_worker_errors() as error:
            losses += 1
            if losses >= MAX_LOSSES:
                raise UtilityError(
                    f"workers died {losses} times in a row while they computed draws from number "
                    f"{done} on ({type(error).__name__}): most often they lack memory, so use "
                    "fewer of them (n_jobs), or the model crashes"
                ) from error


def _ahead(
    submit: Callable[[int], Any],
    n_workers: Callable[[], int],
    numbers: range,
    latest: TimeLimit | None,
) -> Iterator[Draw]:
    """Results in order; two draws for every worker are under way, so that none waits."""
    under_way: deque[Any] = deque()
    left = iter(numbers)
    try:
        while True:
            while len(under_way) < max(1, 2 * n_workers()):
                number = next(left, None)
                if number is None:
                    break
                under_way.append(submit(number))
            if not under_way:
                return
            yield result_in_time(under_way[0], latest)
            under_way.popleft()
    finally:
        for future in under_way:
            if hasattr(future, "cancel"):
                future.cancel()


def _workers(draws: Draws, n_jobs: int | None, cluster: Any) -> Workers:
    if cluster is not None:
        from shapley2d._estimation.cluster import cluster_workers

        return cluster_workers(draws, cluster)
    if draws.compiled:
        threads = count_threads(n_jobs)
        return _threads(draws, min(threads, draws.at_once or threads))
    return _processes(draws, _n_processes(n_jobs))


@contextmanager
def _threads(draws: Draws, count: int) -> Iterator[Any]:
    with ThreadPoolExecutor(count) as pool:
        try:
            yield lambda number: pool.submit(draws, number), lambda: count
        finally:
            draws.stop[0] = True  # compiled code under way ends early
            pool.shutdown(cancel_futures=True)
            draws.stop[0] = False  # for another run of the same draws


@contextmanager
def _processes(draws: Draws, count: int) -> Iterator[Any]:
    """Processes of this machine, which the next run finds again where none of them is at work."""
    pool = get_reusable_executor(count, timeout=300, initializer=_begin, initargs=(os.getpid(),))
    parcel, last = pack(draws), deque[Any](maxlen=4 * count)

    def submit(number: int) -> Any:
        future = pool.submit(draw_parcel, number, *parcel)
        last.append(future)
        return future

    try:
        yield submit, lambda: count
    finally:
        if not all(future.done() for future in last):  # draws that nobody wants any more
            pool.shutdown(wait=True, kill_workers=True)


def _begin(parent: int) -> None:
    """Start a worker process."""
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this process soon after its parent; an idle orphan would stay for minutes."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _n_processes(n_jobs: int | None) -> int:
    return int(effective_n_jobs(n_jobs))


def _active_cluster(n_jobs: int | None) -> tuple[Any, int | None]:
    """The Dask client that joblib's ``parallel_config`` names, if it does."""
    backend = get_active_backend()[0]
    if n_jobs == 1 or not hasattr(backend, "client"):
        return None, n_jobs
    from shapley2d._estimation.cluster import on_a_worker

    # a task of a worker must not wait for other workers
    return (None, 1) if on_a_worker() else (backend.client, n_jobs)


def lost_worker_errors() -> tuple[type[Exception], ...]:
    """Types of errors that mean a lost worker, rather than an error of the work."""
    if sys.modules.get("distributed") is None:
        return (BrokenProcessPool,)
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    return (BrokenProcessPool, CancelledError, FutureCancelledError, KilledWorker, CommClosedError)
