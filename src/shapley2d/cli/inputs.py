"""From files to the library's arguments: features, target, validation table, checked.

Also notes on labels that look wrong.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.progress import reporting
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import plural, printable
from shapley2d._tables.column_warnings import find_keys, in_words, looks_like_key
from shapley2d._tables.convert import as_table
from shapley2d._tables.reading.files import Source, read_table
from shapley2d._tables.target import as_target
from shapley2d._tables.texts.numbers import EXACT
from shapley2d.cli.columns import (
    choose_columns,
    clean_texts,
    find_column,
    id_names,
    like_column,
    rows_of,
    without_columns,
)
from shapley2d.cli.console import note, progress
from shapley2d.cli.errors import MissingFlagsError
from shapley2d.cli.label_check import MAX_ROWS, disagreeing_rows, rare_classes
from shapley2d.cli.options import flag_of
from shapley2d.cli.wording import call
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d.cli.options import Reading

_NAMED = 3  # rows and classes in a note
WEIGHT = "valid_weight"
"""The option that is about validation rows, wherever these are."""


@dataclass(frozen=True)
class Inputs:
    """The tables that a command values: features, target and validation."""

    train: Source
    X: Table
    y: Any
    of_rows: dict[str, Any]  # entries of columns that are no features, by the option that names one
    kinds: dict[str, Any]  # types of columns that the user set
    valid: Source | None = None
    X_valid: Source | None = None
    y_valid: Any = None


def read_file(path: str, how: Reading) -> Source:
    """Read a table, with a progress bar for a large one; notes on it."""
    with reporting(progress(), f"reading {printable(Path(path).name)}"):
        source = read_table(path, separator=how.separator, encoding=how.encoding)
    for words in source.notes:
        note(words)
    return source


def read_inputs(
    train: str,
    target: str,
    valid: str | None,
    how: Reading,
    of_rows: Mapping[str, str],
    *,
    drop_keys: bool = False,
    drop_missing_target: bool = False,
) -> Inputs:
    """Read and check the training file and, where there is one, the validation file."""
    source = read_file(train, how)
    other = None if valid is None else read_file(valid, how)
    for option, name in of_rows.items():
        where = other if other is not None and option == WEIGHT else source
        find_column(name, where.table.column_names, flag_of(option), where.path)
        if name == target:
            raise InputError(
                f"{flag_of(option)} {shlex.quote(name)} is the target: name another column"
            )
    also = other.table.column_names if other else []
    chosen = choose_columns(source, target, how, of_rows, also)
    kind = chosen.kinds.get(target)
    call({"X": source.path, "y": f"{source.path}: column {target!r}"})
    rows, y = _read_target(source, target, kind)
    kept = rows_of(source, rows, source.table.column_names)
    kinds = {name: one for name, one in chosen.kinds.items() if name != target}
    X = as_table(rows_of(kept, np.arange(rows.size), chosen.features), "X", kinds)
    X = replace(X, row_names=rows)
    if how.row_id is not None:
        X = replace(X, row_names=id_names(kept, how.row_id))
    left_out = rows[:0] if drop_missing_target else np.setdiff1d(_all_rows(source), rows)
    X = _without_keys(source, X, left_out, target, drop_keys=drop_keys)
    entries = {
        option: clean_texts(kept.table.select([name])).column(0)
        for option, name in of_rows.items()
        if option != WEIGHT or other is None
    }
    inputs = Inputs(source, X, y, entries, chosen.kinds)
    if other is None:
        return inputs
    _check_columns(source, other, {*X.column_names, target}, {
        *chosen.without, *chosen.features
    } - {*X.column_names})  # fmt: skip
    call({"X_valid": other.path, "y_valid": f"{other.path}: column {target!r}"})
    rows, y = _read_target(other, target, kind)
    missing = np.setdiff1d(_all_rows(other), rows)
    if missing.size and not drop_missing_target:
        words = _missing_words(other, target, missing)
        raise MissingFlagsError(f"{other.path}: {words}", ["--drop-missing-target"], "fill it")
    if WEIGHT in of_rows:
        weights = rows_of(other, rows, [of_rows[WEIGHT]]).table
        entries = {**entries, WEIGHT: clean_texts(weights).column(0)}
    X_valid = rows_of(other, rows, X.column_names)
    return replace(inputs, of_rows=entries, valid=other, X_valid=X_valid, y_valid=y)


def _all_rows(source: Source) -> NDArray[np.intp]:
    return np.arange(source.table.num_rows)


def _read_target(source: Source, target: str, kind: str | None) -> tuple[NDArray[np.intp], Any]:
    """The rows that have a target, and what it says there; entries of a kind that was set."""
    column = source.table[target]
    if pa.types.is_dictionary(column.type):
        column, kind = column.cast(column.type.value_type), kind or "text"
    kinds = {target: kind} if kind in ("number", "text") else None
    read = as_table(rows_of(source, _all_rows(source), [target]), "X", kinds)
    entries, strays = read.columns[0].entries, read.columns[0].from_text.strays
    gone = np.isnan(entries)
    if kind != "number":  # else they are left out by the library, which says so
        gone[list(strays)] = False
    rows = np.flatnonzero(~gone)
    if not rows.size:
        raise InputError(f"{source.path}: the target {target!r} is empty in all {gone.size} rows")
    words = read.columns[0].categories
    if words and not pa.types.is_floating(column.type) and looks_like_key(len(words), rows.size):
        raise InputError(
            f"{source.path}: the target {target!r} looks like a key ({len(words)} different "
            f"texts in {rows.size} rows): choose another --target"
        )
    if kind == "number":
        numbers = entries[rows]
        whole = np.array_equal(numbers, np.round(numbers)) and (np.abs(numbers) < EXACT).all()
        return rows, numbers.astype(np.int64) if whole else numbers
    column = column.take(rows)
    return rows, column.cast(pa.string()).dictionary_encode() if kind == "text" else column


def _without_keys(
    source: Source, X: Table, missing: NDArray[np.intp], target: str, *, drop_keys: bool
) -> Table:
    """The table without keys, if asked for; names all flags that are missing in one message."""
    keys = find_keys(X)
    if drop_keys and keys:
        named = in_words(keys)
        if len(keys) == len(X.columns):
            raise InputError(
                f"{source.path}: all columns look like keys: {named}: leave out --drop-keys"
            )
        note(f"{source.path}: left out as keys: {named}")
        X, keys = without_columns(X, {key.name for key in keys}), []
    wrong, flags, ways = [], [], []
    if missing.size:
        wrong.append(_missing_words(source, target, missing))
        flags.append("--drop-missing-target")
        ways.append("fill it")
    if texts := [key for key in keys if key.text]:
        n, name = len(texts), shlex.quote(texts[0].name)
        look = plural(n, "looks like a key", "look like keys")
        wrong.append(f"{plural(n, 'column')} {in_words(texts)} {look}")
        flags.append("--drop-keys")
        ways.append(f"name the rows by a key with --id {name}, or keep it with --text {name}")
    if wrong:
        raise MissingFlagsError(f"{source.path}: {'; '.join(wrong)}", flags, "; or ".join(ways))
    if keys:
        note(
            f"{source.path}: may be keys: {in_words(keys)}: if they say nothing else, leave them "
            "out with --drop-keys"
        )
    return X


def _missing_words(source: Source, target: str, missing: NDArray[np.intp]) -> str:
    rows = f"{missing.size} of {source.table.num_rows} rows"
    return f"the target {target!r} is empty in {rows}, first in {source.where(int(missing[0]))}"


def _check_columns(source: Source, other: Source, wanted: set[str], without: set[str]) -> None:
    """Refuse a validation file that has other columns."""
    present = [key for key in other.table.column_names if key not in without]
    absent = [key for key in source.table.column_names if key in wanted and key not in present]
    extra = [key for key in present if key not in wanted]
    if absent:
        raise InputError(
            f"{other.path} has no column {absent[0]!r}, which {source.path} has"
            f"{like_column(absent[0], extra)}: a validation file needs the same columns"
        )
    if extra:
        raise InputError(
            f"{other.path} has a column {extra[0]!r} that {source.path} does not have: leave "
            f"it out with --drop {shlex.quote(extra[0])}"
        )


def note_labels(inputs: Inputs, target: str, task: str, *, valued: bool) -> None:
    """Note what a quick look at the labels finds; ``valued``: they are valued anyway."""
    table = inputs.X
    try:
        with without_warnings():
            found = as_target(inputs.y, table, task)
    except InputError:  # reported where the target is used
        return
    if found.kept is not None:
        table = table.take_rows(found.kept)
    with reporting(progress(), "looking at the labels"):
        odd = disagreeing_rows(table, found)
    looked = min(table.n_rows, MAX_ROWS)
    if odd.size >= max(3, 0.01 * looked):  # fewer are not worth a note
        random = "" if looked == table.n_rows else "a random "
        word, names = ("rows", table.row_names) if table.lines is None else ("lines", table.lines)
        advice = "" if valued else "; see which with --include-label"
        note(
            f"{odd.size} of {random}{looked} labels in {target!r} look wrong: nearly all similar "
            f"rows have another label ({word} {_first([str(names[row]) for row in odd])}){advice}"
        )
    rare = sorted(rare_classes(found), key=lambda one: one[2] is None)
    words = [
        f"{name!r} {plural(count, 'once', 'twice')}" + (f", perhaps {like!r}" if like else "")
        for name, count, like in rare
    ]
    if words:
        note(f"classes of {target!r} that hardly occur: {_first(words, '; ')}")


def _first(words: list[str], mark: str = ", ") -> str:
    return mark.join(words[:_NAMED]) + (", ..." if len(words) > _NAMED else "")
