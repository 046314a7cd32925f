"""Reader for the trees of CatBoost, from the JSON that it saves models as.

A number goes right if it is above the border, in 32 bits; a missing one lies below or above all
borders, depending on the feature. A category goes right if the split names it. Splits by statistics
of categories (CTR) are refused: most mix several columns.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest.library import (
    Library,
    Reading,
    about,
    is_of,
    numbers,
    own_entries,
    positions,
)
from shapley2d._forest.trees import SplitTree, bits
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table

    Floats = NDArray[np.float64]
    Split = dict[str, Any]

_CLASSES = ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker")
_TALKING = {"verbose", "verbose_eval", "silent", "logging_level"}


def _read(model: Any) -> Reading:
    with CATBOOST.parsing(model):
        saved = _saved(model, [])
        reader = _Reader(model, saved["features_info"])
        if "oblivious_trees" in saved:
            # a tree of one leaf has null for its splits
            trees = [reader.oblivious(one["splits"] or []) for one in saved["oblivious_trees"]]
        else:
            trees = [reader.nested(one) for one in saved["trees"]]
    columns = np.arange(len(model.feature_names_), dtype=np.int32)
    return Reading(trees, _Features(model, reader.named), columns, boosted=True)


class _Features:
    """Features of tables for a model.

    Parameters
    ----------
    model : CatBoost
    named : dict of int to list of int
        The hashes of the categories that splits name, by column.
    """

    def __init__(self, model: Any, named: dict[int, list[int]]) -> None:
        self._model, self._named = model, named
        self._hashes: dict[str, int] = {}

    def __call__(self, table: Table) -> Floats:
        features = np.empty((table.n_columns, table.n_rows))
        for j, feature in enumerate(features):
            if j in self._named:
                feature[:] = positions(self._hashes_of(_texts(table, j)), self._named[j])
            else:
                feature[:] = as_float32(numbers(self._model, table.columns[j]))
        return features

    def _hashes_of(self, texts: list[str]) -> list[int]:
        """CatBoost's hashes of categories."""
        new = sorted({*texts} - self._hashes.keys())
        with CATBOOST.parsing(self._model):
            if new:
                found = _saved(self._model, new)["features_info"]["cat_features_hash"]
                self._hashes |= {one["value"]: one["hash"] for one in found}
            return [self._hashes[text] for text in texts]


def _texts(table: Table, j: int) -> list[str]:
    """The entries of a column of categories as CatBoost writes them."""
    entries = own_entries(table, j)
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
    """Trees of a saved model.

    Parameters
    ----------
    model : CatBoost
        Named in messages.
    features : dict
        ``features_info`` of the saved model.

    Attributes
    ----------
    named : dict of int to list of int
        The hashes of the categories that splits name, by column.
    """

    def __init__(self, model: Any, features: dict[str, Any]) -> None:
        self._model = model
        numeric = features.get("float_features") or []
        categorical = features.get("categorical_features") or []
        self._number = {one["feature_index"]: one["flat_feature_index"] for one in numeric}
        self._missing_right = {
            one["feature_index"]: one["nan_value_treatment"] == "AsTrue" for one in numeric
        }
        self._category = {one["feature_index"]: one["flat_feature_index"] for one in categorical}
        self.named = {
            one["flat_feature_index"]: [value % 2**32 for value in one.get("values") or []]
            for one in categorical
        }

    def oblivious(self, splits: list[Split]) -> SplitTree:
        """A tree with one split for all nodes of a level; the last split is at the root.

        Split i adds 2^i to the number of a leaf, so that leaves are in the order of their numbers.
        """
        depth = len(splits)
        inner = 2**depth - 1
        node = np.arange(2 * inner + 1)
        left = np.where(node < inner, 2 * node + 1, -1)
        level = [splits[depth - 1 - d] for d in range(depth) for _ in range(2**d)]
        return self._tree(left, np.where(left >= 0, left + 1, -1), dict(enumerate(level)))

    def nested(self, root: dict[str, Any]) -> SplitTree:
        """A tree of nested nodes; leaves are numbered from left to right."""
        left: list[int] = []
        right: list[int] = []
        splits: dict[int, Split] = {}
        waiting: list[tuple[dict[str, Any], int]] = [(root, -1)]
        while waiting:
            node, parent = waiting.pop()
            here = len(left)
            if parent >= 0 and left[parent] < 0:
                left[parent] = here
            elif parent >= 0:
                right[parent] = here
            left.append(-1)
            right.append(-1)
            if "split" in node:
                splits[here] = node["split"]
                waiting += [(node["right"], here), (node["left"], here)]
            else:
                node["value"]  # a leaf has one
        return self._tree(np.array(left), np.array(right), splits)

    def _tree(self, left: NDArray[Any], right: NDArray[Any], splits: dict[int, Split]) -> SplitTree:
        feature, threshold = np.zeros(left.size, np.int32), np.zeros(left.size)
        missing_left, sets = np.zeros(left.size, np.bool_), {}
        for node, split in splits.items():
            kind = split["split_type"]
            if kind == "FloatFeature":
                k = split["float_feature_index"]
                feature[node], threshold[node] = self._number[k], np.float32(split["border"])
                missing_left[node] = not self._missing_right[k]
            elif kind == "OneHotFeature":
                feature[node] = column = self._category[split["cat_feature_index"]]
                goes_left = np.ones(len(self.named[column]), dtype=np.bool_)
                goes_left[self.named[column].index(split["value"] % 2**32)] = False
                sets[node], missing_left[node] = bits(goes_left), True  # one that no split names
            elif kind == "OnlineCtr":
                raise InputError(
                    about(self._model),
                    " splits on statistics of categories (CTR), which belong to no single column: "
                    "fit it with a one_hot_max_size of at least the number of categories in any "
                    "column, or encode categories in a Pipeline",
                )
            else:
                raise InputError(
                    about(self._model),
                    f" has a split of the kind {kind!r}: only numbers and categories can be read",
                )
        return SplitTree.of(left, right, feature, threshold, missing_left, sets)


def _owns(model: Any) -> bool:
    return is_of(model, "catboost", *_CLASSES)


def _is_fitted(model: Any) -> bool:
    return bool(model.is_fitted())


def _fitted_on(model: Any) -> tuple[int, list[str] | None]:
    names = [str(name) for name in model.feature_names_]
    unnamed = names == [str(j) for j in range(len(names))]
    return len(names), None if unnamed else names


def _takes_table(model: Any, table: Table) -> bool:  # noqa: ARG001
    return model.get_params().get("cat_features") is not None


def _quiet(model: Any) -> dict[str, Any]:
    given = model.get_params()
    quiet: dict[str, Any] = {} if _TALKING & given.keys() else {"logging_level": "Silent"}
    return quiet if "allow_writing_files" in given else quiet | {"allow_writing_files": False}


CATBOOST = Library(
    name="catboost",
    module="catboost",
    known="1.2",
    owns=_owns,
    is_fitted=_is_fitted,
    fitted_on=_fitted_on,
    read=_read,
    takes_table=_takes_table,
    quiet=_quiet,
)
"""The reader for CatBoost."""
