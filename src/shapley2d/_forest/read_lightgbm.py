"""Reader for the trees of LightGBM, from the tables that it dumps.

A number goes left if it is at most the threshold, in 64 bits. Depending on the feature, missing is
not-a-number; not-a-number and 0; or nothing, and then not-a-number counts as 0. A category goes
left if it is in the set of the split; one that is missing or unknown goes right.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from shapley2d._base.words import counted
from shapley2d._forest import library
from shapley2d._forest.model import Model
from shapley2d._forest.trees import Node, SplitTree
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._forest.losses import Loss
    from shapley2d._tables.table import Table

    Floats = NDArray[np.float64]

_PLAIN, _GAPS_AT_ZERO, _CODES = range(3)  # a column as it is, with 0 as missing, or as categories


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


def _class_weights(model: Any) -> Callable[[NDArray[Any]], Floats] | None:
    weights = getattr(model, "class_weight", None)
    return None if weights is None else partial(compute_sample_weight, weights)


def _weigh(model: Any, asked: dict[str, str]) -> Any:
    """The weights of rows that are known from the options of a model."""
    weigh = _class_weights(model)
    positive, balanced = float(asked.get("scale_pos_weight", 1)), asked.get("is_unbalance") == "1"
    if weigh is None and positive == 1.0 and not balanced:
        return None

    def weigh_second(y: NDArray[Any]) -> Floats:
        second = y == np.unique(y)[-1]
        if not balanced:
            return np.asarray(np.where(second, positive, 1.0))
        share = second.mean()
        most = max((1 - share) / share, 1.0), max(share / (1 - share), 1.0)
        return np.asarray(np.where(second, *most))

    return weigh or weigh_second


def _see(model: Any, known: list[list[Any]], views: NDArray[np.int64], table: Table) -> Floats:
    codes = _category_codes(model, table, known)
    return np.array([_view(model, table, codes, *divmod(view, 3)) for view in views.tolist()])


def _node(own: dict[str, Any]) -> Node:
    """A node of LightGBM; its feature is three times the column, plus how the split sees it."""
    if "leaf_value" in own:
        return Node(value=own["leaf_value"])
    column, below = own["split_feature"], (own["left_child"], own["right_child"])
    if own["decision_type"] == "==":
        members = np.array(own["threshold"].split("||"), dtype=np.int64)
        goes_left = np.bincount(members) > 0
        return Node(3 * column + _CODES, members=goes_left, below=below)
    limit, gaps = own["threshold"], own["missing_type"]
    view = {"None": _PLAIN, "NaN": _PLAIN, "Zero": _GAPS_AT_ZERO}[gaps]
    to_left = limit >= 0 if gaps == "None" else own["default_left"]  # not-a-number counts as 0
    return Node(3 * column + view, limit, to_left, below=below)


def _category_codes(model: Any, table: Table, known: list[list[Any]]) -> dict[int, Floats]:
    """Codes of categorical columns, by the categories that the model was fitted on."""
    categorical = (
        [j for j in range(table.n_columns) if library.is_categorical(table, j)] if known else []
    )
    if len(categorical) != len(known):
        raise InputError(
            f"{library.about(model)} was fitted on {counted(len(known), 'categorical column')}, "
            f"but the table has {len(categorical)}: pass columns of the same types"
        )
    return {
        j: library.positions(library.own_entries(table, j), names)
        for j, names in zip(categorical, known, strict=True)
    }


def _view(model: Any, table: Table, codes: dict[int, Floats], j: int, how: int) -> Floats:
    if j in codes:
        return codes[j]
    entries = library.numbers(model, table.columns[j])
    if isinstance(table.native, np.ndarray) and table.native.dtype.kind in "iub":
        entries = as_float32(entries).astype(np.float64)  # as LightGBM takes whole numbers
    if how == _CODES:
        return np.trunc(entries)
    zero = np.nan if how == _GAPS_AT_ZERO else 0.0
    is_zero = np.abs(entries) <= float(np.float32(1e-35))  # to LightGBM
    return np.where(is_zero, zero, entries)


def _booster(model: Any) -> Any:
    return getattr(model, "booster_", model)


class LightGBM(library.Library):
    """The reader for LightGBM."""

    name = module = "lightgbm"
    known = "4.7"
    kinds = ("Booster", "LGBMClassifier", "LGBMRegressor", "LGBMRanker")

    def fitted_on(self, model: Any) -> tuple[int, list[str] | None]:
        names = _booster(model).feature_name()
        unnamed = names == [f"Column_{j}" for j in range(len(names))]
        return len(names), None if unnamed else names

    def is_fitted(self, model: Any) -> bool:
        return super().is_fitted(model) if hasattr(model, "fit") else model.num_trees() > 0

    def read(self, model: Any) -> Model:
        with self.parsing(model):
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
                    f"{library.about(model)} has linear leaves (linear_tree), which no rows "
                    "average to"
                )
            found = [SplitTree.nested(one["tree_structure"], _node) for one in saved["tree_info"]]
            # never without any feature
            views = np.unique(np.concatenate([[0], *(tree.feature for tree, _ in found)]))
            trees = [
                replace(tree, feature=np.searchsorted(views, tree.feature).astype(np.int32))
                for tree, _ in found
            ]
            loss, factor = _loss(model, saved["objective"], asked)
            per_round, averages = saved["num_tree_per_iteration"], saved["average_output"]
            outputs, rounds = library.by_rounds(len(trees), per_round)
            factor /= len(rounds) if averages else 1
            leaves = [factor * leaf for _, leaf in found]
            first = asked.get("boost_from_average", "1") == "1"
            known = saved["pandas_categorical"]
        see = partial(_see, model, known or [], views)
        start_in = "all" if averages else "first"
        rounds = [list(range(len(trees)))] if averages else rounds
        return Model(
            trees, leaves, outputs, rounds, loss, see, partial(_raw, model, factor),
            penalty=float(asked.get("lambda_l2", 0.0)), owners=(views // 3).astype(np.int32),
            classes=getattr(model, "classes_", None), start_in=start_in if first else "",
            start_weights=_class_weights(model), weigh=_weigh(model, asked),
        )  # fmt: skip

    def takes_table(self, model: Any, table: Table) -> bool:  # noqa: ARG002
        """Whether a table is one of pandas with categories, which LightGBM knows how to use."""
        return type(table.native).__module__.startswith("pandas") and library.has_categoricals(
            table
        )

    def quiet(self, model: Any) -> dict[str, Any]:
        given = model.get_params()
        return {} if {"verbose", "verbosity"} & given.keys() else {"verbosity": -1}
