"""From files to the library's arguments: tables whose columns the arguments name.

Also what a quick look at keys and labels finds, as notes.
"""

from __future__ import annotations

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
from shapley2d.cli.columns import choose_columns, clean_texts, find_column, id_names
from shapley2d.cli.console import note, progress
from shapley2d.cli.label_check import MAX_ROWS, disagreeing_rows, rare_classes
from shapley2d.cli.wording import call
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shapley2d._valuation.valuation import Valuation
    from shapley2d.cli.options import Reading

_NAMED = 3  # rows and classes in a note


@dataclass(frozen=True)
class Inputs:
    """The tables that a command values, with the target and the columns that options name."""

    train: Source
    features: list[str]
    names: NDArray[Any]  # of the rows
    kinds: dict[str, Any]  # types of features that the user set
    valid: Source | None = None


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
    """Read the training file and, where there is one, the validation file."""
    source = read_file(train, how)
    other = None if valid is None else read_file(valid, how)
    also = () if other is None else other.table.column_names
    chosen = choose_columns(source, target, how, of_rows, also)
    files = {"X": source} if other is None else {"X": source, "X_valid": other}
    call({name: one.path for name, one in files.items()})
    call({name.replace("X", "y"): f"{one.path}: column {target!r}" for name, one in files.items()})
    kinds, features = dict(chosen.kinds), chosen.features
    kind = kinds.pop(target, None)
    if drop_keys:
        table = as_table(replace(source, table=source.table.select(features)), "X", kinds)
        if keys := find_keys(table):
            if len(keys) == len(features):
                raise InputError(
                    f"{source.path}: all columns look like keys: {in_words(keys)}: leave out "
                    "--drop-keys"
                )
            note(f"{source.path}: left out as keys: {in_words(keys)}")
            features = [name for name in features if name not in {key.name for key in keys}]
    without = {*chosen.left_out, *chosen.features} - {*of_rows.values(), *features}
    found = []
    for one in files.values():
        table, missing = _typed_target(one, target, kind)
        for name in {*of_rows.values()} & {*table.column_names}:
            table = _with_column(table, name, clean_texts(table, name))
        rows = np.arange(table.num_rows)
        if drop_missing_target:
            rows = np.flatnonzero(~missing)
            table = table.take(rows)
        left = [name for name in table.column_names if name not in without]
        lines = None if one.lines is None else one.lines[rows]
        found.append((replace(one, table=table.select(left), lines=lines), rows))
    (X, rows), *others = found
    names = rows if how.row_id is None else id_names(source, how.row_id)[rows]
    return Inputs(X, features, names, kinds, *(one for one, _ in others))


def _typed_target(source: Source, target: str, kind: str | None) -> tuple[Any, NDArray[np.bool_]]:
    """The table of a file, with entries of the kind that was set for the target, and its gaps."""
    find_column(target, source.table.column_names, "--target", source.path)
    kinds = {target: kind} if kind in ("number", "text") else None
    one = replace(source, table=source.table.select([target]))
    (read,) = as_table(one, "X", kinds).columns
    missing = np.isnan(read.entries)
    if kind != "number":  # else they are left out by the library, which says so
        missing[list(read.from_text.strays)] = False
    count = int(np.count_nonzero(~missing))
    if looks_like_key(len(read.categories), count):
        raise InputError(
            f"{source.path}: the target {target!r} looks like a key ({len(read.categories)} "
            f"different texts in {count} rows): choose another --target"
        )
    if kinds is None:
        return source.table, missing
    numbers = pa.array(read.entries, from_pandas=True)
    entries = numbers if kind == "number" else pa.array(read.text()).dictionary_encode()
    return _with_column(source.table, target, entries), missing


def _with_column(table: Any, name: str, entries: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, entries)


def note_result(valuation: Valuation, target: str) -> None:
    """Note what a quick look at keys and labels finds."""
    table, info = valuation._table, valuation.info
    if table is None or valuation._target is None:
        return
    if info["label"]:  # valued as the last column
        table = replace(table, columns=table.columns[:-1])
    if keys := [key for key in find_keys(table) if not key.text]:
        note(
            f"X: may be keys: {in_words(keys)}: if they say nothing else, leave them out with "
            "--drop-keys"
        )
    with without_warnings():
        found = as_target(valuation._target, table, info["task"])
    with reporting(progress(), "looking at the labels"):
        odd = disagreeing_rows(table, found)
    looked = min(table.n_rows, MAX_ROWS)
    if odd.size >= max(3, 0.01 * looked):  # fewer are not worth a note
        random = "" if looked == table.n_rows else "a random "
        names = ", ".join(valuation._shown_rows[odd[:_NAMED]].astype(str))
        more = ", ..." * (odd.size > _NAMED)
        advice = "" if info["label"] else "; see which with --include-label"
        note(
            f"{odd.size} of {random}{looked} labels in {target!r} are not those of nearly all "
            f"similar rows ({valuation._row_word}s {names}{more}){advice}"
        )
    rare = sorted(rare_classes(found), key=lambda one: one[2] is None)
    words = [
        f"{name!r} {plural(count, 'once', 'twice')}" + (f", perhaps {like!r}" if like else "")
        for name, count, like in rare
    ]
    if words:
        more = "; ..." * (len(words) > _NAMED)
        note(f"classes of {target!r} that hardly occur: {'; '.join(words[:_NAMED])}{more}")
