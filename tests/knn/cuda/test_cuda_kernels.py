"""The CUDA sources and what launches them, run by an emulator of CUDA: see emulator.py."""

from __future__ import annotations

import numpy as np
import pytest

from knn.cuda.emulator import COMPILER, EmulatedDevice
from knn.cuda.games import all_coalitions, contracted, make_game, some_coalitions, walk_weights
from knn.cuda.twin import binned_values
from shapley2d._games.nearest import KnnGame
from shapley2d._knn.cuda.binned import BinnedRows
from shapley2d._knn.device import DeviceError
from shapley2d._knn.cuda.near_ranked import NearShape
from shapley2d._knn.cuda.ranked import RankedRows
from shapley2d._knn.distances import IntegerColumns
from shapley2d._knn.threads import Threads
from shapley2d._theory.coalitions import SubsetCoalitions

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no g++ to compile the CUDA sources with")
SHAPE = NearShape(group=4, threads=16, blocks=2, ahead=2)
CHOSEN = np.array([0, 1, 3])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def few_threads(monkeypatch):
    monkeypatch.setattr("shapley2d._knn.cuda.ranked.THREADS", 16)


@pytest.fixture(params=["classification", "regression"])
def game(request):
    return make_game(request.param)


@pytest.mark.parametrize("tile_rows", [None, 300])
def test_binned_values_are_those_of_the_twin(game, folder, tile_rows):
    rows = BinnedRows(game, EmulatedDevice(folder), shape=SHAPE, tile_rows=tile_rows)
    for coalition in some_coalitions(5, 4):
        found = rows.sums(coalition[None], CHOSEN)[0]
        twin = sum(binned_values(game, t, coalition) for t in CHOSEN)
        assert np.abs(found - twin).max() < 1e-6 * max(np.abs(twin).max(), 0.1)


def test_weighted_sums_are_added_up_on_the_device(game, folder):
    rows, coalitions = BinnedRows(game, EmulatedDevice(folder), shape=SHAPE), some_coalitions(5, 7)
    weights = np.random.default_rng(0).normal(size=(3, 7))
    found, true = (
        rows.contracted(coalitions, weights, CHOSEN),
        weights @ rows.sums(coalitions, CHOSEN),
    )
    assert np.allclose(found, true, rtol=0, atol=1e-13 * np.abs(true).max())


@pytest.mark.parametrize("tile_rows", [None, 300])
def test_a_walk_is_the_weighted_sum_over_all_coalitions(game, folder, tile_rows):
    rows = BinnedRows(game, EmulatedDevice(folder), shape=SHAPE, tile_rows=tile_rows)
    weights = walk_weights(5)
    exact = contracted(Threads(game).sums(all_coalitions(5), CHOSEN), *weights)
    assert np.abs(rows.walk(*weights, CHOSEN) - exact).max() < 1e-3 * np.abs(exact).max()


def test_ranked_values_are_those_of_the_processor(game, folder):
    rows, coalitions = RankedRows(game, EmulatedDevice(folder)), some_coalitions(5, 4)
    true = Threads(game).sums(coalitions, CHOSEN)
    assert np.allclose(rows.sums(coalitions, CHOSEN), true, rtol=0, atol=1e-13 * np.abs(true).max())


def test_tables_of_many_rows_are_sorted_by_the_device(game, folder, monkeypatch):
    monkeypatch.setattr("shapley2d._knn.cuda.ranked._FEW", 100)
    device, coalitions = EmulatedDevice(folder), some_coalitions(5, 3)
    true = Threads(game).sums(coalitions, CHOSEN)
    found = RankedRows(game, device).sums(coalitions, CHOSEN)
    assert np.allclose(found, true, rtol=0, atol=1e-13 * np.abs(true).max())
    assert "sort_few" not in device.launches


def test_all_values_are_the_same_bits_again(game, folder):
    def once():
        return BinnedRows(game, EmulatedDevice(folder), shape=SHAPE).sums(
            some_coalitions(5, 3), CHOSEN
        )

    assert np.array_equal(once(), once())


def test_too_little_memory_makes_batches_smaller(folder):
    game, coalitions = make_game("classification"), some_coalitions(5, 7)
    plenty = BinnedRows(game, EmulatedDevice(folder), shape=SHAPE)
    scarce = BinnedRows(
        game, EmulatedDevice(folder, memory=8 * 4 * 700), shape=SHAPE
    )  # one group at a time
    assert np.array_equal(plenty.sums(coalitions, CHOSEN), scarce.sums(coalitions, CHOSEN))
    none = BinnedRows(game, EmulatedDevice(folder, memory=100), shape=SHAPE)
    with pytest.raises(DeviceError, match="memory does not suffice"):
        none.sums(coalitions, CHOSEN)


def test_a_device_without_room_on_the_chip_is_refused(folder):
    device = EmulatedDevice(folder)
    device.block_bytes = 16 * 1024
    with pytest.raises(DeviceError, match="too little for the bins"):
        BinnedRows(make_game("classification"), device)


@pytest.mark.parametrize("baseline", ["labels", "zero"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_utilities_are_those_of_the_processor(task, baseline, folder):
    game = make_game(task, n=6, m=3, k=2, wide=4)
    columns = IntegerColumns(game.train, game.valid.T.copy(), *game.measures)
    options = {"task": task, "n_neighbors": 2, "baseline": baseline}
    codes = (game.y.astype(float), game.y_valid.astype(float))
    here = KnnGame(columns, *codes, **options, n_jobs=1)
    there = KnnGame(columns, *codes, **options, device=EmulatedDevice(folder))
    asked = SubsetCoalitions(6), SubsetCoalitions(3)
    assert np.allclose(here.utilities(*asked), there.utilities(*asked), atol=1e-12)
