"""The grid of blocks: the set of every row and of every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.clusters import number_clusters
from shapley2d._base.entries import as_text, is_missing, with_texts
from shapley2d._base.words import counted
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Sets:
    """A partition of the players of one axis."""

    labels: NDArray[np.intp]  # (players,): the number of every player's set
    names: list[Any]  # names of the sets, in the order of their numbers

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Players in every set."""
        return np.bincount(self.labels, minlength=len(self.names))

    @classmethod
    def single(cls, size: int, name: str) -> Sets:
        """All players in one set."""
        return cls(np.zeros(size, dtype=np.intp), [name])

    def take(self, players: NDArray[np.intp]) -> Sets:
        """The sets of some players, in order of first occurrence."""
        labels, first = numbered(self.labels[players])
        return Sets(labels, [self.names[self.labels[players[k]]] for k in first])

    def with_player(self, name: str) -> Sets:
        """One more player, last, in a set of its own."""
        return Sets(np.append(self.labels, len(self.names)), [*self.names, name])


@dataclass(frozen=True)
class Grid:
    """Row sets x column sets."""

    rows: Sets
    columns: Sets

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of row sets and of column sets."""
        return len(self.rows.names), len(self.columns.names)


def numbered(lines: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of equal lines in order of first occurrence, and the position of each first."""
    wide = lines.reshape(len(lines), -1)
    keys = np.ascontiguousarray(np.packbits(wide, axis=1) if wide.dtype == bool else wide)
    one = np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))
    labels = number_clusters(np.unique(keys.view(one), return_inverse=True)[1].ravel())
    return labels, np.unique(labels, return_index=True)[1]


def label_sets(labels: Any, names: Sequence[Any], option: str, kind: str | None = None) -> Sets:
    """Sets from one label per player, or a mapping of names to labels, in order of occurrence."""
    kind = kind or option.removesuffix("s")
    if isinstance(labels, Mapping):
        labels = {as_text(name): label for name, label in labels.items()}
        names = [as_text(name) for name in names]
        absent = [name for name in names if name not in labels]
        if absent:
            raise InputError(
                Setting(option), f" has no set for {kind} {absent[0]!r}: name one for every {kind}"
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
            what = "owner" if option == "owner_column" else "set"
            raise InputError(
                Setting(option), f" has no label for {kind} {names[k]!r}: name its {what}"
            )
        codes[k] = numbers.setdefault(item, len(numbers))
    return Sets(codes, list(numbers))


def count_sets(rows: Any, columns: Any) -> int:
    """The number of different labels of one of the two, as :func:`label_sets` would find them."""
    option, labels = ("columns", columns) if rows is None else ("rows", rows)
    items = list(labels.values()) if isinstance(labels, Mapping) else _as_list(labels, option)
    try:
        return len(set(with_texts(items)))
    except TypeError:
        raise InputError(
            Setting(option), " has a list where the name of a set should be: give one per player"
        ) from None


def is_empty(item: Any) -> bool:
    """Whether an entry is None, NaN, NA or blank."""
    if isinstance(item, (str, list, tuple, np.ndarray)):
        return isinstance(item, str) and not item.strip()
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
