"""A Dask cluster does the same draws: the same bits, whichever workers die."""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import replace

import joblib
import numpy as np
import pytest

from shapley2d import MonteCarlo, value_game
from shapley2d.exceptions import InputError, UtilityError
from tests.comparing import same_bits

distributed = pytest.importorskip("distributed", reason="the extra 'distributed' is not installed")

METHOD = MonteCarlo(max_draws=60, tolerance=0)


def make_game(wait=0.02, flag=None, fails=False):
    class LocalGame:  # inside a function, so that workers get it by value
        n_rows, n_columns = 20, 3

        def __init__(self):
            self.data = np.random.default_rng(0).random(200_000)

        def utilities(self, rows, columns):
            time.sleep(wait)
            if fails:
                raise UtilityError("no such luck")
            if flag and rows[1, 3] and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return np.sqrt(np.outer(rows @ self.data[:20], columns @ self.data[-3:]))

    return LocalGame()


def value(game=None, method=METHOD, **run):
    game = make_game() if game is None else game
    return value_game(game, 20, 3, method=method, **run)


@pytest.fixture(scope="module")
def plain():
    return value(make_game(wait=0))


@pytest.fixture
def client(dask_client):
    return dask_client


@pytest.mark.parametrize("given", [lambda c: c.scheduler.address, lambda c: c.get_executor()])
def test_by_address_or_executor(client, plain, given):
    assert same_bits(value(cluster=given(client)), plain)


def test_a_worker_does_not_wait_for_workers(client):
    """Valuations as tasks of the cluster: each runs where it is, or all workers would wait for one another."""
    with joblib.parallel_config(backend="dask"):
        found = joblib.Parallel()(
            joblib.delayed(value)(make_game(wait=0), random_state=seed) for seed in range(3)
        )
    for seed, v in enumerate(found):
        assert same_bits(v, value(make_game(wait=0), random_state=seed))


def test_data_is_sent_once(client):
    """Two workers, some dozens of draws, and each of them unpacks the game once."""

    class Counting(type(make_game())):
        def __setstate__(self, state):
            import builtins

            self.__dict__.update(state)
            builtins.shapley2d_unpacked = getattr(builtins, "shapley2d_unpacked", 0) + 1

    def unpacked():
        import builtins

        return getattr(builtins, "shapley2d_unpacked", 0)

    value(Counting(), cluster=client)
    assert set(client.run(unpacked).values()) <= {0, 1}
    assert sum(client.run(unpacked).values()) >= 1


def test_a_killed_worker(client, plain, tmp_path):
    flag = tmp_path / "killed"
    v = value(make_game(flag=flag), cluster=client)
    assert flag.exists()
    assert same_bits(v, plain)


def test_all_workers_killed_and_the_data_with_them(client, plain):
    processes = list(client.run(os.getpid).values())

    def kill():
        for process in processes:
            os.kill(process, signal.SIGKILL)

    timer = threading.Timer(0.3, kill)
    timer.start()
    v = value(make_game(wait=0.05), cluster=client)
    timer.join()
    assert same_bits(v, plain)


def test_going_on_with_a_cluster(client, plain, tmp_path):
    path = tmp_path / "run.npz"
    value(method=replace(METHOD, max_draws=10), checkpoint=path, name="made")
    v = value(checkpoint=path, name="made", cluster=client)
    assert v.info["resumed_at"] == 10
    assert same_bits(v, plain)


def test_errors_of_the_game_come_home(client):
    with pytest.raises(UtilityError, match="no such luck"):
        value(make_game(fails=True), cluster=client)


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        (
            "tcp://127.0.0.1:9",
            "cluster='tcp://127.0.0.1:9' does not answer: is the scheduler running",
        ),
        ("nowhere", "cluster='nowhere' does not answer: .*missing port number"),
        (
            5,
            "cluster=5 must be the address of a Dask scheduler, a Dask client, or a pool with submit",
        ),
    ],
)
def test_addresses_are_checked(cluster, message, monkeypatch):
    monkeypatch.setattr("shapley2d._estimation.cluster._ANSWER_S", 1)
    with pytest.raises(InputError, match=message):
        value(cluster=cluster)


@pytest.mark.parametrize("words", [b"", b"SSH-2.0-OpenSSH_9.6\r\n"], ids=["silent", "another"])
def test_a_port_that_is_no_scheduler_is_told(words, monkeypatch):
    """It takes the connection, and then says nothing, or something else."""
    monkeypatch.setattr("shapley2d._estimation.cluster._ANSWER_S", 1)
    held = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            with contextlib.suppress(OSError):
                while True:
                    held.append(server.accept()[0])
                    held[-1].sendall(words)

        threading.Thread(target=greet, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        told = "it said nothing for 1 seconds" if not words else "does not answer"
        with pytest.raises(InputError, match=told):
            value(cluster=address)
    for line in held:
        line.close()


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"needs Dask: pip install 'shapley2d\[distributed\]'"):
        value(cluster="tcp://127.0.0.1:9")
