"""Reader for the trees of LightGBM, from the tables that it dumps.

A number goes left if it is at most the threshold, in 64 bits. Depending on the feature, missing is
not-a-number; not-a-number and 0; or nothing, and then not-a-number counts as 0. A category goes
left if it is in the set of the split; one that is missing or unknown goes right.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from shapley2d._base.words import counted
from shapley2d._forest import library
from shapley2d._forest.model import Model, Node, SplitTree
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._tables.table import Table


def _loss(model: Any, objective: str, asked: dict[str, str]) -> tuple[Loss, float]:
    """The loss, and the factor of the raw prediction in it."""
    name, *rest = objective.split()
    options = dict(part.split(":", 1) for part in rest if ":" in part)
    if "sqrt" in rest:
        name = objective
    factor = float(options.get("sigmoid", 1.0)) if name == "binary" else 1.0
    return library.loss_named(model, name, asked.get("alpha", 0.5)), factor


def _raw(model: Any, factor: float, rows: Any) -> Floats:
    return factor * library.columns_of(model.predict(rows, raw_score=True))


def _weigh(model: Any, asked: dict[str, str]) -> Any:
    """The weights of rows that are known from the options of a model."""

    def balance(y: NDArray[Any]) -> Floats:
        found = compute_sample_weight("balanced", y)
        return np.asarray(found / found.min())

    if asked.get("is_unbalance") == "1":
        return balance
    given, positive = getattr(model, "class_weight", None), float(asked.get("scale_pos_weight", 1))
    return library.class_weights([1.0, positive] if given is None else given)


def _node(gaps_at_zero: set[int], own: dict[str, Any]) -> Node:
    """A node; a column where 0 counts as missing is noted."""
    if "leaf_value" in own:
        return Node(value=own["leaf_value"])
    column, below = own["split_feature"], (own["left_child"], own["right_child"])
    if own["decision_type"] == "==":
        members = np.array(own["threshold"].split("||"), dtype=np.int64)
        return Node(column, members=np.bincount(members) > 0, below=below)
    limit, gaps = own["threshold"], own["missing_type"]
    if gaps == "Zero":
        gaps_at_zero.add(column)
    to_left = limit >= 0 if gaps == "None" else own["default_left"]  # not-a-number counts as 0
    return Node(column, limit, to_left, below=below)


def _see(
    model: Any, known: list[list[Any]], names: dict[int, Any], gaps_at_zero: set[int], table: Table
) -> Floats:
    """The features, categories by the codes of those that the model was fitted on.

    Which columns they are in shows in the first table that is seen, that of training, and is noted:
    a single row may come without types.
    """
    columns = range(table.n_columns)
    if known and not names:
        categorical = [j for j in columns if library.is_categorical(table, j)]
        if len(categorical) != len(known):
            raise InputError(
                f"{library.about(model)} was fitted on {counted(len(known), 'categorical column')},"
                f" but the table has {len(categorical)}: pass columns of the same types"
            )
        names.update(zip(categorical, known, strict=True))
    return np.array(
        [
            library.positions(library.own_entries(table, j), names[j])
            if j in names
            else _numbers(model, table, j, np.nan if j in gaps_at_zero else 0.0)
            for j in columns
        ]
    )


def _numbers(model: Any, table: Table, j: int, zero: float) -> NDArray[np.float64]:
    is_whole = isinstance(table.native, np.ndarray) and table.native.dtype.kind in "iub"
    take = library.rounded if is_whole else library.numbers  # as LightGBM does
    entries = take(model, table.columns[j])
    return np.where(np.abs(entries) <= float(np.float32(1e-35)), zero, entries)


def _booster(model: Any) -> Any:
    return getattr(model, "booster_", model)


class LightGBM(library.Library):
    """The reader for LightGBM."""

    name = module = "lightgbm"
    known = "4.7"
    kinds = ("Booster", "LGBMClassifier", "LGBMRegressor", "LGBMRanker")
    quiet = ((("verbosity", "verbose"), -1),)

    def fitted_on(self, model: Any) -> tuple[int, list[str] | None]:
        return library.named_columns(_booster(model).feature_name(), "Column_{}")

    def count_trees(self, booster: Any) -> int:
        return int(booster.num_trees())

    def read(self, model: Any) -> Model:
        saved = _booster(model).dump_model()
        if saved["version"] != "v4":
            raise ValueError(saved["version"])
        # options by their own names, whatever name the user knows them by
        text = _booster(model).model_to_string(num_iteration=1)
        asked = dict(
            line.strip("[]").split(": ", 1)
            for line in text[text.index("\nparameters:") :].splitlines()
            if line.startswith("[") and ": " in line
        )
        if asked["boosting"] == "dart":
            raise InputError(f"{library.about(model)}{library.NO_DART}")
        if asked["linear_tree"] == "1":
            raise InputError(
                f"{library.about(model)} has linear leaves (linear_tree), which no rows average to"
            )
        gaps_at_zero: set[int] = set()
        read = partial(_node, gaps_at_zero)
        found = [SplitTree.nested(one["tree_structure"], read) for one in saved["tree_info"]]
        outputs, rounds = library.by_rounds(len(found), saved["num_tree_per_iteration"])
        loss, factor = _loss(model, saved["objective"], asked)
        averages, start_in = saved["average_output"], "first"
        if averages:
            factor, rounds, start_in = factor / len(rounds), [list(range(len(found)))], "all"
        return Model(
            [tree for tree, _ in found],
            [factor * leaves for _, leaves in found],
            outputs,
            rounds,
            loss,
            partial(_see, model, saved["pandas_categorical"] or [], {}, gaps_at_zero),
            partial(_raw, model, factor),
            penalty=float(asked.get("lambda_l2", 0.0)),
            classes=getattr(model, "classes_", None),
            start_in=start_in if asked.get("boost_from_average", "1") == "1" else "",
            start_weights=library.class_weights(getattr(model, "class_weight", None)),
            weigh=_weigh(model, asked),
        )
