"""Which columns the features of a step depend on, seen by changing one column after the other.

A column takes the entries of random other rows. The rows are tried as they are, and with entries
that the table need not have: other numbers, unknown words, and gaps if the step takes them. These
show what a constant column does, and an imputer that fills gaps of one column from others.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools


def dependence(transform: Callable[[Any], Any], rows: Any) -> Bools:
    """Which features change (features, columns) where columns take the entries of other rows."""
    random, plain = np.random.default_rng(0), entries(transform(rows))
    count = rows.shape[1]

    def tried(rows: Any, columns: Any, change: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
        """Changed rows and what the step makes of them; nothing where it refuses them."""
        try:
            changed = _with_changed(rows, columns, change)
            made = entries(transform(changed))
        except Exception:  # noqa: BLE001  (whatever a step does not take)
            return []
        return [(changed, made)] if made.shape == plain.shape else []

    bases = [(rows, plain)]
    for gaps in (True, False):
        if len(bases) == 1:
            bases += tried(rows, range(count), partial(_unseen, random, gaps=gaps))
    found = np.zeros((plain.shape[1], count), dtype=np.bool_)
    for base, before in bases:
        n = len(before)
        for j in range(count):
            donors = (np.arange(n) + random.integers(1, n, n)) % n  # none is its own
            for _, made in tried(base, [j], itemgetter(donors)):
                found[:, j] |= differ(made, before).any(axis=0)
    return found


def entries(made: Any) -> NDArray[Any]:
    """What a step made as a matrix of numbers, or else of text."""
    array = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
    array = array.reshape(len(array), -1)
    return array if array.dtype.kind in "biuf" else array.astype(str)


def differ(one: NDArray[Any], other: NDArray[Any]) -> Bools:
    """Where two arrays differ; gaps are equal."""
    return np.asarray((one != other) & ((one == one) | (other == other)))  # noqa: PLR0124


def _with_changed(rows: Any, columns: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of a frame, an array or a sparse matrix, in which some columns are changed."""
    if hasattr(rows, "toarray"):
        return type(rows)(_with_changed(rows.toarray(), columns, change))
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
