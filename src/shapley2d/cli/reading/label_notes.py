"""Notes on the labels of a table: labels that look wrong, and classes that may be misspelt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shapley2d._base.progress import reporting
from shapley2d._base.warnings import without_warnings
from shapley2d._tables.label_check import MAX_ROWS, disagreeing_rows, rare_classes
from shapley2d._tables.target import as_target
from shapley2d.cli.console import progress
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d.cli.reading.inputs import Inputs

_NAMED = 3


def label_notes(inputs: Inputs, task: str, *, valued: bool) -> list[str]:
    """Problems that a quick look at the labels finds; ``valued``: they are valued anyway."""
    try:
        with without_warnings():
            target = as_target(inputs.y, inputs.X, task)
    except InputError:  # reported where the target is used
        return []
    table = replace(inputs.X, row_names=inputs.row_names)
    if target.kept is not None:
        table = table.take_rows(target.kept)
    with reporting(progress(), "looking at the labels"):
        found = disagreeing_rows(table, target)
    looked = min(table.n_rows, MAX_ROWS)
    chosen = "" if looked == table.n_rows else "a random "
    notes = []
    if found.size >= max(3, 0.01 * looked):  # fewer are not worth a note
        more = ", ..." if found.size > _NAMED else ""
        word, names = ("rows", table.row_names) if table.lines is None else ("lines", table.lines)
        rows = ", ".join(str(names[row]) for row in found[:_NAMED]) + more
        advice = "" if valued else "; see which with --include-label"
        notes.append(
            f"{found.size} of {chosen}{looked} labels in {inputs.target!r} look wrong: nearly all "
            f"similar rows have another label ({word} {rows}){advice}"
        )
    rare = rare_classes(target)
    if rare:
        words = [
            f"{name!r} {'once' if count == 1 else 'twice'}"
            + (f", perhaps {like!r}" if like else "")
            for name, count, like in sorted(rare, key=lambda one: one[2] is None)[:_NAMED]
        ]
        more = ", ..." if len(rare) > _NAMED else ""
        notes.append(f"classes of {inputs.target!r} that hardly occur: {'; '.join(words)}{more}")
    return notes
