"""Reader for the trees of scikit-learn's ensembles.

``tree_`` is public. Histogram gradient boosting has no public export: its predictors are read as
the known version keeps them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from shapley2d._forest import library, losses
from shapley2d._forest.model import Model, SplitTree
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._tables.table import Table

_FORESTS = ("ExtraTrees", "RandomForest")
_BOOSTED = ("GradientBoosting", "HistGradientBoosting")


def _is_ensemble(model: Any, *kinds: str) -> bool:
    names = [f"{kind}{role}" for kind in kinds for role in ("Classifier", "Regressor")]
    return library.is_of(model, "sklearn.ensemble", *names)


def read_tree(estimator: Any) -> SplitTree:
    """The splits of one of scikit-learn's decision trees.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = read_tree(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))
    >>> tree.left.tolist(), tree.threshold.tolist()
    ([1, -1, -1], [0.5, -2.0, -2.0])
    """
    tree = estimator.tree_
    feature = np.maximum(tree.feature, 0)
    children = tree.children_left, tree.children_right
    return SplitTree.of(*children, feature, tree.threshold, tree.missing_go_to_left)


def _tree_leaves(estimator: Any, *, classifies: bool) -> Floats:
    """The predictions of the nodes of a tree: one column per class, or one."""
    values = np.asarray(estimator.tree_.value[:, 0], dtype=np.float64)
    return values / values.sum(axis=1, keepdims=True) if classifies else values


def _read_predictor(predictor: Any) -> SplitTree:
    nodes = predictor.nodes
    inner = ~np.asarray(nodes["is_leaf"], dtype=np.bool_)
    words = np.ascontiguousarray(predictor.raw_left_cat_bitsets).view(np.uint8)
    sets = np.unpackbits(words, axis=1, bitorder="little") > 0
    by_category = np.flatnonzero(inner & (np.asarray(nodes["is_categorical"]) > 0)).tolist()
    return SplitTree.of(
        np.where(inner, nodes["left"].astype(np.int32), -1),
        np.where(inner, nodes["right"].astype(np.int32), -1),
        np.where(inner, nodes["feature_idx"], 0),
        np.nan_to_num(nodes["num_threshold"], nan=0.0, posinf=np.inf, neginf=-np.inf),
        np.asarray(nodes["missing_go_to_left"]) > 0,
        {node: sets[nodes["bitset_idx"][node]] for node in by_category},
    )


def _histogram_features(model: Any, make: Any, table: Table) -> Floats:
    """The features that histogram gradient boosting makes of a table."""
    try:
        matrix = make(table.native, reset=False)
    except ValueError as error:
        raise InputError(
            f"{library.about(model)} cannot take the table: {error}; pass the table that it was "
            "fitted on"
        ) from error
    return np.ascontiguousarray(np.transpose(matrix), dtype=np.float64)


def _number_features(model: Any, table: Table) -> Floats:
    """The columns of a table as features, rounded to 32 bits."""
    return np.array([library.rounded(model, column) for column in table.columns])


def _read_forest(model: Any) -> Model:
    """The trees of a forest, or of a single one."""
    estimators = [model] if hasattr(model, "tree_") else list(model.estimators_)
    classes, count = getattr(model, "classes_", None), len(estimators)
    classifies = classes is not None
    return Model(
        [read_tree(one) for one in estimators],
        [_tree_leaves(one, classifies=classifies) / count for one in estimators],
        [0] * count,
        [list(range(count))],
        losses.PROBABILITY if classifies else losses.SQUARED,
        partial(_number_features, model),
        partial(_raw, model),
        start_in="all",
        classes=classes,
        weigh=partial(_weigh, model),
    )


def _read_boosting(model: Any) -> Model:
    """The trees of gradient boosting."""
    estimators = list(np.ravel(model.estimators_))
    return Model(
        [read_tree(one) for one in estimators],
        [model.learning_rate * _tree_leaves(one, classifies=False) for one in estimators],
        *library.by_rounds(len(estimators), model.estimators_.shape[1]),
        _loss(model),
        partial(_number_features, model),
        partial(_raw, model),
        classes=getattr(model, "classes_", None),
    )


def _read_histograms(model: Any) -> Model:
    """The trees of gradient boosting with histograms."""
    steps = model._predictors  # noqa: SLF001
    predictors = [one for step in steps for one in step]
    by_category = model.is_categorical_  # their columns come first
    first = None if by_category is None else np.argsort(~by_category, kind="stable")
    return Model(
        [_read_predictor(one) for one in predictors],
        [np.array(one.nodes["value"], dtype=np.float64)[:, None] for one in predictors],
        *library.by_rounds(len(predictors), len(steps[0])),
        _loss(model),
        partial(_histogram_features, model, model._preprocess_X),  # noqa: SLF001
        partial(_raw, model),
        penalty=float(model.l2_regularization),
        classes=getattr(model, "classes_", None),
        owners=first,
        weigh=library.class_weights(getattr(model, "class_weight", None)),
    )


def _loss(model: Any) -> Loss:
    """The loss of gradient boosting."""
    name = model.loss
    if name == "log_loss":
        return losses.LOG if len(model.classes_) == 2 else losses.SOFTMAX
    quantile = getattr(model, "quantile", None) or getattr(model, "alpha", 0.5)
    return library.loss_named(model, name, quantile)


def _raw(model: Any, rows: Any) -> Floats:
    """The raw predictions of a model."""
    if hasattr(model, "decision_function"):
        return library.columns_of(model.decision_function(rows))
    if hasattr(model, "predict_proba"):
        return library.columns_of(model.predict_proba(rows))
    found = library.columns_of(model.predict(rows))
    return np.log(found) if getattr(model, "loss", None) in ("poisson", "gamma") else found


def _weigh(model: Any, y: NDArray[Any]) -> NDArray[Any] | list[NDArray[Any]] | None:
    """The weights of the rows in every tree of a forest; None where the rows are others.

    A row that a bootstrap sample has several times counts once: how often is in the leaves' scales.
    """
    given, n = getattr(model, "class_weight", None), y.size
    if not getattr(model, "bootstrap", False):
        return None if given is None else np.asarray(compute_sample_weight(given, y))
    samples = model.estimators_samples_
    if any(drawn.max(initial=0) >= n for drawn in samples):
        return None
    bags = [np.bincount(drawn, minlength=n) > 0 for drawn in samples]
    if given is None:
        return bags
    if given != "balanced_subsample":
        weights = compute_sample_weight(given, y)
        return [weights * bag for bag in bags]
    return [
        compute_sample_weight("balanced", y, indices=drawn) * bag
        for drawn, bag in zip(samples, bags, strict=True)
    ]


class ScikitLearn(library.Library):
    """The reader for scikit-learn."""

    name = "scikit-learn"
    module = "sklearn"
    known = "1.9"

    def owns(self, model: Any) -> bool:
        is_tree = library.is_of(model, "sklearn.tree", "BaseDecisionTree")
        return is_tree or _is_ensemble(model, *_FORESTS, *_BOOSTED)

    def fitted_on(self, model: Any) -> tuple[int, list[str] | None]:
        """The number of columns that an estimator was fitted on, and their names if it had any."""
        names = getattr(model, "feature_names_in_", None)
        return int(model.n_features_in_), None if names is None else [str(name) for name in names]

    def read(self, model: Any) -> Model:
        if _is_ensemble(model, "HistGradientBoosting"):
            return _read_histograms(model)
        return (_read_boosting if _is_ensemble(model, *_BOOSTED) else _read_forest)(model)
