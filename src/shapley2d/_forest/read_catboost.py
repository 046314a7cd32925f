"""Reader for the trees of CatBoost, from the JSON that it saves models as.

A number goes right if it is above the border, in 32 bits; a missing one lies below or above all
borders, depending on the feature. A category goes right if the split names it. Splits by statistics
of categories (CTR) are refused: most mix several columns.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest import library
from shapley2d._forest.model import Model, Node, SplitTree
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._tables.table import Table


def _loss(model: Any, name: str) -> Loss:
    kind, _, options = name.partition(":")
    asked = dict(option.split("=") for option in options.split(";") if option)
    return library.loss_named(model, kind, asked.get("alpha", 0.5))


def _raw(model: Any, rows: Any) -> Floats:
    return library.columns_of(model.predict(rows, prediction_type="RawFormulaVal"))


def _see(model: Any, named: dict[int, list[int]], table: Table) -> Floats:
    """The features; ``named``: the hashes of the categories that splits name, by column."""
    texts = {j: _texts(table, j) for j in named}
    with CatBoost().parsing(model):
        saved = _saved(model, {text for column in texts.values() for text in column})
        pairs = saved["features_info"].get("cat_features_hash") or []
        hashes = {one["value"]: one["hash"] for one in pairs}
        codes = {j: library.positions([hashes[text] for text in texts[j]], named[j]) for j in named}
    columns = enumerate(table.columns)
    return np.array(
        [codes[j] if j in codes else library.rounded(model, column) for j, column in columns]
    )


def _texts(table: Table, j: int) -> list[str]:
    """The entries of a column of categories as CatBoost writes them."""
    entries = library.own_entries(table, j)
    return [str(int(entry) if isinstance(entry, bool) else entry) for entry in entries]


def _saved(model: Any, categories: Iterable[str] = ()) -> Any:
    """The model as JSON, with the hashes of some categories in it."""
    import catboost

    by_category = [int(j) for j in model.get_cat_feature_indices()]
    texts = sorted(categories) or ["-"]
    rows = np.zeros((len(texts), len(model.feature_names_)), dtype=object)
    rows[:, by_category] = np.array(texts, dtype=object)[:, None]
    pool = catboost.Pool(rows, cat_features=by_category, feature_names=model.feature_names_)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json", pool=pool)
        return json.loads(path.read_text(encoding="utf-8"))


def _node(
    model: Any, known: dict[str, dict[int, Any]], named: dict[int, list[int]], own: dict[str, Any]
) -> Node:
    """A node of a tree; ``known``: what CatBoost saves of features, by their kind and number."""
    if "split" not in own:
        return Node(value=own["value"])
    split, below = own["split"], (own["left"], own["right"])
    kind = split["split_type"]
    if kind == "FloatFeature":
        one = known["float_features"][split["float_feature_index"]]
        to_left = one["nan_value_treatment"] != "AsTrue"
        border = float(np.float32(split["border"]))
        return Node(one["flat_feature_index"], border, to_left, below=below)
    if kind == "OneHotFeature":
        one = known["categorical_features"][split["cat_feature_index"]]
        column = one["flat_feature_index"]
        goes_left = np.array(named[column]) != split["value"] % 2**32
        # one that no split names goes left
        return Node(column, missing_left=True, members=goes_left, below=below)
    if kind == "OnlineCtr":
        raise InputError(
            f"{library.about(model)} splits on statistics of categories (CTR), which "
            "belong to no single column: fit it with a one_hot_max_size of at least the number "
            "of categories in any column, or encode categories in a Pipeline"
        )
    raise InputError(
        f"{library.about(model)} has a split of the kind {kind!r}: only numbers and "
        "categories can be read"
    )


def _nested(splits: list[dict[str, Any]], values: list[float]) -> dict[str, Any]:
    """A tree with one split for all nodes of a level as nested nodes; the last is at the root.

    Split i adds 2^i to the number of a leaf.
    """
    if not splits:
        return {"value": values}
    *rest, root = splits
    half = len(values) // 2
    both = values[:half], values[half:]
    return {"split": root, "left": _nested(rest, both[0]), "right": _nested(rest, both[1])}


class CatBoost(library.Library):
    """The reader for CatBoost."""

    name = module = "catboost"
    known = "1.2"
    kinds = ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker")
    quiet = (
        (("logging_level", "verbose", "verbose_eval", "silent"), "Silent"),
        (("allow_writing_files",), False),
    )

    def fitted_on(self, model: Any) -> tuple[int, list[str] | None]:
        return library.named_columns(model.feature_names_, "{}")

    def read(self, model: Any) -> Model:
        asked, saved = model.get_all_params(), _saved(model)
        loss = _loss(model, str(asked["loss_function"]))
        known = {
            kind: {one["feature_index"]: one for one in saved["features_info"].get(kind) or []}
            for kind in ("float_features", "categorical_features")
        }
        named = {
            one["flat_feature_index"]: [value % 2**32 for value in one.get("values") or []]
            for one in known["categorical_features"].values()
        }
        nested = saved.get("trees")
        if nested is None:  # a tree of one leaf has null for its splits
            symmetric = saved["oblivious_trees"]
            nested = [_nested(one["splits"] or [], one["leaf_values"]) for one in symmetric]
        # a tree for every output, with the same splits
        found = [SplitTree.nested(one, partial(_node, model, known, named)) for one in nested]
        pairs = [(tree, column) for tree, leaves in found for column in leaves.T]
        classes, factor = getattr(model, "classes_", None), float(saved["scale_and_bias"][0])
        return Model(
            [tree for tree, _ in pairs],
            [factor * column[:, None] for _, column in pairs],
            *library.by_rounds(len(pairs), len(pairs) // len(found)),
            loss,
            partial(_see, model, named),
            partial(_raw, model),
            penalty=float(asked.get("l2_leaf_reg", 0.0)),
            classes=None if classes is None or not len(classes) else classes,
            weigh=library.class_weights(asked.get("class_weights") or None),
        )
