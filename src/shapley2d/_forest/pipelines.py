"""Pipelines that end in a tree ensemble: their features, and the column behind each of them.

Owners are followed from the table through the steps. What a step makes of one column's features
belongs to that column, whatever the step does. Pipelines, column transformers, unions of features
and skrub's vectorizers tell which inputs go where. Of any other step it is seen which features
change with a column (``probe.py``); where none does, the names that it gives to its features tell.
A feature that depends on several columns has no single player, and is refused.
"""

from __future__ import annotations

import copy
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from shapley2d._forest.probe import dependence, differ, entries
from shapley2d._models.fitting import error_line, last_step
from shapley2d._models.pruning import listed_positions
from shapley2d._tables.table import Table, native_columns, native_rows
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Owners = NDArray[np.int32]

NOBODY = -1
"""The owner of a feature that no column is seen to change."""

_ROWS = 500  # rows that are changed: random ones, and others for what is constant there


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

    def follow(rows: NDArray[np.intp]) -> Owners:
        # few rows are repeated, so that an exchange of random rows changes some of them
        native = native_rows(table.native, np.resize(rows, max(rows.size, _ROWS)))
        owners = np.arange(table.n_columns, dtype=np.int32)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of entries that the table does not have
            return _through(_steps_before_last(model), "", native, owners, table.column_names)

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


def _through(steps: Any, prefix: str, rows: Any, owners: Owners, columns: list[str]) -> Owners:
    """Owners after several steps; ``columns`` are named in messages."""
    for name, step in steps:
        made = _transformed(step, prefix + name, rows)
        owners = _after(step, prefix + name, rows, owners, _width(made), columns)
        rows = made
    return owners


def _after(
    step: Any, name: str, rows: Any, owners: Owners, width: int, columns: list[str]
) -> Owners:
    """Owners of the features that a step makes of these rows."""
    known = np.unique(owners[owners != NOBODY])
    if known.size < 2:
        return np.full(width, known[0] if known.size else NOBODY, dtype=np.int32)
    if _passes(step):
        return owners
    if isinstance(step, Pipeline):
        return _through(step.steps, f"{name}__", rows, owners, columns)
    if hasattr(step, "output_to_input_"):  # skrub's steps that take every column by itself
        given = list(step.feature_names_in_)
        names = [step.output_to_input_.get(out, out) for out in step.get_feature_names_out()]
        return owners[[given.index(column) for column in names]]
    if not isinstance(step, ColumnTransformer | FeatureUnion):
        return _probed(step, name, rows, owners, columns)
    found = []
    for label, part, inputs, count in _parts(step, name, rows):
        taken = _columns_of(rows, inputs)
        found.append(_after(part, label, taken, owners[inputs], count, columns))
    return np.concatenate(found)


def _parts(step: Any, name: str, rows: Any) -> Iterator[tuple[str, Any, NDArray[np.intp], int]]:
    """The transformers whose features a step puts side by side, their inputs and widths."""
    if isinstance(step, FeatureUnion):
        for inner, part in step.transformer_list:
            if not (isinstance(part, str) and part == "drop"):
                width = _width(_transformed(part, f"{name}__{inner}", rows))
                yield f"{name}__{inner}", part, np.arange(rows.shape[1]), width
        return
    names = list(getattr(step, "feature_names_in_", range(step.n_features_in_)))
    for inner, part, key in step.transformers_:
        where = step.output_indices_[inner]
        if where.start < where.stop:
            yield f"{name}__{inner}", part, listed_positions(key, names), where.stop - where.start


def _columns_of(rows: Any, columns: NDArray[np.intp]) -> Any:
    """Columns of a frame, an array or a sparse matrix."""
    return rows[:, columns] if hasattr(rows, "toarray") else native_columns(rows, columns)


def _probed(step: Any, name: str, rows: Any, owners: Owners, columns: list[str]) -> Owners:
    """Owners by what changes with each column, else by the names of the features."""
    depends, made = dependence(step.transform, rows), entries(step.transform(rows))
    found = np.full(len(depends), NOBODY, dtype=np.int32)
    for feature, named in enumerate(_named_inputs(step, owners.size, len(found))):
        among = {*owners[depends[feature]].tolist()} or {*owners[named].tolist()}
        among -= {NOBODY}
        if len(among) > 1:
            one, other = (columns[j] for j in sorted(among)[:2])
            raise InputError(
                Setting("model"),
                f" makes a feature of several columns ({one!r} and {other!r}) in its step "
                f"{name!r}, so that its splits belong to none of them: leave out this step",
            )
        if among:
            found[feature] = among.pop()
        elif differ(made[:, feature], made[0, feature]).any():
            raise InputError(
                Setting("model"),
                f": feature {feature} of its step {name!r} varies, but with no single column: "
                "leave out this step",
            )
    return found


def _named_inputs(step: Any, n_inputs: int, width: int) -> list[list[int]]:
    """The inputs that a step's names of its features mention."""
    marks = [f"\ue000{j}\ue001" for j in range(n_inputs)]  # no category has such letters
    try:
        step = copy.copy(step)
        vars(step).pop("feature_names_in_", None)  # else it refuses other names
        names = [str(name) for name in step.get_feature_names_out(marks)]
    except Exception:  # noqa: BLE001  (a step need not name its features)
        names = []
    if len(names) != width:
        return [[] for _ in range(width)]
    return [[int(j) for j in re.findall("\ue000([0-9]+)\ue001", name)] for name in names]
