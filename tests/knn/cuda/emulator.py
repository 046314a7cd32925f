"""The CUDA source, compiled by the system's C++ compiler: the same text, run without a GPU.

Slow, and for tests only: it shows that the source and its launches are right, not that they are
fast. Kernels get every argument by its address, as the GPU's driver does.
"""

import ctypes
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

from shapley2d._knn.device import kernel_names, source_text

COMPILER = shutil.which("g++")


class EmulatedDevice:
    """What :class:`shapley2d._knn.device.Device` offers, on the processor."""

    name = "a GPU emulated for tests"
    processors = 2
    processor_bytes = 233472
    memory_errors = (MemoryError,)

    def __init__(self, folder: Path, memory: int = 2**34, block_bytes: int = 232448) -> None:
        self._folder, self._memory, self.block_bytes = folder, memory, block_bytes
        self.launches: list[str] = []
        self.arrays = self  # makes them as CuPy does

    def asarray(self, array):
        return np.array(array, order="C")

    def zeros(self, shape, dtype):
        made = np.zeros(shape, dtype)
        if made.nbytes > self._memory:
            raise MemoryError
        return made

    def empty(self, shape, dtype):
        made = self.zeros(shape, dtype)
        made.view(np.uint8).fill(0xCD)
        return made

    def asnumpy(self, array):
        return np.array(array)

    def wait(self):
        pass

    def free(self):
        pass

    def free_bytes(self):
        return self._memory

    def compile(self, source, **defined):
        # Threads are fibres, which take long to change: few of them.
        library = ctypes.CDLL(str(self._library(source, {**defined, "THREADS": 64})))

        def launch(name, grid, threads, arguments, on_chip=0):
            self.launches.append(name)
            width, height = (*grid, 1)[:2]
            held = [
                np.array([a.ctypes.data], np.uint64) if isinstance(a, np.ndarray) else np.array([a])
                for a in arguments
            ]
            pointers = (ctypes.c_void_p * len(held))(*(a.ctypes.data for a in held))
            threads = 64 if name == "value_rows" else threads
            getattr(library, f"launch_{name}")(pointers, width, height, threads, on_chip)

        return launch

    def _library(self, source, defined):
        text = source_text(source)
        body = text.replace(
            "extern __shared__ __align__(16) unsigned char memory[];",
            "unsigned char* memory = on_chip_memory;",
        )
        launchers = []
        for name in kernel_names(text):
            listed = re.search(rf"\b{name}\((.*?)\) {{", text, re.DOTALL).group(1)
            kinds = [re.sub(r"\b\w+$", "", one.strip()).strip() for one in listed.split(",")]
            given = ", ".join(
                f"*({kind if '*' in kind else kind.removeprefix('const ')}*)arguments[{i}]"
                for i, kind in enumerate(kinds)
            )
            launchers.append(
                f'extern "C" void launch_{name}(void** arguments, int width, int height, '
                f"int threads, int on_chip) {{\n    kernel = [&] {{ {name}({given}); }};\n"
                "    run_grid(width, height, threads, on_chip);\n}\n"
            )
        whole = '#include "emulation.h"\n' + body + "\n" + "\n".join(launchers)
        flags = [f"-D{name}={value}" for name, value in defined.items()]
        key = hashlib.sha256((whole + " ".join(flags)).encode()).hexdigest()[:16]
        path = self._folder / f"{Path(source).stem}-{key}.so"
        if not path.exists():
            code = path.with_suffix(".cpp")
            code.write_text(whole)
            # compilers that fortify by default, such as Ubuntu's, abort where fibres jump to another stack
            command = [COMPILER, "-std=c++17", "-O1", "-U_FORTIFY_SOURCE", "-fno-gnu-unique", "-ffp-contract=off", "-w", "-shared", "-fPIC",
                       *flags, f"-I{Path(__file__).parent}", str(code), "-o", str(path)]  # fmt: skip
            said = subprocess.run(command, capture_output=True, text=True, check=False)
            if said.returncode:
                raise RuntimeError(f"{COMPILER} could not compile {source}: {said.stderr}")
        return path
