"""Forests grown where no model is given: numbered trees, each of them one Monte Carlo draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shapley2d._base.streams import generator
from shapley2d._forest.ensemble import encoded_matrices
from shapley2d._forest.fixed import split_game
from shapley2d._forest.read_sklearn import read_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._forest.trees import SplitTree
    from shapley2d._tables.problem import Split
    from shapley2d._theory.semivalues import Semivalue

DEPTH, LEAF_ROWS = 6, 5
"""Splits on a path at most, and rows of a leaf at least.

``benchmarks/forest_shape.py`` compares others: on 5 tables with wrong labels and cells, depths of 4
to 10 and leaves of 1 to 10 rows differ by little more than chance, and deeper trees take longer.
"""


class TreeDraws:
    """Values of the cells of a split under numbered trees.

    A tree depends on its number alone: it is grown on a bootstrap sample of the training rows, and
    every split chooses among as many random features as the root of their number.

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
        self._y, self._seed = split.y.codes, seed
        self._grown: dict[int, SplitTree] = {}
        self.game = split_game(features, split, semivalues, labelled=labelled)

    def __call__(self, number: int) -> NDArray[np.float64]:
        values = np.zeros((self.game.n_rows, self.game.n_columns))
        self.game.add_values(self._tree(number), values)
        return values

    def first(self, count: int) -> list[SplitTree]:
        """The first ``count`` trees."""
        return [self._tree(number) for number in range(count)]

    def _tree(self, number: int) -> SplitTree:
        """Tree ``number``; kept, since it may be needed again."""
        if number not in self._grown:
            self._grown[number] = self._grow(number)
        return self._grown[number]

    def _grow(self, number: int) -> SplitTree:
        random = generator(self._seed, "draw", number)
        n = self._y.size
        counts = np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
        kind = DecisionTreeClassifier if self.game.classifies else DecisionTreeRegressor
        estimator = kind(
            max_depth=DEPTH,
            min_samples_leaf=LEAF_ROWS,
            max_features="sqrt",
            random_state=int(random.integers(2**31)),
        )
        return read_tree(estimator.fit(self._matrix, self._y, sample_weight=counts))
