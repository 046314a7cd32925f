"""Reader for the trees of XGBoost, from the JSON that it saves models as.

A number goes left if it is below the threshold, in 32 bits; a missing one goes in the default
direction of the split. A set of categories has those that go right, so that the sides of such a
split are exchanged here; an unknown category is in no set.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest import library
from shapley2d._forest.model import Model, SplitTree
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._tables.table import Column, Table


def _loss(model: Any, objective: dict[str, Any]) -> Loss:
    quantile = objective.get("quantile_loss_param", {}).get("quantile_alpha", "0.5")
    return library.loss_named(model, objective["name"], quantile.strip("[]"))


def _margin(model: Any, rows: Any) -> Floats:
    """The raw predictions of a model."""
    if hasattr(model, "get_booster"):
        return library.columns_of(model.predict(rows, output_margin=True))
    import xgboost

    matrix = xgboost.DMatrix(rows, enable_categorical=True)
    return library.columns_of(model.predict(matrix, output_margin=True, validate_features=False))


def _rounds(model: Any, most: int) -> int:
    """The number of boosting rounds that a model predicts by; wrappers stop at the best one."""
    if not hasattr(model, "get_booster"):
        return most
    try:
        return min(int(model.best_iteration) + 1, most)
    except AttributeError:  # it was not asked to stop early
        return most


def _tree(tree: dict[str, Any]) -> tuple[SplitTree, Floats]:
    """A tree, and what every node adds to the prediction, if it is a leaf."""
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise ValueError("leaves with several outputs")
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    inner, sets, categories = left >= 0, {}, np.array(tree["categories"], dtype=np.int64)
    conditions = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
    names = ("categories_nodes", "categories_segments", "categories_sizes")
    for node, start, size in zip(*(tree[name] for name in names), strict=True):
        sets[node] = np.bincount(categories[start : start + size], minlength=1) > 0
    turned = np.isin(np.arange(left.size), list(sets))
    found = SplitTree.of(
        np.where(inner, np.where(turned, right, left), -1),
        np.where(inner, np.where(turned, left, right), -1),
        np.where(inner, tree["split_indices"], 0),
        np.nextafter(conditions, -np.inf),  # less than, as at most
        inner & ((np.array(tree["default_left"]) > 0) ^ turned),
        sets,
    )
    return found, conditions[:, None]


def _known_categories(booster: Any) -> dict[int, list[Any]]:
    """The categories that the model was fitted on, by column; those of numbers have no names."""
    categories = booster.get_categories(export_to_arrow=True)
    pairs = [] if categories is None else categories.to_arrow()
    return {j: names.to_pylist() for j, (_, names) in enumerate(pairs) if names is not None}


def _see(model: Any, known: dict[int, list[Any]], table: Table) -> Floats:
    return np.array(
        [
            library.positions(library.own_entries(table, j), known[j])
            if j in known
            else _numbers(model, column)
            for j, column in enumerate(table.columns)
        ]
    )


def _numbers(model: Any, column: Column) -> Floats:
    """Numbers, or the codes of categories."""
    entries, gap = library.rounded(model, column), getattr(model, "missing", np.nan)
    if gap is None or np.isnan(gap):
        return entries
    return np.where(entries == float(np.float32(gap)), np.nan, entries)


def _booster(model: Any) -> Any:
    return model.get_booster() if hasattr(model, "get_booster") else model


class XGBoost(library.Library):
    """The reader for XGBoost."""

    name = module = "xgboost"
    known = "3.2"
    kinds = (
        "Booster", "XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor",
        "XGBRanker",
    )  # fmt: skip
    counts_classes = True

    def fitted_on(self, model: Any) -> tuple[int, list[str] | None]:
        booster = _booster(model)
        return int(booster.num_features()), booster.feature_names

    def count_trees(self, booster: Any) -> int:
        try:
            return int(booster.num_boosted_rounds())
        except ValueError:  # it has not even seen a table
            return 0

    def read(self, model: Any) -> Model:
        booster = _booster(model)
        learner = json.loads(bytes(booster.save_raw("json")))["learner"]
        gradient_booster, objective = learner["gradient_booster"], learner["objective"]
        if gradient_booster["name"] == "gblinear":
            raise InputError(f"{library.about(model)} has no trees: use booster='gbtree'")
        if gradient_booster["name"] == "dart":
            raise InputError(f"{library.about(model)}{library.NO_DART}")
        forest = gradient_booster["model"]
        starts = forest["iteration_indptr"]
        starts = starts[: _rounds(model, len(starts) - 1) + 1]
        found = [_tree(one) for one in forest["trees"][: starts[-1]]]
        asked = json.loads(booster.save_config())["learner"]["gradient_booster"]
        positive = objective.get("reg_loss_param", {}).get("scale_pos_weight", 1.0)
        return Model(
            [tree for tree, _ in found],
            [leaves for _, leaves in found],
            [int(k) for k in forest["tree_info"][: starts[-1]]],
            [list(range(*pair)) for pair in pairwise(starts)],
            _loss(model, objective),
            partial(_see, model, _known_categories(booster)),
            partial(_margin, model),
            penalty=float(asked.get("tree_train_param", {}).get("lambda", 1.0)),
            classes=getattr(model, "classes_", None),
            weigh=library.class_weights([1.0, float(positive)]),
        )
