"""What a command prints: results on stdout, notes on stderr."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shapley2d._base.compiling import COMPILING, note_compiling
from shapley2d._base.words import format_seconds, printable
from shapley2d.cli.streams import say
from shapley2d.cli.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from shapley2d._valuation.units import Unit

_SILENT_S = 10.0  # shorter work needs no note
_PIPE_WIDTH = 100_000  # lines are not folded in a pipe
_notes: list[str] = []


def show(*parts: str | Text | Table) -> None:
    """Print results: what is not a table is a paragraph, which no line break of ours cuts."""
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    with console.capture() as held:
        for part in parts:
            words = Text(printable(part, "\n")) if isinstance(part, str) else part
            console.print(words, soft_wrap=isinstance(words, Text))
    for line in held.get().splitlines():
        sys.stdout.write(f"{line.rstrip()}\n")


def show_files(files: dict[str, Path]) -> None:
    """Print where the files are."""
    show(*(f"{what}: {path}" for what, path in files.items()))


def show_json(record: dict[str, Any]) -> None:
    """Print one JSON object in ASCII, of which JSON itself leaves DEL as it is."""
    text = json.dumps(record, indent=2, default=str)  # paths of files
    sys.stdout.write(text.replace("\x7f", r"\u007f") + "\n")


def collect_notes() -> list[str]:
    """A new list that collects the notes of this command."""
    global _notes  # noqa: PLW0603  (one command to a process)
    _notes = []
    return _notes


def note(message: object, *, keep: bool = True) -> None:
    """Print a note on stderr, in the words of the command line.

    It is kept for the report, unless it is about the progress of the run.
    """
    words = in_words(message)
    if keep:
        _notes.append(words)
    mark = "\033[33mnote: \033[0m" if sys.stderr.isatty() else "note: "
    say(mark + printable(words))


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
def warnings_as_notes() -> Iterator[None]:
    """Show the library's warnings as notes, each once, and hide those of other libraries."""
    seen: set[str] = set()

    def tell(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message)
        if category.__module__.startswith("shapley2d") and text not in seen:
            seen.add(text)
            note(message)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell
        yield


def titled(title: str, columns: Mapping[str, Sequence[Any]], *dim: str) -> list[Text | Table]:
    """A title and a table without lines, from its columns by heading; ``dim`` matter less.

    Words from a user's table, which :func:`shown` made, stand left, all else right.
    """
    table = Table(box=None, pad_edge=False)
    for heading, cells in columns.items():
        words = any(isinstance(cell, Text) for cell in cells)
        table.add_column(
            heading, justify="left" if words else "right", style="dim" if heading in dim else ""
        )
    for line in zip(*columns.values(), strict=True):
        table.add_row(*line)
    return [Text(title, style="italic"), table]


def how_many(count: int, found: Sequence[Any]) -> str:
    """Behind a title, how many of a list are shown, where that is not all of it."""
    return f" ({count} of {len(found)})" if count < len(found) else ""


def shown(text: str | None, width: int = 40) -> Text:
    r"""Text from a table, safe for a terminal: no control characters, no markup, not too long."""
    if text is None:
        return Text("(empty)", style="dim")
    safe = printable(text[: width + 1])
    return Text(safe if len(safe) <= width else safe[: width - 1] + "…")


def worth_columns(
    unit: Unit, values: Sequence[float], halves: Sequence[float]
) -> dict[str, list[Any]]:
    """Columns of values, and of half the widths of their intervals where there are errors."""
    columns: dict[str, list[Any]] = {unit.words or "value": unit.numbers(values, signed=True)}
    if any(halves):  # sums may be exact where cells are not
        columns["95 %"] = [half and f"+- {half}" for half in unit.spreads(halves, values)]
    return columns


def place_columns(
    cells: Sequence[dict[str, Any]], widths: dict[str, int], *, named: bool
) -> dict[str, list[Any]]:
    """Where cells are and what they hold; unnamed rows go by their lines alone."""
    lined = cells[0].get("line") is not None
    columns: dict[str, list[Any]] = {}
    if named or not lined:
        columns["row"] = [str(shown(str(cell["row"]), 24)) for cell in cells]
    if lined:
        columns["line"] = [str(cell["line"]) for cell in cells]
    for name, width in widths.items():
        columns[name] = [shown(cell[name], width) for cell in cells]
    return columns
