"""Edits of single cells: found by row and column, and read as the table was read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import as_text, is_missing
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import did_you_mean, entry_text
from shapley2d._tables.kinds import KIND_PLURALS, match_column
from shapley2d._tables.table import MILLISECONDS_PER_DAY
from shapley2d._tables.target import LABEL
from shapley2d._tables.texts.column import as_texts, text_column
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target


@dataclass(frozen=True)
class Edits:
    """Rows with changed cells."""

    rows: Ints  # (k,): their positions in the table
    table: Table  # these rows with their new entries
    target: Target  # of all rows, with the new labels
    relabels: bool  # whether there are new labels


def read_edits(problem: Problem, changes: Any) -> Edits:
    """Read new entries, by the names of their rows and columns, as the table was read."""
    table, m, cells = problem.table, problem.table.n_columns, _cells(problem, changes)
    texts: dict[str, dict[int, str | None]] = {}
    target = problem.target
    codes, y = target.codes.copy(), target.y.astype(object)
    places = {i: k for k, i in enumerate(sorted({i for i, _ in cells}))}
    for (i, j), entry in sorted(cells.items(), key=lambda item: item[0]):
        if j == m:
            label = codes[i] = _label(target, entry)
            y[i] = target.classes[int(label)] if target.classes.size else label
        else:
            column = table.columns[j]
            texts.setdefault(column.name, {})[places[i]] = _text(entry, column)
    taken = np.array(list(places), dtype=np.intp)
    rows = table.take_rows(taken)
    with without_warnings():
        columns = tuple(_changed(one, texts.get(one.name, {})) for one in rows.columns)
        native = _native(rows.native, columns, texts) if texts else rows.native
    rows = replace(rows, columns=columns, frame=native, rows=None)
    return Edits(taken, rows, replace(target, codes=codes, y=y), any(j == m for _, j in cells))


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


def _changed(column: Column, changes: Mapping[int, str | None]) -> Column:
    """A column with some entries replaced; one that is not of its kind is refused."""
    if not changes:
        return column
    read = text_column(as_texts([*changes.values()]), column.name, like=column)
    mixed = read.kind == "category" and column.kind != "category"
    for text, entry in zip(changes.values(), read.entries.tolist(), strict=True):
        odd = column.kind == "boolean" and entry not in (0.0, 1.0)
        if text is not None and (mixed or np.isnan(entry) or odd):
            held = KIND_PLURALS[column.kind]
            raise InputError(
                f"column {column.name!r} holds {held}, and {text!r} is not one of them"
            )
    new = match_column(read, column, "changes")
    entries = column.entries.copy()
    entries[[*changes]] = new.entries
    return replace(column, held=entries, rows=None, categories=new.categories)


def _native(
    native: Any, columns: Sequence[Column], changes: Mapping[str, Mapping[int, Any]]
) -> Any:
    """The user's kind of table with the new entries, which steps before a model may read."""
    new = {
        column.name: {k: _plain(column, float(column.entries[k])) for k in changes[column.name]}
        for column in columns
        if column.name in changes
    }
    if isinstance(native, np.ndarray):
        numeric = native.dtype.kind in "biuf"
        native = native.astype(np.float64 if numeric else object)
        for j, column in enumerate(columns):
            for k, entry in new.get(column.name, {}).items():
                native[k, j] = np.nan if numeric and entry is None else entry
        return native
    frame = nw.from_native(native, eager_only=True)
    for key in frame.columns:
        if str(key) in new:
            series = frame.get_column(key)
            part = (changes if series.dtype == nw.String else new)[str(key)]
            frame = frame.with_columns(_replaced(series, part).alias(key))
    return frame.to_native()


def _replaced(series: nw.Series[Any], changes: Mapping[int, Any]) -> nw.Series[Any]:
    """A series with some entries replaced, of its own type if that holds them."""
    items = series.to_list()
    zoned = any(getattr(item, "tzinfo", None) for item in items)
    typed = series.dtype in (nw.Categorical, nw.Enum)  # categories may be numbers
    known = {as_text(one): one for one in series.cat.get_categories().to_list()} if typed else {}
    for k, entry in changes.items():
        zone = zoned and isinstance(entry, datetime)
        items[k] = entry.replace(tzinfo=UTC) if zone else known.get(entry, entry)
    with suppress(Exception):  # every library has errors of its own for what does not fit
        own = nw.new_series(series.name, items, series.dtype, backend=series.implementation)
        if own.to_list() == items:  # pyarrow drops decimals
            return own
    return nw.new_series(series.name, items, backend=series.implementation)


def _plain(column: Column, entry: float) -> Any:
    """An entry as a Python object; None where it is missing."""
    if np.isnan(entry):
        return None
    if column.kind == "category":
        return column.categories[int(entry)]
    if column.kind == "date":
        return datetime.fromisoformat(str(np.datetime64(round(entry * MILLISECONDS_PER_DAY), "ms")))
    if column.kind == "boolean":
        return bool(entry)
    return int(entry) if entry.is_integer() else entry


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
