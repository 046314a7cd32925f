"""A GPU, through CuPy: found, or a sentence that says why not.

CuPy is imported when a GPU is asked for, and kernels are compiled when they are first used; CuPy
keeps them between processes.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapley2d._base.warnings import warn
from shapley2d.exceptions import DeviceWarning, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

_INSTALL = "pip install 'shapley2d[cuda13]', or 'shapley2d[cuda12]' for drivers before version 580"

LEAST_WORK = 2.0**28
"""Triples of row, validation row and subset of a first pass from which on a GPU pays.

Measured on an H200 beside 16 cores, which take as long for 2^29 of them as the GPU takes to start
and to set up; runs whose first pass does not meet the tolerance take several times as many.
"""


class DeviceError(RuntimeError):
    """The GPU cannot be used; the message says why, and what to do."""


class Device:
    """One GPU.

    ``arrays``: CuPy, or what makes arrays as it does.
    ``processors``: multiprocessors, each of which takes a block of threads at a time.
    ``block_bytes``: memory on the chip that a block can have.
    ``processor_bytes``: the same for all blocks of a multiprocessor.
    ``memory_errors``: raised where its memory does not suffice.
    """

    def __init__(self, cupy: Any) -> None:
        self.arrays = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name: str = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.block_bytes = int(properties["sharedMemPerBlockOptin"])
        self.processor_bytes = int(properties["sharedMemPerMultiprocessor"])
        # CuPy's own error is a MemoryError in recent versions only
        self.memory_errors = (MemoryError, cupy.cuda.memory.OutOfMemoryError)

    def wait(self) -> None:
        """Wait for all that was launched."""
        self.arrays.cuda.get_current_stream().synchronize()

    def free_bytes(self) -> int:
        """Bytes of the GPU that are free."""
        free, _ = self.arrays.cuda.runtime.memGetInfo()
        return int(free) + int(self.arrays.get_default_memory_pool().free_bytes())

    def free(self) -> None:
        """Give back memory that CuPy keeps."""
        self.arrays.get_default_memory_pool().free_all_blocks()

    def compile(self, source: str, **defined: int) -> Callable[..., None]:
        """Compile one of the sources: ``launch(name, grid, threads, arguments, on_chip=0)``."""
        text = source_text(source)
        options = [f"-D{name}={value}" for name, value in defined.items()]
        module = self.arrays.RawModule(code=text, options=("-std=c++17", "-fmad=false", *options))
        try:
            functions = {name: module.get_function(name) for name in kernel_names(text)}
        except self.arrays.cuda.compiler.CompileException as error:
            line = next((line for line in str(error).splitlines() if "error" in line), str(error))
            raise DeviceError(
                f"the kernels do not compile for {self.name} ({line.strip()}); "
                "update CuPy and the driver"
            ) from error
        except self.arrays.cuda.driver.CUDADriverError as error:
            raise DeviceError(
                f"the kernels do not load on {self.name} ({error}); update CuPy"
            ) from error

        def launch(
            name: str,
            grid: tuple[int, ...],
            threads: int,
            arguments: tuple[Any, ...],
            on_chip: int = 0,
        ) -> None:
            function = functions[name]
            function.max_dynamic_shared_size_bytes = max(
                function.max_dynamic_shared_size_bytes, on_chip
            )
            function(grid, (threads,), arguments, shared_mem=on_chip)

        return launch


def source_text(source: str) -> str:
    """A CUDA source of this room."""
    return (Path(__file__).parent / source).read_text(encoding="utf-8")


def kernel_names(text: str) -> list[str]:
    """The kernels of a source."""
    return re.findall(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(', text)


@cache
def find_device() -> Device:
    """The GPU; :class:`DeviceError` where there is none."""
    if find_spec("cupy") is None:
        raise DeviceError(f"it needs CuPy: {_INSTALL}")
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(f"CuPy cannot be imported ({_first_line(error)}): {_INSTALL}") from error
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        raise DeviceError(_what_is_missing(runtime, str(error))) from error
    if count == 0:
        raise DeviceError("there is no NVIDIA GPU, or CUDA_VISIBLE_DEVICES hides it")
    try:
        return Device(cupy)
    except runtime.CUDARuntimeError as error:
        raise DeviceError(f"the GPU cannot be used ({_first_line(error)})") from error


def choose_device(device: str, work: float) -> Device | None:
    """The GPU to compute on, or None: then the processor does.

    ``device`` {"auto", "cpu", "cuda"}: ``"auto"`` takes a GPU where CuPy is installed and the work
        is large enough.
    ``work``: triples of row, validation row and coalition.
    """
    pays = device == "auto" and work >= LEAST_WORK and find_spec("cupy") is not None
    if pays or device == "cuda":
        try:
            return find_device()
        except DeviceError as error:
            say_unusable(error, asked_for=device == "cuda")
    return None


def say_unusable(error: DeviceError, *, asked_for: bool) -> None:
    """Raise where a GPU was asked for, and warn that the processor does its work where not."""
    if asked_for:
        raise InputError(f"device='cuda' cannot be used: {error}; or use device='cpu'") from error
    warn(DeviceWarning(f"the GPU is not used, the processor is: {error}"))


def _what_is_missing(runtime: Any, error: str) -> str:
    """Why there is no GPU: none, no driver, or one that is too old for CuPy."""
    if "NoDevice" in error:
        return "there is no NVIDIA GPU, or CUDA_VISIBLE_DEVICES hides it"
    if "InsufficientDriver" not in error:
        return f"the GPU cannot be used ({error})"
    driver, wanted = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    if driver == 0:
        return "there is no NVIDIA driver; install it, or look whether nvidia-smi finds the GPU"
    return (
        f"the NVIDIA driver is too old: it knows CUDA {_version(driver)}, CuPy needs "
        f"{_version(wanted)}; update the driver, or install a CuPy for an older CUDA "
        "(shapley2d[cuda12])"
    )


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _first_line(error: BaseException) -> str:
    return next(
        (line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__
    )
