"""Code is compiled once per machine, which takes seconds: whoever waits hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

COMPILING = "compiling, once per machine"
_notes: list[Callable[[], object]] = []


def note_compiling(note: Callable[[], object]) -> None:
    """Call ``note`` once in this process, where code is compiled for more than a moment."""
    if not _notes:
        _notes.append(note)


def compiles_long() -> None:
    """Code has been compiled for more than a moment."""
    for note in _notes:
        note()
    _notes[:] = [lambda: None]
