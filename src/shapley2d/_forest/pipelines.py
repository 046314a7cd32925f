"""Pipelines that end in a tree ensemble: their features, and the column behind each of them.

Owners are followed from the table through the steps. What a step makes of one column's features
belongs to that column, whatever the step does. Pipelines, column transformers, unions of features
and skrub's vectorizers tell which inputs go where. Any other step is watched while columns change
(``watching.py``); where nothing is seen, the names that it gives to its features tell. A feature
that depends on several columns has no single player, and is refused.
"""

from __future__ import annotations

import copy
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from shapley2d._forest.watching import NOBODY, Watch, differ, entries, take_columns
from shapley2d._models.fitting import error_line, last_step
from shapley2d._models.pruning import listed_positions
from shapley2d._tables.table import Table, native_rows
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Owners = NDArray[np.int32]

_ROWS = 500  # rows that steps are watched with: random ones, and others for what is constant there


def transform_table(model: Any, native: Any) -> Any:
    """The matrix that a fitted pipeline passes to its last step."""
    for name, step in _steps_before_last(model):
        native = _transformed(step, name, native)
    return _dense(native, model) if hasattr(native, "toarray") else native


def _dense(made: Any, model: Any) -> Any:
    """A sparse matrix as the model sees it: to XGBoost what is absent is missing, to others 0."""
    if not type(last_step(model)).__module__.startswith("xgboost"):
        return made.toarray()
    held = made.tocoo()
    dense = np.full(held.shape, np.nan)
    dense[held.row, held.col] = held.data
    return dense


def feature_owners(model: Any, table: Table) -> Owners:
    """The column of the table behind every feature that a fitted pipeline makes."""
    path = _Path(table.column_names)

    def follow(rows: NDArray[np.intp]) -> Owners:
        # few rows are repeated, so that an exchange of random rows changes some of them
        native = native_rows(table.native, np.resize(rows, max(rows.size, _ROWS)))
        owners = np.arange(table.n_columns, dtype=np.int32)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of entries that the table does not have
            return path.through(_steps_before_last(model), "", native, owners)

    n = table.n_rows
    rows = np.sort(np.random.default_rng(0).permutation(n)[:_ROWS])
    owners = follow(rows)
    if rows.size < n and (owners == NOBODY).any():  # constant in these rows, perhaps not in others
        made = entries(transform_table(model, table.native))[:, owners == NOBODY]
        other = differ(made, made[rows[:1]]).argmax(axis=0)
        owners = follow(np.union1d(rows, other))
    # a feature that is still nobody's is the same in all rows, so that any owner will do
    return np.maximum(owners, 0)


def _steps_before_last(model: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(model, Pipeline):
        yield from model.steps[:-1]
        yield from _steps_before_last(model.steps[-1][1])


def _passes(step: Any) -> bool:
    return step is None or isinstance(step, str)  # "passthrough"; "drop" never comes here


def _transformed(step: Any, name: str, rows: Any) -> Any:
    try:
        return rows if _passes(step) else step.transform(rows)
    except Exception as error:
        words = f": its step {name!r} failed on the table: {error_line(error)}"
        raise InputError(Setting("model"), words) from error


def _width(made: Any) -> int:
    return int(np.shape(made)[1]) if len(np.shape(made)) > 1 else 1


@dataclass(frozen=True)
class _Path:
    """Follows owners through fitted steps, with some rows of the table."""

    column_names: list[str]

    def through(self, steps: Any, prefix: str, rows: Any, owners: Owners) -> Owners:
        """Owners after several steps."""
        for name, step in steps:
            made = _transformed(step, prefix + name, rows)
            owners = self.after(step, prefix + name, rows, owners, _width(made))
            rows = made
        return owners

    def after(self, step: Any, name: str, rows: Any, owners: Owners, width: int) -> Owners:
        """Owners of the features that a step makes of these rows."""
        known = np.unique(owners[owners != NOBODY])
        if known.size < 2:
            return np.full(width, known[0] if known.size else NOBODY, dtype=np.int32)
        if _passes(step):
            return owners
        if isinstance(step, Pipeline):
            return self.through(step.steps, f"{name}__", rows, owners)
        made = np.full(width, NOBODY, dtype=np.int32)
        if isinstance(step, ColumnTransformer):
            for inner, part, key in step.transformers_:
                where = step.output_indices_[inner]
                if where.start < where.stop:
                    names = list(getattr(step, "feature_names_in_", range(step.n_features_in_)))
                    inputs, label = listed_positions(key, names), f"{name}__{inner}"
                    taken, count = take_columns(rows, inputs), where.stop - where.start
                    made[where] = self.after(part, label, taken, owners[inputs], count)
            return made
        if isinstance(step, FeatureUnion):
            end = 0
            for inner, part in step.transformer_list:
                if not (isinstance(part, str) and part == "drop"):
                    label = f"{name}__{inner}"
                    start, end = end, end + _width(_transformed(part, label, rows))
                    made[start:end] = self.after(part, label, rows, owners, end - start)
            return made
        if hasattr(step, "output_to_input_"):  # skrub's steps that take every column by itself
            given = list(step.feature_names_in_)
            names = [step.output_to_input_.get(out, out) for out in step.get_feature_names_out()]
            return owners[[given.index(column) for column in names]]
        return self._watched(step, name, rows, owners)

    def _watched(self, step: Any, name: str, rows: Any, owners: Owners) -> Owners:
        """Owners by what changes, else by the names of the features."""
        watch = Watch(step.transform, rows, owners)
        made = watch.owners()
        told = _named_owners(step, owners, made.size)
        for feature in np.flatnonzero(made < 0).tolist():
            among = told[feature] if made[feature] == NOBODY else watch.two_owners(feature)
            if len(among) > 1:
                one, other = (self.column_names[j] for j in sorted(among)[:2])
                raise InputError(
                    Setting("model"),
                    f" makes a feature of several columns ({one!r} and {other!r}) in its step "
                    f"{name!r}, so that its splits belong to none of them: leave out this step",
                )
            if among:
                made[feature] = min(among)
            elif watch.varies(feature):
                raise InputError(
                    Setting("model"),
                    f": feature {feature} of its step {name!r} varies, but with no single column: "
                    "leave out this step",
                )
        return made


def _named_owners(step: Any, owners: Owners, width: int) -> list[set[int]]:
    """The owners of the inputs that a step's names of its features mention."""
    marks = [f"\ue000{j}\ue001" for j in range(owners.size)]  # no category has such letters
    try:
        step = copy.copy(step)
        vars(step).pop("feature_names_in_", None)  # else it refuses other names
        names = [str(name) for name in step.get_feature_names_out(marks)]
    except Exception:  # noqa: BLE001  (a step need not name its features)
        names = []
    if len(names) != width:
        return [set() for _ in range(width)]
    found = [re.findall("\ue000([0-9]+)\ue001", name) for name in names]
    return [{int(owners[int(j)]) for j in inputs} - {NOBODY} for inputs in found]
