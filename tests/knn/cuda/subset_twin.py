"""The kernels of ``subsets.cu`` and ``tall.cu`` in numpy, for one validation row and one coalition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from knn.cuda.twin import tied_classification
from shapley2d._knn.cuda.kernel_inputs import (
    as_floats,
    compared_entries,
    largest_dissimilarities,
    mean_dissimilarities,
)
from shapley2d._knn.cuda.subsets import FEW, half_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.kernel_inputs import HalfBins
    from shapley2d._knn.cuda.subsets import SubsetShape
    from shapley2d._knn.cuda.tall import TallShape
    from shapley2d._knn.row_axis import RowGame

_BULK_BITS = 21  # of a float's 32, which are left out where the bulk is looked for


def binned_values(
    game: RowGame,
    t: int,
    coalition: NDArray[np.bool_],
    shape: SubsetShape,
    low: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Values of all rows as if those of a bin tied.

    Parameters
    ----------
    game : RowGame
        Of classification.
    t : int
        The validation row.
    coalition : ndarray of shape (m,), bool
    shape : SubsetShape
    low : sequence of int, optional
        In a walk, the columns whose choices share a launch: the others are added up first, in
        floats.

    Returns
    -------
    ndarray of shape (n,)
        In the order of the game.
    """
    columns = np.flatnonzero(coalition).tolist()
    last = columns if low is None else [j for j in columns if j in low]
    steps = {j: column_distances(game, t, j) for j in {*columns, *(low or ())}}
    bulk = sum((steps[j][1] for j in columns), start=np.float32(0))
    bulky = any(begin > 0 for _, begin in steps.values())
    total = np.full(game.n_rows, 0.0 if bulky else shape.bins.floor, dtype=np.float32)
    for j in columns:
        if j not in last:
            total += steps[j][0]
    halves = total.astype(np.float16)
    for j in last:
        halves += steps[j][0].astype(np.float16)
    groups = bins_of(halves, np.float16(bulk), shape.bins, bulky=bulky)
    return tied_classification(game, groups, game.y == game.y_valid[t])


def tall_values(
    game: RowGame, t: int, coalition: NDArray[np.bool_], shape: TallShape
) -> NDArray[np.float64]:
    """The same as ``tall.cu`` has it: distances are half floats in every column, and are added up in floats."""
    total, bulk = np.zeros(game.n_rows, dtype=np.float32), np.float32(0)
    for j in np.flatnonzero(coalition):
        apart, begin = column_distances(game, t, int(j))
        total += apart.astype(np.float16).astype(np.float32)
        bulk += begin
    groups = bins_of(total.astype(np.float16), np.float16(bulk), shape.bins, bulky=True)
    return tied_classification(game, groups, game.y == game.y_valid[t])


def column_distances(game: RowGame, t: int, j: int) -> tuple[NDArray[np.float32], np.float32]:
    """Distances of all rows in one column, counted from where the bulk of them begins, and where that is."""
    scale = np.float32(half_scale(largest_dissimilarities(game)))
    codes = as_floats(game.train[j])
    value, weight, added, missing = compared_entries(game)[t, j] * np.array(
        [1, scale, scale, scale], dtype=np.float32
    )
    apart = codes - value
    known = np.where(apart != 0, -weight, np.float32(0)) if weight < 0 else weight * apart * apart
    found = np.where(np.isnan(codes), missing, known + added).astype(np.float32)
    bits = np.sort(found.view(np.int32) >> _BULK_BITS)
    beyond = found[found.view(np.int32) >> _BULK_BITS >= bits[game.n_rows // FEW]].min()
    least = np.float32(mean_dissimilarities(game)[j] * float(scale) / 64)
    begin = np.float32(0) if beyond < least else np.float32(beyond)
    return found - begin, begin


def bins_of(
    halves: NDArray[np.float16], bulk: np.float16, bins: HalfBins, *, bulky: bool
) -> NDArray[np.int64]:
    """The bins: those of rows in the bulk by their distance from where it begins, of nearer ones by the whole."""
    floor = np.float16(bins.floor)
    beyond: NDArray[np.int64] = (
        np.maximum(halves, floor).view(np.uint16).astype(np.int64) >> bins.shift
    )
    if not bulky:
        return beyond
    first = max((int(bulk.view(np.uint16)) >> (bins.shift + 1)) - (bins.lower - 1), 0)
    whole = np.maximum(np.minimum(halves, np.float16(0)) + bulk, np.float16(0))
    return np.asarray(
        beyond + np.maximum(whole.view(np.uint16).astype(np.int64) >> (bins.shift + 1), first)
    )
