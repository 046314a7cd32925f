"""The row axis: games of either task, exact or fast, behind three functions.

``make_lines`` and ``make_scratch`` allocate what a game needs: room for distances, of which fast
games take the leading digits only, and for what ``prepare`` makes of them, for all rows, one
validation row and up to four column coalitions; ``gather`` writes the values of a tile of rows.
Which kernels they are is decided by the type of the game when the caller is compiled, so one driver
per column design serves all games.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload

from shapley2d._kernels.bins import LANES, LeadingDigits, bin_scratch
from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.knn_far_bins import (
    gather_fast_classification,
    gather_fast_regression,
    prepare_fast_classification,
    prepare_fast_regression,
)
from shapley2d._kernels.tie_groups import ranked_classification, ranked_regression
from shapley2d._kernels.sort import rank_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ExactClassification(NamedTuple):
    """The run of rows with the label of each validation row, and the tables of RankWeights."""

    runs: NDArray[np.int64]
    single: NDArray[np.float64]
    beyond: NDArray[np.float64]
    inverse: NDArray[np.float64]


class FastClassification(NamedTuple):
    """An ExactClassification with the error bound of bins (:mod:`shapley2d._knn.far_bins`)."""

    runs: NDArray[np.int64]
    single: NDArray[np.float64]
    beyond: NDArray[np.float64]
    inverse: NDArray[np.float64]
    ranks: NDArray[
        np.float64
    ]  # (n + 1, 4): the two tables and the variation of the first, side by side
    tolerance: float
    digits: LeadingDigits


class ExactRegression(NamedTuple):
    """Centred targets of training and validation rows, and the tables of RankWeights."""

    z: NDArray[np.float64]
    targets: NDArray[np.float64]
    k: float
    alone: float
    tables: tuple[NDArray[np.float64], ...]


class FastRegression(NamedTuple):
    """An ExactRegression with the error bound of bins (:mod:`shapley2d._knn.far_bins`)."""

    z: NDArray[np.float64]
    targets: NDArray[np.float64]
    k: float
    alone: float
    tables: tuple[NDArray[np.float64], ...]
    variation: NDArray[np.float64]
    variation_pair: NDArray[np.float64]
    inverse_magnitude: float
    tolerance: float
    digits: LeadingDigits


@numba.njit(nogil=True, cache=CACHE)
def _exact_scratch(n_rows):  # type: ignore[no-untyped-def]
    """Room for a sort, and for the values of all rows under four coalitions."""
    sorting = (
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )
    return sorting, np.zeros((LANES, n_rows))


@numba.njit(nogil=True, cache=CACHE)
def exact_classification(distances, game, t, sorting, values):  # type: ignore[no-untyped-def]
    """Write the values of all rows under one coalition, by exact rank."""
    keys, rows, packed, spare = sorting
    rank_rows(distances, keys, rows, packed, spare)
    ranked_classification(
        keys, rows, 0.0, game.runs[t], game.single, game.beyond, game.inverse, values
    )


@numba.njit(nogil=True, cache=CACHE)
def exact_regression(distances, game, t, sorting, values):  # type: ignore[no-untyped-def]
    """Write the values of all rows under one coalition, by exact rank."""
    keys, rows, packed, spare = sorting
    rank_rows(distances, keys, rows, packed, spare)
    ranked_regression(
        keys, rows, (0.0, 0.0, 0.0), game.z, game.targets[t], game.k, game.alone, game.tables,
        np.empty((2, keys.size)), values,
    )  # fmt: skip


def make_lines(game: Any, count: int, n_rows: int) -> Any:
    """Allocate distances under some coalitions; return how many last bits are left out, too."""
    return _make_lines_for(type(game))(game, count, n_rows)


def make_scratch(game: Any, n_rows: int) -> Any:
    """Allocate what ``prepare`` and ``gather`` need."""
    return _make_scratch_for(type(game))(game, n_rows)


def prepare(game: Any, table: Any, t: int, coalitions: Any, distances: Any, scratch: Any) -> None:
    """Rank or bin all rows by their distance from validation row ``t``, for four coalitions."""
    _prepare_for(type(game))(game, table, t, coalitions, distances, scratch)


def gather(game: Any, t: int, begin: int, end: int, scratch: Any, tile: Any) -> None:
    """Write the values of the rows ``begin .. end - 1`` to the tile, of shape (4, any)."""
    _gather_for(type(game))(game, t, begin, end, scratch, tile)


def _make_lines_for(kind: type) -> Any:
    if kind in (FastClassification, FastRegression):
        return lambda game, count, n_rows: (np.zeros((count, n_rows), np.int32), game.digits.shift)
    return lambda game, count, n_rows: (np.zeros((count, n_rows), np.int64), 0)  # noqa: ARG005


def _make_scratch_for(kind: type) -> Any:
    if kind is FastClassification:
        return lambda game, n_rows: bin_scratch(n_rows, 2, 0, 2)  # noqa: ARG005
    if kind is FastRegression:
        return lambda game, n_rows: bin_scratch(n_rows, 1, 2, 3)  # noqa: ARG005
    return lambda game, n_rows: _exact_scratch(n_rows)  # noqa: ARG005


def _prepare_for(kind: type) -> Any:
    if kind is FastClassification:
        return lambda game, table, t, coalitions, distances, scratch: prepare_fast_classification(
            table, t, coalitions, distances, game, scratch
        )
    if kind is FastRegression:
        return lambda game, table, t, coalitions, distances, scratch: prepare_fast_regression(
            table, t, coalitions, distances, game, scratch
        )
    kernel = exact_classification if kind is ExactClassification else exact_regression

    def exact(game, table, t, coalitions, distances, scratch):  # type: ignore[no-untyped-def]  # noqa: ARG001
        sorting, values = scratch
        for lane in range(len(coalitions)):
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
@overload(make_lines)
def _make_lines(game, count, n_rows):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _make_lines_for(game.instance_class)


@overload(make_scratch)
def _make_scratch(game, n_rows):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _make_scratch_for(game.instance_class)


@overload(prepare)
def _prepare(game, table, t, coalitions, distances, scratch):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _prepare_for(game.instance_class)


@overload(gather)
def _gather(game, t, begin, end, scratch, tile):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _gather_for(game.instance_class)
