"""All rows in bins: the kernels of subsets.cu, emulated, against their twin and against exact ranks."""

from __future__ import annotations

import numpy as np
import pytest

from knn.cuda.emulator import COMPILER, EmulatedDevice
from knn.cuda.games import all_coalitions, contracted, make_game, some_coalitions, walk_weights
from knn.cuda.subset_twin import binned_values
from shapley2d._knn.cuda import subsets
from shapley2d._knn.cuda.binned import BinnedRows
from shapley2d._knn.cuda.kernel_inputs import as_floats, compared_entries, largest_dissimilarities
from shapley2d._knn.cuda.near_ranked import NearShape
from shapley2d._knn.cuda.subsets import SubsetShape, SubsetSums
from shapley2d._knn.cuda.weight_levels import WeightLevels
from shapley2d._knn.threads import Threads
from shapley2d._theory.semivalues import marginal_weights

emulated = pytest.mark.skipif(COMPILER is None, reason="no g++ to compile the CUDA sources with")
NARROW = SubsetShape(low=2, threads=128, blocks=1, shift=5, upper=28)
WIDE = SubsetShape(low=1, threads=128, blocks=2, shift=5, upper=28, wide=True)
CHOSEN = np.array([0, 1, 3])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("subsets")


@pytest.fixture
def game():
    """Ties, gaps, rows that agree, and validation rows that are outliers: in a number, and in a category."""
    game = make_game("classification", n=251, m=5, wide=60)
    game.train[:, 100:150] = game.train[:, 50:100]
    game.valid[0, 2] = 900
    game.valid[3, 0] = 77
    return game


def make_sums(game, folder, shape):
    device = EmulatedDevice(folder)
    there = device.upload(as_floats(game.train)), device.upload(compared_entries(game))
    return SubsetSums(game, device, *there, largest_dissimilarities(game), shape)


def rounding(game):
    """What 16 bits and floats may change in the sum over the chosen validation rows."""
    return CHOSEN.size * 3e-5 / game.n_neighbors


@emulated
@pytest.mark.parametrize("shape", [NARROW, pytest.param(WIDE, marks=pytest.mark.slow)])
def test_values_are_those_of_the_twin(game, folder, shape):
    sums = make_sums(game, folder, shape)
    for coalition in some_coalitions(5, 5):
        found = sums.values(coalition[None], CHOSEN)[0]
        twin = sum(binned_values(game, t, coalition, shape) for t in CHOSEN)
        assert np.abs(found - twin).max() < rounding(game)


@emulated
def test_distances_that_do_not_fit_the_memory_are_computed_twice(game, folder, monkeypatch):
    sums, coalitions = make_sums(game, folder, NARROW), some_coalitions(5, 3)
    kept = sums.values(coalitions, CHOSEN)
    monkeypatch.setattr(subsets, "_KEPT_SHARE", 0.0)
    assert np.array_equal(sums.values(coalitions, CHOSEN), kept)


@emulated
@pytest.mark.parametrize("shape", [pytest.param(NARROW, marks=pytest.mark.slow), WIDE])
def test_sums_over_all_subsets_are_those_of_the_twin(game, folder, shape, monkeypatch):
    sums = make_sums(game, folder, shape)
    weights = np.random.default_rng(0).random(6)
    low, _ = sums._columns()
    twin = np.zeros((6, game.n_rows))
    for coalition in all_coalitions(5):
        phi = sum(binned_values(game, t, coalition, shape, low.tolist()) for t in CHOSEN)
        twin[np.append(coalition, True)] += weights[coalition.sum()] * phi
    found = sums.sums(weights, CHOSEN)
    assert np.abs(found - twin).max() < 32 * rounding(game)
    sums.most_at_a_time = 2  # whole numbers that hold the sums of two validation rows
    assert np.abs(sums.sums(weights, CHOSEN) - found).max() < 1e-12


@emulated
def test_weighted_sums_are_added_up_on_the_device(game, folder):
    rows = BinnedRows(
        game, EmulatedDevice(folder), shape=NearShape(group=4, threads=16, blocks=2, ahead=2)
    )
    rows._subsets = make_sums(game, folder, NARROW)
    coalitions, weights = some_coalitions(5, 11), np.random.default_rng(0).normal(size=(3, 11))
    found, true = (
        rows.contracted(coalitions, weights, CHOSEN),
        weights @ rows.sums(coalitions, CHOSEN),
    )
    assert np.allclose(found, true, rtol=0, atol=1e-13 * np.abs(true).max())


