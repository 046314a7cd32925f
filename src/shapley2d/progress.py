"""Progress of long work: a bar with an honest time left on a terminal, silence elsewhere, or a callback."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_S = 1.0  # work that ends sooner shows no bar


@contextmanager
def reporting(progress: Any, title: str) -> Iterator[Callable[[float, str], None]]:
    """Open a progress report and yield the function that feeds it.

    Parameters
    ----------
    progress : {"auto", True, False} or callable
        ``"auto"`` shows a bar when standard error is a terminal or in a notebook. A callable is handed
        ``(fraction, note)``.
    title : str
        What is being done.

    Examples
    --------
    >>> with reporting(lambda fraction, note: print(fraction, note), "counting") as report:
    ...     report(0.5, "half way")
    0.5 half way
    """
    if callable(progress):
        yield progress
    elif progress is False or progress is None or (progress == "auto" and not _watched()):
        yield lambda _fraction, _note: None
    elif progress is True or progress == "auto":
        bar = _Bar(title)
        try:
            yield bar.report
        finally:
            bar.close()
    else:
        raise InputError(f"progress={progress!r} is not known: use 'auto', True, False or a function")


def _watched() -> bool:
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


class _Bar:
    """A rich progress bar that appears once the work has proved long."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def report(self, fraction: float, note: str) -> None:
        elapsed = time.monotonic() - self._start
        if self._bar is None:
            if elapsed < _PATIENCE_S:
                return
            self._open()
        fraction = min(max(fraction, 0.0), 1.0)
        left = "" if fraction <= 0 else f"{format_seconds(elapsed * (1 - fraction) / fraction)} left"
        self._bar.update(self._task, completed=fraction, note=note, left=left)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("[dim]{task.fields[note]}"),
            console=console,
            transient=console.is_terminal,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._title, total=1.0, note="", left="")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def format_seconds(seconds: float) -> str:
    """A time span as a person says it.

    Examples
    --------
    >>> format_seconds(8.2), format_seconds(90), format_seconds(7300)
    ('8 s', '1 min 30 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
