"""Numbered draws, computed by threads, processes, a pool or a cluster; results come in order.

A draw depends on its number alone, so it may be computed anywhere and more than once: when a worker
dies, its missing draws are computed again. Workers change no bit of the results.
"""

from __future__ import annotations

import math
import os
import pickle
import sys
import threading
import time
import uuid
from collections import OrderedDict, deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import current_process
from typing import TYPE_CHECKING, Any

import cloudpickle
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from shapley2d._base.in_threads import count_threads, result_in_time
from shapley2d._base.words import shown
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._estimation.draws import Draw, Draws

    # ``submit(number)`` gives a future; the other function counts workers, which come and go
    Workers = AbstractContextManager[tuple[Callable[[int], Any], Callable[[], int]]]

MAX_LOSSES = 3
"""Times in a row that workers may die without a single result before the run gives up."""

ALONE_S = 2.0
"""Seconds of Python draws before processes are started, which takes about as long."""


def in_order(
    draws: Draws,
    first: int,
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
    limit: TimeLimit | None = None,
) -> Generator[Draw, None, None]:
    """Draws from number ``first`` on, in their order, computed a few ahead.

    ``n_jobs``: threads for compiled draws, else processes; None for all cores, and for processes
        only where the work is long and can be sent to them.
    ``cluster``: the address of a Dask scheduler, a Dask client, or a pool with ``submit``.
    ``limit``: a compiled draw that is not there somewhat later is dropped.
    """
    done, losses, threads = first, 0, cluster is None and draws.compiled
    latest = limit.at_latest() if limit is not None and threads else None
    if cluster is None and not draws.compiled:
        alone_s = ALONE_S if n_jobs is None else 0.0
        # a worker of a cluster or of joblib may have no processes of its own
        if count_threads(n_jobs) == 1 or current_process().daemon:
            alone_s = math.inf
        begin = time.monotonic()
        while done < draws.count:
            if time.monotonic() - begin >= alone_s:
                if n_jobs is not None or _can_be_sent(draws):
                    break
                alone_s = math.inf
            yield draws(done)  # here, so that Ctrl-C need not wait
            done += 1
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
    if cluster is None:
        count = count_threads(n_jobs)
        if draws.compiled:
            return _threads(draws, min(count, draws.at_once or count))
        return _processes(draws, count)
    # a pool takes work but, unlike a Dask client, cannot send data ahead
    if callable(getattr(cluster, "submit", None)) and not hasattr(cluster, "scatter"):
        return _pool(draws, cluster)
    from shapley2d._estimation.cluster import cluster_workers

    return cluster_workers(pack(draws), draw_parcel, cluster)


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


@contextmanager
def _pool(draws: Draws, pool: Any) -> Iterator[Any]:
    """Any pool; not every ``submit`` takes a function and its arguments (Ray's ActorPool)."""
    parcel = pack(draws)
    n_workers = int(getattr(pool, "_max_workers", None) or 16)  # where a pool does not tell

    def submit(number: int) -> Any:
        try:
            future = pool.submit(draw_parcel, number, *parcel)
        except TypeError:
            future = None
        if not callable(getattr(future, "result", None)):
            raise InputError(
                f"cluster={shown(pool)} has a submit, but not one that takes a function with its "
                "arguments and returns something with a result()"
            )
        return future

    yield submit, lambda: n_workers


def _begin(parent: int) -> None:
    """Start a worker process."""
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this process soon after its parent; an idle orphan would stay for minutes."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _can_be_sent(draws: Draws) -> bool:
    """Whether processes can have the draws, which may hold a file or a connection of the user's."""
    try:
        cloudpickle.dumps(draws)
    except Exception:  # noqa: BLE001  (whatever an object of the user's raises)
        return False
    return True


def pack(draws: Draws) -> tuple[bytes, int, bytes]:
    """Draws for :func:`draw_parcel`: a name by which a worker keeps them, and whose they are."""
    return uuid.uuid4().bytes, os.getpid(), cloudpickle.dumps(draws, protocol=5)


_kept: OrderedDict[bytes, Draws] = OrderedDict()
_lock = threading.Lock()


def draw_parcel(number: int, token: bytes, sender: int, body: bytes) -> Draw:
    """A draw of a parcel, which a worker unpacks only once."""
    with _lock:
        if token not in _kept:
            if sender != os.getpid():  # one thread for BLAS and OpenMP: equal sums everywhere
                threadpool_limits(limits=1)
            while len(_kept) >= 2:  # those of two runs, for calls that take turns
                _kept.popitem(last=False)
            _kept[token] = pickle.loads(body)  # noqa: S301  (packed by our own main process)
        draws = _kept[token]
    return draws(number)


def lost_worker_errors() -> tuple[type[Exception], ...]:
    """Types of errors that mean a lost worker, rather than an error of the work."""
    if sys.modules.get("distributed") is None:
        return (BrokenProcessPool,)
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    return (BrokenProcessPool, CancelledError, FutureCancelledError, KilledWorker, CommClosedError)
