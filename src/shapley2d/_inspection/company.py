"""Whether other rows with the same entry agree with the rest of its row.

An odd entry that several rows have, and other entries with it, is hardly a slip: all rows of the
one hospital in Alaska have its state, its city and its telephone number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._inspection.recipe import MOST_CATEGORIES
from shapley2d._kernels.company import most_company

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column


def vouched(columns: Sequence[Column], threads: int = 1) -> NDArray[np.float32]:
    """How much more often than by chance other rows have an entry and another one of its row.

    The logarithm, for the other entry of which that is most; 0 for empty cells. Keys, of which no
    two rows have the same, vouch for nothing.

    Parameters
    ----------
    columns : sequence of Column
    threads : int

    Returns
    -------
    ndarray of shape (n, columns)

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> states = ["AL"] * 90 + ["AK"] * 9 + ["OH"]
    >>> cities = ["Troy"] * 50 + ["Mobile"] * 40 + ["Sitka"] * 9 + ["Troy"]
    >>> vouched(as_table({"state": states, "city": cities}).columns)[[0, 95, 99]].round(1)
    array([[0.1, 0.1],
           [2. , 2. ],
           [0. , 0. ]], dtype=float32)
    """
    n = columns[0].entries.size if columns else 0
    codes = np.empty((len(columns), n), dtype=np.int32)
    counts = []
    for column, own in zip(columns, codes, strict=True):
        _, own[:], count = np.unique(column.entries, return_inverse=True, return_counts=True)
        counts.append(count)
    different = np.array([count.size for count in counts], dtype=np.intp)
    firsts = np.cumsum(different) - different
    vouching = np.flatnonzero((different > 1) & (different <= MOST_CATEGORIES * n))
    joined = np.concatenate([np.zeros(0, dtype=np.intp), *counts])

    def of_column(j: int) -> NDArray[np.float32]:
        order = np.argsort(codes[j], kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts[j])])
        most = most_company(order, starts, codes, joined, firsts, vouching[vouching != j])
        return np.where(np.isnan(columns[j].entries), 0.0, np.log(most)).astype(np.float32)

    said = np.zeros((n, len(columns)), dtype=np.float32, order="F")
    repeated = np.flatnonzero(different < n).tolist()
    for j, about in zip(repeated, map_in_threads(of_column, repeated, threads), strict=True):
        said[:, j] = about
    return said
