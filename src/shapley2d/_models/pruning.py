"""Pipelines that name their columns, cut down to the columns of a coalition.

A ``ColumnTransformer`` lists columns by name, position, mask, slice or a function of the table.
Under a coalition some of them are not there: they are taken out of the lists, and a transformer
whose list becomes empty is dropped.
"""

from __future__ import annotations

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
    model, there = clone(model), np.isin(np.arange(len(names)), kept)
    return model if _prune(model, native, names, there) else None


def _prune(model: Any, native: Any, names: list[str], there: Bools) -> bool:
    """Take columns that are not there out of a part of a model; whether any is left for it.

    ``native``, ``names``: the table that it would be given, and its columns.
    """
    table = native, names, there
    if not names_columns(model):
        return True
    if isinstance(model, ColumnTransformer):
        return _prune_lists(model, *table)
    if isinstance(model, Pipeline):  # later steps are given what the first one makes of the table
        return _prune(next(step for _, step in model.steps if hasattr(step, "fit")), *table)
    for name, inside in model.get_params(deep=False).items():
        if hasattr(inside, "fit"):  # of a search or a calibration
            if not _prune(inside, *table):
                return False
        elif isinstance(inside, (list, tuple)) and any(map(_is_part, inside)):  # a union or a vote
            parts = [
                (one[0], "drop") if _is_part(one) and not _prune(one[1], *table) else one
                for one in inside
            ]
            if not any(map(_is_part, parts)):
                return False
            model.set_params(**{name: parts})
    return True


def _prune_lists(model: ColumnTransformer, native: Any, names: list[str], there: Bools) -> bool:
    def cut(part: Any, columns: Ints) -> Any:
        own = [names[j] for j in columns.tolist()]
        return (
            part if _prune(part, native_columns(native, columns), own, there[columns]) else "drop"
        )

    places, others = np.cumsum(there) - 1, np.ones(there.size, dtype=bool)
    transformers: list[tuple[str, Any, Any]] = []
    for name, transformer, columns in model.transformers:
        spec = columns(native) if callable(columns) else columns
        listed = listed_positions(spec, names)
        others[listed] = False
        # in the order in which they are listed, at their places in the table that is left
        left = places[listed[there[listed]]].tolist()
        if left:  # a part that is left with nothing still keeps its columns from the remainder
            at = left[0] if np.isscalar(spec) else left
            transformers.append((name, cut(transformer, listed), at))
    model.transformers = transformers
    used = [part for _, part, _ in transformers]
    if (others & there).any():
        model.remainder = cut(model.remainder, np.flatnonzero(others))
        used.append(model.remainder)
    return any(not isinstance(part, str) or part != "drop" for part in used)


def _is_part(item: Any) -> bool:
    """Whether an item is a model with its name."""
    return isinstance(item, tuple) and hasattr(item[-1], "fit")


def listed_positions(spec: Any, names: list[str]) -> Ints:
    """Positions of the columns that a ``ColumnTransformer`` lists, as scikit-learn reads them."""
    if isinstance(spec, slice):
        start, stop = (_position(end, names) if isinstance(end, str) else end
                       for end in (spec.start, spec.stop))  # fmt: skip
        stop = stop + 1 if isinstance(spec.stop, str) else stop  # a slice of names has its end
        return np.arange(len(names))[start : stop : spec.step]
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
