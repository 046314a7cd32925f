"""Lines of numbers that are equal, and clusters numbered in the order of their first lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def equal_lines(lines: NDArray[np.float64]) -> NDArray[np.intp]:
    """Clusters of equal lines; two missing entries are equal.

    >>> equal_lines(np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan], [-0.0, 2.0]]))
    array([0, 1, 0, 1])
    """
    entries = lines + 0.0  # there are two zeros
    entries[np.isnan(entries)] = np.nan  # and many ways to write that something is missing
    keys = np.ascontiguousarray(entries).view(np.void(entries.shape[1] * 8).dtype).ravel()
    return number_clusters(np.unique(keys, return_inverse=True)[1].ravel())


def number_clusters(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Labels numbered in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return np.asarray(rank[inverse.ravel()])
