"""Edits of single cells: found by row and column, and read as the table was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import as_text, is_missing
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import did_you_mean, entry_text
from shapley2d._tables.changes import change_cells
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import KIND_PLURALS, match_columns
from shapley2d._tables.target import LABEL
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d._base.arrays import Ints
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target


@dataclass(frozen=True)
class Edits:
    """Rows with changed cells."""

    rows: Ints  # (k,): their positions in the table
    table: Table | None  # these rows with their new entries; None where only labels are new
    labels: dict[int, float]  # new codes of labels, or new targets, by position among the k rows


def read_edits(problem: Problem, changes: Any) -> Edits:
    """Read new entries, by the names of their rows and columns, as the table was read."""
    table, m, cells = problem.table, problem.table.n_columns, _cells(problem, changes)
    texts: dict[str, dict[int, str | None]] = {}
    labels: dict[int, float] = {}
    places = {i: k for k, i in enumerate(sorted({i for i, _ in cells}))}
    for (i, j), entry in sorted(cells.items(), key=lambda item: item[0]):
        if j == m:
            labels[places[i]] = _label(problem.target, entry)
        else:
            column = table.columns[j]
            texts.setdefault(column.name, {})[places[i]] = _text(entry, column)
    taken = np.array(list(places), dtype=np.intp)
    if not texts:
        return Edits(taken, None, labels)
    with without_warnings():
        native = change_cells(table.take_rows(taken).native, texts)
        read = as_table(native, "changes", like=table)
        _check_kinds(read, table, texts)
        return Edits(taken, match_columns(read, table, "changes"), labels)


def _cells(problem: Problem, changes: Any) -> dict[tuple[int, int], Any]:
    """New entries by position; the label's column comes after all others.

    A row is found by its name, or by its position where no row has that name. The label is
    ``"(label)"``, or as it is called where it is valued.
    """
    if not hasattr(changes, "items"):
        kind = type(changes).__name__
        raise InputError(f"changes are a dict from (row, column) to the new entry, not {kind}")
    table = problem.table
    names = [*table.column_names, LABEL, *([problem.label] if problem.label is not None else [])]
    columns = {name: min(j, table.n_columns) for j, name in reversed([*enumerate(names)])}
    rows = {str(name): i for i, name in reversed([*enumerate(table.row_names.tolist())])}
    found = {}
    for key, entry in changes.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise InputError(f"a change is keyed by (row, column), not by {key!r}")
        row, column = key
        i = rows.get(as_text(row))
        is_position = isinstance(row, (int, np.integer)) and not isinstance(row, bool)
        if i is None and is_position and 0 <= row < len(rows):
            i = int(row)
        if i is None:
            raise InputError(f"there is no row {row!r}")
        name = as_text(column)
        if name not in columns:
            raise InputError(f"there is no column {name!r}{did_you_mean(name, names)}")
        found[i, columns[name]] = entry
    return found


def _check_kinds(read: Table, table: Table, changes: Mapping[str, Mapping[int, Any]]) -> None:
    """Refuse new entries that are not of their column's kind."""
    for column, wanted in zip(read.columns, table.columns, strict=True):
        is_text = column.kind == "category" and wanted.kind != "category"
        for k, text in changes.get(wanted.name, {}).items():
            if text is not None and (is_text or np.isnan(column.entries[k])):
                held = KIND_PLURALS[wanted.kind]
                raise InputError(
                    f"column {wanted.name!r} holds {held}, and {text!r} is not one of them"
                )


def _text(entry: Any, column: Column) -> str | None:
    """A new entry as text that reads as the column does; None where it is missing."""
    if is_missing(entry):
        return None
    if not isinstance(entry, (float, np.floating)):
        return as_text(entry)
    text = entry_text(float(entry))
    return text.replace(".", ",") if column.from_text.notation == "decimal commas" else text


def _label(target: Target, entry: Any) -> float:
    """The code of a label, or a number to predict."""
    if target.task == "regression":
        try:
            number = float(entry)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise InputError(f"the label must be a number, not {entry!r}")
        return number
    code = class_of(target, entry)
    if code is None:
        shown = ", ".join(repr(as_text(label)) for label in target.classes[:5].tolist())
        raise InputError(f"no training row has the label {entry!r}: labels are {shown}")
    return float(code)


def class_of(target: Target, label: Any) -> int | None:
    """The number of a label that a user names, as it is or as text; None for an unknown one."""
    texts = {as_text(known): k for k, known in enumerate(target.classes.tolist())}
    plain = label.item() if isinstance(label, np.generic) else label
    code = texts.get("" if is_missing(plain) else as_text(plain))
    if code is None and isinstance(plain, float) and plain.is_integer():
        code = texts.get(entry_text(plain))
    return code
