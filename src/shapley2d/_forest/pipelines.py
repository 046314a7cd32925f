"""Pipelines that end in a tree ensemble: their features, and the column behind each of them.

The features of a column are found by permuting its entries between rows: those that change belong
to it. So any fitted transformer will do, and all dummies of a column are one player. A feature that
depends on several columns has no single player, and is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._tables.table import Table, native_rows
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def is_pipeline(model: Any) -> bool:
    """Whether a model is scikit-learn's pipeline."""
    from sklearn.pipeline import Pipeline

    return isinstance(model, Pipeline)


def last_step(model: Any) -> Any:
    """The last step of a pipeline; any other model itself."""
    return last_step(model.steps[-1][1]) if is_pipeline(model) else model


def transform_table(model: Any, native: Any) -> Any:
    """The matrix that a fitted pipeline passes to its last step."""
    if not is_pipeline(model):
        return native
    made = model[:-1].transform(native) if len(model.steps) > 1 else native
    made = transform_table(model.steps[-1][1], made)
    return made.toarray() if hasattr(made, "toarray") else made


def feature_owners(model: Any, table: Table) -> NDArray[np.int32]:
    """The column of the table behind every feature that a fitted pipeline makes."""

    def features(rows: Any) -> Floats:
        return np.asarray(transform_table(model, rows), dtype=np.float64)

    n = min(table.n_rows, 2000)  # enough to see which features change
    native = native_rows(table.native, np.arange(n))
    plain = features(native)
    changes = np.zeros((table.n_columns, plain.shape[1]), dtype=np.bool_)
    for shift in (
        0.382,
        0.236,
    ):  # shares of the rows: entries that repeat at one differ at the other
        moved = np.roll(np.arange(n), max(round(shift * n), 1))
        for j in range(table.n_columns):
            changes[j] |= _differ(features(_exchanged(native, j, moved)), plain)
    several = np.flatnonzero(changes.sum(axis=0) > 1)
    if several.size:
        one, other = (table.column_names[j] for j in np.flatnonzero(changes[:, several[0]])[:2])
        raise InputError(
            Setting("model"),
            f" makes a feature of several columns ({one!r} and {other!r}), so that its splits "
            "belong to none of them: leave out the step that mixes columns",
        )
    # a feature that no column changes is constant in these rows, so that any owner will do
    return np.asarray(changes.argmax(axis=0), dtype=np.int32)


def _differ(one: Floats, other: Floats) -> NDArray[np.bool_]:
    return np.asarray(~((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=0))


def _exchanged(native: Any, j: int, rows: NDArray[np.intp]) -> Any:
    """A copy of a table with the entries of column j permuted."""
    if isinstance(native, np.ndarray):
        changed = native.copy()
        changed[:, j] = native[rows, j]
        return changed
    frame = nw.from_native(native, eager_only=True)
    series = frame[:, j]
    return frame.with_columns(series[rows.tolist()].alias(series.name)).to_native()
