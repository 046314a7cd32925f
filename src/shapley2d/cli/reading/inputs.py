"""From files to the library's arguments: features, target, validation table, checked.

Also notes on labels that look wrong.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.defaults import FOLDS
from shapley2d._base.progress import reporting
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import printable
from shapley2d._tables.column_warnings import find_keys, in_words
from shapley2d._tables.convert import as_table
from shapley2d._tables.reading.files import Source, read_table
from shapley2d._tables.target import as_target
from shapley2d._tables.texts.column import clean_texts
from shapley2d.cli.console import progress
from shapley2d.cli.errors import MissingFlagsError, computing
from shapley2d.cli.label_check import MAX_ROWS, disagreeing_rows, rare_classes
from shapley2d.cli.options import FileOptions, flag_of
from shapley2d.cli.reading.columns import (
    choose_columns,
    find_column,
    groups_of_columns,
    id_names,
    like_column,
    without_columns,
)
from shapley2d.cli.reading.target import check_target, read_target
from shapley2d.cli.wording import Names
from shapley2d.exceptions import InputError, Note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d.cli.options import RunOptions, TrainOptions


_NAMED = 3  # rows and classes in a note
WEIGHT = "valid_weight"
"""The option that is about validation rows, wherever these are."""


@dataclass(frozen=True)
class Inputs:
    """The tables that a command values: features, target and validation."""

    train: Source
    target: str
    X: Table  # the features
    y: Any
    rows: NDArray[np.intp]  # positions of the rows of ``X`` in the file
    row_names: NDArray[Any]  # those positions, or the entries of the column that names the rows
    kinds: dict[str, Any]  # types of columns that the user set
    valid: Source | None = None
    # of the validation file, or None
    X_valid: Table | None = None
    y_valid: Any = None
    # entries of columns that are not features, by the option that names the column
    of_rows: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> Names:
        """Names of ``X``, ``y`` and their rows in the library's messages."""
        return _names(self.train, self.valid, self.target, self.rows)

    def question(
        self, table: TrainOptions, run: RunOptions, semivalue: Any, limit: Any
    ) -> dict[str, Any]:
        """What ``cells`` asks of the library, by its keywords."""
        same = ("task", "include_label", "scoring", "baseline")
        of_run = ("random_state", "n_jobs", "checkpoint", "cluster")
        return {
            **{name: getattr(table, name) for name in same},
            **{name: getattr(run, name) for name in of_run},
            **self.of_rows,
            "column_groups": groups_of_columns(table.column_groups, self.X, self.train.path),
            "kinds": self.kinds or None,
            "cv": FOLDS if table.cv is None else table.cv,
            "semivalue": semivalue,
            "progress": progress(),
            "max_time": limit,
        }

    @property
    def named(self) -> bool:
        """Whether a column names the rows."""
        return self.row_names is not self.rows

    def line(self, row: int) -> int | None:
        """The line of the file where a row of ``X`` starts; None where it has no lines."""
        return self.train.line(int(self.rows[row]))

    @property
    def notes(self) -> list[Note]:
        """Notes about the files, for the user."""
        return [*self.train.notes, *(self.valid.notes if self.valid else [])]


def read_inputs(table: TrainOptions, file: FileOptions) -> Inputs:
    """Read and check the training file and, where there is one, the validation file."""
    columns = {
        "groups": table.groups,
        "time_order": table.time_order,
        WEIGHT: table.valid_weight,
        "row_groups": table.row_groups,
    }
    of_rows = {option: name for option, name in columns.items() if name is not None}
    with reporting(progress(), f"reading {printable(Path(table.train).name)}"):
        how = {"separator": file.separator, "encoding": file.encoding}
        source = read_table(table.train, **how)
        other = None if table.valid is None else read_table(table.valid, **how)
        return _check_inputs(source, other, table, file, of_rows)


def _check_inputs(
    source: Source,
    other: Source | None,
    table: TrainOptions,
    file: FileOptions,
    of_rows: Mapping[str, str],
) -> Inputs:
    target, row_id = table.target, file.row_id
    for option, name in of_rows.items():
        where = other if other is not None and option == WEIGHT else source
        find_column(name, where.table.column_names, flag_of(option), where.path)
        if name == target:
            raise InputError(
                f"{flag_of(option)} {shlex.quote(name)} is the target: name another column"
            )
    also = other.table.column_names if other else []
    chosen = choose_columns(source, target, file, of_rows, also)
    called = _names(source, other, target)
    with computing(called):
        found = read_target(source, target, kind=chosen.kinds.get(target), task=table.task)
        called.where["X"] = lambda row: source.where(int(found.rows[row]))
        kept = found.rows_of(source.table)
        lines = None if row_id is not None or source.lines is None else source.lines[found.rows]
        features = Source(source.path, kept.select(chosen.features), lines)
        X = as_table(features, "X", chosen.kinds_beside(target))
    missing = found.missing[:0] if table.drop_missing_target else found.missing
    X = _without_keys(source, X, missing, target, drop_keys=table.drop_keys)
    check_target(source, target, found.y)
    inputs = Inputs(
        train=source,
        target=target,
        X=X,
        y=found.y,
        rows=found.rows,
        row_names=found.rows if row_id is None else id_names(kept.select([row_id])),
        kinds=chosen.kinds,
        of_rows={
            option: clean_texts(kept.select([name])).column(0)
            for option, name in of_rows.items()
            if option != WEIGHT or other is None
        },
    )
    if other is None:
        return inputs
    without = chosen.without | set(chosen.features) - set(X.column_names)
    return _with_validation(inputs, other, without, of_rows.get(WEIGHT), table)


