"""How many errors a person finds who inspects the cells in some order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def found_among(scores: NDArray[np.float64], wanted: NDArray[np.bool_], count: int) -> float:
    """Expected number of wanted cells among the ``count`` of lowest score, ties in random order.

    Examples
    --------
    >>> found_among(np.array([1.0, 2.0, 2.0, 3.0]), np.array([True, True, False, True]), 2)
    1.5
    """
    flat, marks = scores.ravel(), wanted.ravel()
    limit = np.partition(flat, count - 1)[count - 1]
    below, level = flat < limit, flat == limit
    left = count - int(below.sum())
    return float(marks[below].sum() + left * marks[level].mean())
