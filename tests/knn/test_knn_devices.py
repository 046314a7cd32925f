"""Where nearest neighbours are computed, with the kernels of a GPU emulated."""

from dataclasses import replace

import numpy as np
import pytest

from knn.cuda.emulator import COMPILER, EmulatedDevice
from shapley2d import KNN, value_cells
from shapley2d._knn import device as devices
from shapley2d._knn.device import DeviceError
from shapley2d.exceptions import DeviceWarning, InputError


@pytest.fixture
def no_gpu(monkeypatch):
    def find_device():
        raise DeviceError("there is no NVIDIA GPU")

    monkeypatch.setattr(devices, "find_device", find_device)


@pytest.fixture
def emulated(monkeypatch, tmp_path_factory):
    if COMPILER is None:
        pytest.skip("no g++ to compile the CUDA sources with")
    device = EmulatedDevice(tmp_path_factory.getbasetemp())
    monkeypatch.setattr(devices, "find_device", lambda: device)
    return device


def data(n=1060, m=4, n_valid=4, task="classification"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + n_valid, m)).round(3)
    X[::11, 1] = np.nan
    y = X[:, 0] + rng.normal(size=len(X))
    y = (y > 0).astype(int) if task == "classification" else y
    return X[:n], y[:n], X[n:], y[n:]


SAMPLED = KNN(subsets="sampled", n_subsets=12)
TINY = ([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], [[0.5], [5.5]], [0, 1])


def test_a_gpu_that_is_asked_for_and_not_there_is_one_line(no_gpu):
    with pytest.raises(InputError) as caught:
        value_cells(*TINY, method=KNN(device="cuda", n_neighbors=1))
    assert str(caught.value) == (
        "device='cuda' cannot be used: there is no NVIDIA GPU; or use device='cpu'"
    )


def test_auto_takes_the_processor_for_little_work_and_says_so(no_gpu):
    assert value_cells(*TINY, method=KNN(n_neighbors=1)).info["device"] == "cpu"


def test_auto_warns_and_goes_on_where_the_gpu_fails(no_gpu, monkeypatch):
    monkeypatch.setattr(devices, "LEAST_WORK", 0.0)
    monkeypatch.setattr(devices, "find_spec", lambda name: object())
    with pytest.warns(DeviceWarning, match="the processor is: there is no NVIDIA GPU"):
        values = value_cells(*TINY, method=KNN(n_neighbors=1))
    assert values.info["device"] == "cpu"
    monkeypatch.setattr(devices, "find_spec", lambda name: None)  # without CuPy nothing is said
    assert value_cells(*TINY, method=KNN(n_neighbors=1)).info["device"] == "cpu"


@pytest.mark.parametrize(
    ("task", "method"),
    [
        pytest.param("classification", KNN(), marks=pytest.mark.slow),
        ("classification", SAMPLED),
        pytest.param("regression", SAMPLED, marks=pytest.mark.slow),
    ],
)
def test_values_agree_within_the_stated_errors(emulated, task, method):
    tables = data(task=task)
    there = value_cells(*tables, method=replace(method, device="cuda"))
    here = value_cells(*tables, method=replace(method, device="cpu"))
    assert (there.info["device"], here.info["device"]) == ("cuda", "cpu")
    off, spread = np.abs(there.values - here.values), np.ptp(here.values)
    # a GPU takes more validation rows at a time, which have subsets of their own
    assert (off <= 6 * np.hypot(there.stderr, here.stderr) + 1e-12 * spread).all()
    assert there.exact == (method is not SAMPLED)


def test_small_tables_are_ranked_exactly_cross_valued_or_not(emulated):
    X, y, X_valid, y_valid = data(60)
    there = value_cells(X, y, X_valid, y_valid, method=KNN(device="cuda"))
    here = value_cells(X, y, X_valid, y_valid, method=KNN(device="cpu"))
    assert there.exact
    assert np.allclose(there.values, here.values, atol=1e-15)
    folds = {"cv": 2}
    crossed = value_cells(X[:20], y[:20], method=KNN(device="cuda"), **folds)
    assert np.allclose(crossed.values, value_cells(X[:20], y[:20], **folds).values, atol=1e-15)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_validation_rows_may_count_differently(emulated, scoring):
    asked = {"valid_weight": [1.0, 3.0, 0.0, 3.0], "scoring": scoring}
    there, here = (
        value_cells(*data(n=60), method=KNN(n_neighbors=3, device=name), **asked)
        for name in ("cuda", "cpu")
    )
    assert there.info["device"] == "cuda"
    np.testing.assert_allclose(there.values, here.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf"])
def test_the_label_is_valued_there_too(emulated, semivalue):
    tables = data(60, m=3)
    options = {"semivalue": ("shapley", semivalue)}
    there = value_cells(*tables, method=KNN(device="cuda"), include_label=True, **options)
    here = value_cells(*tables, method=KNN(device="cpu"), include_label=True, **options)
    assert np.allclose(there.values, here.values, atol=1e-14)
