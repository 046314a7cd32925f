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
from shapley2d._forest.model import Model
from shapley2d._forest.trees import Node, SplitTree
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._forest.losses import Loss
    from shapley2d._tables.table import Table

    Floats = NDArray[np.float64]

_TALKING = {"verbose", "verbose_eval", "silent", "logging_level"}


def _loss(model: Any, name: str) -> Loss:
    kind, _, options = name.partition(":")
    asked = dict(option.split("=") for option in options.split(";") if option)
    return library.loss_named(model, kind, asked.get("alpha", 0.5))


def _weigh(weights: list[float], y: NDArray[Any]) -> Floats:
    """The weights of rows by their classes, which are sorted."""
    return np.asarray(weights, dtype=np.float64)[np.unique(y, return_inverse=True)[1]]


def _raw(model: Any, rows: Any) -> Floats:
    return library.columns_of(model.predict(rows, prediction_type="RawFormulaVal"))


class _Features:
    """Features of tables for a model.

    ``named``: the hashes of the categories that splits name, by column.
    """

    def __init__(self, model: Any, named: dict[int, list[int]]) -> None:
        self._model, self._named = model, named
        self._hashes: dict[str, int] = {}

    def __call__(self, table: Table) -> Floats:
        return np.array([self._feature(table, j) for j in range(table.n_columns)])

    def _feature(self, table: Table, j: int) -> Floats:
        if j in self._named:
            return library.positions(self._hashes_of(_texts(table, j)), self._named[j])
        entries = as_float32(library.numbers(self._model, table.columns[j]))
        return entries.astype(np.float64)

    def _hashes_of(self, texts: list[str]) -> list[int]:
        """CatBoost's hashes of categories."""
        new = sorted({*texts} - self._hashes.keys())
        with CatBoost().parsing(self._model):
            if new:
                found = _saved(self._model, new)["features_info"]["cat_features_hash"]
                self._hashes |= {one["value"]: one["hash"] for one in found}
            return [self._hashes[text] for text in texts]


def _texts(table: Table, j: int) -> list[str]:
    """The entries of a column of categories as CatBoost writes them."""
    entries = library.own_entries(table, j)
    return [str(int(entry) if isinstance(entry, bool) else entry) for entry in entries]


def _saved(model: Any, texts: list[str]) -> Any:
    """The model as JSON, with the hashes of some categories in it."""
    import catboost

    by_category = [int(j) for j in model.get_cat_feature_indices()]
    rows = np.zeros((max(len(texts), 1), len(model.feature_names_)), dtype=object)
    rows[:, by_category] = np.array(texts or ["-"], dtype=object)[:, None]
    pool = catboost.Pool(rows, cat_features=by_category, feature_names=model.feature_names_)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json", pool=pool)
        return json.loads(path.read_text(encoding="utf-8"))


class _Reader:
    """Nodes of a saved model.

    ``model``: named in messages.
    ``features``: ``features_info`` of the saved model.
    ``named``: the hashes of the categories that splits name, by column.
    """

    def __init__(self, model: Any, features: dict[str, Any]) -> None:
        self._model = model
        numbers, categories = (
            {one["feature_index"]: one for one in features.get(kind) or []}
            for kind in ("float_features", "categorical_features")
        )
        self._numbers, self._categories = numbers, categories
        self.named = {
            one["flat_feature_index"]: [value % 2**32 for value in one.get("values") or []]
            for one in categories.values()
        }

    def __call__(self, own: dict[str, Any]) -> Node:
        """A node of a tree."""
        if "split" not in own:
            return Node(value=own["value"])
        split, below = own["split"], (own["left"], own["right"])
        kind = split["split_type"]
        if kind == "FloatFeature":
            one = self._numbers[split["float_feature_index"]]
            to_left = one["nan_value_treatment"] != "AsTrue"
            border = float(np.float32(split["border"]))
            return Node(one["flat_feature_index"], border, to_left, below=below)
        if kind == "OneHotFeature":
            column = self._categories[split["cat_feature_index"]]["flat_feature_index"]
            goes_left = np.array(self.named[column]) != split["value"] % 2**32
            # one that no split names goes left
            return Node(column, missing_left=True, members=goes_left, below=below)
        if kind == "OnlineCtr":
            raise InputError(
                f"{library.about(self._model)} splits on statistics of categories (CTR), which "
                "belong to no single column: fit it with a one_hot_max_size of at least the number "
                "of categories in any column, or encode categories in a Pipeline"
            )
        raise InputError(
            f"{library.about(self._model)} has a split of the kind {kind!r}: only numbers and "
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

    def fitted_on(self, model: Any) -> tuple[int, list[str] | None]:
        names = [str(name) for name in model.feature_names_]
        unnamed = names == [str(j) for j in range(len(names))]
        return len(names), None if unnamed else names

    def is_fitted(self, model: Any) -> bool:
        return bool(model.is_fitted())

    def read(self, model: Any) -> Model:
        with self.parsing(model):
            asked = model.get_all_params()
            loss = _loss(model, str(asked["loss_function"]))
            saved = _saved(model, [])
            reader = _Reader(model, saved["features_info"])
            factor = float(saved["scale_and_bias"][0])
            symmetric = saved.get("oblivious_trees")
            nested = (  # a tree of one leaf has null for its splits
                saved["trees"]
                if symmetric is None
                else [_nested(one["splits"] or [], one["leaf_values"]) for one in symmetric]
            )
            # a tree for every output, with the same splits
            found = [SplitTree.nested(one, reader) for one in nested]
            trees = [tree for tree, leaf in found for _ in leaf.T]
            leaves = [factor * column[:, None] for _, leaf in found for column in leaf.T]
            outputs, rounds = library.by_rounds(len(trees), found[0][1].shape[1])
            weights = asked.get("class_weights")
        classes = getattr(model, "classes_", None)
        return Model(
            trees, leaves, outputs, rounds, loss, _Features(model, reader.named),
            partial(_raw, model), penalty=float(asked.get("l2_leaf_reg", 0.0)),
            classes=classes if classes is not None and len(classes) else None,
            weigh=partial(_weigh, weights) if weights else None,
        )  # fmt: skip

    def takes_table(self, model: Any, table: Table) -> bool:  # noqa: ARG002
        return model.get_params().get("cat_features") is not None

    def quiet(self, model: Any) -> dict[str, Any]:
        given = model.get_params()
        quiet: dict[str, Any] = {} if _TALKING & given.keys() else {"logging_level": "Silent"}
        return quiet if "allow_writing_files" in given else quiet | {"allow_writing_files": False}
