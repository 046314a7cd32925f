"""Which columns a step's features depend on, seen by changing columns at random.

Columns take the entries of random other rows, many columns at once: all those whose number has a 1,
or a 0, at one binary digit. A feature of one column changes with one of the two, which is a digit
of its column; a feature that changes with both depends on several. So a few transformations do,
however wide the table is.

Rows are watched as they are, and again with entries that the table need not have: other numbers,
unknown words, and gaps if the step takes them. They show what a constant column does, and an
imputer that fills gaps of one column from others. A step that refuses all these is not watched
with them.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._tables.table import native_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NOBODY = -1
"""The owner of a feature that no column is seen to change."""

SEVERAL = -2
"""The owner of a feature that several columns change."""


class Watch:
    """A step's transformation, watched with some rows.

    ``input_owners`` (n_inputs,): the owner of every column of the rows, or NOBODY; columns of one
        owner change together.
    """

    def __init__(
        self, transform: Callable[[Any], Any], rows: Any, input_owners: NDArray[np.int32]
    ) -> None:
        self._transform, self._input_owners = transform, input_owners
        self._random = np.random.default_rng(0)
        self._known = np.unique(input_owners[input_owners != NOBODY])
        self._plain = entries(transform(rows))
        self._watched = [(rows, self._plain)]
        unseen = partial(_with_unseen, rows, self._random)
        self._watched += self._tried(partial(unseen, gaps=True)) or self._tried(
            partial(unseen, gaps=False)
        )

    def owners(self) -> NDArray[np.int32]:
        """The owner of every feature; NOBODY or SEVERAL where it is not one."""
        digits = np.arange(int(self._known.size - 1).bit_length())[:, None]
        ones = (np.arange(self._known.size) >> digits & 1).astype(np.bool_)
        changed = np.array(
            [[self._changed(self._known[side]) for side in (~one, one)] for one in ones]
        )
        by_number = np.full(1 << digits.size, SEVERAL, dtype=np.int32)
        by_number[: self._known.size] = self._known
        owners = by_number[(changed[:, 1] << digits).sum(axis=0)]
        owners[~changed.any(axis=1).all(axis=0)] = NOBODY
        owners[changed.all(axis=1).any(axis=0)] = SEVERAL
        return np.asarray(owners)

    def two_owners(self, feature: int) -> set[int]:
        """Two of the owners of a feature of several, by changing one after the other."""
        alone = (int(one) for one in self._known if self._changed(one)[feature])
        # where fewer change it alone, any others: they change it together
        return set(list(dict.fromkeys([*islice(alone, 2), *self._known.tolist()]))[:2])

    def varies(self, feature: int) -> bool:
        """Whether a feature differs between the rows as they are."""
        return bool(differ(self._plain[:, feature], self._plain[0, feature]).any())

    def _changed(self, owners: Any) -> NDArray[np.bool_]:
        """Features that change where the columns of some owners take entries of random rows."""
        columns = np.flatnonzero(np.isin(self._input_owners, owners))
        changed = np.zeros(self._plain.shape[1], dtype=np.bool_)
        for rows, plain in self._watched:
            n = len(plain)
            donors = (np.arange(n) + self._random.integers(1, n, n)) % n  # none is its own
            for _, made in self._tried(partial(_exchanged, rows, columns, donors)):
                changed |= differ(made, plain).any(axis=0)
        return changed

    def _tried(self, change: Callable[[], Any]) -> list[tuple[Any, NDArray[Any]]]:
        """Changed rows and what the step makes of them; nothing where it refuses them."""
        try:
            rows = change()
            made = entries(self._transform(rows))
        except Exception:  # noqa: BLE001  (whatever a step does not take)
            return []
        return [(rows, made)] if made.shape == self._plain.shape else []


def entries(made: Any) -> NDArray[Any]:
    """What a step made as an array of numbers, or else of text."""
    array = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
    array = array.reshape(len(array), -1)
    return array if array.dtype.kind in "biuf" else array.astype(str)


def differ(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two arrays differ; gaps are equal."""
    return np.asarray((one != other) & ((one == one) | (other == other)))  # noqa: PLR0124


def take_columns(rows: Any, columns: NDArray[np.intp]) -> Any:
    """Columns of a frame, an array or a sparse matrix."""
    return rows[:, columns] if hasattr(rows, "toarray") else native_columns(rows, columns)


def _exchanged(rows: Any, columns: NDArray[np.intp], donors: NDArray[np.intp]) -> Any:
    """A copy in which some columns have the entries of other rows."""
    if hasattr(rows, "toarray"):
        return type(rows)(_exchanged(rows.toarray(), columns, donors))
    if isinstance(rows, np.ndarray):
        changed = rows.copy()
        changed[:, columns] = rows[np.ix_(donors, columns)]
        return changed
    frame = nw.from_native(rows, eager_only=True)
    mask = np.isin(np.arange(frame.shape[1]), columns)
    parts = [frame[:, np.flatnonzero(~mask).tolist()], frame[donors.tolist(), columns.tolist()]]
    parts = [nw.maybe_reset_index(part) for part in parts]  # else pandas aligns by it
    return nw.concat(parts, how="horizontal").select(frame.columns).to_native()


def _with_unseen(rows: Any, random: np.random.Generator, *, gaps: bool) -> Any:
    """A copy with entries that the table need not have."""
    if hasattr(rows, "toarray"):
        return type(rows)(_with_unseen(rows.toarray(), random, gaps=gaps))
    if isinstance(rows, np.ndarray):
        return np.stack([_unseen(column, random, gaps=gaps) for column in rows.T], axis=1)
    frame = nw.from_native(rows, eager_only=True)
    changed = [
        nw.new_series(
            one.name,
            _unseen(np.array(one.to_numpy()), random, gaps=gaps),
            one.dtype,
            backend=frame.implementation,
        )
        for one in frame.iter_columns()
        if one.dtype.is_float() or one.dtype == nw.String or _is_whole(one)
    ]
    return frame.with_columns(*changed).to_native()


def _is_whole(series: nw.Series[Any]) -> bool:
    """Whether numpy holds integers or booleans as such, which it does without gaps only."""
    whole = series.dtype.is_integer() or series.dtype == nw.Boolean
    return whole and series.null_count() == 0


def _unseen(column: NDArray[Any], random: np.random.Generator, *, gaps: bool) -> NDArray[Any]:
    """A column with other numbers or an unknown word in half of its rows, and gaps in a quarter."""
    other = random.random(column.size) < 0.5
    changed = column.copy()
    if column.dtype.kind == "f":
        known = column[np.isfinite(column)]
        centre, spread = (known.mean(), known.std() or 1.0) if known.size else (0.0, 1.0)
        changed[other] = random.normal(centre, spread, int(other.sum()))
        if gaps:
            changed[random.random(column.size) < 0.25] = np.nan
    elif column.dtype.kind in "iu":
        changed[other] = random.integers(0, 100, int(other.sum()))
    elif column.dtype.kind == "b":
        changed[other] = ~column[other]
    elif column.dtype.kind == "O":
        for i in np.flatnonzero(other):
            if isinstance(column[i], str):
                changed[i] = "\ue000"
    return changed
