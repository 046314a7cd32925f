"""Progress of long runs: a bar with the time left on a terminal, a callback, or nothing."""

from __future__ import annotations

import sys
import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from shapley2d._base.compiling import COMPILING
from shapley2d._base.words import format_seconds, shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_S = 0.7  # shorter runs show no bar
IN_TIME = 'max_time="{limit}" (--max-time {limit}) gives the best answer within {time}'
"""How a run whose answer gets better with time could be shorter."""

_SURE_S = 2.0  # of work before the time left is certain enough to be told
_MINUTES = 5  # of a time limit that is proposed, at most
_FIRST_NOTE = "starting"


def _cache() -> Any:
    """The module that compiled code needs; None as long as nothing has needed it."""
    return sys.modules.get("shapley2d._base.cache")


def now() -> float:
    """The clock of work: it stands still while code is being compiled, once per machine."""
    return monotonic() - (_cache().compiled_for() if _cache() else 0.0)


class Report(Protocol):
    """The function that updates a progress report."""

    def __call__(self, fraction: float, note: str, seconds_left: float | None = None) -> None:
        """Report the share that is done, and the time left where the caller knows it better."""


@runtime_checkable
class Display(Protocol):
    """What shows the progress of a run."""

    def report(self, fraction: float, note: str, seconds_left: float | None) -> None:
        """Show how far the run is."""

    def say(self, words: str) -> None:
        """Show a sentence about the run."""


@dataclass
class RunProgress:
    """The option ``progress`` of a run, and its one notice of a long run."""

    option: Any  # "auto", True, False
    takes_limit: bool = False  # whether the call could have a time limit, and has none
    otherwise: str = ""  # another way to the values that takes less time, as a phrase
    said: bool = False

    def foretell(self, seconds: float) -> None:
        """Say before the work begins how long it may take, where that is not soon."""
        if seconds <= 20 or (display := _open_display(self.option, "preparing")) is None:
            return
        self.announce(display, seconds, IN_TIME, "Up to about {}.")
        if isinstance(display, _Bar):
            display.close()

    def announce(
        self, display: Display, seconds: float, in_time: str, start: str = "About {} left."
    ) -> None:
        """Say once how long the run takes, and what takes less time."""
        if self.said:
            return
        self.said = True
        minutes_left = 60 * round(seconds / 60)
        about = format_seconds(minutes_left if minutes_left > 60 else seconds).removesuffix(" 0 s")
        ways = [self.otherwise] if self.otherwise else []
        if self.takes_limit and in_time:
            minutes = min(max(round(seconds / 600), 1), _MINUTES)
            words = "a minute" if minutes == 1 else f"{minutes} minutes"
            ways.insert(0, in_time.format(limit=f"{minutes}m", time=words))
        sentences = [start.format(about), *([f"{'; '.join(ways)}."] if ways else [])]
        display.say(" ".join(sentences))


def check_progress(progress: Any) -> None:
    """Check the option ``progress``."""
    flag = any(progress is choice for choice in (None, True, False))
    auto = isinstance(progress, str) and progress == "auto"
    if not (callable(progress) or flag or auto or isinstance(progress, (Display, RunProgress))):
        raise InputError(
            f"progress={shown(progress)} is not known: use 'auto', True, False or a function"
        )


@contextmanager
def reporting(progress: Any, title: str, in_time: str = IN_TIME) -> Iterator[Report]:
    """Open a progress report and yield the function that updates it.

    A run that looks longer than a minute says so, once, by what it has done in its first seconds.
    ``progress`` is "auto" (a bar when standard error is a terminal
    or in a notebook), True, False, a Display, or a callable that receives ``(fraction, note)``; the
    note includes the time left where it is known, and ``fraction`` is the share of the time then.
    Compiling does not count. ``in_time`` says what a time limit of
    ``{limit}``, in words ``{time}``, would give; empty for nothing.
    """
    check_progress(progress)
    run = progress if isinstance(progress, RunProgress) else RunProgress(progress)
    display = _open_display(run.option, title)
    if display is None:
        yield lambda fraction, note, seconds_left=None: None  # noqa: ARG005
        return
    clock, begin, done, shown = _Clock(), now(), 0.0, 0.0

    def report(fraction: float, note: str, seconds_left: float | None = None) -> None:
        left = clock.seconds_left(fraction, seconds_left)
        nonlocal done, shown
        shown, done = (0.0 if fraction < done else shown), fraction  # less is another stage
        if left is not None and left > 0:  # a share of the time, which fits what is left of it
            fraction = shown = max((now() - begin) / (now() - begin + left), shown)
        display.report(fraction, note, left)
        if left is not None and left > 60:
            run.announce(display, left, in_time)

    try:
        yield report
    finally:
        if isinstance(display, _Bar):
            display.close()


def _open_display(option: Any, title: str) -> Display | None:
    if isinstance(option, Display):
        return option
    if callable(option):
        return _Calls(option)
    return _Bar(title) if option and (option != "auto" or _watched()) else None


class _Clock:
    """The time that a run has left, by the share it has done since the first report.

    A share that falls begins another stage of the run, which has a pace of its own.
    """

    def __init__(self) -> None:
        self._begin, self._before, self._done = now(), 0.0, 0.0
        self._wait = 10.0  # before the first report workers start and compiled code loads

    def seconds_left(self, fraction: float, known: float | None) -> float | None:
        """Seconds left, those ``known`` to the caller if any; None while that is uncertain."""
        here = now()
        worked, share, wait = here - self._begin, fraction - self._before, self._wait
        if wait > _SURE_S or fraction < self._done:
            self._begin, self._before, self._wait = here, fraction, _SURE_S
        self._done = fraction
        if worked < wait:
            return None
        if known is not None:
            return known
        return worked * (1 - fraction) / share if share > 0 else None


class _Calls:
    """Progress that a function of the user's is called with."""

    def __init__(self, call: Callable[[float, str], object]) -> None:
        self._call, self._done = call, 0.0

    def report(self, fraction: float, note: str, seconds_left: float | None) -> None:
        self._done = fraction
        left = f"{format_seconds(seconds_left)} left" if seconds_left else ""
        self._call(fraction, "; ".join(words for words in (note, left) if words))

    def say(self, words: str) -> None:
        self._call(self._done, words)


def _watched() -> bool:
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


class _Bar:
    """A rich progress bar that appears after a moment, even if nothing was reported yet."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._start = monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._closed = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(_PATIENCE_S, self._open)
        self._timer.daemon = True
        self._timer.start()

    def report(self, fraction: float, note: str, seconds_left: float | None) -> None:
        if self._bar is None:
            if monotonic() - self._start < _PATIENCE_S:
                return
            self._open()
        fraction = min(max(fraction, 0.0), 1.0)
        left = "" if seconds_left is None else f"{format_seconds(seconds_left)} left"
        self._bar.update(self._task, completed=fraction, note=note, left=left)

    def say(self, words: str) -> None:
        self._open()
        self._bar.console.print(words, markup=False, highlight=False, soft_wrap=True)

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
                compiles = _cache() is not None and _cache().compiling()
                return Text(COMPILING if compiles else task.fields["note"], style="dim")

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
        self._marks = deque([(now(), 0)], maxlen=60)  # at least a second apart

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
