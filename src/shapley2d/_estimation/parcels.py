"""Draws on their way to workers of a cluster, and the one thread that each of these may use."""

from __future__ import annotations

import pickle
import sys
import threading
import uuid
from collections import OrderedDict
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import cloudpickle
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._estimation.draws import Draw, Draws

_kept: OrderedDict[bytes, Draws] = OrderedDict()
_lock = threading.Lock()


def pack(draws: Draws) -> tuple[bytes, bytes]:
    """Draws for :func:`draw_parcel`, with the name by which a worker keeps them."""
    return uuid.uuid4().bytes, cloudpickle.dumps(draws, protocol=5)


def draw_parcel(number: int, token: bytes, body: bytes) -> Draw:
    """A draw of a parcel, which a worker of a cluster unpacks only once."""
    with _lock:
        if token not in _kept:
            while len(_kept) >= 2:  # those of two runs, for calls that take turns
                _kept.popitem(last=False)
            _kept[token] = pickle.loads(body)  # noqa: S301  (packed by our own main process)
        draws = _kept[token]
    with single_threaded():
        return draws(number)


class _Limit:
    users = 0
    limit: Any = None


@lru_cache(maxsize=1)
def libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
    """The libraries with threads of their own, found again after imports: it takes 7 ms."""
    return ThreadpoolController()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread: equal sums everywhere, and no idle threads.

    The limit holds for the whole process; of several threads that set it, the last one lifts it.
    """
    with _lock:
        if not _Limit.users:
            _Limit.limit = libraries(len(sys.modules)).limit(limits=1)
        _Limit.users += 1
    try:
        yield
    finally:
        with _lock:
            _Limit.users -= 1
            if not _Limit.users:
                _Limit.limit.restore_original_limits()
