"""Where nearest neighbours are computed: on the processor, or on a GPU where that pays."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from shapley2d._base.warnings import warn
from shapley2d._knn.cuda.device import DeviceError, find_device
from shapley2d.exceptions import BackendWarning, InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapley2d._knn.cuda.device import Device

R = TypeVar("R")

LEAST_WORK = 2.0**30
"""Triples of row, validation row and subset from which on a GPU pays, its start included.

Measured on an H200 beside 16 cores, which take as long for 2^29 of them as the GPU takes to start
and to set up.
"""


def on_backend(backend: str, work: float, compute: Callable[[Device | None], R]) -> R:
    """Compute something on a GPU, or with None on the processor.

    Parameters
    ----------
    backend : {"auto", "cpu", "cuda"}
        ``"auto"`` takes a GPU where CuPy is installed and the work is large enough, and the
        processor, with a warning, where the GPU cannot be used after all.
    work : float
        Triples of row, validation row and coalition.
    compute : callable
    """
    if backend == "cuda":
        with _as_input_error():
            return compute(find_device())
    if not may_use_gpu(backend, work):
        return compute(None)
    try:
        return compute(find_device())
    except DeviceError as error:
        warn(BackendWarning("the GPU is not used, the processor is: ", str(error)))
        return compute(None)


def may_use_gpu(backend: str, work: float) -> bool:
    """Whether a GPU is asked for, or is worth a try.

    Examples
    --------
    >>> may_use_gpu("cuda", 1.0), may_use_gpu("cpu", 1e15), may_use_gpu("auto", 1.0)
    (True, False, False)
    """
    return backend == "cuda" or (
        backend == "auto" and work >= LEAST_WORK and find_spec("cupy") is not None
    )


@contextmanager
def _as_input_error() -> Iterator[None]:
    try:
        yield
    except DeviceError as error:
        raise InputError(
            Setting("backend", "cuda"),
            f" cannot be used: {error}; or use ",
            Setting("backend", "cpu"),
        ) from error


def backend_name(device: Device | None) -> str:
    """What ``info["backend"]`` says.

    Examples
    --------
    >>> backend_name(None)
    'cpu'
    """
    return "cpu" if device is None else "cuda"
