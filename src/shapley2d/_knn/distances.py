"""Columns as integers, so that distances add up exactly, in any order and on any device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class IntegerColumns:
    """A training and a validation table, coded so that the distance of two rows is a sum of integers.

    The dissimilarity of a training entry ``u`` and a validation entry ``v`` of column ``j`` is

    - ``missing[j]`` where either of them is missing (coded as the dtype's smallest number),
    - ``mismatch[j] * (u != v)`` where ``mismatch[j] > 0`` (categories),
    - ``(u - v) ** 2`` otherwise (numbers).

    Attributes
    ----------
    train : ndarray of shape (m, n), int32 or int64
        One contiguous line per column. Distances are added in this dtype.
    valid : ndarray of shape (m, T), same dtype
    mismatch : ndarray of shape (m,), int64
        Distance of two different categories; 0 marks a numeric column.
    missing : ndarray of shape (m,), int64
        Distance of a missing entry from any other entry.
    unit : float
        The integer that stands for a dissimilarity of 1.
    """

    train: NDArray[np.int32] | NDArray[np.int64]
    valid: NDArray[np.int32] | NDArray[np.int64]
    mismatch: NDArray[np.int64]
    missing: NDArray[np.int64]
    unit: float = 1.0

    @property
    def missing_code(self) -> int:
        """The code of a missing entry."""
        return int(np.iinfo(self.train.dtype).min)

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.train.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.train.shape[0])

    @property
    def n_valid(self) -> int:
        """Number of validation rows."""
        return int(self.valid.shape[1])
