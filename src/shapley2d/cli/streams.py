"""The two streams of a command, apart from what formats them, which takes longer to load."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from shapley2d.exceptions import InputError


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
