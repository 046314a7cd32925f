"""Pipelines that name their columns, cut down to the columns of a coalition.

A ``ColumnTransformer`` lists columns by name, position, mask, slice or a function of the table.
Under a coalition some of them are not there: they are taken out of the lists, and a transformer
whose list becomes empty is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from shapley2d._base.words import counted
from shapley2d._tables.table import native_columns
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Ints


def names_columns(model: Any) -> bool:
    """Whether a model has a ``ColumnTransformer`` anywhere."""
    inside = model.get_params().values() if hasattr(model, "get_params") else ()
    return any(isinstance(part, ColumnTransformer) for part in (model, *inside))


def prune_columns(model: Any, native: Any, names: list[str], kept: Ints) -> Any:
    """A clone of the model for a table of some columns; None where it looks at none of them.

    ``native`` is the user's whole training table, ``names`` its columns, and ``kept`` the positions
    of those that are there.
    """
    return _pruned(clone(model), _Seen(native, names, np.isin(np.arange(len(names)), kept)))


@dataclass(frozen=True)
class _Seen:
    """The table that a part of a model would be given, and which of its columns are there."""

    native: Any
    names: list[str]
    there: Bools

    def part(self, columns: Ints) -> _Seen:
        """Some of the columns, in this order, as a transformer is given them."""
        names = [self.names[j] for j in columns.tolist()]
        return _Seen(native_columns(self.native, columns), names, self.there[columns])


def _pruned(model: Any, seen: _Seen) -> Any:
    """The model, changed in place, or None where no column is left for it."""
    if not names_columns(model):
        return model
    if isinstance(model, ColumnTransformer):
        return _pruned_transformer(model, seen)
    if isinstance(model, Pipeline):  # later steps are given what the first one makes of the table
        first = next(k for k, (_, step) in enumerate(model.steps) if hasattr(step, "fit"))
        name, step = model.steps[first]
        cut = _pruned(step, seen)
        model.steps[first] = name, cut
        return None if cut is None else model
    for name, inside in model.get_params(deep=False).items():
        if hasattr(inside, "fit"):  # of a search or a calibration
            cut = _pruned(inside, seen)
        elif isinstance(inside, (list, tuple)) and any(map(_is_part, inside)):  # a union or a vote
            parts = [(one[0], _or_drop(one[1], seen)) if _is_part(one) else one for one in inside]
            cut = parts if any(map(_is_part, parts)) else None
        else:
            continue
        if cut is None:
            return None
        model.set_params(**{name: cut})
    return model


def _pruned_transformer(model: ColumnTransformer, seen: _Seen) -> Any:
    places, others = np.cumsum(seen.there) - 1, np.ones(seen.there.size, dtype=bool)
    transformers: list[tuple[str, Any, Any]] = []
    for name, transformer, columns in model.transformers:
        spec = columns(seen.native) if callable(columns) else columns
        listed = listed_positions(spec, seen.names)
        others[listed] = False
        # in the order in which they are listed, at their places in the table that is left
        left = places[listed[seen.there[listed]]].tolist()
        if left:  # a part that is left with nothing still keeps its columns from the remainder
            part = _or_drop(transformer, seen.part(listed))
            transformers.append((name, part, left[0] if np.isscalar(spec) else left))
    model.transformers = transformers
    used = [part for _, part, _ in transformers]
    if (others & seen.there).any():
        model.remainder = _or_drop(model.remainder, seen.part(np.flatnonzero(others)))
        used.append(model.remainder)
    return model if any(not isinstance(part, str) or part != "drop" for part in used) else None


def _or_drop(part: Any, seen: _Seen) -> Any:
    cut = _pruned(part, seen)
    return "drop" if cut is None else cut


def _is_part(item: Any) -> bool:
    """Whether an item is a model with its name."""
    return isinstance(item, tuple) and hasattr(item[-1], "fit")


def listed_positions(spec: Any, names: list[str]) -> Ints:
    """Positions of the columns that a ``ColumnTransformer`` lists, as scikit-learn reads them."""
    everything = np.arange(len(names))
    if isinstance(spec, slice):
        start, stop = spec.start, spec.stop
        if isinstance(start, str) or isinstance(stop, str):  # a slice of names includes its end
            start = None if start is None else _position(start, names)
            stop = None if stop is None else _position(stop, names) + 1
        return everything[start : stop : spec.step]
    items = [spec] if np.isscalar(spec) else list(spec)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        return np.flatnonzero(np.asarray(items))
    return np.array([_position(item, names) for item in items], dtype=np.intp)


def _position(column: Any, names: list[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            listed = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
            raise InputError(
                f"model names the column {column!r}, which the table does not have: its columns "
                f"are {listed}"
            )
        return names.index(column)
    position = int(column) + (len(names) if column < 0 else 0)
    if not 0 <= position < len(names):
        raise InputError(
            f"model takes the column at position {column}, but the table has "
            f"{counted(len(names), 'column')}"
        )
    return position