def check_split(table: TrainOptions) -> None:
    """Refuse options on how rows are split where a file validates."""
    for option in ("cv", "groups", "time_order"):
        if table.valid is not None and getattr(table, option) is not None:
            raise InputError(f"--valid and {flag_of(option)} exclude each other: give one of them")


def read_file(path: str, file: FileOptions) -> Source:
    """Read a table, with a progress bar for a large one."""
    with reporting(progress(), f"reading {printable(Path(path).name)}"):
        return read_table(path, separator=file.separator, encoding=file.encoding)


def _without_keys(
    source: Source, X: Table, missing: NDArray[np.intp], target: str, *, drop_keys: bool
) -> Table:
    """The table without keys, if asked for; names all flags that are missing in one message."""
    keys = find_keys(X)
    if drop_keys and keys:
        named = in_words(keys)
        source.notes.append(Note(f"{source.path}: left out as keys: {named}"))
        X, keys = without_columns(X, {key.name for key in keys}), []
        if not X.columns:
            raise InputError(
                f"{source.path}: all columns look like keys: {named}: leave out --drop-keys"
            )
    wrong, flags, ways = [], [], []
    if missing.size:
        wrong.append(_missing_words(source, target, missing))
        flags.append("--drop-missing-target")
        ways.append("fill it")
    texts = [key for key in keys if key.text]
    if texts:
        one, name = len(texts) == 1, shlex.quote(texts[0].name)
        look = "looks like a key" if one else "look like keys"
        wrong.append(f"{'column' if one else 'columns'} {in_words(texts)} {look}")
        flags.append("--drop-keys")
        ways.append(f"name the rows by a key with --id {name}, or keep it with --text {name}")
    if wrong:
        raise MissingFlagsError(f"{source.path}: {'; '.join(wrong)}", flags, "; or ".join(ways))
    if keys:
        source.notes.append(
            Note(
                f"{source.path}: may be keys: {in_words(keys)}: if they say nothing else, leave "
                "them out with --drop-keys"
            )
        )
    return X


def _missing_words(source: Source, target: str, missing: NDArray[np.intp]) -> str:
    rows = f"{missing.size} of {source.table.num_rows} rows"
    return f"the target {target!r} is empty in {rows}, first in {source.where(int(missing[0]))}"


def _with_validation(
    inputs: Inputs, other: Source, without: set[str], weight: str | None, table: TrainOptions
) -> Inputs:
    wanted = [*inputs.X.column_names, inputs.target]
    present = [key for key in other.table.column_names if key not in without]
    absent = [key for key in wanted if key not in present]
    extra = [key for key in present if key not in wanted]
    if absent:
        raise InputError(
            f"{other.path} has no column {absent[0]!r}, which {inputs.train.path} has"
            f"{like_column(absent[0], extra)}: a validation file needs the same columns"
        )
    if extra:
        raise InputError(
            f"{other.path} has a column {extra[0]!r} that {inputs.train.path} does not have: leave "
            f"it out with --drop {shlex.quote(extra[0])}"
        )
    with computing(_names(inputs.train, other, inputs.target)):
        numeric = isinstance(inputs.y, np.ndarray) and inputs.y.dtype.kind in "iuf"
        found = read_target(
            other, inputs.target, kind="number" if numeric else "text", task=table.task
        )
        if found.missing.size and not table.drop_missing_target:
            words = _missing_words(other, inputs.target, found.missing)
            raise MissingFlagsError(f"{other.path}: {words}", ["--drop-missing-target"], "fill it")
        kept = found.rows_of(other.table)
        lines = None if other.lines is None else other.lines[found.rows]
        features = Source(other.path, kept.select(inputs.X.column_names), lines)
        X_valid = as_table(features, "X_valid", like=inputs.X)
    weights = {} if weight is None else {WEIGHT: clean_texts(kept.select([weight])).column(0)}
    return replace(
        inputs, valid=other, X_valid=X_valid, y_valid=found.y, of_rows={**inputs.of_rows, **weights}
    )


def _names(
    train: Source, valid: Source | None, target: str, rows: NDArray[np.intp] | None = None
) -> Names:
    names = Names({"X": train.path, "y": f"{train.path}: column {target!r}"})

    def where(row: int) -> str:
        return train.where(row if rows is None else int(rows[row]))

    names.where |= {"X": where, "y": where}
    if valid is not None:
        names |= {"X_valid": valid.path, "y_valid": f"{valid.path}: column {target!r}"}
        names.where |= {"X_valid": valid.where, "y_valid": valid.where}
    return names


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
