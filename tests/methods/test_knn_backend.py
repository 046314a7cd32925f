"""Where nearest neighbours are computed, and the errors of a GPU's bins, with the kernels emulated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from knn.cuda.emulator import COMPILER, EmulatedDevice
from knn.cuda.games import make_game, some_coalitions, walk_weights
from shapley2d import value_blocks, value_cells
from shapley2d._knn.bin_sample import shrinkage
from shapley2d._knn.cuda import binned, near_ranked
from shapley2d._knn.cuda.device import DeviceError
from shapley2d._knn.cuda.weight_levels import WeightLevels
from shapley2d._knn.threads import Threads
from shapley2d._methods.knn import backend, bin_correction
from shapley2d._methods.knn.bin_correction import correct_bins
from shapley2d.exceptions import BackendWarning, InputError
from tests.row_forms import cells_in_form


@pytest.fixture
def no_gpu(monkeypatch):
    def find_device():
        raise DeviceError("there is no NVIDIA GPU")

    monkeypatch.setattr(backend, "find_device", find_device)


@pytest.fixture
def emulated(monkeypatch, tmp_path_factory):
    if COMPILER is None:
        pytest.skip("no g++ to compile the CUDA sources with")
    device = EmulatedDevice(tmp_path_factory.getbasetemp())
    monkeypatch.setattr(backend, "find_device", lambda: device)
    monkeypatch.setattr(near_ranked, "_SHAPES", (near_ranked.NearShape(4, 16, 2, 2),) * 2)
    monkeypatch.setattr(near_ranked, "_REGRESSION_SHAPES", (near_ranked.NearShape(4, 16, 1, 2),))
    monkeypatch.setattr("shapley2d._knn.cuda.ranked.THREADS", 16)
    monkeypatch.setattr(bin_correction, "SAMPLE", 6)
    monkeypatch.setattr(bin_correction, "SAMPLE_ROWS", 2)
    return device


def data(n=1060, m=4, n_valid=4, task="classification"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + n_valid, m)).round(3)
    X[::11, 1] = np.nan
    y = X[:, 0] + rng.normal(size=len(X))
    y = (y > 0).astype(int) if task == "classification" else y
    return X[:n], y[:n], X[n:], y[n:]


TINY = ([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], [[0.5], [5.5]], [0, 1])


def test_a_gpu_that_is_asked_for_and_not_there_is_one_line(no_gpu):
    with pytest.raises(InputError) as caught:
        value_cells(*TINY, backend="cuda", n_neighbors=1)
    assert str(caught.value) == (
        "backend='cuda' cannot be used: there is no NVIDIA GPU; or use backend='cpu'"
    )
    with pytest.raises(InputError, match="cannot be used"):
        value_blocks(*TINY, rows=[0, 0, 1, 1], model="knn", backend="cuda", n_neighbors=1)


def test_auto_takes_the_processor_for_little_work_and_says_so(no_gpu):
    assert value_cells(*TINY, n_neighbors=1, progress=False).info["backend"] == "cpu"


def test_auto_warns_and_goes_on_where_the_gpu_fails(no_gpu, monkeypatch):
    monkeypatch.setattr(backend, "LEAST_WORK", 0.0)
    monkeypatch.setattr(backend, "find_spec", lambda name: object())
    with pytest.warns(BackendWarning, match="the processor is: there is no NVIDIA GPU"):
        values = value_cells(*TINY, n_neighbors=1, progress=False)
    assert values.info["backend"] == "cpu"
    monkeypatch.setattr(backend, "find_spec", lambda name: None)  # without CuPy nothing is said
    assert value_cells(*TINY, n_neighbors=1, progress=False).info["backend"] == "cpu"


def test_backend_is_an_option_of_nearest_neighbours_alone():
    with pytest.raises(InputError, match=r"backend='cuda' is an option of model='knn'"):
        value_blocks(*TINY, rows=[0, 0, 1, 1], model="tree", backend="cuda")


@pytest.mark.parametrize(
    ("task", "options"),
    [
        pytest.param("classification", {}, marks=pytest.mark.slow),
        ("classification", {"subsets": "sampled", "n_subsets": 12}),
        pytest.param("regression", {"subsets": "sampled", "n_subsets": 12}, marks=pytest.mark.slow),
    ],
)
def test_values_agree_within_the_stated_errors(emulated, task, options):
    tables = data(task=task)
    there = value_cells(*tables, backend="cuda", progress=False, **options)
    here = cells_in_form("exact", *tables, backend="cpu", progress=False, **options)
    assert (there.info["backend"], here.info["backend"]) == ("cuda", "cpu")
    off, spread = np.abs(there.values - here.values), np.ptp(here.values)
    if options:  # a GPU takes more validation rows at a time, which have subsets of their own
        assert (off < 6 * np.hypot(there.stderr, here.stderr)).all()
    else:
        assert off.max() < 0.01 * spread
        assert np.sqrt(np.mean(off**2)) < 3 * there.info["bin_stderr"]
    assert there.stderr.max() >= there.info["bin_stderr"] > 0


def test_small_tables_are_ranked_exactly_cross_valued_or_not(emulated):
    X, y, X_valid, y_valid = data(60)
    there = value_cells(X, y, X_valid, y_valid, backend="cuda", progress=False)
    here = value_cells(X, y, X_valid, y_valid, backend="cpu", progress=False)
    assert there.exact
    assert np.allclose(there.values, here.values, atol=1e-15)
    folds = {"cv": 2, "progress": False}
    crossed = value_cells(X[:20], y[:20], backend="cuda", **folds)
    assert np.allclose(crossed.values, value_cells(X[:20], y[:20], **folds).values, atol=1e-15)


def test_blocks_are_those_of_the_processor(emulated):
    X, y, X_valid, y_valid = data(40)
    options = {"rows": np.arange(40) % 3, "model": "knn", "progress": False}
    there = value_blocks(X, y, X_valid, y_valid, backend="cuda", **options)
    here = value_blocks(X, y, X_valid, y_valid, **options)
    assert (there.info["backend"], here.info["backend"]) == ("cuda", "cpu")
    assert np.allclose(there.values, here.values, atol=1e-12)


def test_ctrl_c_keeps_the_chunks_that_are_done(emulated, monkeypatch):
    monkeypatch.setattr(
        near_ranked, "_WALK_WORK", 0
    )  # as many validation rows at a time as there are processors
    calls = []
    step = binned.BinnedRows.walk

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return step(self, *args)

    monkeypatch.setattr(binned.BinnedRows, "walk", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        values = value_cells(*data(n_valid=8), backend="cuda", progress=False)
    assert values.info["interrupted"]
    assert values.info["n_valid_used"] == 2 * emulated.processors


def test_noise_is_not_taken_for_an_error_and_an_error_is_taken_out():
    random = np.random.default_rng(0)
    noise = random.normal(size=(64, 2000))
    known, left = shrinkage(noise @ noise.T)
    assert known < 0.1
    assert left < 0.2
    lines = noise + 3 * random.normal(size=2000)
    assert shrinkage(lines @ lines.T)[0] > 0.95
    assert shrinkage(np.zeros((8, 8))) == (1.0, 0.0)


class Rows:
    """Row values that are wrong by a known amount where they are binned.

    ``off`` has what every column in a subset adds to the value of every row.
    """

    n_rows, n_columns, n_valid = 50, 3, 30

    def __init__(self, off, n_threads=1):
        self.is_binned, self._off, self.n_threads = off is not None, off, n_threads

    def finer(self):
        return None

    def on_one_thread(self):
        return Rows(self._off)

    def values(self, coalitions, *, valid):
        true = coalitions.sum(axis=1, keepdims=True) * np.arange(50.0)
        return true if self._off is None else true + coalitions @ self._off.T


def test_a_bias_is_corrected():
    from shapley2d._estimation.estimate import Estimate

    off = np.random.default_rng(1).normal(size=(50, 1))
    joining = np.array([1 / 3, 1 / 6, 1 / 3])
    weights = np.append(0.0, joining), np.append(joining, 0.0)
    true = np.tile(np.arange(50.0)[:, None], 3)

    def correct(bias, n_threads=1):
        wrong = Estimate(
            true + bias, np.zeros((50, 3)), np.zeros(50), np.zeros(3), {}, total_stderr=0.0
        )
        parts = [Rows(bias, n_threads)], [Rows(None, n_threads)], [np.arange(50)]
        return correct_bins(wrong, *parts, weights, seed=0)

    # the same in all columns: all of it is seen with all columns
    assert np.allclose(correct(np.repeat(off, 3, axis=1)).values, true, atol=1e-12)
    bias = off * [1.0, 0.0, 0.0]
    right = correct(bias)
    before, after = np.mean(bias**2), np.mean((right.values - true) ** 2)
    assert after < 0.5 * before
    assert 0.3 < np.mean(right.stderr**2) / after < 3
    assert np.allclose(right.values.sum(axis=1), true.sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(correct(bias, 2).values, right.values)


GROUPS = {"rows": [0, 1] * 30, "columns": [0, 0, 1, 1], "model": "knn"}


@pytest.mark.parametrize(("value", "options"), [(value_cells, {}), (value_blocks, GROUPS)])
def test_validation_rows_may_count_differently(emulated, value, options):
    asked = {"valid_weight": [1.0, 3.0, 0.0, 3.0], "n_neighbors": 3, "progress": False, **options}
    asked["scoring"] = "balanced_accuracy" if options else None
    there, here = (value(*data(n=60), backend=name, **asked) for name in ("cuda", "cpu"))
    assert there.info["backend"] == "cuda"
    np.testing.assert_allclose(there.values, here.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_sums_by_levels_are_weighted_sums(task):
    game = make_game(task, n=40, n_valid=6)
    weights = np.array([1.0, 0.0, 2.5, 1.0, 0.5, 2.5])
    weighed = Threads(replace(game, valid_weights=weights), n_threads=1)
    by_levels = WeightLevels(Threads(game, n_threads=1), weights)
    for chosen in (np.arange(6), np.array([1, 2, 4]), np.array([1])):
        for method, given in (("sums", (some_coalitions(5),)), ("walk", walk_weights(5))):
            one, other = (getattr(axis, method)(*given, chosen) for axis in (weighed, by_levels))
            np.testing.assert_allclose(other, one, rtol=0, atol=1e-12)


def test_too_many_weights_for_a_gpu_are_one_line(emulated, monkeypatch):
    monkeypatch.setattr("shapley2d._knn.cuda.weight_levels.MAX_LEVELS", 2)
    X, y, X_valid, y_valid = data(n=20)
    options = {"valid_weight": [1, 2, 3, 4], "n_neighbors": 2, "progress": False}
    with pytest.raises(
        InputError,
        match="4 different weights, more than the 2 that a GPU takes; or use backend='cpu'",
    ):
        value_cells(X, y, X_valid, y_valid, backend="cuda", **options)
    with pytest.raises(InputError, match="4 different weights"):
        value_blocks(
            X, y, X_valid, y_valid, backend="cuda", rows=[0, 1] * 10, model="knn", **options
        )


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf"])
def test_the_label_is_valued_there_too(emulated, semivalue):
    tables = data(60, m=3)
    options = {"semivalue": ("shapley", semivalue), "progress": False}
    there = value_cells(*tables, include_label=True, backend="cuda", **options)
    here = value_cells(*tables, include_label=True, backend="cpu", **options)
    assert np.allclose(there.values, here.values, atol=1e-14)


def test_the_label_of_binned_rows_has_their_errors(emulated):
    tables = data(m=3)
    options = {"include_label": True, "progress": False}
    there = value_cells(*tables, backend="cuda", **options)
    here = cells_in_form("exact", *tables, backend="cpu", **options)
    off, stated = there.values[:, -1] - here.values[:, -1], there.stderr[:, -1]
    assert "bin_stderr" in there.info
    assert (
        0
        < np.sqrt(np.mean(off**2))
        < 3 * np.sqrt(np.mean(stated**2))
        < 0.05 * np.ptp(here.values[:, -1])
    )
