"""From files to what the library values: features, target, validation table, each checked by name."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._tables.reading.column_types import not_numbers
from shapley2d._tables.reading.files import Source, read_table
from shapley2d._tables.whole_numbers import EXACT
from shapley2d.exceptions import InputError, Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_KEY_ROWS = 20  # in fewer rows all texts may differ by chance
_KEY_SHARE = 0.9


@dataclass(frozen=True)
class Inputs:
    """What a command values.

    Attributes
    ----------
    train : Source
    target : str
    X : pyarrow.Table
        The features.
    y : ndarray
    rows : ndarray
        Positions of the rows of ``X`` in the file.
    row_names : ndarray
        Those positions, or the entries of the column that names the rows.
    valid : Source or None
    X_valid, y_valid
        Of the validation file, or None.
    """

    train: Source
    target: str
    X: Any
    y: NDArray[Any]
    rows: NDArray[np.intp]
    row_names: NDArray[Any]
    valid: Source | None = None
    X_valid: Any = None
    y_valid: NDArray[Any] | None = None

    @property
    def names(self) -> dict[str, str]:
        """What the library's messages call ``X``, ``y`` and so on."""
        names = {"X": self.train.path, "y": f"{self.train.path}: column {self.target!r}"}
        if self.valid is not None:
            names |= {"X_valid": self.valid.path, "y_valid": f"{self.valid.path}: column {self.target!r}"}
        return names

    @property
    def notes(self) -> list[Note]:
        """What the user should know about the files."""
        return [*self.train.notes, *(self.valid.notes if self.valid else [])]


def read_inputs(
    train: str,
    target: str,
    *,
    drop: Sequence[str] = (),
    row_id: str | None = None,
    valid: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    drop_missing_target: bool = False,
) -> Inputs:
    """Read and check the training file and, where there is one, the validation file."""
    source = read_table(train, separator=separator, encoding=encoding)
    names = source.table.column_names
    _find(target, names, "--target", source.path)
    if row_id is not None:
        _find(row_id, names, "--id", source.path)
    other = None
    if valid is not None:
        text = [key for key in names if _is_text(source.table[key])]
        other = read_table(valid, separator=separator, encoding=encoding, text_columns=text)
    known = [*names, *(other.table.column_names if other else [])]
    dropped = _dropped(drop, known, source.path)
    if target in dropped:
        raise InputError(f"--drop {target} is the target: drop another column, or choose another --target")
    without = {*dropped, *([row_id] if row_id is not None else [])}
    rows = _rows_with_target(source, target, drop_missing_target=drop_missing_target)
    features = [key for key in names if key != target and key not in without]
    if not features:
        raise InputError(f"{source.path} has no columns beside the target {target!r} and the dropped ones")
    kept = source.table.take(rows)
    _check_target(source, kept[target], target)
    for key in features:
        _check_feature(source, key, rows)
    inputs = Inputs(
        train=source,
        target=target,
        X=kept.select(features),
        y=as_vector(kept[target], f"{source.path}: the target {target!r}"),
        rows=rows,
        row_names=rows if row_id is None else _row_names(kept[row_id], f"{source.path}: column {row_id!r}"),
    )
    if other is None:
        return inputs
    return _with_validation(inputs, other, without, drop_missing_target=drop_missing_target)


def _with_validation(
    inputs: Inputs, other: Source, without: set[str], *, drop_missing_target: bool
) -> Inputs:
    wanted = [*inputs.X.column_names, inputs.target]
    present = [key for key in other.table.column_names if key not in without]
    absent = [key for key in wanted if key not in present]
    extra = [key for key in present if key not in wanted]
    if absent:
        raise InputError(
            f"{other.path} has no column {absent[0]!r}, which {inputs.train.path} has"
            f"{_hint(absent[0], extra)}: a validation file needs the same columns"
        )
    if extra:
        raise InputError(
            f"{other.path} has a column {extra[0]!r} that {inputs.train.path} does not have: leave it out with "
            f"--drop {_shell(extra[0])}"
        )
    rows = _rows_with_target(other, inputs.target, drop_missing_target=drop_missing_target)
    kept = other.table.take(rows)
    return Inputs(
        **{name: getattr(inputs, name) for name in ("train", "target", "X", "y", "rows", "row_names")},
        valid=other,
        X_valid=kept.select(inputs.X.column_names),
        y_valid=as_vector(kept[inputs.target], f"{other.path}: the target {inputs.target!r}"),
    )


