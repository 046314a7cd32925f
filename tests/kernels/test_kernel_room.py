"""Compiled code lives in one room, which knows no other."""

from __future__ import annotations

import ast
from pathlib import Path

import shapley2d

PACKAGE = Path(shapley2d.__file__).parent


def imported(path):
    """Names of all modules that a file imports, lazily or for its types alone included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_only_kernels_import_numba():
    users = {path.parent.name for path in PACKAGE.rglob("*.py") if "numba" in imported(path)}
    assert users == {"_kernels"}


def test_kernels_import_numpy_and_numba_only():
    standard = {"__future__", "typing", "math"} | {
        "os",
        "pathlib",
        "stat",
        "tempfile",
        "time",
    }  # the latter find a cache, and tell how long compiling takes
    for path in (PACKAGE / "_kernels").glob("*.py"):
        for name in imported(path):
            assert (
                name.startswith("shapley2d._kernels.")
                or name.split(".")[0] in {"numpy", "numba"} | standard
            )
