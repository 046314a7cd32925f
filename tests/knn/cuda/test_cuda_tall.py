"""Tables with many rows: the kernels of tall.cu, emulated, against their twin and against exact ranks."""

from __future__ import annotations

import numpy as np
import pytest

from knn.cuda.emulator import COMPILER, EmulatedDevice
from knn.cuda.games import make_game, some_coalitions
from knn.cuda.subset_twin import tall_values
from shapley2d._knn.cuda import binned, subsets, tall
from shapley2d._knn.cuda.binned import BinnedRows
from shapley2d._knn.device import DeviceError
from shapley2d._knn.cuda.kernel_inputs import (
    HalfBins,
    as_floats,
    compared_entries,
    largest_dissimilarities,
)
from shapley2d._knn.cuda.near_ranked import NearShape
from shapley2d._knn.cuda.subsets import SubsetShape, SubsetSums
from shapley2d._knn.cuda.tall import TallShape, TallSums
from shapley2d._knn.threads import Threads

emulated = pytest.mark.skipif(COMPILER is None, reason="no g++ to compile the CUDA sources with")
SHAPE = TallShape(threads=64, each=1, bins=HalfBins(5, 28))
FINE = TallShape(threads=64, each=2)
SUBSETS = SubsetShape(low=1, threads=128, blocks=2, shift=5, upper=28, wide=True)
CHOSEN = np.array([0, 1, 3])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tall")


@pytest.fixture
def game():
    """Ties, gaps, more columns than one multiplication takes, and validation rows that are outliers."""
    game = make_game("classification", n=333, m=18, wide=60)
    game.valid[0, 2] = 900
    game.valid[3, 0] = 77
    return game


def make_tall(game, folder, shape):
    device = EmulatedDevice(folder)
    train, compared = device.upload(as_floats(game.train)), device.upload(compared_entries(game))
    known = SubsetSums(game, device, train, compared, largest_dissimilarities(game), SUBSETS)
    return TallSums(game, device, train, known.prepared, known.ranks, shape)


@emulated
@pytest.mark.parametrize("shape", [SHAPE, pytest.param(FINE, marks=pytest.mark.slow)])
def test_values_are_those_of_the_twin(game, folder, shape):
    sums, coalitions = make_tall(game, folder, shape), some_coalitions(18, 5)
    found = sums.values(coalitions, CHOSEN)
    for k, coalition in enumerate(coalitions):
        twin = sum(tall_values(game, t, coalition, shape) for t in CHOSEN)
        assert np.abs(found[k] - twin).max() < 1e-5 * CHOSEN.size / game.n_neighbors


@emulated
def test_validation_rows_that_do_not_fit_the_memory_come_in_turn(game, folder, monkeypatch):
    sums, coalitions = make_tall(game, folder, SHAPE), some_coalitions(18, 20)
    found = sums.values(coalitions, CHOSEN)
    assert found.shape == (32, game.n_rows)  # filled up
    monkeypatch.setattr(tall, "_SHARE", 1e-9)
    assert np.allclose(sums.values(coalitions, CHOSEN), found, rtol=0, atol=1e-7)


@pytest.mark.slow
@emulated
def test_tables_with_many_rows_use_them(game, folder, monkeypatch):
    monkeypatch.setattr(subsets, "LEAST_ROWS", 100)
    monkeypatch.setattr(binned, "MOST_ROWS", 200)
    device, coalitions = EmulatedDevice(folder), some_coalitions(18, 21)
    shape = NearShape(group=4, threads=16, blocks=2, ahead=2)
    rows = BinnedRows(game, device, shape=shape, subset_shapes=(SUBSETS,), tall_shape=SHAPE)
    sums = rows.sums(coalitions, CHOSEN)
    assert {"bin_rows", "value_bins", "add_worth"} <= set(device.launches)
    assert "add_listed" not in device.launches
    true = Threads(game).sums(coalitions, CHOSEN)
    assert np.sqrt(np.mean((sums - true) ** 2)) < 0.1 * np.std(true)
    assert np.array_equal(sums, rows.sums(coalitions, CHOSEN))
    weights = np.random.default_rng(0).normal(size=(3, 21))
    found = rows.contracted(coalitions, weights, CHOSEN)
    assert np.allclose(found, weights @ sums, rtol=0, atol=1e-12 * np.abs(found).max())


@emulated
def test_too_little_memory_takes_fewer_validation_rows_at_a_time(game, folder, monkeypatch):
    sums, coalitions = make_tall(game, folder, SHAPE), some_coalitions(18, 3)
    found = sums.values(coalitions, CHOSEN)
    device = sums._device
    empty, asked = device.empty, []

    def scarce(shape, dtype):
        asked.append(shape[0])
        if shape[0] > most:
            raise MemoryError
        return empty(shape, dtype)

    monkeypatch.setattr(device, "empty", scarce)
    most = 1
    assert np.allclose(sums.values(coalitions, CHOSEN), found, rtol=0, atol=1e-7)
    assert asked[0] == 3 and asked[-1] == 1
    most = 0
    with pytest.raises(DeviceError, match="memory does not suffice"):
        sums.values(coalitions, CHOSEN)
