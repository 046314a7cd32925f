"""Groups, times and weights of rows, as users pass them beside the target."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import is_missing
from shapley2d._base.words import counted, shown
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import names_of, without_column
from shapley2d._tables.row_words import row_words
from shapley2d._tables.target_entries import read_series
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.table import Table


def split_off_options(X: Any, X_valid: Any, **options: Any) -> tuple[Any, Any, list[Any]]:
    """Replace names of columns by their entries, and take these columns out of both tables.

    ``valid_weight`` names a column of the validation table, or of X if there is none; any other
    option one of X. Several options may name the same column.
    """
    tables, taken = {"X": X, "X_valid": X_valid}, dict[tuple[str, str], Any]()
    for option, key in options.items():
        if not isinstance(key, str):
            continue
        home = "X_valid" if option == "valid_weight" and X_valid is not None else "X"
        for name, table in tables.items() if (home, key) not in taken else ():
            if name == home or (table is not None and key in names_of(table)):
                tables[name], taken[name, key] = without_column(table, key, name, option)
        options[option] = taken[home, key]
    return tables["X"], tables["X_valid"], [*options.values()]


def read_groups(given: Any, table: Table) -> Ints:
    """The group of every row as a number, in the sorted order of the labels."""
    items = entries_of(given, "groups", table.n_rows, table=table.native)
    refuse_missing([is_missing(item) for item in items], table, "groups")
    try:
        labels = list(dict.fromkeys(items))
    except TypeError:
        raise InputError("groups must hold one label per row: text, numbers or dates") from None
    with suppress(TypeError):  # labels of several types have no order
        labels.sort()
    place = {label: k for k, label in enumerate(labels)}
    return np.array([place[item] for item in items], dtype=np.intp)


def read_times(given: Any, table: Table) -> Floats:
    """The time of every row as a number: numbers as they are, dates as days since 1970."""
    return _numbers(given, "time_order", table, ("number", "date", "boolean"), "a number or a date")


def read_weights(given: Any, table: Table) -> Floats:
    """The weight of every row."""
    option = "valid_weight"
    weights = _numbers(given, option, table, ("number", "boolean"), "a number")
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise InputError(
            f"{option} is {weights[wrong[0]]:g} in {row_words(table, wrong[0])}: weights "
            "must be finite and not negative"
        )
    if not weights.any():
        raise InputError(f"{option} is 0 in every row: give some row a positive weight")
    return weights


def _numbers(given: Any, option: str, table: Table, kinds: tuple[str, ...], wanted: str) -> Floats:
    items = entries_of(given, option, table.n_rows, table=table.native)
    column = as_table({option: items}, option).columns[0]
    if column.kind not in kinds:
        raise InputError(f"{option} must hold {wanted} for every row")
    stray = next(iter(column.from_text.strays.items()), None)
    if stray is not None:
        raise InputError(
            f"{option} must hold {wanted} for every row, but holds {stray[1]!r} in "
            f"{row_words(table, stray[0])}"
        )
    refuse_missing(np.isnan(column.entries).tolist(), table, option)
    return column.entries


def entries_of(
    given: Any, option: str, count: int, noun: str = "row", *, table: Any = None
) -> list[Any]:
    """The entries, one per row or column; in the order of the rows of ``table``, a frame."""
    read = read_series(given, option, table)
    one_by_one = getattr(given, "ndim", 0) == 1 and hasattr(given, "tolist")  # or a pandas index
    if read is None and not (isinstance(given, (list, tuple, range)) or one_by_one):
        wanted = (
            "the name of a column, or one entry per row in an array, list or series"
            if noun == "row"
            else f"a mapping from names, or one entry per {noun} in a list or an array"
        )
        raise InputError(f"{option}={shown(given)} must be {wanted}")
    items = list(given) if read is None else read.items
    if len(items) != count:
        entries = counted(len(items), "entry", "entries")
        raise InputError(f"{option} has {entries} for {counted(count, noun)}")
    return items


def refuse_missing(missing: list[bool], table: Table, option: str) -> None:
    """Refuse rows without an entry, and name the first."""
    places = np.flatnonzero(missing)
    if places.size:
        raise InputError(
            f"{option} is missing in {places.size} of {table.n_rows} rows, first in "
            f"{row_words(table, places[0])}: fill it, or drop those rows"
        )


def weighted_mean(numbers: NDArray[Any], weights: Floats | None) -> float:
    """The mean over validation rows; without weights the same bits as ``np.mean``."""
    return float(np.mean(numbers) if weights is None else np.average(numbers, weights=weights))
