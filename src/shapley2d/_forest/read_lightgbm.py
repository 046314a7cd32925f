"""Reader for the trees of LightGBM, from the text that it saves models as.

A number goes left if it is at most the threshold, in 64 bits. Depending on the feature, missing is
not-a-number; not-a-number and 0; or nothing, and then not-a-number counts as 0. A category goes
left if it is in the set of the split; one that is missing or unknown goes right.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from shapley2d._base.words import counted
from shapley2d._forest import library
from shapley2d._forest.fitted import Trees
from shapley2d._forest.trees import SplitTree
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, _, value = line.partition("=")
        yield name, value


class _Splits:
    """One tree as LightGBM writes it: splits come first, then leaves.

    ``views``: for every split, three times its column, plus ``_PLAIN``, ``_GAPS_AT_ZERO`` or
        ``_CODES``.
    """

    def __init__(self, fields: dict[str, str]) -> None:
        def values(name: str, kind: type) -> NDArray[Any]:
            return np.array(fields.get(name, "").split(), dtype=kind)

        self._n_splits = int(fields["num_leaves"]) - 1
        self._threshold = values("threshold", np.float64)
        self._decision = values("decision_type", np.int64)
        sides = (values(f"{side}_child", np.int64) for side in ("left", "right"))
        self._children = [np.where(one >= 0, one, self._n_splits + ~one) for one in sides]
        self._bounds = values("cat_boundaries", np.int64)
        self._words = values("cat_threshold", np.uint32)
        self._leaves = values("leaf_value", np.float64)
        feature = values("split_feature", np.int64)
        sizes = (feature.size, self._threshold.size, self._decision.size)
        if set(sizes) != {self._n_splits}:
            raise ValueError(sizes)
        self._by_category = (self._decision & 1) > 0
        at_zero = (self._decision & 12) == 4  # these two bits tell what is missing
        view = np.where(self._by_category, _CODES, np.where(at_zero, _GAPS_AT_ZERO, _PLAIN))
        self.views = 3 * feature + view

    def leaves(self, n_nodes: int) -> Floats:
        """What every node adds to the prediction: splits come first."""
        found = np.zeros((n_nodes, 1))
        found[self._n_splits :, 0] = self._leaves
        return found

    def tree(self, feature: NDArray[np.intp]) -> SplitTree:
        """The tree, given the feature of every split."""
        leaves = np.full(self._n_splits + 1, -1)
        missing_left = (self._decision & 2) > 0
        as_zero = (self._decision & 12) == 0  # nothing is missing: not-a-number counts as 0
        missing_left = np.where(as_zero, self._threshold >= 0, missing_left)
        missing_left &= ~self._by_category
        sets = {}
        for node in np.flatnonzero(self._by_category).tolist():
            k = int(self._threshold[node])
            sets[node] = self._words[self._bounds[k] : self._bounds[k + 1]]
        return SplitTree.of(
            np.concatenate([self._children[0], leaves]),
            np.concatenate([self._children[1], leaves]),
            np.concatenate([feature, np.zeros(leaves.size, np.intp)]),
            np.concatenate([self._threshold, np.zeros(leaves.size)]),
            np.concatenate([missing_left, np.zeros(leaves.size, np.bool_)]),
            sets,
        )


def _category_codes(model: Any, table: Table, known: list[list[Any]]) -> dict[int, Floats]:
    """Codes of categorical columns, by the categories that the model was fitted on."""
    categorical = (
        [j for j in range(table.n_columns) if library.is_categorical(table, j)] if known else []
    )
    if len(categorical) != len(known):
        raise InputError(
            library.about(model),
            f" was fitted on {counted(len(known), 'categorical column')}, but the table has "
            f"{len(categorical)}: pass columns of the same types",
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
        return model.num_trees() > 0 if self.is_booster(model) else super().is_fitted(model)

    def read(self, model: Any) -> library.Reading:
        with self.parsing(model):
            text = _booster(model).model_to_string()
            header, *blocks = text[: text.index("end of trees")].split("\nTree=")
            fields = dict(_fields(header))
            if fields["version"] != "v4":
                raise ValueError(fields["version"])
            asked = dict(
                line.strip("[]").split(": ", 1)
                for line in text[text.index("\nparameters:") :].splitlines()
                if line.startswith("[") and ": " in line
            )
            blocks = [dict(_fields(block)) for block in blocks]
            if asked.get("boosting") == "dart":
                raise InputError(library.about(model), library.NO_DART)
            if any(block.get("is_linear") == "1" for block in blocks):
                raise InputError(
                    library.about(model),
                    " has linear leaves (linear_tree), which no rows average to",
                )
            splits = [_Splits(block) for block in blocks]
            known = json.loads(text[text.rindex("pandas_categorical:") :].partition(":")[2])
            seen = [
                np.zeros(1, np.int64),
                *(one.views for one in splits),
            ]  # never without any feature
            views = np.unique(np.concatenate(seen))
            trees = [one.tree(np.searchsorted(views, one.views)) for one in splits]
            loss, sigmoid = _loss(model, fields["objective"], asked)
            per_round = int(fields["num_tree_per_iteration"])
            outputs = [t % per_round for t in range(len(trees))]
            rounds, averages = library.by_rounds(outputs, per_round), "average_output" in fields
            factor = sigmoid / len(rounds) if averages else sigmoid
            sizes = [tree.n_nodes for tree in trees]
            leaves = [factor * one.leaves(n) for one, n in zip(splits, sizes, strict=True)]
            first = asked.get("boost_from_average", "1") == "1"
        see = partial(_see, model, known or [], views)
        start_in = "all" if averages else "first"
        rounds = [list(range(len(trees)))] if averages else rounds
        of_trees = Trees(trees, leaves, outputs, rounds, loss, float(asked.get("lambda_l2", 0.0)))
        return library.Reading(
            of_trees, see, partial(_raw, model, factor), columns=(views // 3).astype(np.int32),
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
