"""The kernels of the CUDA sources, compiled by the system's C++ compiler: the same text, run without a GPU.

Slow, and for tests only: it shows that sources and launches are right, not that they are fast.
Kernels get every argument by its address, as the GPU's driver does.
"""

from __future__ import annotations

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
    block_bytes = 232448
    processor_bytes = 233472
    cache_bytes = 50 * 2**20
    memory_bytes = 2**34

    def __init__(self, folder: Path, memory: int | None = None) -> None:
        self._folder, self._memory = folder, memory
        self.launches: list[str] = []

    def upload(self, array):
        return np.array(array, order="C")

    def zeros(self, shape, dtype):
        made = np.zeros(shape, dtype)
        if self._memory is not None and made.nbytes > self._memory:
            raise MemoryError
        return made

    def empty(self, shape, dtype):
        made = self.zeros(shape, dtype)
        made.view(np.uint8).fill(0xCD)
        return made

    def download(self, array):
        return np.array(array)

    def wait(self):
        pass

    def free_bytes(self):
        return self._memory or 2**34

    def sort_lines(self, keys, rows):
        rows[:] = np.argsort(keys, axis=1, kind="stable")
        keys[:] = np.take_along_axis(keys, rows.astype(np.int64), axis=1)

    def compile(self, source, **defined):
        library = ctypes.CDLL(str(self._library(source, defined)))

        def launch(name, grid, threads, arguments, on_chip=0):
            self.launches.append(name)
            width, height = (*grid, 1)[:2]
            held = [
                np.array([a.ctypes.data], np.uint64) if isinstance(a, np.ndarray) else np.array([a])
                for a in arguments
            ]
            pointers = (ctypes.c_void_p * len(held))(*(a.ctypes.data for a in held))
            getattr(library, f"launch_{name}")(pointers, width, height, threads, on_chip)

        return launch

    def _library(self, source, defined):
        text = source_text(source)
        body = text.replace(
            "extern __shared__ __align__(16) unsigned char memory[];",
            "unsigned char* memory = on_chip_memory;",
        )
        if defined.get("REGRESSION"):
            text = text.partition("\n#if !REGRESSION\n")[0]
        macro = re.search(r"#define ARGUMENTS(.*?)\n#define", text, re.DOTALL)
        launchers = []
        for name in kernel_names(text, **defined):
            listed = re.search(rf"\b{name}\((.*?)\) {{", text, re.DOTALL).group(1)
            if macro:
                listed = listed.replace("ARGUMENTS", macro.group(1).replace("\\", " "))
            kinds = [re.sub(r"\b\w+$", "", one.strip()).strip() for one in listed.split(",")]
            given = ", ".join(f"*({kind.removeprefix('const ') if '*' not in kind else kind}*)arguments[{i}]"
                              for i, kind in enumerate(kinds))  # fmt: skip
            launchers.append(
                f'extern "C" void launch_{name}(void** arguments, int width, int height, int threads, int on_chip) {{\n'
                f"    kernel = [&] {{ {name}({given}); }};\n    run_grid(width, height, threads, on_chip);\n}}\n"
            )
        whole = '#include "emulation.h"\n' + body + "\n" + "\n".join(launchers)
        flags = [f"-D{name}={value}" for name, value in defined.items()]
        key = hashlib.sha256((whole + " ".join(flags)).encode()).hexdigest()[:16]
        path = self._folder / f"{Path(source).stem}-{key}.so"
        if not path.exists():
            code = path.with_suffix(".cpp")
            code.write_text(whole)
            # shared memory of templates is as large as each library wants it, not as the first one
            # did
            command = [COMPILER, "-std=c++17", "-O1", "-fno-gnu-unique", "-ffp-contract=off", "-w", "-shared", "-fPIC", *flags,
                       f"-I{Path(__file__).parent}", str(code), "-o", str(path)]  # fmt: skip
            said = subprocess.run(command, capture_output=True, text=True, check=False)
            if said.returncode:
                raise RuntimeError(f"{COMPILER} could not compile {source}: {said.stderr}")
        return path