def as_vector(column: Any, what: str) -> NDArray[Any]:
    """A pyarrow column without nulls as a numpy vector; text as objects. ``what`` names it in messages."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return np.asarray(column.to_numpy())
    try:
        items = column.to_pylist()
    except (OverflowError, ValueError) as error:
        raise InputError(f"{what} holds {column.type} entries that cannot be read ({error})") from None
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        items = [int(item) for item in items]
    vector = np.empty(len(items), dtype=object)
    vector[:] = items
    return vector


def _find(name: str, names: Sequence[str], option: str, path: str) -> None:
    if name not in names:
        raise InputError(
            f"{option} {_shell(name)}: {path} has no such column{_hint(name, names) or _listing(names)}"
        )


def _dropped(drop: Sequence[str], names: Sequence[str], path: str) -> set[str]:
    """Names of dropped columns; one option may hold several with commas between."""
    dropped: set[str] = set()
    for given in drop:
        for name in [given] if given in names else [part.strip() for part in given.split(",")]:
            _find(name, names, "--drop", path)
            dropped.add(name)
    return dropped


def _hint(name: str, names: Sequence[str]) -> str:
    lower = {key.lower(): key for key in names}
    near = difflib.get_close_matches(name.lower(), lower, 1)
    return f" (did you mean {lower[near[0]]!r}?)" if near else ""


def _listing(names: Sequence[str], most: int = 8) -> str:
    more = ", ..." if len(names) > most else ""
    return f": it has {', '.join(map(repr, names[:most]))}{more}"


def _shell(name: str) -> str:
    import shlex

    return shlex.quote(name)


def _rows_with_target(source: Source, target: str, *, drop_missing_target: bool) -> NDArray[np.intp]:
    column = source.table[target]
    missing = np.asarray(column.is_null(nan_is_null=True).to_numpy(), dtype=bool)
    gone = np.flatnonzero(missing)
    if gone.size == len(column):
        raise InputError(f"{source.path}: the target {target!r} is empty in all {gone.size} rows")
    if gone.size and not drop_missing_target:
        raise InputError(
            f"{source.path}: the target {target!r} is empty in {gone.size} of {len(column)} rows, first in "
            f"{source.where(int(gone[0]))}: fill it, or leave those rows out with --drop-missing-target"
        )
    return np.flatnonzero(~missing)


def _check_target(source: Source, column: Any, target: str) -> None:
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        raise InputError(
            f"{source.path}: the target {target!r} holds {column.type}, not labels or numbers: choose another --target"
        )
    distinct = column.unique()
    if len(distinct) == 1:
        raise InputError(
            f"{source.path}: the target {target!r} is {str(distinct[0].as_py())!r} in every row: there is nothing to "
            "learn, choose another --target"
        )
    if _is_text(column) and _is_key(len(distinct), len(column)):
        raise InputError(
            f"{source.path}: the target {target!r} looks like a key ({len(distinct)} distinct texts in {len(column)} "
            "rows): choose another --target"
        )


def _check_feature(source: Source, key: str, rows: NDArray[np.intp]) -> None:
    column = source.table[key]
    if not _is_text(column):
        _note_of_counter(source, key, column)
        _note_of_long_key(source, key, column.take(rows).drop_null())
        return
    column = column.cast("string")
    odd = np.asarray(not_numbers(column.combine_chunks()))
    present = len(column) - column.null_count
    mostly_numbers = 0 < odd.size < (1 - _KEY_SHARE) * present
    present = column.take(rows).drop_null()
    distinct = len(present.unique())
    if mostly_numbers:
        first = int(odd[0])
        text = column[first].as_py()
        what = (
            f"column {key!r} holds numbers except for {odd.size} of its entries, first {text[:40]!r} in "
            + (source.where(first))
        )
        if _is_key(distinct, len(present)):
            raise InputError(f"{source.path}: {what}: correct them or leave the fields empty")
        source.notes.append(Note(f"{source.path}: {what}: taken as text"))
    elif _is_key(distinct, len(present)):
        raise InputError(
            f"{source.path}: column {key!r} looks like a key ({distinct} distinct texts in {len(present)} rows): "
            f"drop it with --drop {_shell(key)}, or name the rows by it with --id {_shell(key)}"
        )


def _note_of_counter(source: Source, key: str, column: Any) -> None:
    import pyarrow as pa

    if not pa.types.is_integer(column.type) or column.null_count or len(column) < _KEY_ROWS:
        return
    if (np.diff(column.to_numpy()) == 1).all():
        source.notes.append(
            Note(
                f"{source.path}: column {key!r} only counts the rows: if it means nothing else, drop it with "
                f"--drop {_shell(key)}"
            )
        )


def _note_of_long_key(source: Source, key: str, column: Any) -> None:
    """Account numbers and the like: whole numbers that are too long to be measurements, hardly one of them twice."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale == 0)
    if not whole or len(column) < _KEY_ROWS:
        return
    ends = pc.min_max(column)
    longest = max(abs(int(ends[end].as_py())) for end in ("min", "max"))
    if longest > EXACT and _is_key(distinct := len(column.unique()), len(column)):
        source.notes.append(
            Note(
                f"{source.path}: column {key!r} looks like a key ({distinct} distinct whole numbers of up to "
                f"{len(str(longest))} digits in {len(column)} rows): drop it with --drop {_shell(key)}, or name the "
                f"rows by it with --id {_shell(key)}"
            )
        )


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_key(distinct: int, count: int) -> bool:
    return count >= _KEY_ROWS and distinct >= _KEY_SHARE * count


def _row_names(column: Any, what: str) -> NDArray[Any]:
    names = as_vector(column, what)
    return names if names.dtype.kind in "iu" else np.array([str(name) for name in names], dtype=object)
