"""Reader for the trees of scikit-learn's ensembles.

``tree_`` is public. Histogram gradient boosting has no public export: its predictors are read as
the known version keeps them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest.library import Library, Reading, about, is_of, numbers
from shapley2d._forest.trees import SplitTree
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table

    Floats = NDArray[np.float64]

_FORESTS = ("ExtraTrees", "RandomForest")
_BOOSTED = ("GradientBoosting", "HistGradientBoosting")


def _is_ensemble(model: Any, *kinds: str) -> bool:
    names = [f"{kind}{role}" for kind in kinds for role in ("Classifier", "Regressor")]
    return is_of(model, "sklearn.ensemble", *names)


def _owns(model: Any) -> bool:
    is_tree = is_of(model, "sklearn.tree", "BaseDecisionTree")
    return is_tree or _is_ensemble(model, *_FORESTS, *_BOOSTED)


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
    feature = np.maximum(tree.feature, 0)
    children = tree.children_left, tree.children_right
    return SplitTree.of(*children, feature, tree.threshold, tree.missing_go_to_left)


def read_trees(model: Any) -> list[SplitTree]:
    """The splits of all trees of a fitted model."""
    if hasattr(model, "tree_"):
        return [read_tree(model)]
    if not _is_ensemble(model, "HistGradientBoosting"):
        return [read_tree(estimator) for estimator in np.ravel(model.estimators_)]
    return [_read_predictor(one) for step in model._predictors for one in step]  # noqa: SLF001


def _read_predictor(predictor: Any) -> SplitTree:
    nodes = predictor.nodes
    inner = ~np.asarray(nodes["is_leaf"], dtype=np.bool_)
    sets = predictor.raw_left_cat_bitsets
    by_category = np.flatnonzero(inner & (np.asarray(nodes["is_categorical"]) > 0)).tolist()
    return SplitTree.of(
        np.where(inner, nodes["left"].astype(np.int32), -1),
        np.where(inner, nodes["right"].astype(np.int32), -1),
        np.where(inner, nodes["feature_idx"], 0),
        np.nan_to_num(nodes["num_threshold"], nan=0.0, posinf=np.inf, neginf=-np.inf),
        np.asarray(nodes["missing_go_to_left"]) > 0,
        {node: sets[nodes["bitset_idx"][node]] for node in by_category},
    )


def _histogram_features(model: Any, table: Table) -> Floats:
    """The features that histogram gradient boosting makes of a table."""
    try:
        with SKLEARN.parsing(model):
            make = model._preprocess_X  # noqa: SLF001
        matrix = make(table.native, reset=False)
    except ValueError as error:
        raise InputError(
            about(model), f" cannot take the table: {error}; pass the table that it was fitted on"
        ) from error
    return np.ascontiguousarray(np.transpose(matrix), dtype=np.float64)


def _number_features(model: Any, table: Table) -> Floats:
    """The columns of a table as features, rounded to 32 bits."""
    features = np.empty((table.n_columns, table.n_rows))
    for feature, column in zip(features, table.columns, strict=True):
        feature[:] = as_float32(numbers(model, column))
    return features


def _read(model: Any) -> Reading:
    with SKLEARN.parsing(model):
        trees = read_trees(model)
        columns = np.arange(model.n_features_in_, dtype=np.int32)
        if not _is_ensemble(model, "HistGradientBoosting"):
            see = partial(_number_features, model)
        else:
            see = partial(_histogram_features, model)
            if model.is_categorical_ is not None:  # columns of categories come first
                columns = np.argsort(~model.is_categorical_, kind="stable").astype(np.int32)
    return Reading(trees, see, columns, _is_ensemble(model, *_BOOSTED))


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
    owns=_owns,
    is_fitted=_is_fitted,
    fitted_on=fitted_on,
    read=_read,
    takes_table=_takes_table,
)
"""The reader for scikit-learn."""
