"""Pipelines that end in a tree ensemble: their features, and the column behind each of them.

Owners are seen by changing one column after the other: a column takes the entries of random other
rows. The rows are tried as they are, and with entries that the table need not have: other numbers,
unknown words, and gaps, wherever the steps take them. These show what a constant column does, and
an imputer that fills gaps of one column from others. A feature that depends on several columns has
no single player, and is refused.
"""

from __future__ import annotations

import warnings
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.pipeline import Pipeline

from shapley2d._models.fitting import error_line, last_step
from shapley2d._tables.table import Table, native_rows
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Ints

    Steps = list[tuple[str, Any]]

NOBODY = -1
"""The owner of a feature that no column is seen to change."""

_ROWS = 500  # rows that are changed: random ones, and others for what is constant there


def transform_table(model: Any, native: Any) -> Any:
    """The matrix that a fitted pipeline passes to its last step."""
    made = _through(_steps_before_last(model), native)
    if not hasattr(made, "toarray"):
        return made
    if not type(last_step(model)).__module__.startswith("xgboost"):
        return made.toarray()
    held = made.tocoo()  # to XGBoost what is absent is missing
    dense = np.full(held.shape, np.nan)
    dense[held.row, held.col] = held.data
    return dense


def feature_owners(model: Any, table: Table) -> NDArray[np.int32]:
    """The column of the table behind every feature that a fitted pipeline makes."""
    n, steps = table.n_rows, _steps_before_last(model)
    rows = np.sort(np.random.default_rng(0).permutation(n)[:_ROWS])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of entries that the table does not have
        owners = _owners(steps, table, rows)
        if rows.size < n and (owners == NOBODY).any():  # constant here, perhaps not in others
            made = _entries(_through(steps, table.native))[:, owners == NOBODY]
            other = differ(made, made[rows[:1]]).argmax(axis=0)
            owners = _owners(steps, table, np.union1d(rows, other))
    # a feature that is still nobody's is the same in all rows, so that any owner will do
    return np.maximum(owners, 0).astype(np.int32)


def differ(one: NDArray[Any], other: NDArray[Any]) -> Bools:
    """Where two arrays differ; gaps are equal."""
    return np.asarray((one != other) & ((one == one) | (other == other)))  # noqa: PLR0124


def _steps_before_last(model: Any) -> Steps:
    if not isinstance(model, Pipeline):
        return []
    return [*model.steps[:-1], *_steps_before_last(model.steps[-1][1])]


def _through(steps: Steps, rows: Any) -> Any:
    """What several steps make of some rows."""
    for name, step in steps:
        try:
            passes = step is None or isinstance(step, str)
            rows = rows if passes else step.transform(rows)
        except Exception as error:
            words = f"model: its step {name!r} failed on the table: {error_line(error)}"
            raise InputError(words) from error
    return rows


def _owners(steps: Steps, table: Table, rows: Ints) -> Ints:
    """Owners by what changes with each column; of several, the first step that mixes is named."""
    # few rows are repeated, so that an exchange of random rows changes some of them
    native = native_rows(table.native, np.resize(rows, max(rows.size, _ROWS)))
    made, m = _entries(_through(steps, native)), table.n_columns
    # a feature of one column changes with one half of the columns by every bit of their numbers
    bits = np.arange(m) >> np.arange(max((m - 1).bit_length(), 1))[:, None] & 1
    halves = [np.flatnonzero(one == side).tolist() for one in bits for side in (0, 1)]
    sides: Any = _dependence(steps, native, halves).reshape(made.shape[1], -1, 2)
    seen = sides.any(axis=(1, 2))[:, None]
    depends = seen & (sides[:, :, 1:] == bits).all(axis=1)
    if (sides.sum(axis=2) != seen).any():
        depends = _dependence(steps, native, [[j] for j in range(m)])
    mixed = np.flatnonzero(depends.sum(axis=1) > 1)
    lost = np.flatnonzero(~depends.any(axis=1) & differ(made, made[:1]).any(axis=0))
    if mixed.size or lost.size:
        _owners(steps[:-1], table, rows)
        name = steps[-1][0]
        if not mixed.size:
            raise InputError(
                f"model: feature {lost[0]} of its step {name!r} varies, but with no single column: "
                "leave out this step"
            )
        one, other, *_ = (table.column_names[j] for j in np.flatnonzero(depends[mixed[0]]))
        raise InputError(
            f"model makes a feature of several columns ({one!r} and {other!r}) in its step "
            f"{name!r}, so that its splits belong to none of them: leave out this step"
        )
    return np.where(depends.any(axis=1), depends.argmax(axis=1), NOBODY)


