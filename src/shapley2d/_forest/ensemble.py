"""Fitted models of any library as trees, and tables as features of the trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from shapley2d._base.words import counted, shown
from shapley2d._forest.library import about, is_categorical
from shapley2d._forest.pipelines import feature_owners, transform_table
from shapley2d._forest.read_catboost import CatBoost
from shapley2d._forest.read_lightgbm import LightGBM
from shapley2d._forest.read_sklearn import ScikitLearn
from shapley2d._forest.read_xgboost import XGBoost
from shapley2d._models.by_name import is_built_in, resolve_model
from shapley2d._models.fitting import (
    check_task,
    cloned,
    error_line,
    last_step,
    model_name,
    prepared_model,
)
from shapley2d._tables.convert import as_table
from shapley2d._tables.encoding import as_float32, encode_tables
from shapley2d._tables.table import Column, Table
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._forest.library import Library
    from shapley2d._forest.model import Model
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split

_ADVICE = (
    "pass RandomForest*, ExtraTrees*, GradientBoosting*, HistGradientBoosting* or a decision tree "
    "of scikit-learn, a model of LightGBM, XGBoost or CatBoost, or a Pipeline that ends in one"
)


_LIBRARIES: tuple[Library, ...] = (ScikitLearn(), LightGBM(), XGBoost(), CatBoost())


def library_of(model: Any) -> Library:
    """The library of a model, or of the last step of a pipeline; others are refused."""
    last = last_step(model)
    for library in _LIBRARIES:
        if library.owns(last):
            return library
    raise InputError(f"{about(model)} is not a tree ensemble that can be read: {_ADVICE}")


def is_fitted(model: Any) -> bool:
    """Whether a model is fitted; of a pipeline, its last step. A booster has to be."""
    library, last = library_of(model), last_step(model)
    if not hasattr(last, "fit"):
        if not library.count_trees(last):
            raise InputError(
                f"model is a {type(last).__name__} of {library.name} without any trees: train it "
                "first"
            )
        return True
    try:
        check_is_fitted(last)
    except NotFittedError:
        return False
    return True


def read_model(model: Any, problem: Problem, run: Run) -> tuple[list[Model], Any]:
    """The trees of a model for every split, and the model, fitted on each split if it is unfitted.

    The seed of the run is that of an unfitted model without one.
    """
    task = problem.target.task
    if isinstance(model, str):
        if is_built_in(model):
            raise InputError(
                f"model={shown(model)} is not a tree ensemble of scikit-learn: use "
                "model='random_forest' or model='hist_gradient_boosting'"
            )
        model = resolve_model(model, task)
    if is_fitted(model):
        if hasattr(model, "fit"):  # a booster does not tell
            check_task(model, task)
        return [read_fitted(model, split, problem.table) for split in problem.splits], model
    model = prepared_model(model, task, run.seed % 2**32)
    last, quiet = last_step(model), library_of(model).quiet
    given = last.get_params()
    last.set_params(**{names[0]: off for names, off in quiet if not given.keys() & {*names}})
    return [_fit(model, split) for split in problem.splits], model


def _fit(model: Any, split: Split) -> Model:
    y, make = split.y.y, None
    if not _takes_table(model, split.train):
        make, owners = encoder(split.train)
    changed: dict[str, Any] = {"fitted_here": True}
    if library_of(model).counts_classes and split.y.task == "classification":
        used, y = np.unique(split.y.codes, return_inverse=True)
        changed["classes"] = split.y.classes[used]
    try:
        fitted = cloned(model).fit(split.train.native if make is None else make(split.train), y)
    except Exception as error:
        words = f"{model_name(model)} failed on {split.rows.size:,} rows: {error_line(error)}"
        raise UtilityError(words) from error
    read = read_fitted(fitted, split) if make is None else _read(fitted, make, owners)
    return replace(read, **changed)


def _takes_table(model: Any, table: Table) -> bool:
    """Whether an unfitted model is fitted on the table as it is, rather than encoded.

    A pipeline, a model that is told what its columns are, or one that may use their categories.
    """
    if isinstance(model, Pipeline):
        return True
    given, kind = model.get_params(), type(table.native).__module__
    told = ("categorical_features", "feature_types", "cat_features")
    if any(given.get(name) is not None and given[name] != "from_dtype" for name in told):
        return True
    of_pandas = library_of(model).name == "lightgbm" and kind.startswith("pandas")
    some = [is_categorical(table, j) for j in range(table.n_columns)]
    others = [column for column, is_one in zip(table.columns, some, strict=True) if not is_one]
    numbers = all(column.kind in ("number", "boolean") for column in others)
    return (of_pandas or bool(given.get("enable_categorical"))) and any(some) and numbers


def encoder(train: Table) -> tuple[Callable[[Table], NDArray[np.float32]], Ints]:
    """What makes the matrices that trees are grown on here, and the column behind every feature.

    Numbers are rounded to 32 bits, as scikit-learn's trees use them; a category has one feature per
    value.
    """

    def encode(table: Table) -> NDArray[np.float32]:
        return as_float32(encode_tables(train, table).valid)

    return encode, encode_tables(train, train.take_rows(np.arange(1))).owners


def read_fitted(model: Any, split: Split, table: Table | None = None) -> Model:
    """The trees of a model, or of a pipeline, that was fitted on the user's table.

    ``table``: all its rows, where the split has some of them.
    """
    _check_columns(model, split.train)
    owners: Any = np.arange(split.train.n_columns)
    if isinstance(model, Pipeline):
        owners = feature_owners(model, table or split.train)
    return _read(model, lambda rows: transform_table(model, rows.native), owners)


def _read(model: Any, make: Callable[[Table], Any], owners: Ints) -> Model:
    """The trees of a model whose last step takes what ``make`` makes of a table."""
    library, last = library_of(model), last_step(model)
    with library.parsing(last):
        read = library.read(last)

    def see(table: Table) -> Floats:
        made = make(table)
        if made is table.native:
            return read.see(table)
        if hasattr(made, "columns"):
            return read.see(as_table(made))
        matrix = np.asarray(made, dtype=np.float64)
        columns = (Column(f"x{j}", "number", column) for j, column in enumerate(matrix.T))
        return read.see(Table(tuple(columns), np.arange(len(matrix)), matrix))

    def raw(table: Table) -> Any:
        try:
            return read.raw(make(table))
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{about(model)} cannot predict the validation rows: {error_line(error)}"
            ) from error

    owners = owners if read.owners is None else owners[read.owners]
    return replace(read, see=see, raw=raw, owners=owners)


def _check_columns(model: Any, table: Table) -> None:
    """Refuse a table whose columns are not those that a model was fitted on."""
    if isinstance(model, Pipeline) and not hasattr(model, "n_features_in_"):
        return
    library = ScikitLearn() if isinstance(model, Pipeline) else library_of(model)
    count, names = library.fitted_on(model)
    if count != table.n_columns:
        raise InputError(
            f"{about(model)} was fitted on {counted(count, 'column')}, but the table has "
            f"{table.n_columns}: pass the table that it was fitted on"
        )
    if names is None or isinstance(table.native, np.ndarray):
        return
    for fitted, here in zip(names, table.column_names, strict=True):
        if fitted not in (here, "_".join(here.split())):  # as LightGBM writes names
            raise InputError(
                f"{about(model)} was fitted on {fitted!r} where the table has {here!r}: pass the "
                "columns that it was fitted on, in their order"
            )
