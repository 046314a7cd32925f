"""Reader for the trees of XGBoost, from the JSON that it saves models as.

A number goes left if it is below the threshold, in 32 bits; a missing one goes in the default
direction of the split. A set of categories has those that go right; an unknown one goes left.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest import library
from shapley2d._forest.model import Model
from shapley2d._forest.trees import SplitTree, bits
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._tables.table import Table


def _loss(model: Any, objective: dict[str, Any]) -> Loss:
    quantile = objective.get("quantile_loss_param", {}).get("quantile_alpha", "0.5")
    return library.loss_named(model, objective["name"], quantile.strip("[]"))


def _weigh(positive: float, y: NDArray[Any]) -> Floats:
    return np.where(y == np.unique(y)[-1], positive, 1.0)


def _margin(model: Any, rows: Any) -> Floats:
    """The raw predictions of a model."""
    if hasattr(model, "get_booster"):
        return library.columns_of(model.predict(rows, output_margin=True))
    import xgboost

    matrix = xgboost.DMatrix(rows, enable_categorical=True)
    return library.columns_of(model.predict(matrix, output_margin=True, validate_features=False))


def _leaves(tree: dict[str, Any]) -> Floats:
    """What every node adds to the prediction, if it is a leaf."""
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise ValueError("leaves with several outputs")
    return np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)[:, None]


def _see(model: Any, codes: dict[int, int], known: dict[int, list[Any]], table: Table) -> Floats:
    return np.array(
        [
            _codes(model, table, j, known, codes[j])
            if j in codes
            else _number_feature(model, table, j)
            for j in range(table.n_columns)
        ]
    )


def _rounds(model: Any, most: int) -> int:
    """The number of boosting rounds that a model predicts by; wrappers stop at the best one."""
    if not hasattr(model, "get_booster"):
        return most
    try:
        return min(int(model.best_iteration) + 1, most)
    except AttributeError:  # it was not asked to stop early
        return most


def _set_sizes(trees: list[dict[str, Any]], n_columns: int) -> NDArray[np.int64]:
    """One more than the largest category that any split names, for every column."""
    sizes = np.zeros(n_columns, dtype=np.int64)
    for tree in trees:
        for node, members in _sets(tree):
            column = tree["split_indices"][node]
            sizes[column] = max(sizes[column], members.max(initial=-1) + 1)
    return sizes


def _sets(tree: dict[str, Any]) -> list[tuple[int, NDArray[np.int64]]]:
    """The categories that go right, for every categorical split of a tree."""
    members = np.array(tree["categories"], dtype=np.int64)
    return [
        (node, members[start : start + size])
        for node, start, size in zip(
            tree["categories_nodes"],
            tree["categories_segments"],
            tree["categories_sizes"],
            strict=True,
        )
    ]


def _tree(tree: dict[str, Any], sizes: NDArray[np.int64]) -> SplitTree:
    left = np.array(tree["left_children"], dtype=np.int64)
    inner = left >= 0
    right = np.where(inner, tree["right_children"], -1)
    threshold = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
    column = np.where(inner, tree["split_indices"], 0)
    sets = {}
    for node, members in _sets(tree):
        goes_left = np.ones(
            sizes[column[node]] + 1, dtype=np.bool_
        )  # the last stands for all others
        goes_left[members] = False
        sets[node] = bits(goes_left)
    missing_left = inner & (np.array(tree["default_left"]) > 0)
    below = np.nextafter(threshold, -np.inf)  # less than, as at most
    return SplitTree.of(left, right, column, below, missing_left, sets)


def _known_categories(booster: Any) -> dict[int, list[Any]]:
    """The categories that the model was fitted on, by column; those of numbers have no names."""
    categories = booster.get_categories(export_to_arrow=True)
    pairs = [] if categories is None else categories.to_arrow()
    return {j: names.to_pylist() for j, (_, names) in enumerate(pairs) if names is not None}


def _codes(model: Any, table: Table, j: int, known: dict[int, list[Any]], size: int) -> Floats:
    """The codes of a column of categories; ``size`` stands for all that no split names."""
    if j in known:
        entries = library.positions(library.own_entries(table, j), known[j])
    else:
        entries = _number_feature(model, table, j)
    missing = np.isnan(entries)
    unknown = ~missing & ((entries < 0) | (entries >= 2.0**24))  # to XGBoost
    codes = np.minimum(np.trunc(np.where(unknown, size, entries)), size)
    return np.where(missing, np.nan, codes)


def _number_feature(model: Any, table: Table, j: int) -> Floats:
    entries = as_float32(library.numbers(model, table.columns[j])).astype(np.float64)
    gap = getattr(model, "missing", np.nan)
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

    def is_fitted(self, model: Any) -> bool:
        if hasattr(model, "fit"):
            return super().is_fitted(model)
        try:
            return bool(model.num_boosted_rounds() > 0)
        except ValueError:  # it has not even seen a table
            return False

    def read(self, model: Any) -> Model:
        booster = _booster(model)
        with self.parsing(model):
            learner = json.loads(bytes(booster.save_raw("json")))["learner"]
            gradient_booster = learner["gradient_booster"]
            if gradient_booster["name"] == "gblinear":
                raise InputError(f"{library.about(model)} has no trees: use booster='gbtree'")
            if gradient_booster["name"] == "dart":
                raise InputError(f"{library.about(model)}{library.NO_DART}")
            forest = gradient_booster["model"]
            starts = forest["iteration_indptr"]
            kept = _rounds(model, len(starts) - 1)
            rounds = [list(range(*pair)) for pair in pairwise(starts[: kept + 1])]
            raw = forest["trees"][: starts[len(rounds)]]
            width = int(booster.num_features())
            sizes = _set_sizes(raw, width)
            trees = [_tree(one, sizes) for one in raw]
            leaves = [_leaves(one) for one in raw]
            outputs = [int(k) for k in forest["tree_info"][: len(trees)]]
            codes = {
                j: int(sizes[j])
                for j, kind in enumerate(booster.feature_types or [])
                if kind == "c"
            }
            known = _known_categories(booster)
            loss = _loss(model, learner["objective"])
            asked = json.loads(booster.save_config())["learner"]["gradient_booster"]
            penalty = float(asked.get("tree_train_param", {}).get("lambda", 1.0))
            options = learner["objective"].get("reg_loss_param", {})
            positive = float(options.get("scale_pos_weight", 1.0))
        see = partial(_see, model, codes, known)
        return Model(
            trees, leaves, outputs, rounds, loss, see, partial(_margin, model), penalty=penalty,
            classes=getattr(model, "classes_", None),
            weigh=partial(_weigh, positive) if positive != 1.0 else None,
        )  # fmt: skip

    def takes_table(self, model: Any, table: Table) -> bool:
        """Whether a model is told what its columns are, or may use the categories of a table."""
        by_type = bool(model.get_params()["enable_categorical"]) and library.has_categoricals(table)
        return by_type or model.get_params()["feature_types"] is not None
