"""The forest that is grown where no model is given: trees by number, until values are precise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._forest.ensemble import encoded_matrices
from shapley2d._forest.game import LeafGame
from shapley2d._forest.read_sklearn import read_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._forest.trees import SplitTree
    from shapley2d._tables.problem import Split
    from shapley2d._theory.semivalues import Semivalue

DEPTH, LEAF_ROWS = 6, 5
"""Splits on a path at most, and rows of a leaf at least.

``benchmarks/forest_shape.py`` compares others, and the page on forests has its table. On 5 tables
with wrong labels and cells, depths of 4 to 10 and leaves of 1 to 10 rows differ by little more than
by chance; deeper trees take longer.
"""


class TreeDraws:
    """Values of the cells of a split under trees that are grown one by one.

    A tree depends on its number: it learns from a bootstrap of the training rows and looks at the
    root of the number of features for every split.

    Parameters
    ----------
    split : Split
    semivalues : (Semivalue, Semivalue)
    seed : int
    labelled : bool
        Whether the label is valued as one more column.
    """

    def __init__(
        self,
        split: Split,
        semivalues: tuple[Semivalue, Semivalue],
        seed: int,
        *,
        labelled: bool,
    ) -> None:
        self._matrix, features = encoded_matrices(split)
        self._y, self._task = split.y.codes, split.y.task
        self._seed = seed
        self._grown: dict[int, SplitTree] = {}
        self.game = LeafGame(
            features,
            split.y,
            split.y_valid,
            split.valid_weights,
            semivalues,
            split.train.n_columns,
            labelled=labelled,
        )

    def __call__(self, number: int) -> NDArray[np.float64]:
        values = np.zeros((self.game.n_rows, self.game.n_columns))
        self.game.add_values(self.grow(number), values)
        return values

    def grow(self, number: int) -> SplitTree:
        """Tree ``number``; kept, since it may be asked for again."""
        if number not in self._grown:
            self._grown[number] = self._grow(number)
        return self._grown[number]

    def first(self, count: int) -> list[SplitTree]:
        """The first trees."""
        return [self.grow(number) for number in range(count)]

    def _grow(self, number: int) -> SplitTree:
        random = generator(self._seed, "draw", number)
        n = self._y.size
        counts = np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
        estimator = _estimator(self._task, int(random.integers(2**31)))
        return read_tree(estimator.fit(self._matrix, self._y, sample_weight=counts))


def _estimator(task: str, seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    return kind(max_depth=DEPTH, min_samples_leaf=LEAF_ROWS, max_features="sqrt", random_state=seed)
