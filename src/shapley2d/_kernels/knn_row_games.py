"""The row axis: games of either task, exact or fast, behind three functions.

``make_scratch`` allocates what a game needs, ``prepare`` digests the distances of all rows from one validation row
under four column coalitions, and ``gather`` writes the values of a tile of rows. Which kernels they are is decided by
the type of the game when the caller is compiled, so one driver per column design serves all games.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload

from shapley2d._kernels.bins import LANES, bin_scratch
from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.knn_classification import (
    exact_classification,
    gather_fast_classification,
    prepare_fast_classification,
)
from shapley2d._kernels.knn_regression import (
    exact_regression,
    gather_fast_regression,
    prepare_fast_regression,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ExactClassification(NamedTuple):
    """The first and the last row (exclusive) with the label of each validation row, and the tables of RankWeights."""

    runs: NDArray[np.int64]
    single: NDArray[np.float64]
    beyond: NDArray[np.float64]
    inverse: NDArray[np.float64]


class FastClassification(NamedTuple):
    """The same, with what the error of unranked bins is bounded by, see :mod:`shapley2d._knn.bin_errors`."""

    runs: NDArray[np.int64]
    single: NDArray[np.float64]
    beyond: NDArray[np.float64]
    inverse: NDArray[np.float64]
    variation: NDArray[np.float64]
    tolerance: float


class ExactRegression(NamedTuple):
    """Centred targets of the rows and of the validation rows; the tables are those of RankWeights."""

    z: NDArray[np.float64]
    targets: NDArray[np.float64]
    k: float
    alone: float
    tables: tuple[NDArray[np.float64], ...]


class FastRegression(NamedTuple):
    """The same, with what the error of unranked bins is bounded by, see :mod:`shapley2d._knn.bin_errors`."""

    z: NDArray[np.float64]
    targets: NDArray[np.float64]
    k: float
    alone: float
    tables: tuple[NDArray[np.float64], ...]
    variation: NDArray[np.float64]
    variation_pair: NDArray[np.float64]
    inverse_magnitude: float
    tolerance: float


@numba.njit(nogil=True, cache=CACHE)
def _exact_scratch(distances):  # type: ignore[no-untyped-def]
    """Room for a sort, and for the values of all rows under four coalitions."""
    n_rows = distances.shape[1]
    sorting = (
        np.empty(n_rows, distances.dtype),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )
    return sorting, np.zeros((LANES, n_rows))


def make_scratch(game: Any, distances: Any) -> Any:
    """Allocate what ``prepare`` and ``gather`` need for a game and distances of shape (4, n)."""
    return _make_scratch_for(type(game))(game, distances)


def prepare(game: Any, t: int, distances: Any, lanes: int, scratch: Any) -> None:
    """Digest the distances of all rows from validation row ``t`` under the first ``lanes`` of four coalitions."""
    _prepare_for(type(game))(game, t, distances, lanes, scratch)


def gather(game: Any, t: int, begin: int, end: int, scratch: Any, tile: Any) -> None:
    """Write the values of the rows ``begin .. end - 1`` to the front of the tile, of shape (4, any)."""
    _gather_for(type(game))(game, t, begin, end, scratch, tile)


def _make_scratch_for(kind: type) -> Any:
    if kind is FastClassification:
        return lambda game, distances: bin_scratch(distances, 2, 0, 2)  # noqa: ARG005
    if kind is FastRegression:
        return lambda game, distances: bin_scratch(distances, 1, 2, 3)  # noqa: ARG005
    return lambda game, distances: _exact_scratch(distances)  # noqa: ARG005


def _prepare_for(kind: type) -> Any:
    if kind is FastClassification:
        return lambda game, t, distances, lanes, scratch: prepare_fast_classification(
            distances, lanes, game, t, scratch
        )
    if kind is FastRegression:
        return lambda game, t, distances, lanes, scratch: prepare_fast_regression(
            distances, lanes, game, t, scratch
        )
    kernel = exact_classification if kind is ExactClassification else exact_regression

    def exact(game, t, distances, lanes, scratch):  # type: ignore[no-untyped-def]
        sorting, values = scratch
        for lane in range(lanes):
            kernel(distances[lane], game, t, sorting, values[lane])

    return exact


def _gather_for(kind: type) -> Any:
    if kind is FastClassification:
        return lambda game, t, begin, end, scratch, tile: gather_fast_classification(
            begin, end, game, t, scratch, tile
        )
    if kind is FastRegression:
        return lambda game, t, begin, end, scratch, tile: gather_fast_regression(  # noqa: ARG005
            begin, end, game, scratch, tile
        )

    def exact(game, t, begin, end, scratch, tile):  # type: ignore[no-untyped-def]  # noqa: ARG001
        values = scratch[1]
        for lane in range(LANES):
            line, target = values[lane, begin:end], tile[lane]
            for i in range(line.size):
                target[i] = line[i]

    return exact


# compiled callers find the same kernels by the type of the game
@overload(make_scratch)
def _make_scratch(game, distances):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _make_scratch_for(game.instance_class)


@overload(prepare)
def _prepare(game, t, distances, lanes, scratch):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _prepare_for(game.instance_class)


@overload(gather)
def _gather(game, t, begin, end, scratch, tile):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _gather_for(game.instance_class)
