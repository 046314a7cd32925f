"""One tree as arrays, whichever library has grown it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def _no_words() -> NDArray[np.uint32]:
    return np.zeros(0, dtype=np.uint32)


def bits(members: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """The words of a set, given whether each category is in it.

    Examples
    --------
    >>> bits(np.array([True, False, True])).tolist()
    [5]
    """
    padded = np.zeros(-(-max(members.size, 1) // 32) * 32, dtype=np.bool_)
    padded[: members.size] = members
    return np.packbits(padded, bitorder="little").view("<u4").astype(np.uint32)


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
        inner = np.flatnonzero(np.asarray(left) >= 0)
        if (np.minimum(left, right)[inner] <= inner).any():
            raise ValueError("a child comes before its parent")
        # Contiguous, all of them: scikit-learn's thresholds are every eighth number of its own
        # array, and numba 0.60 takes a tuple with such an array for one without.
        return cls(
            np.ascontiguousarray(left, dtype=np.int32),
            np.ascontiguousarray(right, dtype=np.int32),
            np.ascontiguousarray(feature, dtype=np.int32),
            np.ascontiguousarray(threshold, dtype=np.float64),
            np.ascontiguousarray(missing_left, dtype=np.bool_),
            np.full(count, -1, dtype=np.int32),
            np.zeros(count, dtype=np.int32),
        )

    @classmethod
    def of_sets(
        cls,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        feature: NDArray[np.integer],
        threshold: NDArray[np.floating],
        missing_left: NDArray[np.bool_],
        sets: Mapping[int, NDArray[np.uint32]],
    ) -> SplitTree:
        """A tree some of whose nodes ask for categories: ``sets`` has the words of these nodes."""
        tree = cls.of_numbers(left, right, feature, threshold, missing_left)
        start = 0
        for node, words in sets.items():
            tree.categories[node], tree.n_words[node] = start, words.size
            start += words.size
        words = np.concatenate([_no_words(), *sets.values()]).astype(np.uint32)
        return replace(tree, words=words)

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
