"""The grid of blocks: the group of every row and of every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import as_text, is_missing, with_texts
from shapley2d._base.words import counted
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """A partition of the players of one axis."""

    labels: NDArray[np.intp]  # (players,): the number of every player's group
    names: list[Any]  # names of the groups, in the order of their numbers

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Players in every group."""
        return np.bincount(self.labels, minlength=len(self.names))

    @classmethod
    def single(cls, size: int, name: str) -> Groups:
        """All players in one group."""
        return cls(np.zeros(size, dtype=np.intp), [name])

    def with_player(self, name: str) -> Groups:
        """One more player, last, in a group of its own."""
        return Groups(np.append(self.labels, len(self.names)), [*self.names, name])


@dataclass(frozen=True)
class Grid:
    """Row groups x column groups."""

    rows: Groups
    columns: Groups

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of row groups and of column groups."""
        return len(self.rows.names), len(self.columns.names)


def label_groups(labels: Any, names: Sequence[Any], option: str, kind: str | None = None) -> Groups:
    """Groups from one label per player, in order of first occurrence.

    ``labels`` has one label per player, or maps names of players to labels. Messages call it
    ``option``, and the players ``kind``, by default from the option.

    >>> groups = label_groups(["bank", "shop", "bank"], ["a", "b", "c"], "columns")
    >>> groups.labels.tolist(), groups.names
    ([0, 1, 0], ['bank', 'shop'])
    """
    kind = kind or option.removesuffix("s")
    if isinstance(labels, Mapping):
        labels = {as_text(name): label for name, label in labels.items()}
        names = [as_text(name) for name in names]
        absent = [name for name in names if name not in labels]
        if absent:
            raise InputError(
                Setting(option),
                f" has no group for {kind} {absent[0]!r}: name one for every {kind}",
            )
        unknown = [name for name in labels if name not in set(names)]
        if unknown:
            raise InputError(
                Setting(option), f" names {kind} {unknown[0]!r}, which the table does not have"
            )
        items = [labels[name] for name in names]
    else:
        items = _as_list(labels, option)
        if len(items) != len(names):
            raise InputError(
                Setting(option),
                f" has {counted(len(items), 'label')}, but the table has "
                f"{counted(len(names), kind)}: give one label per {kind}",
            )
    numbers: dict[Any, int] = {}
    codes = np.empty(len(items), dtype=np.intp)
    for k, item in enumerate(with_texts(items)):
        if is_empty(item):
            raise InputError(
                Setting(option), f" has no label for {kind} {names[k]!r}: name a group"
            )
        codes[k] = numbers.setdefault(item, len(numbers))
    return Groups(codes, list(numbers))


def count_groups(labels: Any, option: str) -> int:
    """The number of different labels, as :func:`label_groups` would find them."""
    items = list(labels.values()) if isinstance(labels, Mapping) else _as_list(labels, option)
    return len(set(with_texts(items)))


def is_empty(item: Any) -> bool:
    """Whether an entry is None, NaN, NA or blank."""
    if item is None or (isinstance(item, str) and not item.strip()):
        return True
    if isinstance(item, (list, tuple, np.ndarray)):
        return False
    return is_missing(item)


def _as_list(labels: Any, option: str) -> list[Any]:
    series = nw.from_native(labels, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.to_list()
    if hasattr(labels, "to_pylist"):
        return list(labels.to_pylist())
    array = np.asarray(labels, dtype=None if isinstance(labels, np.ndarray) else object)
    if array.ndim != 1:
        raise InputError(
            Setting(option), f" must be a list of labels, got an array of shape {array.shape}"
        )
    return list(array.tolist())
