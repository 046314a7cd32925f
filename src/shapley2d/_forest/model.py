"""A tree ensemble, whichever library has grown it: its trees, and how it sees a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._forest.trees import SplitTree


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
