"""Numbered tasks, computed here, by worker processes or on a cluster; results come in order.

A task depends on its number alone, so it may be computed anywhere and more than once: when a worker
dies, its missing tasks are repeated. Neither the batches of tasks nor the workers that compute them
change a bit of the results.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import MultiprocessingBackend, get_active_backend

from shapley2d._estimation.batches import (
    LARGE_BYTES,
    do_batch,
    do_parcel_for,
    pack,
    single_threaded,
    watch_parent,
)
from shapley2d.exceptions import UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from shapley2d._base.arrays import Floats
    from shapley2d._estimation.batches import Batch, Work

MAX_LOSSES = 3
"""Times in a row that workers may die without a single result before the run gives up."""


def ordered_results(
    work: Work, first: int, stop: int, *, n_jobs: int | None = None, cluster: Any = None
) -> Generator[Floats, None, None]:
    """Results of tasks ``first .. stop - 1``, in order.

    ``n_jobs`` None asks joblib's active ``parallel_config``, and is 1 without one; ``cluster`` is a
    Dask cluster, or a pool, to work on instead.

    >>> [int(square) for square in ordered_results(lambda number: np.array(number**2), 1, 4)]
    [1, 4, 9]
    """
    backend = get_active_backend()[0]
    if cluster is None and n_jobs != 1 and hasattr(backend, "client"):
        from shapley2d._estimation.old_cluster import on_a_worker

        # joblib's Dask backend does not survive the loss of data, on_cluster does; a task of a
        # worker must not wait for other workers
        cluster, n_jobs = (None, 1) if on_a_worker() else (backend.client, n_jobs)
    if cluster is None and effective_n_jobs(n_jobs) == 1:
        with single_threaded():
            for number in range(first, stop):
                yield work(number)  # one by one, so that Ctrl-C loses a single result
        return
    if cluster is None:
        run: Callable[[Iterator[tuple[int, int]]], Generator[Batch, None, None]]
        run = partial(_by_joblib, work, backend, n_jobs=n_jobs)
    else:
        from shapley2d._estimation.old_cluster import on_cluster

        run = partial(on_cluster, work, cluster)
    # of a cluster 16 workers are assumed, to cut the last batches small enough
    n_workers = 16 if cluster is not None else effective_n_jobs(n_jobs)
    yield from _retrying(run, first, stop, n_workers)


def _retrying(
    run: Callable[[Iterator[tuple[int, int]]], Generator[Batch, None, None]],
    first: int,
    stop: int,
    n_workers: int,
) -> Generator[Floats, None, None]:
    """Results in order; batches of workers that died are repeated."""
    done, losses = first, 0
    while done < stop:
        pace = {"batch": 1}
        batches = run(_cut(done, stop, n_workers, pace))
        try:
            for results, seconds in batches:
                # half a second, so that handing a batch over costs little; at most 64 tasks,
                # which a lost worker has to repeat, and 64 MB of results, which wait in memory
                most = min(64, max(1, 2**26 // max(1, results[0].nbytes)))
                wanted = 0.5 / max(seconds / len(results), 1e-6)
                pace["batch"] = int(np.clip(wanted, 1, most))
                for result in results:
                    done, losses = done + 1, 0
                    yield result
        except lost_worker_errors() as error:
            losses += 1
            if losses >= MAX_LOSSES:
                raise UtilityError(
                    f"workers died {losses} times in a row while they computed permutations or "
                    f"blocks from number {done} on ({type(error).__name__}): most often they lack "
                    "memory, so use fewer of them (n_jobs), or the model crashes"
                ) from error
        finally:
            batches.close()


def _cut(start: int, stop: int, n_workers: int, pace: dict[str, int]) -> Iterator[tuple[int, int]]:
    """Consecutive batches of the current size in ``pace``; smaller at the end, to keep all busy."""
    while start < stop:
        end = start + min(pace["batch"], -(-(stop - start) // (2 * n_workers)))
        yield start, end
        start = end


def _by_joblib(
    work: Work, backend: Any, batches: Iterator[tuple[int, int]], *, n_jobs: int | None
) -> Generator[Batch, None, None]:
    shares_memory = getattr(backend, "supports_sharedmem", False)  # threads
    parcel = () if shares_memory else pack(work)
    do = partial(do_batch, work) if shares_memory else partial(do_parcel_for, os.getpid())
    tasks = (delayed(do)(start, stop, *parcel) for start, stop in batches)
    streams = getattr(backend, "supports_return_generator", False)
    # Ray's and Spark's backends return lists: they get a few tasks per worker at a time
    if not streams and not isinstance(backend, MultiprocessingBackend):
        n_workers = effective_n_jobs(n_jobs)
        while wave := list(islice(tasks, 4 * n_workers)):
            yield from Parallel(n_jobs=n_workers, batch_size=1, max_nbytes=None)(wave)
        return
    # copy on write ("c"): workers share large arrays, and compiled code still finds them writeable
    parallel = Parallel(
        n_jobs=effective_n_jobs(n_jobs),
        backend=None if streams else "loky",
        return_as="generator",
        pre_dispatch="2*n_jobs",
        batch_size=1,
        max_nbytes=LARGE_BYTES,
        mmap_mode="c",
        **({} if shares_memory else _from_the_start(backend, streams=streams)),
    )
    results = parallel(tasks)
    try:
        for result in results:  # noqa: UP028  (closing must come back here)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # joblib's, of work that is dropped
            results.close()


def _from_the_start(backend: Any, *, streams: bool) -> dict[str, Any]:
    """Options of joblib that let workers watch their parent before they get any work."""
    parameters = inspect.signature(Parallel).parameters.values()
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    if not takes_more or (streams and type(backend).__name__ != "LokyBackend"):
        return {}
    return {"initializer": watch_parent, "initargs": (os.getpid(),)}


def lost_worker_errors() -> tuple[type[Exception], ...]:
    """Types of errors that mean a lost worker, rather than an error of the work."""
    if sys.modules.get("distributed") is None:
        return (BrokenProcessPool,)
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    return (BrokenProcessPool, CancelledError, FutureCancelledError, KilledWorker, CommClosedError)