def _dependence(steps: Steps, rows: Any, sets: list[list[int]]) -> Bools:
    """Which features change (features, sets) where some columns take the entries of other rows."""
    random, plain = np.random.default_rng(0), _entries(_through(steps, rows))

    def tried(rows: Any, columns: list[int], change: Callable[[Any], Any]) -> tuple[Any, Any]:
        """Rows with changed columns and what the steps make of them; None if they refuse them."""
        try:
            changed = _with_changed(rows, columns, change)
            made = _entries(_through(steps, changed))
        except Exception:  # noqa: BLE001  (whatever a step does not take)
            return rows, None
        return (changed, made) if made.shape == plain.shape else (rows, None)

    everything, strange = list(range(rows.shape[1])), (rows, plain)
    for several in ([everything], [[j] for j in everything]):  # all at once, or those that go
        if strange[0] is rows:
            for columns in several:
                for gaps in (False, True):
                    found = tried(strange[0], columns, partial(_unseen, random, gaps=gaps))
                    strange = strange if found[1] is None else found
    depends = np.zeros((plain.shape[1], len(sets)), dtype=np.bool_)
    for base, before in ((rows, plain), strange):
        n = len(before)
        for k, columns in enumerate(sets):
            donors = (np.arange(n) + random.integers(1, n, n)) % n  # none is its own
            _, made = tried(base, columns, itemgetter(donors))
            if made is not None:
                depends[:, k] |= differ(made, before).any(axis=0)
    return depends


def _entries(made: Any) -> NDArray[Any]:
    """What a step made as a matrix of numbers, or else of text."""
    array = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
    array = array.reshape(len(array), -1)
    return array if array.dtype.kind in "biuf" else array.astype(str)


def _with_changed(rows: Any, columns: list[int], change: Callable[[Any], Any]) -> Any:
    """A copy of a frame or an array in which some columns are changed."""
    if isinstance(rows, np.ndarray):
        changed = rows.copy()
        for j in columns:
            changed[:, j] = change(rows[:, j])
        return changed
    frame = nw.from_native(rows, eager_only=True)
    return frame.with_columns(*(change(frame[:, j]) for j in columns)).to_native()


def _unseen(random: np.random.Generator, column: Any, *, gaps: bool) -> Any:
    """A column with other numbers or an unknown word in half of its rows, and gaps in a quarter."""
    if isinstance(column, nw.Series):
        # numpy holds integers and booleans as such without gaps only
        whole = column.dtype.is_integer() or column.dtype == nw.Boolean
        held = column.dtype.is_float() or column.dtype == nw.String
        if not (held or (whole and not column.null_count())):
            return column
        changed = _unseen(random, np.array(column.to_numpy()), gaps=gaps)
        return nw.new_series(column.name, changed, column.dtype, backend=column.implementation)
    changed, other = column.copy(), random.random(column.size) < 0.5
    if column.dtype.kind == "O":
        changed[other] = ["\ue000" if isinstance(one, str) else one for one in column[other]]
    elif column.dtype.kind == "b":
        changed[other] = ~column[other]
    elif column.dtype.kind in "iuf":
        changed[other] = random.integers(0, 100, int(other.sum()))
    if gaps and column.dtype.kind == "f":
        changed[random.random(column.size) < 0.25] = np.nan
    return changed
