"""Columns of a file that options name: features, what is left out, kinds that were set."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.words import did_you_mean
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
    left_out: dict[str, str]  # the flag that names each column that is not a feature
    kinds: dict[str, str]


def choose_columns(
    source: Source,
    target: str | None,
    how: Reading,
    of_rows: Mapping[str, str] | None = None,
    also: Sequence[str] = (),
) -> ChosenColumns:
    """Sort the columns of a file by the options that name them; refuse names that it lacks.

    ``of_rows`` are columns that say something of the rows, by option; ``also`` may be dropped, and
    may weigh validation rows.
    """
    path, names = source.path, source.table.column_names
    if target is not None:
        find_column(target, names, "--target", path)
    dropped = _listed(how.drop or (), [*names, *also], path, "--drop")
    left_out = dict.fromkeys(dropped, "--drop")
    if how.row_id is not None:
        find_column(how.row_id, names, "--id", path)
        left_out.setdefault(how.row_id, "--id")
    for option, name in (of_rows or {}).items():
        find_column(name, [*names, *also], flag_of(option), path)
        left_out[name] = flag_of(option)
    if target in left_out:
        raise InputError(
            f"{left_out[target]} {shlex.quote(target)} is the target: name another column, or "
            "choose another --target"
        )
    kinds: dict[str, str] = {}
    for kind, listed in how.kinds.items():
        for name in sorted(_listed(listed, names, path, f"--{kind}")):
            given = f"--{kind} {shlex.quote(name)}"
            if name in kinds:
                raise InputError(f"{given} and --{kinds[name]}: give one of them")
            if name in left_out:
                raise InputError(f"{given} is left out by {left_out[name]}: give one of them")
            kinds[name] = kind
    features = [key for key in names if key != target and key not in left_out]
    if not features:
        of_target = "" if target is None else f"the target {target!r} and "
        raise InputError(f"{path} has no columns beside {of_target}the dropped ones")
    return ChosenColumns(features, dropped, left_out, kinds)


def without_columns(X: Table, names: Container[str]) -> Table:
    """A table without some of its columns."""
    left = tuple(column for column in X.columns if column.name not in names)
    frame = X.native.select([column.name for column in left])
    return replace(X, columns=left, frame=frame, rows=None)


def find_column(name: str, names: Sequence[str], option: str, path: str) -> None:
    """Refuse the name of a column that a file does not have."""
    if name not in names:
        listing = f": it has {', '.join(map(repr, names[:8]))}{', ...' if len(names) > 8 else ''}"
        raise InputError(
            f"{option} {shlex.quote(name)}: {path} has no such column"
            f"{did_you_mean(name, names) or listing}"
        )


def _listed(given: Sequence[str], names: Sequence[str], path: str, option: str) -> set[str]:
    """Names of columns; one option may hold several with commas between."""
    listed: set[str] = set()
    for text in given:
        for name in [text] if text in names else [part.strip() for part in text.split(",")]:
            find_column(name, names, option, path)
            listed.add(name)
    return listed


def groups_of_columns(
    given: Sequence[str] | None, names: Sequence[str], path: str
) -> dict[str, str] | None:
    """The group of every column that ``--column-groups`` names."""
    found: dict[str, str] = {}
    for text in given or ():
        name, _, columns = (part.strip() for part in text.partition("="))
        if not (name and columns):
            raise InputError(f"--column-groups {shlex.quote(text)}: write NAME=COLUMN,COLUMN")
        for one in sorted(_listed([columns], names, path, "--column-groups")):
            if found.setdefault(one, name) != name:
                raise InputError(
                    f"--column-groups: column {one!r} is in {found[one]!r} and in {name!r}"
                )
    return found or None


def id_names(source: Source, name: str) -> NDArray[Any]:
    """The entries of the column that names the rows, as whole numbers where they are just that."""
    try:
        found = clean_texts(source.table, name).to_pylist()
    except (OverflowError, ValueError, KeyError) as error:
        raise InputError(
            f"--id {shlex.quote(name)}: its entries cannot be read ({error})"
        ) from error
    names = [str(one) for one in found]
    whole = all(one.isdecimal() and str(int(one)) == one and len(one) < 19 for one in names)
    return np.array(names, dtype=np.int64 if whole else object)


def clean_texts(table: Any, name: str) -> Any:
    """A column of a pyarrow table with trimmed text, and nulls where an entry is missing."""
    column = table[name]
    if column.type not in (pa.string(), pa.large_string()):
        return column
    words, codes, _ = encode_texts(column)
    return words.take(pa.array(codes, mask=codes < 0))
