"""Where nearest neighbours are computed: on the processor, or on a GPU where that pays."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING

from shapley2d._base.warnings import warn
from shapley2d._knn.device import DeviceError, find_device
from shapley2d.exceptions import DeviceWarning, InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from shapley2d._knn.device import Device

LEAST_WORK = 2.0**30
"""Triples of row, validation row and subset from which on a GPU pays, its start included.

Measured on an H200 beside 16 cores, which take as long for 2^29 of them as the GPU takes to start
and to set up.
"""


def devices(device: str, work: float) -> Iterator[AbstractContextManager[Device | None]]:
    """Where to compute, one after the other: a GPU, then with None the processor.

    What fails on a GPU that ``device="auto"`` has chosen is done again on the processor, with a
    warning.

    ``device`` {"auto", "cpu", "cuda"}: ``"auto"`` takes a GPU where CuPy is installed and the work
        is large enough.
    ``work``: triples of row, validation row and coalition.

    >>> for attempt in devices("cpu", 1e15):
    ...     with attempt as device:
    ...         print(device)
    None
    """
    pays = device == "auto" and work >= LEAST_WORK and find_spec("cupy") is not None
    if pays or device == "cuda":
        yield _Gpu(device)
    if device != "cuda":
        yield nullcontext(None)


class _Gpu:
    """A GPU, and what is said where it cannot be used."""

    def __init__(self, device: str) -> None:
        self._is_asked_for = device == "cuda"

    def __enter__(self) -> Device | None:
        try:
            return find_device()
        except DeviceError as error:
            self._say(error)
            return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, DeviceError):
            self._say(error)
            return True
        return False

    def _say(self, error: DeviceError) -> None:
        if self._is_asked_for:
            raise InputError(
                Setting("device", "cuda"),
                f" cannot be used: {error}; or use ",
                Setting("device", "cpu"),
            ) from error
        warn(DeviceWarning("the GPU is not used, the processor is: ", str(error)))
