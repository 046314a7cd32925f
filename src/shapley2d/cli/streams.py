"""The two streams of a command, and Ctrl-C, apart from what formats text, which loads later."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from shapley2d._base.words import format_seconds
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERRUPTED = 130
PATIENCE_S = 2.0
"""Where nobody sees a progress bar, longer work says that it goes on, and when it is done."""


def open_streams() -> None:
    """Make stdout and stderr usable: letters that their encoding lacks are escaped."""
    if sys.stderr is None:  # closed by the caller, as in ``2>&-``
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        raise InputError("standard output is closed: send it to a file or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def silence_stdout() -> None:
    """Discard what cannot be written, so that the interpreter's last flush does not complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, ValueError):  # there is none, or it is closed
        pass


def say(line: str) -> None:
    """Print a line on stderr, if anyone still reads it."""
    with suppress(OSError, ValueError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def stop_at_once(*_: Any) -> None:
    """What Ctrl-C does while code loads: there is nothing to keep, and no traceback to show."""
    os._exit(INTERRUPTED)


def at_interrupt(handler: Any) -> None:
    """Choose what Ctrl-C does from now on, where that can be chosen."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


def keep_at_interrupt() -> None:
    """From now on Ctrl-C ends the work in an orderly way: what there is is kept."""
    if signal.getsignal(signal.SIGINT) is stop_at_once:
        at_interrupt(signal.default_int_handler)


@contextmanager
def long_work() -> Iterator[None]:
    """Say on stderr that work takes more than a moment, and that it is done, without a terminal."""
    start, told = time.monotonic(), []

    def tell() -> None:
        told.append(True)
        say("note: still at work")

    timer = threading.Timer(PATIENCE_S, tell)
    timer.daemon = True
    if sys.stderr is not None and not sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if told:
            say(f"note: ended after {format_seconds(time.monotonic() - start)}")
