"""What is said where there is no GPU, and the compiler's view of the source."""

import ctypes
import ctypes.util
import os
import sys
import types
from pathlib import Path

import pytest

from shapley2d._knn import device
from shapley2d._knn.device import Device, DeviceError, find_device, source_text


class CudaError(Exception):
    pass


def fake_cupy(error="", count=1, driver=12040):
    """CuPy as far as it is asked whether there is a GPU."""

    def get_count():
        if error:
            raise CudaError(error)
        return count

    runtime = types.SimpleNamespace(
        CUDARuntimeError=CudaError,
        getDeviceCount=get_count,
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: 13000,
    )
    return types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))


@pytest.fixture(autouse=True)
def fresh():
    find_device.cache_clear()
    yield
    find_device.cache_clear()


@pytest.mark.parametrize(
    ("cupy", "message"),
    [
        (fake_cupy("cudaErrorNoDevice: no CUDA-capable device"), "there is no NVIDIA GPU"),
        (fake_cupy(count=0), "there is no NVIDIA GPU"),
        (fake_cupy("cudaErrorInsufficientDriver: x", driver=0), "no NVIDIA driver"),
        (
            fake_cupy("cudaErrorInsufficientDriver: x"),
            "too old: it knows CUDA 12.4, CuPy needs 13.0",
        ),
        (fake_cupy("cudaErrorUnknown: unknown error"), "cannot be used"),
    ],
)
def test_why_there_is_no_gpu(monkeypatch, cupy, message):
    monkeypatch.setattr(device, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(DeviceError, match=message):
        find_device()


def test_cupy_is_named_where_it_is_missing_or_broken(monkeypatch):
    monkeypatch.setattr(device, "find_spec", lambda name: None)
    with pytest.raises(DeviceError, match=r"pip install 'shapley2d\[cuda13\]'"):
        find_device()
    monkeypatch.setattr(device, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "cupy", None)  # its import fails
    with pytest.raises(DeviceError, match="CuPy cannot be imported"):
        find_device()


def test_a_kernel_that_does_not_compile_is_one_line():
    class CompileException(Exception):  # noqa: N818  (CuPy's name)
        pass

    class Module:
        def __init__(self, **_):
            pass

        def get_function(self, name):
            raise CompileException(
                "rows.cu(7): warning: unused\nrows.cu(9): error: no such thing\n1 error"
            )

    made = object.__new__(Device)
    made.name = "a GPU"
    made.arrays = types.SimpleNamespace(
        RawModule=Module,
        cuda=types.SimpleNamespace(
            compiler=types.SimpleNamespace(CompileException=CompileException),
            driver=types.SimpleNamespace(CUDADriverError=KeyError),
        ),
    )
    with pytest.raises(
        DeviceError, match=r"^the kernels do not compile for a GPU \(rows.cu\(9\): error"
    ):
        made.compile("rows.cu", THREADS=256, REGRESSION=0)


def nvrtc():
    """NVIDIA's run-time compiler, from its wheel (nvidia-cuda-nvrtc-cu12) or from the system; it needs no driver."""
    wheels = [Path(folder, "nvidia") for folder in sys.path]
    found = [str(path) for wheel in wheels for path in sorted(wheel.glob("*/lib/libnvrtc.so.1*"))]
    for name in (*found, ctypes.util.find_library("nvrtc"), "libnvrtc.so.13", "libnvrtc.so.12"):
        try:
            return ctypes.CDLL(name) if name else None
        except OSError:
            continue
    return None


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("regression", [0, 1])
@pytest.mark.parametrize("ranked", [0, 1])
def test_the_source_compiles_for_real(regression, ranked, architecture):
    sizes = {"NEAR": 512, "LISTED": 1024, "THREADS": 128 if ranked else 512, "BLOCKS": 2}
    sizes |= {"REGRESSION": regression, "RANKED": ranked, "WINDOW": 0 if ranked else 8192}
    library = nvrtc()
    if library is None and os.environ.get("SHAPLEY2D_NVRTC"):
        pytest.fail("NVRTC is not here")
    if library is None:
        pytest.skip(
            "NVRTC is not here: make test-nvrtc installs it (90 MB) and compiles the CUDA source"
        )
    options = [f"-D{name}={value}" for name, value in sizes.items()]
    options += ["-std=c++17", f"--gpu-architecture={architecture}"]
    program = ctypes.c_void_p()
    text = source_text("rows.cu").encode()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text, b"rows.cu", 0, None, None) == 0
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = library.nvrtcCompileProgram(program, len(options), given)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
