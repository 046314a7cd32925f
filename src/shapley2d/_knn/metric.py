"""Column dissimilarities: how far apart two entries of a column are, as integers that add up exactly.

``metric="auto"``
    Columns count alike, whatever they hold.

    - *Numbers and dates*: measured from the median in units of the interquartile range (the normal
      distribution's, so that a unit is a standard deviation there; of the median deviation of the entries that
      deviate at all where that range is empty, as in a column of mostly zeros), cut at three units so that a heavy
      tail cannot drown the rest, squared, and scaled so that two random training rows are 1 apart on average.
    - *Categories and booleans*: 0 if equal, 1 if not. A category that training never shows differs from all.
    - *Missing entries*: as far from any entry, missing or not, as two random training rows are on average.

    The scale and the median come from the training rows. Distances are whole multiples of a unit of at most 2^-16
    (in 32 bits where that leaves room, else in 64), which is part of the metric's definition.

``metric="sqeuclidean"``
    Squared differences of the raw numbers, as in the paper. Decimal numbers of up to six places are represented
    exactly, so that equal distances tie; others to a resolution of 2^-31 of the diagonal of the table's range.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.checks import one_of
from shapley2d._knn.distances import IntegerColumns
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

METRICS = ("auto", "sqeuclidean")

_CUT = 3.0  # deviations at which numbers are cut
_NORMAL_IQR = 1.3489795003921634  # interquartile range of a standard normal
_FINEST_UNIT = 2.0**24
_COARSEST_UNIT = 2.0**16
_MAX_DECIMALS = 6
_INT32_ROOM = 2**31 - 1
_INT64_ROOM = 2**62


def integer_columns(train: Table, valid: Table, metric: str = "auto") -> IntegerColumns:
    """Code a training and a validation table for integer distances.

    Parameters
    ----------
    train, valid : Table
        Tables with the same columns (see :func:`shapley2d._tables.match.match_columns`).
    metric : {"auto", "sqeuclidean"}

    Returns
    -------
    IntegerColumns

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> table = as_table([[1.5, 3], [2.0, 4]])
    >>> columns = integer_columns(table, table, "sqeuclidean")
    >>> columns.train.tolist(), columns.unit
    ([[0, 5], [0, 10]], 100.0)
    """
    if metric == "auto":
        return _auto(train, valid)
    if metric == "sqeuclidean":
        return _raw(train, valid)
    raise InputError(Setting("metric", metric), f" is not known: use {one_of(METRICS)}")


def _is_nominal(column: Column) -> bool:
    return column.kind in ("category", "boolean")


def _auto(train: Table, valid: Table) -> IntegerColumns:
    scaled = [None if _is_nominal(column) else _robust_scale(column.entries) for column in train.columns]
    # the farthest that two entries of each column are apart decides the unit that 32 bits leave room for
    most = math.fsum(
        1.0 if scale is None else max(1.0, scale.farthest(t.entries, v.entries))
        for t, v, scale in zip(train.columns, valid.columns, scaled, strict=True)
    )
    unit = min(_FINEST_UNIT, 2.0 ** math.floor(math.log2(_INT32_ROOM / most) - 0.01))
    dtype: type[np.int32 | np.int64] = np.int32
    if unit < _COARSEST_UNIT:
        unit, dtype = _FINEST_UNIT, np.int64
    coded = []
    mismatch = np.zeros(train.n_columns, dtype=np.int64)
    missing = np.zeros(train.n_columns, dtype=np.int64)
    for j, (t, v, scale) in enumerate(zip(train.columns, valid.columns, scaled, strict=True)):
        if scale is None:
            mismatch[j] = round(unit)
            missing[j] = round(unit * _mean_mismatch(t.entries))
            coded.append((t.entries, v.entries))
        else:
            missing[j] = round(unit) if scale.factor else 0
            step = math.sqrt(unit)
            coded.append((np.round(scale(t.entries) * step), np.round(scale(v.entries) * step)))
    return _pack(coded, mismatch, missing, dtype, unit)


class _robust_scale:  # noqa: N801
    """Numbers measured from the median, cut, and scaled to a mean squared difference of 1."""

    def __init__(self, entries: NDArray[np.float64]) -> None:
        present = np.sort(entries[~np.isnan(entries)])  # sorted: the same bits for any order of the rows
        self.centre, self.spread, self.factor = 0.0, 1.0, 0.0
        if not present.size or present[0] == present[-1]:
            return
        low, self.centre, high = np.percentile(present, [25, 50, 75])
        off = np.abs(present - self.centre)
        self.spread = (high - low) / _NORMAL_IQR or float(np.median(off[off > 0]))
        self.factor = math.sqrt(1 / (2 * float(np.var(self._cut(present)))))

    def _cut(self, entries: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip((entries - self.centre) / self.spread, -_CUT, _CUT)

    def __call__(self, entries: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._cut(entries) * self.factor

    def farthest(self, train: NDArray[np.float64], valid: NDArray[np.float64]) -> float:
        """Largest dissimilarity of two entries."""
        both = self(np.concatenate([train, valid]))
        return 0.0 if np.isnan(both).all() else float(np.nanmax(both) - np.nanmin(both)) ** 2


def _mean_mismatch(entries: NDArray[np.float64]) -> float:
    """Chance that two random training rows differ."""
    codes = entries[~np.isnan(entries)].astype(np.intp)
    if not codes.size:
        return 1.0
    counts = np.sort(np.bincount(codes))
    return 1.0 - float(np.sum((counts / codes.size) ** 2))


def _raw(train: Table, valid: Table) -> IntegerColumns:
    for column in train.columns:
        if column.kind == "category":
            raise InputError(
                Setting("metric", "sqeuclidean"),
                f" takes numbers only, but column {column.name!r} holds text: use ",
                Setting("metric", "auto"),
                " or drop the column",
            )
    pairs = [(t.entries, v.entries) for t, v in zip(train.columns, valid.columns, strict=True)]
    lowest = [_extreme(t, v, np.nanmin) for t, v in pairs]
    ranges = [_extreme(t, v, np.nanmax) - low for (t, v), low in zip(pairs, lowest, strict=True)]
    diagonal = math.fsum(extent**2 for extent in ranges)
    step = next((10.0**k for k in range(_MAX_DECIMALS + 1) if _all_whole(pairs, 10.0**k)), 0.0)
    if step == 0.0 or diagonal * step**2 > _INT64_ROOM:
        step = math.sqrt(_INT64_ROOM / diagonal) * (1 - 2**-20) if diagonal else 1.0
    missing = np.zeros(train.n_columns, dtype=np.int64)
    coded = []
    for j, ((t, v), low) in enumerate(zip(pairs, lowest, strict=True)):
        present = np.sort(t[~np.isnan(t)])
        missing[j] = round(2 * float(np.var(present)) * step**2) if present.size else 0
        # whole numbers are scaled before they are shifted, so that 0.3 - 0.1 is exactly two steps of 0.1
        shift = np.round(low * step)
        coded.append((np.round(t * step) - shift, np.round(v * step) - shift))
    room = math.fsum((extent * step + 1) ** 2 for extent in ranges) + float(missing.sum())
    dtype = np.int32 if room < _INT32_ROOM else np.int64
    return _pack(coded, np.zeros(train.n_columns, dtype=np.int64), missing, dtype, step**2)


def _extreme(
    train: NDArray[np.float64], valid: NDArray[np.float64], extreme: Callable[[NDArray[np.float64]], float]
) -> float:
    both = np.concatenate([train, valid])
    return 0.0 if np.isnan(both).all() else float(extreme(both))


def _all_whole(pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]], step: float) -> bool:
    for pair in pairs:
        for entries in pair:
            scaled = entries[~np.isnan(entries)] * step
            size = np.abs(scaled)
            smallest = np.min(size[size > 0], initial=1.0)  # what is tiny is no rounding error of 0
            if np.any(np.abs(scaled - np.round(scaled)) > 1e-9 * np.maximum(smallest, size / 2**20)):
                return False
    return True


def _pack(
    coded: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
    mismatch: NDArray[np.int64],
    missing: NDArray[np.int64],
    dtype: type[np.int32 | np.int64],
    unit: float,
) -> IntegerColumns:
    code = np.iinfo(dtype).min

    def stack(which: int) -> NDArray[np.int32] | NDArray[np.int64]:
        columns = [pair[which] for pair in coded]
        return np.stack([np.where(np.isnan(c), 0, c).astype(dtype) for c in columns]) + _missing_codes(
            columns
        )

    def _missing_codes(columns: list[NDArray[np.float64]]) -> NDArray[np.int32] | NDArray[np.int64]:
        return np.stack([np.where(np.isnan(c), code, 0).astype(dtype) for c in columns])

    return IntegerColumns(stack(0), stack(1), mismatch, missing, unit)
