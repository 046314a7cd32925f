"""A fitted model as trees, and the tables as the trees see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted
from shapley2d._forest.pipelines import (
    feature_owners,
    is_pipeline,
    last_step,
    transform_table,
)
from shapley2d._forest.read_sklearn import (
    histogram_features,
    histogram_order,
    is_boosted,
    is_histogram,
    is_sklearn_forest,
    read_trees,
)
from shapley2d._forest.tree_values import Features
from shapley2d._tables.encoding import as_float32, encode_tables
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._forest.trees import SplitTree
    from shapley2d._tables.problem import Split
    from shapley2d._tables.table import Table

_ADVICE = (
    "pass RandomForest*, ExtraTrees*, GradientBoosting*, HistGradientBoosting* or a decision tree "
    "of scikit-learn, or a Pipeline that ends in one"
)


@dataclass(frozen=True)
class Ensemble:
    """The trees of a fitted model, and the tables of a split as they see them.

    Attributes
    ----------
    trees : list of SplitTree
    features : Features
    boosted : bool
        Whether the model predicts by a sum of its trees, rather than by their mean.
    see : callable
        Any rows of such a table, a ``Table``, as the trees see them: one line per feature.
    """

    trees: list[SplitTree]
    features: Features
    boosted: bool
    see: Callable[[Table], NDArray[np.float64]]


def check_forest(model: Any) -> None:
    """Refuse a model that is not a tree ensemble."""
    if is_sklearn_forest(last_step(model)):
        return
    raise InputError(
        Setting("model", model), f" is not a tree ensemble that can be read: {_ADVICE}"
    )


def is_fitted(model: Any) -> bool:
    """Whether a model is fitted."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def encoded_matrices(split: Split) -> tuple[NDArray[np.float32], Features]:
    """The training matrix that trees are grown on here, and both tables as the trees see them.

    Numbers are rounded to 32 bits, as scikit-learn's trees use them; a category has one feature per
    value.
    """
    encoded = encode_tables(split.train, split.valid)
    train, valid = as_float32(encoded.train), as_float32(encoded.valid)
    return train, Features(_lines(train), _lines(valid), encoded.owners.astype(np.int32))


def encoded_rows(train: Table, table: Table) -> NDArray[np.float64]:
    """Rows of a table in the encoding that :func:`encoded_matrices` makes for a training table."""
    return _lines(as_float32(encode_tables(train, table).valid))


def read_fitted(model: Any, split: Split) -> Ensemble:
    """A fitted model, with the tables of a split as the user's model sees them."""
    check_columns(model, split.train)
    last, see = last_step(model), partial(seen_by, model)
    if is_pipeline(model):
        owners = feature_owners(model, split.train)
    else:
        owners = np.arange(split.train.n_columns, dtype=np.int32)
    if is_histogram(last):
        owners = owners[histogram_order(last, owners.size)]
    features = Features(see(split.train), see(split.valid), owners)
    return Ensemble(read_trees(last), features, is_boosted(last), see)


def seen_by(model: Any, table: Table) -> NDArray[np.float64]:
    """A table as the trees of a fitted model see it, one line per feature."""
    last = last_step(model)
    if is_pipeline(model):
        matrix = transform_table(model, table.native)
    else:
        matrix = table.native if is_histogram(last) else _numbers(model, table)
    if is_histogram(last):
        return _lines(histogram_features(last, matrix))
    return _lines(as_float32(np.asarray(matrix, dtype=np.float64)))


def check_columns(model: Any, table: Table) -> None:
    """Refuse a table whose columns are not those that a model was fitted on."""
    expected = int(getattr(model, "n_features_in_", table.n_columns))
    if expected != table.n_columns:
        raise InputError(
            Setting("model", model),
            f" was fitted on {counted(expected, 'column')}, but the table has {table.n_columns}: "
            "pass the table that it was fitted on",
        )
    names = getattr(model, "feature_names_in_", None)
    if names is None or isinstance(table.native, np.ndarray):
        return
    for fitted, here in zip(names.tolist(), table.column_names, strict=True):
        if str(fitted) != here:
            raise InputError(
                Setting("model", model),
                f" was fitted on {str(fitted)!r} where the table has {here!r}: pass the columns "
                "that it was fitted on, in their order",
            )


def _numbers(model: Any, table: Table) -> NDArray[np.float64]:
    """The entries of a table whose columns are all numbers."""
    for column in table.columns:
        if column.kind in ("category", "date"):
            held = {"category": "categories", "date": "dates"}[column.kind]
            raise InputError(
                Setting("model", model),
                f" was fitted on numbers, but column {column.name!r} holds {held}: pass the table "
                "that it was fitted on, or the model unfitted",
            )
    return np.column_stack([column.entries for column in table.columns])


def _lines(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.ascontiguousarray(matrix.T, dtype=np.float64)
