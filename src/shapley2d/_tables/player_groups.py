"""Groups of rows and of columns that play together, as users name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import as_text, is_missing
from shapley2d._tables.per_row import entries_of, refuse_missing
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._tables.table import Table


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
