"""A fitted model as trees, and the tables as the trees see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted
from shapley2d._forest.library import about
from shapley2d._forest.pipelines import (
    feature_owners,
    is_pipeline,
    last_step,
    transform_table,
)
from shapley2d._forest.read_catboost import CATBOOST
from shapley2d._forest.read_lightgbm import LIGHTGBM
from shapley2d._forest.read_sklearn import SKLEARN, fitted_on
from shapley2d._forest.read_xgboost import XGBOOST
from shapley2d._forest.tree_values import Features
from shapley2d._tables.convert import as_table
from shapley2d._tables.encoding import as_float32, encode_tables
from shapley2d._tables.table import Column, Table
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._forest.library import Library
    from shapley2d._forest.trees import SplitTree
    from shapley2d._tables.problem import Split

LIBRARIES = (SKLEARN, LIGHTGBM, XGBOOST, CATBOOST)
"""The libraries whose trees are read."""

_ADVICE = (
    "pass RandomForest*, ExtraTrees*, GradientBoosting*, HistGradientBoosting* or a decision tree "
    "of scikit-learn, a model of LightGBM, XGBoost or CatBoost, or a Pipeline that ends in one"
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


def library_of(model: Any) -> Library:
    """The library of a model, or of the last step of a pipeline; others are refused."""
    last = last_step(model)
    for library in LIBRARIES:
        if library.owns(last):
            return library
    raise InputError(about(model), f" is not a tree ensemble that can be read: {_ADVICE}")


def is_fitted(model: Any) -> bool:
    """Whether a model is fitted; of a pipeline, its last step. A booster has to be."""
    library, last = library_of(model), last_step(model)
    fitted = library.is_fitted(last)
    if not fitted and not hasattr(last, "fit"):
        raise InputError(
            Setting("model"),
            f" is a {type(last).__name__} of {library.name} without any trees: train it first",
        )
    return fitted


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


def read_encoded(model: Any, train: Table, encoded: Features) -> Ensemble:
    """A model that was fitted on the first of :func:`encoded_matrices`."""
    reading = library_of(model).read(model)
    features = Features(
        reading.see(_matrix_table(encoded.train.T)),
        reading.see(_matrix_table(encoded.valid.T)),
        encoded.owners[reading.columns],
    )
    see = partial(_see_encoded, reading.see, train)
    return Ensemble(reading.trees, features, reading.boosted, see)


def read_fitted(model: Any, split: Split) -> Ensemble:
    """A fitted model, with the tables of a split as the user's model sees them."""
    check_columns(model, split.train)
    reading = library_of(model).read(last_step(model))
    see, owners = reading.see, np.arange(split.train.n_columns, dtype=np.int32)
    if is_pipeline(model):
        see, owners = partial(_see_made, see, model), feature_owners(model, split.train)
    features = Features(see(split.train), see(split.valid), owners[reading.columns])
    return Ensemble(reading.trees, features, reading.boosted, see)


def _see_encoded(
    see: Callable[[Table], NDArray[np.float64]], train: Table, table: Table
) -> NDArray[np.float64]:
    return see(_matrix_table(encoded_rows(train, table).T))


def _see_made(
    see: Callable[[Table], NDArray[np.float64]], model: Any, table: Table
) -> NDArray[np.float64]:
    made = transform_table(model, table.native)
    return see(as_table(made) if hasattr(made, "columns") else _matrix_table(np.asarray(made)))


def _matrix_table(matrix: NDArray[Any]) -> Table:
    """A matrix of numbers as a table."""
    columns = tuple(
        Column(f"x{j}", "number", np.asarray(line, dtype=np.float64))
        for j, line in enumerate(matrix.T)
    )
    return Table(columns, np.arange(len(matrix)), matrix)


def check_columns(model: Any, table: Table) -> None:
    """Refuse a table whose columns are not those that a model was fitted on."""
    count, names = _fitted_on(model)
    if count is not None and count != table.n_columns:
        raise InputError(
            about(model),
            f" was fitted on {counted(count, 'column')}, but the table has {table.n_columns}: "
            "pass the table that it was fitted on",
        )
    if names is None or isinstance(table.native, np.ndarray):
        return
    for fitted, here in zip(names, table.column_names, strict=True):
        if fitted not in (here, "_".join(here.split())):  # as LightGBM writes names
            raise InputError(
                about(model),
                f" was fitted on {fitted!r} where the table has {here!r}: pass the columns "
                "that it was fitted on, in their order",
            )


def _fitted_on(model: Any) -> tuple[int | None, list[str] | None]:
    if not is_pipeline(model):
        return library_of(model).fitted_on(model)
    return fitted_on(model) if hasattr(model, "n_features_in_") else (None, None)


def _lines(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.ascontiguousarray(matrix.T, dtype=np.float64)
