"""Groups, times and weights of rows, as users pass them beside the target; groups that play."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import as_text, is_missing
from shapley2d._base.words import counted, shown
from shapley2d._tables.align import as_series, series_items
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import names_of, without_column
from shapley2d._tables.row_words import row_words
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    series = as_series(given, option, table)
    is_series = isinstance(series, nw.Series)
    one_by_one = getattr(given, "ndim", 0) == 1 and hasattr(given, "tolist")  # or a pandas index
    if not (is_series or isinstance(given, (list, tuple, range)) or one_by_one):
        wanted = (
            "the name of a column, or one entry per row in an array, list or series"
            if noun == "row"
            else f"a mapping from names, or one entry per {noun} in a list or an array"
        )
        raise InputError(f"{option}={shown(given)} must be {wanted}")
    items = series_items(series, option) if is_series else list(given)
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


@dataclass(frozen=True)
class PlayerGroups:
    """The group of every row or column, numbered in order of first appearance.

    >>> groups = PlayerGroups.of(["b", "a", "b"])
    >>> groups.numbers.tolist(), groups.names
    ([0, 1, 0], ['b', 'a'])
    """

    numbers: Ints  # one for every row or column
    names: list[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> PlayerGroups:
        """Groups of equal names."""
        found: dict[str, int] = {}
        numbers = [found.setdefault(name, len(found)) for name in names]
        return cls(np.array(numbers, dtype=np.intp), list(found))

    def take(self, members: Ints) -> PlayerGroups:
        """The groups of some rows or columns."""
        return PlayerGroups.of(self.names[k] for k in self.numbers[members].tolist())

    def with_one(self, name: str) -> PlayerGroups:
        """One more member, the last, in a group of its own."""
        return PlayerGroups(np.append(self.numbers, len(self.names)), [*self.names, name])


def read_row_groups(given: Any, table: Table) -> PlayerGroups:
    """The group of every row."""
    option = "row_groups"
    labels = entries_of(given, option, table.n_rows, table=table.native)
    refuse_missing([_is_empty(label) for label in labels], table, option)
    return PlayerGroups.of(_texts(labels, option))


def read_column_groups(given: Any, names: Sequence[str]) -> PlayerGroups:
    """The group of every column; one that a mapping does not name is a group by its own name."""
    option = "column_groups"
    if isinstance(given, Mapping):
        named = {as_text(name): label for name, label in given.items()}
        unknown = next((name for name in named if name not in names), None)
        if unknown is not None:
            raise InputError(
                f"{option} names the column {unknown!r}, which the table does not have"
            )
        labels = [named.get(name, name) for name in names]
    else:
        labels = entries_of(given, option, len(names), "column")
    empty = next((k for k, label in enumerate(labels) if _is_empty(label)), None)
    if empty is not None:
        raise InputError(f"{option} has no label for the column {names[empty]!r}")
    return PlayerGroups.of(_texts(labels, option))


def _is_empty(label: Any) -> bool:
    """Whether a label is missing or blank."""
    if isinstance(label, (str, list, tuple, np.ndarray)):
        return isinstance(label, str) and not label.strip()
    return is_missing(label)


def _texts(labels: Sequence[Any], option: str) -> list[str]:
    if any(isinstance(label, (list, tuple, set, np.ndarray)) for label in labels):
        raise InputError(f"{option} must hold text, numbers or dates, not lists")
    return [as_text(label) for label in labels]
