"""Progress of long runs: a bar with the time left on a terminal, a callback, or nothing."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from shapley2d._base.clock import compiling, now
from shapley2d._base.words import format_seconds
from shapley2d.exceptions import InputError, Setting, Worded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_S = 0.7  # shorter runs show no bar
LONG_S = 120.0
"""A run with more time left says how it could be shorter."""

CTRL_C = "Ctrl-C stops it and keeps the result so far"
"""The advice of a long run that has a time limit."""

SHORTER = f"To shorten it, set a time limit (max_time, on the command line --max-time 5m); {CTRL_C}"
"""The advice of a long run, unless :func:`reporting` is given another."""

_SURE_S = 5.0  # before that, the time left is too uncertain for advice
_FIRST_NOTE = "starting"
_COMPILING = "compiling (only in the first run)"
_MARKS = 60  # times, at least a second apart: the pace is that of about the last minute


class Report(Protocol):
    """The function that updates a progress report."""

    def __call__(self, fraction: float, note: str, seconds_left: float | None = None) -> None:
        """Report the share that is done, and the time left where the caller knows it better."""


def check_progress(progress: Any) -> None:
    """Check the option ``progress``."""
    flag = any(progress is choice for choice in (None, True, False))
    auto = isinstance(progress, str) and progress == "auto"
    if not (callable(progress) or flag or auto):
        raise InputError(
            Setting("progress", progress), " is not known: use 'auto', True, False or a function"
        )


@contextmanager
def reporting(progress: Any, title: str, shorter: str = SHORTER) -> Iterator[Report]:
    """Open a progress report and yield the function that updates it.

    Parameters
    ----------
    progress : {"auto", True, False} or callable
        ``"auto"`` shows a bar when standard error is a terminal or in a notebook. A callable
        receives ``(fraction, note)``; the note includes the time left where it is known.
    title : str
        What is being done.
    shorter : str
        How it could be shorter, and what Ctrl-C does; a callable with an attribute ``shorter``
        receives it there.

    Examples
    --------
    >>> with reporting(lambda fraction, note: print(fraction, note), "counting") as report:
    ...     report(0.5, "half way")
    0.5 half way
    """
    check_progress(progress)
    if callable(progress):
        if hasattr(progress, "shorter"):
            progress.shorter = shorter
        yield _calling(progress)
    elif not progress or (progress == "auto" and not _watched()):
        yield lambda fraction, note, seconds_left=None: None  # noqa: ARG005
    else:
        bar = _Bar(title, shorter)
        try:
            yield bar.report
        finally:
            bar.close()


def announce(progress: Any, words: str | Worded) -> None:
    """Show a line before a run starts, where its progress will be shown.

    A callable with a method ``announce`` receives the words there; any other is called with
    ``(0, words)``.

    Examples
    --------
    >>> announce(lambda fraction, note: print(fraction, note), "planned: about 2 min")
    0.0 planned: about 2 min
    >>> announce(False, "nobody listens")
    """
    if callable(progress):
        tell = getattr(progress, "announce", None)
        if tell is None:
            progress(0.0, str(words))
        else:
            tell(words)
    elif progress and (progress != "auto" or _watched()):
        from rich.console import Console

        Console(stderr=True).print(str(words), markup=False, highlight=False, soft_wrap=True)


def _calling(progress: Callable[[float, str], object]) -> Report:
    def report(fraction: float, note: str, seconds_left: float | None = None) -> None:
        left = f"{format_seconds(seconds_left)} left" if seconds_left else ""
        progress(fraction, "; ".join(words for words in (note, left) if words))

    return report


def _watched() -> bool:
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


class _Bar:
    """A rich progress bar that appears after a moment, even if nothing was reported yet."""

    def __init__(self, title: str, shorter: str = SHORTER) -> None:
        self._title, self._shorter = title, shorter
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._closed = self._hinted = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(_PATIENCE_S, self._open)
        self._timer.daemon = True
        self._timer.start()

    def report(self, fraction: float, note: str, seconds_left: float | None = None) -> None:
        elapsed = time.monotonic() - self._start
        if self._bar is None:
            if elapsed < _PATIENCE_S:
                return
            self._open()
        fraction = min(max(fraction, 0.0), 1.0)
        if seconds_left is None and fraction > 0:
            seconds_left = elapsed * (1 - fraction) / fraction
        left = "" if seconds_left is None else f"{format_seconds(seconds_left)} left"
        self._bar.update(self._task, completed=fraction, note=note, left=left)
        takes_long = elapsed >= _SURE_S and seconds_left is not None and seconds_left >= LONG_S
        if takes_long and not self._hinted and seconds_left is not None:
            self._hinted = True
            self._bar.console.print(
                f"{self._title}: about {format_seconds(seconds_left)} left. {self._shorter}."
            )

    def _open(self) -> None:
        with self._lock:
            if self._bar is None and not self._closed:
                self._show()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.text import Text

        class Note(ProgressColumn):
            """The latest note, or that numba is compiling."""

            def render(self, task: Any) -> Text:
                return Text(_COMPILING if compiling() else task.fields["note"], style="dim")

        console = Console(stderr=True)
        if console.is_jupyter and find_spec("ipywidgets") is None:
            # without it rich shows a warning in the place of a bar; notebooks overwrite a line, too
            console = Console(stderr=True, force_jupyter=False, force_terminal=True, width=100)
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            Note(),
            console=console,
            transient=console.is_terminal,
        )
        self._task = bar.add_task(self._title, total=1.0, note=_FIRST_NOTE, left="")
        bar.start()
        self._bar = bar

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()


class Pace:
    """Seconds per step over about the last minute of this run.

    Early steps are slow (workers start), so only recent ones count.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._marks = deque([(now(), 0)], maxlen=_MARKS)

    def tick(self) -> None:
        """Count a step."""
        self._steps += 1
        here = now()
        if self._steps == 1:
            self._first = here - self._marks[0][0]
            self._marks[0] = (here, 1)
        elif here - self._marks[-1][0] >= 1.0:
            self._marks.append((here, self._steps))

    def seconds(self) -> float | None:
        """Seconds per step; None before the first."""
        if not self._steps:
            return None
        if self._steps == 1:
            return self._first
        since, steps = self._marks[0]
        return (now() - since) / max(1, self._steps - steps)
