"""What a command prints: results on stdout, notes on stderr."""

from __future__ import annotations

import os
import sys
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shapley2d._base.compiling import COMPILING, note_compiling
from shapley2d._base.words import format_seconds, printable
from shapley2d.cli.streams import silence_stdout
from shapley2d.cli.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SILENT_S = 10.0  # shorter work needs no note
_PIPE_WIDTH = 200  # lines are not folded in a pipe
_notes: list[str] = []


class ResultConsole(Console):
    """stdout; a reader that has seen enough (``| head``) ends the command without an error."""

    def __init__(self) -> None:
        super().__init__(file=sys.stdout, highlight=False, soft_wrap=False)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = _PIPE_WIDTH

    def on_broken_pipe(self) -> NoReturn:
        silence_stdout()
        raise SystemExit(0)


class _NoteConsole(Console):
    """stderr; the work goes on when nobody reads it."""

    def __init__(self) -> None:
        super().__init__(file=sys.stderr, highlight=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        pass


def collect_notes() -> list[str]:
    """A new list that collects the notes of this command."""
    global _notes  # noqa: PLW0603  (one command to a process)
    _notes = []
    return _notes


def note(message: object, names: Mapping[str, str] | None = None, *, keep: bool = True) -> None:
    """Print a note on stderr, in the words of the command line.

    It is kept for the report, unless it is about the progress of the run.
    """
    words = in_words(message, names)
    if keep:
        _notes.append(words)
    _NoteConsole().print(Text("note: ", style="yellow"), Text(printable(words)), sep="")


class ProgressNotes:
    """Progress without a terminal: a note after 10 s, then one whenever the time has doubled."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = _SILENT_S

    def say(self, words: str) -> None:
        """Note a sentence about the run."""
        note(words, keep=False)

    def report(self, fraction: float, words: str, seconds_left: float | None) -> None:
        """Take note of progress."""
        elapsed = time.monotonic() - self._start
        if elapsed < self._next or fraction >= 1:
            return
        self._next = 2 * elapsed
        if seconds_left is not None and seconds_left < _SILENT_S:
            return
        done = f"{fraction:.0%} done " if fraction > 0 else ""
        left = "" if seconds_left is None else f", about {format_seconds(seconds_left)} left"
        what = f" ({words})" if words else ""
        note(f"{done}after {format_seconds(elapsed)}{left}{what}", keep=False)


def progress() -> Any:
    """The option ``progress`` of a command: a bar on a terminal, a few notes elsewhere."""
    if sys.stderr.isatty():
        return "auto"
    note_compiling(lambda: note(COMPILING, keep=False))
    return ProgressNotes()


@contextmanager
def warnings_as_notes(names: Mapping[str, str] | None = None) -> Iterator[None]:
    """Show the library's warnings as notes, each once, and hide those of other libraries."""
    seen: set[str] = set()

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message)
        if category.__module__.startswith("shapley2d") and text not in seen:
            seen.add(text)
            note(message, names)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


def make_table(title: Any, columns: Mapping[str, Sequence[Any]], dim: Sequence[str] = ()) -> Table:
    """A table without lines, from its columns by heading; ``dim`` are less important.

    Words from a user's table, which :func:`shown` made, stand left, all else right.
    """
    # "left" would fill the title with blanks
    table = Table(title=title, title_justify="default", box=None, pad_edge=False)
    for heading, cells in columns.items():
        words = any(isinstance(cell, Text) for cell in cells)
        table.add_column(
            heading, justify="left" if words else "right", style="dim" if heading in dim else ""
        )
    for line in zip(*columns.values(), strict=True):
        table.add_row(*line)
    return table


def shown(text: str | None, width: int = 40) -> Text:
    r"""Text from a table, safe for a terminal: no control characters, no markup, not too long."""
    if text is None:
        return Text("(empty)", style="dim")
    start = text[: width + 1]
    safe = printable(start)
    return Text(safe if len(safe) <= width else safe[: width - 1] + "…")
