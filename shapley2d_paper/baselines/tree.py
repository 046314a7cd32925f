"""Decision trees on whole grids: rows stay sorted by every column, so that no fit sorts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._models.games import LabelGame
from shapley2d._models.sweeps import number_targets, r_squared, swept
from shapley2d._tables.encoding import as_float32, encode_tables, fill_means, near_one
from shapley2d.exceptions import InputError
from shapley2d_paper.baselines.kernels.sweep_tree import fill_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._models.sweeps import Pair
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._theory.game import Game


class TreeGame:
    """Accuracy or R squared of a fully grown CART, with scikit-learn's defaults, on whole grids.

    Gini impurity for classes, squared error for numbers; splits halfway between neighbouring
    values, which differ by more than 1e-7 as 32-bit numbers; nodes are split until they are pure or
    none of their columns varies; a leaf predicts its most frequent class, the first of equally
    frequent ones, or its mean. A category is one 0/1 column per value; a missing number is the mean
    of its column. As in the paper, no rows and no columns are worth 0.

    Parameters
    ----------
    split : Split

    Notes
    -----
    Of splits that are equally good, to a relative 1e-12 (classes) or 1e-9 (numbers), the one on the
    first column of the table wins, then the lowest threshold. Scikit-learn visits the columns in a
    random order and takes the first of equally good splits, so that its ``DecisionTreeClassifier``
    with another seed is another tree: where no two splits tie, both agree; where they do, this is
    one of the trees that scikit-learn may grow.

    A tree is grown only where a validation row falls.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> rows = np.tri(5, 4, -1, dtype=bool)[:, [0, 2, 1, 3]]
    >>> TreeGame(split).utilities(rows, np.array([[True]]))[:, 0]
    array([0. , 0.5, 1. , 1. , 1. ])
    """

    compiled = True

    def __init__(self, split: Split) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self._target = tree_target(split)
        encoded = encode_tables(split.train, split.valid)
        train, valid = near_one(
            fill_means(encoded.train), fill_means(encoded.valid, encoded.train), by_column=True
        )
        self._members = [np.flatnonzero(encoded.owners == j) for j in range(self.n_columns)]
        self._values, self._values_valid = as_float32(train.T), as_float32(valid.T)
        self._sorted = np.argsort(self._values, axis=1, kind="stable").astype(np.int32)
        self._ranks = np.empty_like(self._sorted)
        np.put_along_axis(
            self._ranks, self._sorted, np.arange(self.n_rows, dtype=np.int32)[None, :], axis=1
        )

    def utilities(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Matrix of utilities."""
        return swept(rows, columns, self._members, self._scores)

    def _scores(self, pair: Pair) -> NDArray[np.float64]:
        _, sizes, _, ends = pair
        grid = np.empty((sizes.size, ends.size))
        presorted = (self._values, self._sorted, self._ranks)
        target = self._target
        fill_grid(presorted, target.learned, self._values_valid, target.labels_valid, pair, grid)
        return target.scores(grid)


class TreeTarget(NamedTuple):
    """Targets as the kernels of trees take them.

    Attributes
    ----------
    codes : ndarray of shape (n,), int32
        Class codes; 0 in regression.
    labels, labels_valid : ndarray of shape (n,) and (T,)
        Class codes, -1 for a class that training never shows, or targets minus the mean of
        training.
    n_classes : int
        0 in regression.
    spread : float
        Squared deviations of the validation targets from their mean; 0 in classification.
    """

    codes: NDArray[Any]
    labels: NDArray[np.float64]
    n_classes: int
    labels_valid: NDArray[np.float64]
    spread: float

    @property
    def learned(self) -> tuple[NDArray[Any], NDArray[np.float64], int]:
        """What a tree is grown on: codes, labels and the number of classes."""
        return self.codes, self.labels, self.n_classes

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accuracies from numbers of right answers, or R squared from squared errors."""
        return raw / self.labels_valid.size if self.n_classes else r_squared(raw, self.spread)


def tree_target(split: Split) -> TreeTarget:
    """The targets of a split, whose validation rows must all count the same."""
    if split.valid_weights is not None:
        raise InputError("valid_weight does not go with the baselines' trees: leave it out")
    if split.y.task == "classification":
        codes = split.y.codes.astype(np.int32)
        labels_valid = split.y_valid.codes.astype(np.float64)
        return TreeTarget(codes, codes.astype(np.float64), split.y.classes.size, labels_valid, 0.0)
    train, valid, spread = number_targets(split)
    return TreeTarget(np.zeros(train.size, dtype=np.int32), train, 0, valid, spread)


def tree_games(problem: Problem) -> list[Game]:
    """The games of the tree, one for every split; the label is a column of them where valued."""
    games = [TreeGame(split) for split in problem.splits]
    return [LabelGame(game) for game in games] if problem.label is not None else list(games)
