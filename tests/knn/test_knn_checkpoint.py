"""Nearest neighbours in pieces: killed and resumed, or on a cluster, a run has the same bits."""

from dataclasses import replace

import numpy as np
import pytest

from shapley2d import KNN, value_cells
from shapley2d._knn.draws import KnnDraws
from shapley2d.exceptions import InputError, UtilityError
from tests.comparing import CrashError, same_bits


def table(n=60, m=5, n_valid=24, task="classification"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + n_valid, m)).round(2)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n + n_valid)
    y = (score > 0).astype(int) if task == "classification" else score
    return X[:n], y[:n], X[n:], y[n:]


SAMPLED = KNN(n_neighbors=3, subsets="sampled", n_subsets=30)
ALL = KNN(n_neighbors=3, subsets="all")
KINDS = {
    "sampled": (table(), {"method": SAMPLED}),
    "to a tolerance": (table(m=11), {"method": replace(SAMPLED, n_subsets=None, tolerance=0.06)}),
    "some rows": (
        table(m=11),
        {"method": replace(SAMPLED, n_subsets=None, tolerance=0.3, valid_rows="auto")},
    ),
    "exact": (table(), {"method": ALL}),
    "sampled regression": (table(task="regression"), {"method": SAMPLED}),
    "exact regression": (table(task="regression"), {"method": ALL}),
    "crossed label": (table()[:2], {"method": SAMPLED, "include_label": True, "cv": 3}),
    "exact crossed": (table()[:2], {"method": ALL, "cv": 3}),
    "binned": (table(1100, 4, 12), {"method": replace(SAMPLED, n_subsets=12)}),
    "exact binned": (table(1100, 3, 12), {"method": ALL}),
}
pytestmark = pytest.mark.filterwarnings("ignore::shapley2d.exceptions.PrecisionWarning")


def crash_after(monkeypatch, calls, *, last=False):
    """Let a few draws be computed, of all subsets where they come last."""
    done, real = [], KnnDraws.__call__

    def limited(self, *arguments):
        done.append(self.takes_all or not last)
        if sum(done) > calls:
            raise CrashError
        return real(self, *arguments)

    monkeypatch.setattr(KnnDraws, "__call__", limited)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_crashed_goes_on_to_the_same_bits(kind, small_pieces, monkeypatch, tmp_path):
    data, options = KINDS[kind]
    plain = value_cells(*data, **options)
    path = tmp_path / "run.npz"
    options = {"checkpoint": path, "progress": False, **options}
    with monkeypatch.context() as patch:
        crash_after(patch, 2)
        with pytest.raises(UtilityError, match="CrashError"):
            value_cells(*data, **options)
    assert path.exists()
    resumed = value_cells(*data, n_jobs=1, **options)
    assert resumed.info["resumed_at"] > 0
    assert same_bits(resumed, plain)
    crash_after(monkeypatch, 0)  # nothing is done again
    assert same_bits(value_cells(*data, **options), plain)


def test_sampling_in_vain_goes_on_with_all_columns(small_pieces, monkeypatch, tmp_path):
    data, path = table(40, 11, 16), tmp_path / "run.npz"
    options = {"method": KNN(n_neighbors=3, tolerance=1e-6)}
    plain = value_cells(*data, **options)
    assert plain.info["subsets"] == "all"
    with monkeypatch.context() as patch:
        crash_after(patch, 3, last=True)
        with pytest.raises(UtilityError, match="CrashError"):
            value_cells(*data, checkpoint=path, **options)
    resumed = value_cells(*data, checkpoint=path, **options)
    assert resumed.info["resumed_at"] == 3
    assert same_bits(resumed, plain)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": replace(SAMPLED, n_neighbors=4)}, "n_neighbors is 3 there and 4 here"),
        ({"random_state": 1}, "random_state is 0 there and 1 here"),
    ],
)
def test_another_run_is_refused(change, said, tmp_path):
    asked = {"method": SAMPLED, "checkpoint": tmp_path / "run.npz"}
    value_cells(*table(), **asked)
    with pytest.raises(InputError, match=f"is of another run: {said}"):
        value_cells(*table(), **asked | change)


def test_groups_are_kept_and_those_of_other_rows_refused(tmp_path):
    columns, rows = [0, 0, 0, 1, 1, 1], np.arange(60) // 20
    asked = {"column_groups": columns, "method": KNN(n_neighbors=3)}
    plain = value_cells(*table(m=6), row_groups=rows, **asked)
    asked["checkpoint"] = tmp_path / "run.npz"
    for _ in range(2):
        found = value_cells(*table(m=6), row_groups=rows, **asked)
        assert same_bits(found, plain)
    assert found.info["resumed_at"] >= 1
    with pytest.raises(InputError, match=r"is of another run: .*the groups of rows differs"):
        value_cells(*table(m=6), row_groups=np.arange(60) % 3, **asked)


def test_a_cluster_is_of_processors():
    with pytest.raises(InputError, match="cluster works on processors: leave device='cuda' out"):
        value_cells(*table(), method=KNN(device="cuda"), cluster="tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    "kind",
    [
        "sampled",
        pytest.param("exact crossed", marks=pytest.mark.slow),
        pytest.param("binned", marks=pytest.mark.slow),
    ],
)
def test_a_cluster_does_the_same_bits(kind, dask_client, small_pieces, tmp_path):
    data, options = KINDS[kind]
    options, path = {"progress": False, **options}, tmp_path / "run.npz"
    plain = value_cells(*data, **options)
    assert same_bits(value_cells(*data, cluster=dask_client, **options), plain)
    kept = value_cells(*data, cluster=dask_client, checkpoint=path, **options)
    assert same_bits(kept, plain)
    assert same_bits(value_cells(*data, checkpoint=path, **options), plain)
