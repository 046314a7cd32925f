"""Which class a saved valuation has, by its kind.

Rooms above this one name theirs here, so that a file of theirs loads in a process that has not
imported them. Light: the package's face imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES: dict[str, tuple[str, str]] = {}  # kind: module and class


def class_of(kind: str, plain: Any) -> Any:
    """The class of a kind of valuation; ``plain`` for cells."""
    if kind == "cells":
        return plain
    module, name = HOMES[kind]
    return getattr(import_module(module), name)
