"""Silence while models train, in as many threads as there are.

``warnings.catch_warnings`` saves and puts back filters that all threads share: where two threads use it at the same
time, one hears the other's warnings, and the filters may stay changed for good. Here the first thread to enter changes
them, and the last one to leave puts them back.
"""

from __future__ import annotations

import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()
_inside: list[warnings.catch_warnings[None]] = []  # what to put back, then one entry per further thread


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore all warnings, until the last thread has left.

    Examples
    --------
    >>> with without_warnings():
    ...     warnings.warn("nobody hears this", stacklevel=1)
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with _lock:
        _inside.append(warnings.catch_warnings())
        if len(_inside) == 1:
            _inside[0].__enter__()
            warnings.simplefilter("ignore")


def _leave() -> None:
    with _lock:
        if len(_inside) > 1:
            _inside.pop()
        else:
            _inside.pop().__exit__(None, None, None)