@emulated
@pytest.mark.parametrize(
    "semivalue", [pytest.param("shapley", marks=pytest.mark.slow), ("beta", 4, 1)]
)
def test_a_semivalue_takes_one_walk(game, folder, semivalue, monkeypatch):
    sums = make_sums(game, folder, NARROW)
    joining = marginal_weights(semivalue, 5)
    inner = np.isin(np.arange(6), (2, 3))
    weights = (
        np.where(inner, np.append(0.0, joining), 0.0),
        np.where(inner, np.append(joining, 0.0), 0.0),
    )
    once = sums.contracted(*weights, CHOSEN)
    monkeypatch.setattr(subsets, "_share", lambda *_: None)
    assert np.abs(sums.contracted(*weights, CHOSEN) - once).max() < 1e-3 * np.abs(once).max()


@emulated
def test_walks_and_samples_of_large_games_use_them(folder, monkeypatch):
    monkeypatch.setattr(subsets, "LEAST_ROWS", 100)
    game = make_game("classification", n=420, m=5, wide=60)
    device = EmulatedDevice(folder)
    rows = BinnedRows(game, device, shape=NearShape(4, 16, 2, 2), subset_shapes=(NARROW,))
    weights, coalitions = walk_weights(5), some_coalitions(5, 6)
    walk, sums = rows.walk(*weights, CHOSEN), rows.sums(coalitions, CHOSEN)
    assert {"add_subsets", "add_listed", "add_values"} <= set(device.launches)
    assert "add_walk" not in device.launches
    exact = contracted(Threads(game).sums(all_coalitions(5), CHOSEN), *weights)
    assert np.sqrt(np.mean((walk - exact) ** 2)) < 0.02 * np.std(exact)
    assert np.array_equal(walk, rows.walk(*weights, CHOSEN))
    true = Threads(game).sums(coalitions, CHOSEN)
    assert np.sqrt(np.mean((sums - true) ** 2)) < 0.1 * np.std(true)
    near_ranked = rows.finer.sums(coalitions, CHOSEN)
    assert np.abs(near_ranked - true).max() < 1e-6  # all of so few rows are near
    assert not rows.sums(coalitions, CHOSEN[:0]).any()
    weighted = WeightLevels(rows, np.array([2.0, 0.0, 1.0, 2.0]))
    assert np.allclose(
        weighted.finer.sums(coalitions, CHOSEN), 2 * rows.finer.sums(coalitions, CHOSEN[[0, 2]])
    )
    assert WeightLevels(Threads(game), np.ones(4)).finer is None


@emulated
@pytest.mark.parametrize("shapes", [(), (NARROW,)], ids=["near rows ranked", "all rows in bins"])
def test_a_sample_of_single_subsets_has_the_bins_of_the_walk(folder, monkeypatch, shapes):
    """Or what bins change would be judged, and taken out, for bins that were not used."""
    monkeypatch.setattr(subsets, "LEAST_ROWS", 100)
    game = make_game("classification", n=900, m=5, wide=60_000)
    rows = BinnedRows(
        game, EmulatedDevice(folder), shape=NearShape(4, 16, 2, 2), subset_shapes=shapes
    )
    everything, listed_differ = all_coalitions(5), False
    for size in (1, 3, 5):
        weights = np.eye(6)[size], np.zeros(6)
        walk, exact = (axis.walk(*weights, CHOSEN) for axis in (rows, Threads(game)))
        alone, listed = np.zeros((2, len(everything), game.n_rows))
        for k in np.flatnonzero(everything.sum(axis=1) == size):
            one = everything[k : k + 1]
            alone[k] = rows.walked(*weights).sums(one, CHOSEN)[0]
            listed[k] = rows.sums(one, CHOSEN)[0]
        # half floats that are added up in another order have other bins now and then
        allowed = 0.15 * np.linalg.norm(walk - exact) + 1e-7 * np.linalg.norm(exact)
        assert np.linalg.norm(contracted(alone, *weights) - walk) < allowed
        listed_differ |= np.linalg.norm(contracted(listed, *weights) - walk) > allowed
    assert listed_differ
