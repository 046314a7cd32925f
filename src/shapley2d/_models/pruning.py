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
from sklearn.pipeline import FeatureUnion, Pipeline

from shapley2d._base.words import counted
from shapley2d._tables.table import native_columns
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS = ("drop", "passthrough", None)


def names_columns(model: Any) -> bool:
    """Whether a model has a ``ColumnTransformer`` anywhere."""
    parts = [model, *_parameters(model, deep=True).values()]
    return any(isinstance(part, ColumnTransformer) for part in parts)


def prune_columns(model: Any, native: Any, names: list[str], kept: NDArray[np.intp]) -> Any:
    """A clone of the model for a table of some columns; None where it looks at none of them.

    ``native`` is the user's whole training table, ``names`` its columns, and ``kept`` the positions
    of those that are there, ascending.
    """
    return _pruned(clone(model), _Seen(native, names, kept))


@dataclass(frozen=True)
class _Seen:
    """The table that a part of a model would be given, and which of its columns are there."""

    native: Any
    names: list[str]
    kept: NDArray[np.intp]

    def part(self, columns: NDArray[np.intp]) -> _Seen:
        """Some of the columns, in this order, as a transformer is given them."""
        kept = np.flatnonzero(np.isin(columns, self.kept))
        return _Seen(
            native_columns(self.native, columns), [self.names[j] for j in columns.tolist()], kept
        )


def _pruned(model: Any, seen: _Seen) -> Any:
    """The model, changed in place, or None where no column is left for it."""
    if isinstance(model, ColumnTransformer):
        return _pruned_transformer(model, seen)
    if isinstance(model, Pipeline):
        first = next((k for k, (_, step) in enumerate(model.steps) if not _is_word(step)), None)
        if first is None:
            return model
        name, step = model.steps[first]
        step = _pruned(step, seen)
        model.steps = [*model.steps[:first], (name, step), *model.steps[first + 1 :]]
        return None if step is None else model
    if isinstance(model, FeatureUnion):
        pruned = [
            (name, part if _is_word(part) else _pruned(part, seen))
            for name, part in model.transformer_list
        ]
        model.transformer_list = [(name, part) for name, part in pruned if part is not None]
        if model.transformer_weights is not None:
            left = [name for name, _ in model.transformer_list]
            model.transformer_weights = {
                name: weight for name, weight in model.transformer_weights.items() if name in left
            }
        return model if model.transformer_list else None
    return _pruned_inside(model, seen)


def _pruned_transformer(model: ColumnTransformer, seen: _Seen) -> Any:
    transformers, listed = [], []
    for name, transformer, columns in model.transformers:
        spec = columns(seen.native) if callable(columns) else columns
        positions = listed_positions(spec, seen.names)
        listed.append(positions)
        left = np.flatnonzero(np.isin(seen.kept, positions)) if positions.size else positions
        if not left.size:
            continue
        # in the order in which they are listed, at their places in the table that is left
        order = [int(np.searchsorted(seen.kept, j)) for j in positions.tolist() if j in seen.kept]
        part = transformer
        if not _is_word(transformer):
            part = _pruned(transformer, seen.part(positions))
        single = isinstance(spec, (str, int, np.integer))
        # a part that is left with nothing still keeps its columns from the remainder
        transformers.append((name, "drop" if part is None else part, order[0] if single else order))
    model.transformers = transformers
    rest = np.setdiff1d(seen.kept, np.concatenate([*listed, np.zeros(0, dtype=np.intp)]))
    dropped = all(isinstance(part, str) and part == "drop" for _, part, _ in transformers)
    if dropped and (not rest.size or model.remainder == "drop"):
        return None
    if not _is_word(model.remainder) and rest.size:
        everything = np.setdiff1d(
            np.arange(len(seen.names)), np.concatenate([*listed, np.zeros(0, dtype=np.intp)])
        )
        model.remainder = _pruned(model.remainder, seen.part(everything)) or "drop"
    return model


def _pruned_inside(model: Any, seen: _Seen) -> Any:
    """Prune the estimators inside another one: a search, a vote or a calibration."""
    for name, part in _parameters(model, deep=False).items():
        if hasattr(part, "fit") and names_columns(part):
            inner = _pruned(part, seen)
            if inner is None:
                return None
            model.set_params(**{name: inner})
        elif isinstance(part, (list, tuple)) and any(_named_part(item) for item in part):
            inner = [
                (item[0], _pruned(item[1], seen) or "drop") if _named_part(item) else item
                for item in part
            ]
            if not any(_named_part(item) for item in inner):
                return None
            model.set_params(**{name: inner})
    return model


def _named_part(item: Any) -> bool:
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], str)
        and hasattr(item[1], "fit")
    )


def _is_word(part: Any) -> bool:
    return part is None or (isinstance(part, str) and part in _WORDS)


def _parameters(model: Any, *, deep: bool) -> dict[str, Any]:
    return dict(model.get_params(deep=deep)) if hasattr(model, "get_params") else {}


def listed_positions(spec: Any, names: list[str]) -> NDArray[np.intp]:
    """Positions of the columns that a ``ColumnTransformer`` lists, as scikit-learn reads them."""
    n = len(names)
    if isinstance(spec, (str, int, np.integer)) and not isinstance(spec, (bool, np.bool_)):
        return np.array([_position(spec, names)], dtype=np.intp)
    if isinstance(spec, slice):
        ends = (spec.start, spec.stop)
        if any(isinstance(end, str) for end in ends):  # a slice of names includes its end
            start = 0 if spec.start is None else _position(spec.start, names)
            stop = n if spec.stop is None else _position(spec.stop, names) + 1
            return np.arange(start, stop, spec.step or 1, dtype=np.intp)
        return np.arange(n, dtype=np.intp)[spec]
    items = list(spec)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        return np.flatnonzero(items).astype(np.intp)
    return np.array([_position(item, names) for item in items], dtype=np.intp)


def _position(column: Any, names: list[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            listed = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
            raise InputError(
                Setting("model"),
                f" names the column {column!r}, which the table does not have: its columns are "
                f"{listed}",
            )
        return names.index(column)
    position = int(column) + (len(names) if column < 0 else 0)
    if not 0 <= position < len(names):
        raise InputError(
            Setting("model"),
            f" takes the column at position {column}, but the table has "
            f"{counted(len(names), 'column')}",
        )
    return position
