"""Warnings that point at the user's line, and silence while models train.

``warnings.catch_warnings`` saves and restores filters that all threads share. When two threads use
it at once, one sees the other's warnings and the filters may stay changed for good. Here the first
thread to enter changes them and the last to leave restores them.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shapley2d.exceptions import InputWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_lock = threading.Lock()
# the filters to restore, then one entry per further thread
_inside: list[warnings.catch_warnings[None]] = []


def warn(warning: Warning) -> None:
    """Warn at the line of the user's code that called the package."""
    warnings.warn(warning, stacklevel=find_stacklevel())


def warn_input(message: str) -> None:
    """Warn of what the user passed."""
    warn(InputWarning(message))


def find_stacklevel() -> int:
    """The ``stacklevel``, seen from the caller, of the first frame outside the package."""
    # inspect.stack reads source files, which takes milliseconds
    frame = sys._getframe(1)  # noqa: SLF001
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            break
        frame = frame.f_back
        level += 1
    return level


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore all warnings until the last thread has left."""
    with _lock:
        _inside.append(warnings.catch_warnings())
        if len(_inside) == 1:
            _inside[0].__enter__()
            warnings.simplefilter("ignore")
    try:
        yield
    finally:
        with _lock:
            last = _inside.pop()
            if not _inside:
                last.__exit__(None, None, None)
