"""Freed memory is handed back where the C library can do it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from shapley2d._base import memory


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_freed_memory_is_given_back_on_linux(monkeypatch, platform):
    asked = []
    library = SimpleNamespace(malloc_trim=asked.append)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: library)
    memory.give_back_memory()
    assert asked == ([0] if platform == "linux" else [])


def test_another_c_library_keeps_its_memory(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: SimpleNamespace())
    memory.give_back_memory()
