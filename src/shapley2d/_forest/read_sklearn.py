"""The trees of scikit-learn's ensembles.

``tree_`` is public. Histogram gradient boosting has no public export: its predictors are read as
version 1.9 keeps them, and a version that keeps them otherwise is refused in one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest.trees import SplitTree
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

KNOWN_VERSION = "1.9"
"""The version of scikit-learn whose histogram gradient boosting is tested."""

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
    try:
        return [_read_predictor(one) for step in model._predictors for one in step]  # noqa: SLF001
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise _changed(model) from None


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


def histogram_features(model: Any, native: Any) -> NDArray[np.float64]:
    """What histogram gradient boosting makes of a table."""
    try:
        return np.asarray(model._preprocess_X(native, reset=False), dtype=np.float64)  # noqa: SLF001
    except AttributeError:
        raise _changed(model) from None


def histogram_order(model: Any, width: int) -> NDArray[np.intp]:
    """The column behind every feature that :func:`histogram_features` makes."""
    try:
        is_category = model.is_categorical_
    except AttributeError:
        raise _changed(model) from None
    if is_category is None:
        return np.arange(width)
    # columns of categories come first
    return np.concatenate([np.flatnonzero(is_category), np.flatnonzero(~is_category)])


def _changed(model: Any) -> InputError:
    import sklearn

    return InputError(
        Setting("model", model),
        f" keeps its trees in a way that is not known: scikit-learn is {sklearn.__version__}, and "
        f"{KNOWN_VERSION} is known to work",
    )
