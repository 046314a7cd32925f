"""One tree as arrays, whichever library has grown it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _no_words() -> NDArray[np.uint32]:
    return np.zeros(0, dtype=np.uint32)


@dataclass(frozen=True)
class SplitTree:
    """The splits of one tree; node 0 is the root, and a parent comes before its children.

    Attributes
    ----------
    left, right : ndarray of int32
        Children of every node; -1 in leaves.
    feature : ndarray of int32
        The feature that a node asks about.
    threshold : ndarray of float64
        A number goes left if it is at most this.
    missing_left : ndarray of bool
        Whether a missing entry goes left.
    categories : ndarray of int32
        Where the set of categories that go left begins in ``words``, in 32-bit words; -1 where a
        node asks for a number.
    n_words : ndarray of int32
        Words of that set. A category beyond them is treated as missing.
    words : ndarray of uint32
        The sets: category k is bit ``k % 32`` of word ``k // 32``.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    categories: NDArray[np.int32]
    n_words: NDArray[np.int32]
    words: NDArray[np.uint32] = field(default_factory=_no_words)

    @classmethod
    def of_numbers(
        cls,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        feature: NDArray[np.integer],
        threshold: NDArray[np.floating],
        missing_left: NDArray[np.bool_],
    ) -> SplitTree:
        """A tree that asks for numbers only."""
        count = len(left)
        return cls(
            np.asarray(left, dtype=np.int32),
            np.asarray(right, dtype=np.int32),
            np.asarray(feature, dtype=np.int32),
            np.asarray(threshold, dtype=np.float64),
            np.asarray(missing_left, dtype=np.bool_),
            np.full(count, -1, dtype=np.int32),
            np.zeros(count, dtype=np.int32),
        )

    @property
    def n_nodes(self) -> int:
        """Nodes, leaves included."""
        return int(self.left.size)

    @property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """What the compiled code takes."""
        return (
            self.left,
            self.right,
            self.feature,
            self.threshold,
            self.missing_left,
            self.categories,
            self.n_words,
            self.words,
        )
