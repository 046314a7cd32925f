"""The workers of a Dask cluster, or of any pool.

A Dask cluster gets the data once, and survives the loss of workers.
"""

from __future__ import annotations

import inspect
import socket
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from shapley2d._estimation.parcels import draw_parcel, pack
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapley2d._estimation.draws import Draws

_ANSWER_S = 5  # for a scheduler to accept a connection and to greet


@contextmanager
def cluster_workers(draws: Draws, cluster: Any) -> Iterator[Any]:
    """The workers of a cluster: a function that submits the number of a draw, and a count.

    ``cluster``: the address of the scheduler, or a client of it; or an object with
        ``submit(...).result()``, such as the executors of :mod:`concurrent.futures`.
    """
    token, body = pack(draws)
    # a pool takes work but, unlike a Dask client, cannot send data ahead
    if callable(getattr(cluster, "submit", None)) and not hasattr(cluster, "scatter"):
        n_workers = int(getattr(cluster, "_max_workers", None) or 16)  # where a pool does not tell
        yield partial(_submit_to_pool, cluster, token, body), lambda: n_workers
        return
    with _connected(cluster) as client:
        sent = client.scatter(body, broadcast=True, hash=False)
        try:
            yield (
                lambda number: client.submit(draw_parcel, number, token, sent, pure=False),
                lambda: sum(client.ncores().values()),
            )
        finally:
            client.cancel(sent)


def _submit_to_pool(pool: Any, token: bytes, body: bytes, number: int) -> Any:
    """The future of a draw; not every ``submit`` takes a function (Ray's ActorPool does not)."""
    takes_any = _takes_any(pool.submit)
    future = pool.submit(draw_parcel, number, token, body) if takes_any else None
    if not callable(getattr(future, "result", None)):
        raise InputError(
            Setting("cluster", pool),
            " has a submit, but not one that takes a function with its arguments and returns "
            "something with a result()",
        )
    return future


def _takes_any(submit: Callable[..., Any]) -> bool:
    """Whether a function takes any number of arguments, as far as its signature tells."""
    try:
        parameters = inspect.signature(submit).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)


def on_a_worker() -> bool:
    """Whether this code runs as a task of a Dask worker."""
    import distributed

    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _await_scheduler(address: str) -> None:
    """Wait until the scheduler answers; a client without an answer blocks for a minute.

    A scheduler greets whoever connects; under TLS the client speaks first.
    """
    from distributed.comm.addressing import get_address_host_port, parse_address

    protocol = parse_address(address)[0]
    if protocol not in ("tcp", "tls"):
        return
    place = get_address_host_port(address)
    patience = time.monotonic() + _ANSWER_S
    while True:
        try:
            with socket.create_connection(place, timeout=_ANSWER_S) as line:
                if protocol == "tcp" and not line.recv(1):
                    raise ConnectionResetError("it hung up")
        except ConnectionRefusedError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.2)
        except TimeoutError:
            raise TimeoutError(f"it said nothing for {_ANSWER_S} seconds") from None
        else:
            return


@contextmanager
def _connected(cluster: Any) -> Iterator[Any]:
    """A client of the cluster, closed afterwards if it was made here."""
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            Setting("cluster"), " needs Dask: pip install 'shapley2d[distributed]'"
        ) from error
    given = isinstance(cluster, distributed.Client)
    if not given and not isinstance(cluster, str):
        raise InputError(
            Setting("cluster", cluster),
            " must be the address of a Dask scheduler, a Dask client, or a pool with "
            "submit(...).result()",
        )
    client: Any = cluster
    try:
        if not given:
            _await_scheduler(cluster)
            client = distributed.Client(cluster, timeout=_ANSWER_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except Exception as error:
        # whatever another server's words provoke in Dask, failed assertions too
        why = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            Setting("cluster", cluster), f" does not answer: is the scheduler running? ({why})"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=30)
        except TimeoutError as error:
            raise InputError(
                Setting("cluster", cluster), " has no workers: start some with 'dask worker ...'"
            ) from error
        yield client
    finally:
        if not given:
            client.close()
