"""The workers of a Dask cluster, which get the data once, and may come and go."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shapley2d._base.words import shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapley2d._estimation.draws import Draw

_ANSWER_S = 5  # for a scheduler to answer


@contextmanager
def cluster_workers(
    parcel: tuple[bytes, int, bytes], work: Callable[..., Draw], cluster: Any
) -> Iterator[Any]:
    """The workers of a cluster: a function that submits the number of a draw, and a count.

    ``cluster``: the address of the scheduler, or a client of it.
    """
    *name, body = parcel
    with _connected(cluster) as client:
        sent = client.scatter(body, broadcast=True, hash=False)
        try:
            yield (
                lambda number: client.submit(work, number, *name, sent, pure=False),
                lambda: sum(client.ncores().values()),
            )
        finally:
            client.cancel(sent)


def _await_greeting(address: str) -> None:
    """Raise unless a scheduler answers; a client without an answer blocks for a minute.

    A scheduler greets whoever connects; under TLS the client speaks first.
    """
    from distributed.comm.addressing import get_address_host_port, parse_address

    if parse_address(address)[0] != "tcp":
        return
    place = get_address_host_port(address)
    with socket.create_connection(place, timeout=_ANSWER_S) as line:
        try:
            if not line.recv(1):
                raise ConnectionResetError("it hung up")
        except TimeoutError:
            raise TimeoutError(f"it said nothing for {_ANSWER_S} seconds") from None


@contextmanager
def _connected(cluster: Any) -> Iterator[Any]:
    """A client of the cluster, closed afterwards if it was made here."""
    try:
        import distributed
    except ImportError as error:
        raise InputError("cluster needs Dask: pip install 'shapley2d[distributed]'") from error
    given = isinstance(cluster, distributed.Client)
    if not given and not isinstance(cluster, str):
        raise InputError(
            f"cluster={shown(cluster)} must be the address of a Dask scheduler, a Dask client, or "
            "a pool with submit(...).result()"
        )
    client: Any = cluster
    try:
        if not given:
            _await_greeting(cluster)
            client = distributed.Client(cluster, timeout=_ANSWER_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except Exception as error:
        # whatever another server's words provoke in Dask, failed assertions too
        why = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"cluster={shown(cluster)} does not answer: is the scheduler running? ({why})"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=30)
        except TimeoutError as error:
            raise InputError(
                f"cluster={shown(cluster)} has no workers: start some with 'dask worker ...'"
            ) from error
        yield client
    finally:
        if not given:
            client.close()
