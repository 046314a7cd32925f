"""The trees of scikit-learn's ensembles.

``tree_`` is public. Histogram gradient boosting has no public export: its predictors are read as
the known version keeps them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest.library import Library, Reading, about, numbers
from shapley2d._forest.trees import SplitTree
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table

    Floats = NDArray[np.float64]

_BIT_WORDS = 8  # 32-bit words of a set of categories


def is_sklearn_forest(model: Any) -> bool:
    """Whether a model is one of scikit-learn's that are read here, fitted or not."""
    from sklearn.tree import BaseDecisionTree

    return isinstance(model, (BaseDecisionTree, *_forests(), *_boosted())) or is_histogram(model)


def is_boosted(model: Any) -> bool:
    """Whether the trees of a model are steps of a sum, not predictions by themselves."""
    return isinstance(model, _boosted()) or is_histogram(model)


def is_histogram(model: Any) -> bool:
    """Whether a model is scikit-learn's histogram gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    return isinstance(model, (HistGradientBoostingClassifier, HistGradientBoostingRegressor))


def _forests() -> tuple[type, ...]:
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    return (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )


def _boosted() -> tuple[type, ...]:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    return (GradientBoostingClassifier, GradientBoostingRegressor)


def read_tree(estimator: Any) -> SplitTree:
    """The splits of one of scikit-learn's decision trees.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = read_tree(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))
    >>> tree.left.tolist(), tree.threshold.tolist()
    ([1, -1, -1], [0.5, -2.0, -2.0])
    """
    tree = estimator.tree_
    return SplitTree.of_numbers(
        tree.children_left,
        tree.children_right,
        np.maximum(tree.feature, 0),
        tree.threshold,
        np.asarray(tree.missing_go_to_left, dtype=np.bool_),
    )


def read_trees(model: Any) -> list[SplitTree]:
    """The splits of all trees of a fitted model."""
    if hasattr(model, "tree_"):
        return [read_tree(model)]
    if not is_histogram(model):
        return [read_tree(estimator) for estimator in np.ravel(model.estimators_)]
    return [_read_predictor(one) for step in model._predictors for one in step]  # noqa: SLF001


def _read_predictor(predictor: Any) -> SplitTree:
    nodes = predictor.nodes
    inner = ~np.asarray(nodes["is_leaf"], dtype=np.bool_)
    by_category = inner & (np.asarray(nodes["is_categorical"]) > 0)
    words = np.asarray(predictor.raw_left_cat_bitsets, dtype=np.uint32).reshape(-1, _BIT_WORDS)
    start = np.asarray(nodes["bitset_idx"], dtype=np.int32) * _BIT_WORDS
    threshold = np.asarray(nodes["num_threshold"], dtype=np.float64)
    return SplitTree(
        np.where(inner, nodes["left"].astype(np.int32), -1).astype(np.int32),
        np.where(inner, nodes["right"].astype(np.int32), -1).astype(np.int32),
        np.where(inner, nodes["feature_idx"].astype(np.int32), 0).astype(np.int32),
        np.where(np.isnan(threshold), 0.0, threshold),
        np.asarray(nodes["missing_go_to_left"]) > 0,
        np.where(by_category, start, -1).astype(np.int32),
        np.where(by_category, _BIT_WORDS, 0).astype(np.int32),
        np.ascontiguousarray(words.ravel()),
    )


def _histogram_lines(model: Any, table: Table) -> Floats:
    """What histogram gradient boosting makes of a table."""
    try:
        with SKLEARN.parsing(model):
            make = model._preprocess_X  # noqa: SLF001
        matrix = make(table.native, reset=False)
    except ValueError as error:
        raise InputError(
            about(model), f" cannot take the table: {error}; pass the table that it was fitted on"
        ) from error
    return np.ascontiguousarray(np.transpose(matrix), dtype=np.float64)


def _read(model: Any) -> Reading:
    with SKLEARN.parsing(model):
        trees = read_trees(model)
        columns = np.arange(model.n_features_in_, dtype=np.int32)
        if not is_histogram(model):
            see = partial(_number_lines, model)
        else:
            see = partial(_histogram_lines, model)
            if model.is_categorical_ is not None:  # columns of categories come first
                columns = np.argsort(~model.is_categorical_, kind="stable").astype(np.int32)
    return Reading(trees, see, columns, is_boosted(model))


def _number_lines(model: Any, table: Table) -> Floats:
    """The columns of a table, rounded to 32 bits."""
    lines = np.empty((table.n_columns, table.n_rows))
    for line, column in zip(lines, table.columns, strict=True):
        line[:] = as_float32(numbers(model, column))
    return lines


def _is_fitted(model: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def fitted_on(model: Any) -> tuple[int, list[str] | None]:
    """The number of columns that an estimator was fitted on, and their names if it had any."""
    names = getattr(model, "feature_names_in_", None)
    return int(model.n_features_in_), None if names is None else [str(name) for name in names]


def _takes_table(model: Any, table: Table) -> bool:  # noqa: ARG001
    return getattr(model, "categorical_features", None) not in (None, "from_dtype")


SKLEARN = Library(
    name="scikit-learn",
    module="sklearn",
    known="1.9",
    owns=is_sklearn_forest,
    is_fitted=_is_fitted,
    fitted_on=fitted_on,
    read=_read,
    takes_table=_takes_table,
)
"""scikit-learn."""
