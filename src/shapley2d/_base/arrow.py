"""pyarrow, imported where it is first used: that takes a third of a second."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Module:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


pa: Any = _Module("pyarrow")
pc: Any = _Module("pyarrow.compute")
pq: Any = _Module("pyarrow.parquet")


def one_chunk(array: Any) -> Any:
    """A pyarrow array in one piece."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
