"""A tree ensemble as arrays, whichever library has grown it: its trees, and how it sees a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._forest.kernels.leaf_states import find_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._forest.losses import Loss


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


class SplitTree(NamedTuple):
    """The splits of one tree; node 0 is the root, and a parent comes before its children.

    ``left, right``: children of every node; -1 in leaves.
    ``feature``: the feature that a node splits on.
    ``threshold``: a number goes left if it is at most this.
    ``missing_left``: whether a missing entry goes left.
    ``sets`` (nodes + 1,): the categories of node k are ``members[sets[k] : sets[k + 1]]``, none
        where it splits on a number.
    ``members``: whether each of them goes left; one beyond them goes right.
    ``height``: splits on the longest path.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    sets: NDArray[np.int64]
    members: NDArray[np.bool_]
    height: int

    @classmethod
    def of(
        cls,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        feature: NDArray[np.integer],
        threshold: NDArray[np.floating],
        missing_left: NDArray[np.bool_],
        members: Mapping[int, Bools] | None = None,
    ) -> SplitTree:
        """A tree from the arrays of a library; ``members`` has those of categorical splits."""
        inner = np.flatnonzero(np.asarray(left) >= 0)
        if (np.minimum(left, right)[inner] <= inner).any():
            raise ValueError("a child comes before its parent")
        height, level = -1, np.zeros(1, dtype=np.int64)
        while level.size:
            height += 1
            level = np.concatenate([left[level], right[level]])
            level = level[level >= 0]
        sizes, found = np.zeros(len(left) + 1, np.int64), [np.zeros(0, np.bool_)]
        for node, one in sorted((members or {}).items()):
            sizes[node + 1] = one.size
            found.append(one)
        # Contiguous, all of them: scikit-learn's thresholds are every eighth number of its own
        # array, and numba 0.60 takes a tuple with such an array for one without.
        given = left, right, feature, threshold, missing_left
        kinds = np.int32, np.int32, np.int32, np.float64, np.bool_
        sets = np.cumsum(sizes), np.concatenate(found)
        arrays: list[Any] = [*map(np.ascontiguousarray, given, kinds), *sets, height]
        return cls(*arrays)

    @classmethod
    def nested(cls, root: Any, read: Callable[[Any], Node]) -> tuple[SplitTree, Floats]:
        """A tree of nested nodes, and what its leaves add, (nodes, outputs); parents come first."""
        nodes: list[Node] = []
        children: list[list[int]] = []

        def add(own: Any) -> int:
            k, node = len(nodes), read(own)
            nodes.append(node)
            children.append([-1, -1])
            children[k] = [add(below) for below in node.below] or [-1, -1]
            return k

        add(root)
        members = {k: node.members for k, node in enumerate(nodes) if node.members is not None}
        feature, threshold, missing_left, _, _, values = zip(*nodes, strict=True)
        left, right = np.array(children).T
        splits = np.array(feature), np.array(threshold), np.array(missing_left)
        width = np.size(values[-1])  # the last node is a leaf
        leaves = np.array([np.resize(one, width) for one in values], dtype=np.float64)
        return cls.of(left, right, *splits, members), leaves

    @property
    def n_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return int(self.left.size)

    def leaves_of(self, features: Floats) -> NDArray[Any]:
        """The leaf of every row, in few bytes; ``features`` has one row per feature."""
        leaves = np.empty(features.shape[1], dtype=np.int32)
        find_leaves(self, features, leaves)
        return leaves.astype(np.uint16) if self.n_nodes <= 2**16 else leaves


@dataclass(frozen=True)
class Model:
    """Trees, what their leaves add to the outputs, and the features that they split.

    ``leaves`` (nodes, 1), or (nodes, classes): what every leaf adds to the prediction; none where
        leaves are the means of their rows.
    ``outputs``: the output that each tree adds to; all of them in a classifying forest.
    ``rounds``: numbers of trees that were fitted on the same residuals.
    ``see``: ``see(table)``: one row per feature; NaN where an entry is missing.
    ``raw``: ``raw(rows)``: the model's own raw prediction, one column per output: of rows as it
        takes them where a library reads it, later of rows of a table.
    ``penalty``: the L2 penalty of leaves.
    ``start`` (outputs,): the prediction without any tree.
    ``start_in`` {"", "first", "all"}: which trees have the model's first guess, the best constant,
        in their leaves as they are read: none, the first of every output, or all.
    ``start_weights``: ``start_weights(y)``: the weights of rows in that guess.
    ``classes``: the labels in the order of the outputs; numbers of classes where it is None.
    ``owners``: the column of the table behind every feature; None where features are columns.
    ``weigh``: ``weigh(y)``: given all labels, the weights of the rows in all trees; or for every
        tree, a list, 0 for rows that it was grown without; None where the rows are not those that
        the model was fitted on.
    ``fitted_here``: whether it was fitted on the training rows of a split, rather than on the whole
        table.
    """

    trees: list[SplitTree]
    leaves: list[Floats]
    outputs: list[int]
    rounds: list[list[int]]
    loss: Loss
    see: Callable[[Any], Floats]
    raw: Any = None
    penalty: float = 0.0
    start: Floats = field(default_factory=lambda: np.zeros(1))
    start_in: str = ""
    start_weights: Callable[[NDArray[Any]], Floats] | None = None
    classes: NDArray[Any] | None = None
    owners: Any = None
    weigh: Callable[[NDArray[Any]], NDArray[Any] | list[NDArray[Any]] | None] | None = None
    fitted_here: bool = False

    @property
    def boosted(self) -> bool:
        """Whether trees correct each other in a sum, rather than being averaged."""
        outputs = max(self.outputs, default=0) + 1
        in_parallel = len(self.rounds) == 1 and len(self.trees) > outputs
        return self.start_in != "all" and not in_parallel

    def places(self, features: Floats) -> list[NDArray[Any]]:
        """The leaf of every row in each tree."""
        return [tree.leaves_of(features) for tree in self.trees]

    def predict(self, places: Sequence[NDArray[Any]], leaves: Sequence[Floats]) -> Floats:
        """Raw predictions of rows that fall into these leaves, by what these add."""
        raw = np.tile(self.start, (places[0].size, 1))
        for output, at, leaf in zip(self.outputs, places, leaves, strict=True):
            raw[:, slice(None) if self.loss.by_class else [output]] += leaf[at]
        return raw
