"""The kernels on a real GPU; skipped, saying why, where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from knn.cuda import subset_twin
from knn.cuda.games import all_coalitions, contracted, make_game, some_coalitions, walk_weights
from knn.cuda.twin import binned_values
from shapley2d import value_cells
from shapley2d._knn.cuda.binned import BinnedRows
from shapley2d._knn.device import DeviceError, find_device
from shapley2d._knn.cuda.near_ranked import NearShape
from shapley2d._knn.cuda.ranked import RankedRows
from shapley2d._knn.cuda.subsets import SUBSET_SHAPES
from shapley2d._knn.cuda.tall import TallShape
from shapley2d._knn.threads import Threads

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def device():
    try:
        return find_device()
    except DeviceError as error:
        pytest.skip(f"no GPU: {error}")


CHOSEN = np.array([0, 1, 3])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tile_rows", [None, 500])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_binned_values_are_those_of_the_twin(device, task, tile_rows, seed):
    game = make_game(task, n=2500, m=8, k=1 + 3 * seed, wide=[7, 100, 5000][seed % 3], seed=seed)
    rows = BinnedRows(game, device, tile_rows=tile_rows)
    coalitions = some_coalitions(8, 20, seed)
    for coalition in coalitions:
        found = rows.sums(coalition[None], CHOSEN)[0]
        twin = sum(binned_values(game, t, coalition) for t in CHOSEN)
        assert np.abs(found - twin).max() < 1e-6 * max(np.abs(twin).max(), 0.1)
    assert np.array_equal(rows.sums(coalitions, CHOSEN), rows.sums(coalitions, CHOSEN))


@pytest.mark.parametrize(
    "shape",
    [
        None,
        NearShape(16, 1024, 1, 8),
        NearShape(8, 512, 2),
        NearShape(4, 512, 1),
        NearShape(2, 512, 1),
    ],
)
def test_a_walk_is_the_weighted_sum_over_all_coalitions(device, shape):
    game, weights = make_game("classification", n=2500, m=8), walk_weights(8)
    rows = BinnedRows(game, device, shape=shape)
    walk = rows.walk(*weights, CHOSEN)
    exact = contracted(Threads(game).sums(all_coalitions(8), CHOSEN), *weights)
    assert np.abs(walk - exact).max() < 1e-3 * np.abs(exact).max()
    assert np.array_equal(walk, rows.walk(*weights, CHOSEN))


@pytest.mark.parametrize(("n", "wide"), [(9001, False), (70_000, True)])
def test_large_games_have_all_rows_in_bins(device, n, wide):
    game, weights = make_game("classification", n=n, m=7, wide=60), walk_weights(7)
    game.valid[0, 2] = 900
    rows = BinnedRows(game, device)
    (shape, *_) = [shape for shape in SUBSET_SHAPES if shape.wide == wide]
    coalitions = some_coalitions(7, 20)
    for coalition in coalitions:
        found = rows.sums(coalition[None], CHOSEN)[0]
        if wide:
            twin = sum(subset_twin.tall_values(game, t, coalition, TallShape()) for t in CHOSEN)
        else:
            twin = sum(subset_twin.binned_values(game, t, coalition, shape) for t in CHOSEN)
        assert np.abs(found - twin).max() < CHOSEN.size * 3e-5 / game.n_neighbors
    assert np.array_equal(rows.sums(coalitions, CHOSEN), rows.sums(coalitions, CHOSEN))
    walk = rows.walk(*weights, CHOSEN)
    exact = contracted(Threads(game).sums(all_coalitions(7), CHOSEN), *weights)
    assert np.sqrt(np.mean((walk - exact) ** 2)) < 0.03 * np.std(exact)
    assert np.array_equal(walk, rows.walk(*weights, CHOSEN))


def test_labels_are_those_of_the_processor(device):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9500, 5)).round(2)
    y = (X[:, 0] + rng.normal(size=9500) > 0).astype(int)
    for semivalue in ("shapley", "banzhaf"):
        options = {"include_label": True, "semivalue": ("shapley", semivalue), "progress": False}
        data = X[:9000], y[:9000], X[9000:], y[9000:]
        there = value_cells(*data, backend="cuda", **options)
        here = value_cells(*data, backend="cpu", **options)
        assert there.info["backend"] == "cuda"
        off = there.values[:, -1] - here.values[:, -1]
        assert np.sqrt(np.mean(off**2)) < 3 * np.sqrt(np.mean(there.stderr[:, -1] ** 2))
        assert np.sqrt(np.mean(off**2)) < 0.01 * np.ptp(here.values[:, -1])


@pytest.mark.parametrize("n", [5, 700, 4096, 6000])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_ranked_values_are_those_of_the_processor(device, task, n):
    game, coalitions = make_game(task, n=n, k=min(5, n - 1)), some_coalitions(5, 12)
    true = Threads(game).sums(coalitions, CHOSEN)
    found = RankedRows(game, device).sums(coalitions, CHOSEN)
    assert np.allclose(found, true, rtol=0, atol=1e-13 * np.abs(true).max())


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("classification", {}),
        ("classification", {"subsets": "sampled", "n_subsets": 40}),
        ("classification", {"semivalue": "banzhaf"}),
        ("classification", {"baseline": "zero"}),
        ("regression", {}),
        ("regression", {"subsets": "sampled", "n_subsets": 40}),
        ("regression", {"semivalue": ("beta", 4, 1)}),
    ],
)
def test_values_agree_with_the_processor_within_their_errors(device, task, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 7)).round(2)
    X[::9, 3] = np.nan
    y = X[:, 0] + X[:, 1] + rng.normal(size=3000)
    y = (y > 0).astype(int) if task == "classification" else y
    data = X[:2500], y[:2500], X[2500:], y[2500:]
    there = value_cells(*data, backend="cuda", progress=False, **options)
    here = value_cells(*data, backend="cpu", progress=False, **options)
    assert there.info["backend"] == "cuda"
    off = np.abs(there.values - here.values)
    # a GPU takes more validation rows at a time, which have other subsets where these are sampled
    sampled = 6 * np.hypot(there.stderr, here.stderr) if here.stderr.any() else 0.0
    bins = 1e-3 * np.ptp(here.values)
    assert (off < sampled + bins).all()
    again = value_cells(*data, backend="cuda", progress=False, **options)
    assert np.array_equal(there.values, again.values)
