"""Comparing results."""

from __future__ import annotations

import numpy as np


def same_bits(one, other):
    """Whether the values and standard errors of two results agree bit for bit."""
    names = ("values", "stderr", "row_stderr", "column_stderr")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
