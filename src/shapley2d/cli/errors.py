"""Errors as one line for a person and an exit code for a shell."""

from __future__ import annotations

import errno
import os
import re
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from shapley2d._base.words import did_you_mean, printable
from shapley2d.cli.streams import INTERRUPTED, say
from shapley2d.cli.wording import in_words
from shapley2d.exceptions import InputError, UtilityError, cut_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shapley2d._valuation.valuation import Valuation

USER_ERROR = 2
OUR_ERROR = 1
STANDS_OUT = 3

_DEBUG = "SHAPLEY2D_DEBUG"

# what other programs call --max-time
_LIKE_MAX_TIME = (
    "--timeout", "--time-out", "--time-limit", "--timelimit", "--max-seconds", "--limit"
)  # fmt: skip

_THEIR_WORDS = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": (
        "it must be a whole number"
    ),
    "Input should be a valid number, unable to parse string as a number": (
        "it must be a number such as 1500 or 99.5, without a currency or a thousands separator"
    ),
    "Input should be greater than or equal to": "it must be at least",
    "Input should be less than or equal to": "it must be at most",
    "Input should be greater than": "it must be more than",
    "Input should be less than": "it must be less than",
    "Input should be": "it must be",
}
_NOT_ONE_OF = re.compile(r"'([^']*)' is not one of (.*)\.")

# as Python, the dynamic linker, LLVM, OpenBLAS and Arrow put it
_NO_THREADS = ("can't start new thread", "resource temporarily unavailable", "pthread_create")
_NO_MEMORY = (
    "failed to map segment",
    "cannot allocate memory",
    "unable to allocate",
    "out of memory",
    "bad_alloc",
)

# typer bundles click since 0.27 and required it before; both derive their errors from this class
UsageError: Any = typer.BadParameter.__base__


@contextmanager
def computing(checkpoint: Path | None = None) -> Iterator[None]:
    """Say at Ctrl-C that there are no values, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        kept = checkpoint is not None and checkpoint.exists()
        state = f"the same command goes on from {checkpoint}" if kept else "nothing was written"
        say(f"shapley2d: interrupted before there were values; {state}")
        raise typer.Exit(INTERRUPTED) from None


def stop_if_partial(valuation: Valuation) -> None:
    """Report that Ctrl-C ended the work early, after its results are out."""
    if valuation.info.get("interrupted"):
        say("shapley2d: interrupted: these are the values so far, stderr shows how precise")
        raise typer.Exit(INTERRUPTED)


def report_error(error: Exception) -> int:
    """Print one line on stderr; return the exit code."""
    code, line = _assess(error)
    if os.environ.get(_DEBUG):
        traceback.print_exception(error)
    elif code == OUR_ERROR:
        line += f" (this is a bug in shapley2d; to see where, run it again with {_DEBUG}=1)"
    say(f"shapley2d: error: {printable(line)}")
    return code


def _assess(error: Exception) -> tuple[int, str]:
    if any(isinstance(one, KeyboardInterrupt) for one in _causes(error)):
        return INTERRUPTED, "interrupted"
    if isinstance(error, UsageError):
        wrong = _one_line(_in_our_words(error.format_message()))
        if (name := getattr(error, "option_name", None)) in _LIKE_MAX_TIME:
            wrong = f"No such option: {name} (did you mean --max-time?)"
        return USER_ERROR, f"{wrong} (--help shows the options)"
    if isinstance(error, InputError):
        return USER_ERROR, _one_line(in_words(error))
    if isinstance(error, UtilityError):
        return USER_ERROR, f"the model cannot be trained: {_one_line(str(error))}"
    if short := _shortage(error):
        return USER_ERROR, short
    if isinstance(error, OSError) and error.errno is not None:
        return USER_ERROR, _os_error(error)
    return OUR_ERROR, f"{type(error).__name__}: {_one_line(str(error))}"


def _in_our_words(wrong: str) -> str:
    """What typer and the library that reads its numbers say, as this program says it."""
    for theirs, ours in _THEIR_WORDS.items():
        wrong = wrong.replace(theirs, ours)
    if found := _NOT_ONE_OF.search(wrong):
        known = re.findall(r"'([^']*)'", found[2])
        wrong += did_you_mean(found[1], known)
    return wrong


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it came from, which say more of what happened."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _shortage(error: BaseException) -> str:
    """What the machine is short of, and what would do; empty if nothing of that kind is known.

    Libraries say it in words of their own, most often in the error behind theirs.
    """
    for one in _causes(error):
        words = str(one).lower()
        number = one.errno if isinstance(one, OSError) else None
        if number == errno.EAGAIN or any(told in words for told in _NO_THREADS):
            return (
                "the system allows no more threads or processes: use --jobs 1 and set "
                "OPENBLAS_NUM_THREADS=1, or raise the limit (ulimit -u and -v, or those of the "
                "container)"
            )
        if (
            isinstance(one, MemoryError)
            or number == errno.ENOMEM
            or any(told in words for told in _NO_MEMORY)
        ):
            return (
                "not enough memory: value fewer rows, use fewer --jobs, or raise the limit "
                "(ulimit -v, or that of the container; 1 GB is enough for small tables)"
            )
    return ""


def _os_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{where}the disk is full: free some space or write elsewhere; nothing was left half "
            "written"
        )
    if error.errno == errno.EACCES:
        return f"{where}permission denied: choose another place, or change the permissions"
    return f"{where}{error.strerror or error}"


def _one_line(message: str) -> str:
    return cut_names(" ".join(message.split()))
