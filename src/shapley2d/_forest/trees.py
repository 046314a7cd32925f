"""The trees of an ensemble as arrays, whichever library has grown them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._forest.kernels.leaf_states import find_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats


def bits(members: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """A set of categories as 32-bit words, given whether each category is a member.

    >>> bits(np.array([True, False, True])).tolist()
    [5]
    """
    padded = np.zeros(-(-max(members.size, 1) // 32) * 32, dtype=np.bool_)
    padded[: members.size] = members
    return np.packbits(padded, bitorder="little").view("<u4").astype(np.uint32)


class Node(NamedTuple):
    """A node of a nested tree, as a library keeps it.

    ``members``: which categories go left; None where it splits on a number.
    ``below``: its two children, left and right; none below a leaf.
    ``value``: what a leaf adds to every output.
    """

    feature: int = 0
    threshold: float = 0.0
    missing_left: bool = False
    members: Bools | None = None
    below: tuple[Any, ...] = ()
    value: Any = 0.0


@dataclass(frozen=True)
class SplitTree:
    """The splits of one tree; node 0 is the root, and a parent comes before its children.

    ``left, right``: children of every node; -1 in leaves.
    ``feature``: the feature that a node splits on.
    ``threshold``: a number goes left if it is at most this.
    ``missing_left``: whether a missing entry goes left.
    ``categories``: where the set of categories that go left begins in ``words``, in 32-bit words;
        -1 where a node splits on a number.
    ``n_words``: words of that set. A category beyond them is treated as missing.
    ``words``: the sets: category k is bit ``k % 32`` of word ``k // 32``.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    categories: NDArray[np.int32]
    n_words: NDArray[np.int32]
    words: NDArray[np.uint32]

    @classmethod
    def of(
        cls,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        feature: NDArray[np.integer],
        threshold: NDArray[np.floating],
        missing_left: NDArray[np.bool_],
        sets: Mapping[int, NDArray[np.uint32]] | None = None,
    ) -> SplitTree:
        """A tree from the arrays of a library; ``sets`` has the words of categorical splits."""
        inner = np.flatnonzero(np.asarray(left) >= 0)
        if (np.minimum(left, right)[inner] <= inner).any():
            raise ValueError("a child comes before its parent")
        categories, n_words = np.full(len(left), -1, np.int32), np.zeros(len(left), np.int32)
        words, start = [np.zeros(0, np.uint32)], 0
        for node, members in (sets or {}).items():
            categories[node], n_words[node] = start, members.size
            words.append(members)
            start += members.size
        # Contiguous, all of them: scikit-learn's thresholds are every eighth number of its own
        # array, and numba 0.60 takes a tuple with such an array for one without.
        given = left, right, feature, threshold, missing_left
        kinds = np.int32, np.int32, np.int32, np.float64, np.bool_
        sets_of = categories, n_words, np.concatenate(words).astype(np.uint32)
        arrays: list[Any] = [*map(np.ascontiguousarray, given, kinds), *sets_of]
        return cls(*arrays)

    @classmethod
    def nested(cls, root: Any, read: Callable[[Any], Node]) -> tuple[SplitTree, Floats]:
        """A tree of nested nodes, and what its leaves add, (nodes, outputs); parents come first."""
        nodes: list[Node] = []
        children: list[list[int]] = []
        waiting = [(root, -1, 0)]
        while waiting:
            own, parent, side = waiting.pop()
            if parent >= 0:
                children[parent][side] = len(nodes)
            node = read(own)
            waiting += [(below, len(nodes), k) for k, below in enumerate(node.below)]
            nodes.append(node)
            children.append([-1, -1])
        feature, threshold, missing_left, members, _, values = zip(*nodes, strict=True)
        sets = {k: bits(one) for k, one in enumerate(members) if one is not None}
        left, right = np.array(children).T
        width = np.size(values[-1])  # the last node is a leaf
        splits = np.array(feature), np.array(threshold), np.array(missing_left)
        leaves = np.array([np.resize(one, width) for one in values], dtype=np.float64)
        return cls.of(left, right, *splits, sets), leaves

    @property
    def n_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return int(self.left.size)

    @cached_property
    def height(self) -> int:
        """Splits on the longest path."""
        height, level = 0, np.zeros(1, dtype=np.int64)
        while (level := level[self.left[level] >= 0]).size:
            height += 1
            level = np.concatenate([self.left[level], self.right[level]])
        return height

    def leaves_of(self, features: NDArray[np.float64]) -> NDArray[Any]:
        """The leaf of every row, in few bytes; ``features`` has one row per feature."""
        leaves = np.empty(features.shape[1], dtype=np.int32)
        find_leaves(self.arrays, features, leaves)
        return leaves.astype(np.uint16) if self.n_nodes <= 2**16 else leaves

    @cached_property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """The arrays as a tuple, which the compiled code takes."""
        return tuple(getattr(self, one.name) for one in fields(self))
