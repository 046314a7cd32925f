"""Columns of a file that options name: features, what is left out, kinds that were set."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.time_limit import parse_time
from shapley2d._base.words import nearest_word
from shapley2d._tables.frames import with_columns
from shapley2d._tables.texts.column import encode_texts
from shapley2d.cli.options import flag_of
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.reading.files import Source
    from shapley2d._tables.table import Table
    from shapley2d.cli.options import Reading


class ChosenColumns(NamedTuple):
    """The columns of a file that are features, those that are not, and the kinds that were set."""

    features: list[str]
    dropped: set[str]
    without: set[str]
    kinds: dict[str, str]


def choose_columns(
    source: Source,
    target: str | None,
    how: Reading,
    of_rows: Mapping[str, str] | None = None,
    also: Sequence[str] = (),
) -> ChosenColumns:
    """Sort the columns of a file by the options that name them; refuse names that it lacks.

    ``of_rows`` are columns that say something of the rows, by option; ``also`` may be dropped too.
    """
    of_rows, names = of_rows or {}, source.table.column_names
    for option, name in (("--target", target), ("--id", how.row_id)):
        if name is not None:
            find_column(name, names, option, source.path)
    dropped = _listed(how.drop or (), [*names, *also], source.path, "--drop")
    if target in dropped:
        raise InputError(
            f"--drop {target} is the target: drop another column, or choose another --target"
        )
    without = {*dropped, *([how.row_id] if how.row_id is not None else []), *of_rows.values()}
    kinds: dict[str, str] = {}
    for kind, listed in how.kinds.items():
        for name in sorted(_listed(listed, names, source.path, f"--{kind}")):
            given = f"--{kind} {shlex.quote(name)}"
            if name in kinds:
                other = f"--{kinds[name]} {shlex.quote(name)}"
                raise InputError(f"{given} and {other}: give one of them")
            if name in without:
                by = ", ".join(["--drop", *map(flag_of, of_rows)])
                raise InputError(f"{given} is left out by {by} or --id: give one of them")
            kinds[name] = kind
    features = [key for key in names if key != target and key not in without]
    if not features:
        of_target = "" if target is None else f"the target {target!r} and "
        raise InputError(f"{source.path} has no columns beside {of_target}the dropped ones")
    return ChosenColumns(features, dropped, without, kinds)


def rows_of(source: Source, rows: NDArray[np.intp], columns: Sequence[str]) -> Source:
    """Some rows and columns of a file, with the lines where they stand."""
    table = source.table.select(list(columns))
    if rows.size == table.num_rows:
        return replace(source, table=table)
    lines = None if source.lines is None else source.lines[rows]
    return replace(source, table=table.take(rows), lines=lines)


def without_columns(X: Table, names: Container[str]) -> Table:
    """A table without some of its columns."""
    left = tuple(column for column in X.columns if column.name not in names)
    frame = X.native.select([column.name for column in left])
    return replace(X, columns=left, frame=frame, rows=None)


def find_column(name: str, names: Sequence[str], option: str, path: str) -> None:
    """Refuse the name of a column that a file does not have."""
    if name not in names:
        limits = f"; --max-time {name} limits the time" if _is_time(option, name) else ""
        listing = f": it has {', '.join(map(repr, names[:8]))}{', ...' if len(names) > 8 else ''}"
        raise InputError(
            f"{option} {shlex.quote(name)}: {path} has no such "
            f"column{like_column(name, names) or listing}{limits}"
        )


def _is_time(option: str, name: str) -> bool:
    """Whether the column of ``--time-order`` is an amount of time, which another option takes."""
    if option != "--time-order":
        return False
    try:
        parse_time(name)
    except InputError:
        return False
    return True


def _listed(given: Sequence[str], names: Sequence[str], path: str, option: str) -> set[str]:
    """Names of columns; one option may hold several with commas between."""
    listed: set[str] = set()
    for text in given:
        for name in [text] if text in names else [part.strip() for part in text.split(",")]:
            find_column(name, names, option, path)
            listed.add(name)
    return listed


def groups_of_columns(given: Sequence[str] | None, X: Table, path: str) -> dict[str, str] | None:
    """The group of every column that ``--column-groups`` names."""
    if given is None:
        return None
    found: dict[str, str] = {}
    for text in given:
        name, equal, columns = (part.strip() for part in text.partition("="))
        if not (name and equal and columns):
            raise InputError(f"--column-groups {shlex.quote(text)}: write NAME=COLUMN,COLUMN")
        for one in sorted(_listed([columns], X.column_names, path, "--column-groups")):
            if found.setdefault(one, name) != name:
                raise InputError(
                    f"--column-groups: column {one!r} is in {found[one]!r} and in {name!r}"
                )
    return found


def like_column(name: str, names: Sequence[str]) -> str:
    """A hint at the column that a name may stand for; empty if none is similar."""
    lower = {key.lower(): key for key in names}
    near = nearest_word(name.lower(), lower)
    return "" if near is None else f" (did you mean {lower[near]!r}?)"


def id_names(source: Source, name: str) -> NDArray[Any]:
    """The entries of the column that names the rows, as whole numbers where they are just that."""
    try:
        found = clean_texts(source.table.select([name])).column(0).to_pylist()
    except (OverflowError, ValueError, KeyError) as error:
        raise InputError(
            f"--id {shlex.quote(name)}: its entries cannot be read ({error})"
        ) from error
    names = [str(one) for one in found]
    whole = all(one.isdecimal() and str(int(one)) == one and len(one) < 19 for one in names)
    return np.array(names, dtype=np.int64 if whole else object)


def clean_texts(table: Any) -> Any:
    """A pyarrow table with trimmed text, and nulls where an entry is missing."""
    columns = table.columns
    for k, column in enumerate(columns):
        if column.type in (pa.string(), pa.large_string()):
            words, codes, _ = encode_texts(column)
            columns[k] = words.take(pa.array(codes, mask=codes < 0))
    return with_columns(table, columns)
