"""What the tests share: settings, and the paper's data where it is at hand."""

import os
import signal
import threading
from pathlib import Path

# two workers share the cores: threads of LightGBM and scikit-learn would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

# always the same examples; `pytest --hypothesis-profile=more` tries others
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", max_examples=15, derandomize=True, **COMMON)
settings.register_profile("more", max_examples=200, **COMMON)
settings.load_profile("ci")


# a shell that runs the tests in the background has Ctrl-C ignored, which some tests press
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def paper_data() -> Path:
    folder = os.environ.get("SHAPLEY2D_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SHAPLEY2D_DATA does not name the folder with the paper's datasets")
    return Path(folder)


@pytest.fixture(scope="session")
def one_dask_client():
    """A Dask cluster of two worker processes for all tests: starting one takes seconds."""
    distributed = pytest.importorskip(
        "distributed", reason="the extra 'distributed' is not installed"
    )
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=True) as client,
    ):
        yield client


@pytest.fixture
def dask_client(one_dask_client):
    """Its client, when both workers are there. A worker that a test has killed is started again by its guardian, which
    gives up where it is killed while it starts: then both are new."""
    for seconds in (20, 60):
        one_dask_client.cluster.scale(2)
        try:
            one_dask_client.wait_for_workers(2, timeout=seconds)
            one_dask_client.run(int)  # one that is gone may still be listed
        except OSError:  # too late, or no answer
            one_dask_client.cluster.scale(0)
        else:
            return one_dask_client
    pytest.fail("the cluster has no two workers")


@pytest.fixture
def small_pieces(monkeypatch):
    """A checkpoint after every draw, and many draws even of small tables."""
    monkeypatch.setattr("shapley2d._estimation.checkpoint.EVERY_S", 0.0)
    monkeypatch.setattr("shapley2d._estimation.checkpoint._SHARE", 1e9)
    monkeypatch.setattr("shapley2d._models.game_draws._LEAST", 2)


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch):
    """On a busy machine a command takes longer than the moment after which it says so."""
    monkeypatch.setattr("shapley2d.cli.streams.PATIENCE_S", 600.0)
