"""Row values of the GPU are those of the definition: on a GPU if there is one, and emulated."""

import numpy as np
import pytest

from knn.cuda.emulator import COMPILER, EmulatedDevice
from knn.cuda.reference import make_case, mean_values, random_case
from shapley2d._knn.device import DeviceError, find_device
from shapley2d._knn.gpu import GpuNeighbours
from shapley2d._knn.metric import Columns
from shapley2d.exceptions import DeviceWarning, InputError

NEAR = 32
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


@pytest.fixture(params=["emulated", pytest.param("real", marks=pytest.mark.gpu)], scope="module")
def device(request, tmp_path_factory):
    if request.param == "emulated":
        if COMPILER is None:
            pytest.skip("there is no C++ compiler")
        return EmulatedDevice(tmp_path_factory.mktemp("emulated"))
    try:
        return find_device()
    except DeviceError as error:
        pytest.skip(f"no GPU: {error}")


def all_subsets(m):
    return (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(bool)


def off_by(device, case, subsets, valid):
    """The largest difference from the definition, relative to the spread of the row values."""
    found = case.on_gpu(device, NEAR).values(subsets, valid)
    wanted = mean_values(case, subsets, valid, NEAR)
    spread = np.ptp(wanted, axis=1, keepdims=True)
    return np.abs((found - wanted) / np.where(spread > 0, spread, 1.0)).max()


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 1, 4)])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n", [1, NEAR])
def test_all_rows_of_a_small_table_are_ranked(device, task, n, semivalue):
    for seed, values in enumerate([None, 3, 20]):
        case = random_case(task, n=n, m=4, k=3, seed=seed, values=values, semivalue=semivalue)
        assert off_by(device, case, all_subsets(4), np.arange(5)) < 1e-9


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n", [NEAR + 1, 517])
@pytest.mark.parametrize("values", [None, 3])
def test_far_rows_share_ranks(device, task, n, values):
    case = random_case(task, n=n, values=values, seed=n)
    assert off_by(device, case, all_subsets(5)[::3], np.array([0, 1, 4])) < 1e-6


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n", [NEAR, 100])
@pytest.mark.parametrize("m", [9, 41])
def test_more_columns_than_are_seen_from_the_chip(device, task, n, m):
    case = random_case(task, n=n, m=m)
    subsets = np.random.default_rng(0).random((6, m)) < 0.5
    subsets[1] = subsets[0] ^ (np.arange(m) < 3)  # as the one before but for the first four columns
    assert off_by(device, case, subsets, np.arange(5)) < 1e-6


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_crowded_bins_do_not_fit_the_chip(device, task):
    # near rows of few values are more than the 1,024 that are ranked there
    case = random_case(task, n=9_001, n_valid=2, m=3, values=4)
    subsets = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 1]], dtype=bool)
    assert off_by(device, case, subsets, np.arange(2)) < 1e-6


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("apart", [1e-12, 1e-9, 1e-6])
def test_crowds_at_the_edge_that_are_equal_or_not(device, task, apart):
    # rows nearly as far as each other, on both sides of where a bin begins; some are equal but for rounding
    case = random_case(task, n=2_500, n_valid=2, m=3, values=4)
    rng = np.random.default_rng(1)
    train = np.where(rng.random((3, 2_500)) < 0.01, 0.25, 1.0)
    train[1:] += apart * rng.integers(0, 3, (2, 2_500))
    columns = Columns(train, np.zeros((3, 2)), np.zeros(3, bool), np.ones(3), np.ones(3))
    case = make_case(columns, case.y, case.y_valid, task=task)
    assert off_by(device, case, all_subsets(3)[1:], np.arange(2)) < 1e-6


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_processor_has_the_same_values(device, task):
    case = random_case(task, n=1500, n_valid=3)
    subsets = all_subsets(5)[[0, 5, 11, 31]]
    wanted = case.rows().values(subsets)
    found = case.on_gpu(device).values(subsets)
    assert np.abs(found - wanted).max() < 1e-6 * np.ptp(wanted)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_sums_over_subsets_and_batches(device, task, monkeypatch):
    case = random_case(task, n=100)
    subsets, weights = all_subsets(5)[:20], np.random.default_rng(0).normal(size=(3, 20))
    rows = case.on_gpu(device, NEAR)
    valid = np.array([3, 0, 2, 4])
    wanted = weights @ mean_values(case, subsets, valid, NEAR)[:, rows.order]
    found = rows(subsets, weights, valid)
    assert np.abs(found - wanted).max() < 1e-6 * np.ptp(wanted)
    assert np.array_equal(found, rows(subsets, weights, valid))
    monkeypatch.setattr("shapley2d._knn.gpu._BATCH_BYTES", 60_000)
    monkeypatch.setattr("shapley2d._knn.gpu._BLOCK", 13)
    again = rows(subsets, weights, valid)
    assert np.abs(again - wanted).max() < 1e-6 * np.ptp(wanted)


@needs_compiler
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_gpu_with_less_memory_on_the_chip(tmp_path, task):
    case = random_case(task, n=100)
    device = EmulatedDevice(tmp_path, block_bytes=49_152)
    assert off_by(device, case, all_subsets(5)[::5], np.arange(5)) < 1e-6


@needs_compiler
def test_memory_that_does_not_suffice_is_said(tmp_path):
    case = random_case("classification", n=100)
    rows = case.on_gpu(EmulatedDevice(tmp_path, memory=10_000), NEAR)
    with pytest.raises(InputError, match="memory does not suffice"):
        rows.values(all_subsets(5))
    rows = case.rows(GpuNeighbours, device=EmulatedDevice(tmp_path, memory=10_000), asked_for=False)
    with pytest.warns(DeviceWarning, match="memory does not suffice"):
        found = rows.values(all_subsets(5))
    np.testing.assert_array_equal(found, case.rows().values(all_subsets(5)))
    assert not rows.on_gpu
