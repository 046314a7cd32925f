"""The trees of 2D-OOB, and means of their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import convergence_ratio
from shapley2d._base.streams import generator
from shapley2d._estimation.draws import Draw, Draws, Stratum
from shapley2d._estimation.estimate import Estimate
from shapley2d._tables.encoding import encode_tables, fill_means, near_one

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._estimation.total import Total
    from shapley2d._tables.problem import Problem

_TREES = 20  # of a draw: one is too little work to hand out
_CHUNK = 2**22  # scores whose means are taken at a time
_ROUNDING = 1e-12


class BaggedTrees(Draws):
    """Trees with the rows' scores and the columns that they saw; a draw is some of them.

    A cell's value is a mean over the trees that score it, not over all. So a draw has no values,
    and notes what these means need: a row in the bag has the score NaN.
    """

    exact = True  # the list ends; the errors of the means are those of its notes
    unit = "tree"

    def __init__(
        self, problem: Problem, n_trees: int, n_seen: int, seed: int, *, by_distance: bool
    ) -> None:
        table, target = problem.table, problem.target
        self.shape, self.n_trees, self.n_seen, self.seed = table.shape, n_trees, n_seen, seed
        self.count = self.first = -(-n_trees // _TREES)
        self.strata = [Stratum(size=self.count)]
        self.by_distance, self.labels = by_distance, target.codes
        self.classes = target.task == "classification"
        encoded = encode_tables(table, table)
        (self.matrix,) = near_one(fill_means(encoded.train), by_column=True)
        self.owners = encoded.owners
        centred = self.matrix - self.matrix.mean(axis=0)
        variance = np.bincount(self.owners, np.mean(centred**2, axis=0))
        self.scaled = centred / np.sqrt(np.where(variance > 0, variance, 1.0))[self.owners]

    def __call__(self, number: int) -> Draw:
        n, m = self.shape
        first = number * _TREES
        numbers = range(first, min(first + _TREES, self.n_trees))
        scores, saw = np.empty((len(numbers), n)), np.zeros((len(numbers), m))
        for k, tree in enumerate(numbers):
            random = generator(self.seed, "draw", tree)
            counts = np.bincount(random.integers(n, size=n), minlength=n)
            columns = random.permutation(m)[: self.n_seen]
            saw[k, columns] = 1.0
            scores[k] = self._scores(counts, np.isin(self.owners, columns), tree)
        return Draw(np.zeros((n, m + 1)), notes={"scores": scores.astype(np.float32), "saw": saw})

    def _scores(self, counts: Ints, features: Bools, tree: int) -> Floats:
        """The scores of rows by a tree; NaN in its bag."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        bag, out = np.flatnonzero(counts), np.flatnonzero(counts == 0)
        make = DecisionTreeClassifier if self.classes else DecisionTreeRegressor
        model = make(random_state=tree)
        model.fit(self.matrix[np.ix_(bag, features)], self.labels[bag], sample_weight=counts[bag])
        scores = np.full(counts.size, np.nan)
        if not out.size:
            return scores
        predicted = model.predict(self.matrix[np.ix_(out, features)])
        if self.classes:
            scores[out] = predicted == self.labels[out]
        else:
            scores[out] = 1.0 - (predicted - self.labels[out]) ** 2 / self.labels.var()
        if self.by_distance:
            scores += closeness(self.scaled[:, features], self.labels, counts)
        return scores

    def note(self, count: int) -> str:
        return f"{min(count * _TREES, self.n_trees):,} of {self.n_trees:,} trees"

    def fewest(self, total: Total) -> int:
        """The fewest trees that score a cell."""
        out = ~np.isnan(total.notes_of("scores"))
        return int((out.T.astype(np.float64) @ total.notes_of("saw")).min())

    def estimate(self, total: Total) -> Estimate:
        """The means of scores over trees, and their errors."""
        scores, saw = total.notes_of("scores"), total.notes_of("saw")
        zero_or_one = self.classes and not self.by_distance
        values, stderr, rows, columns = tree_means(scores, saw, zero_or_one=zero_or_one)
        dof = float(self.fewest(total) - 1)
        info: dict[str, Any] = {
            "n_trees": len(scores),
            "columns_per_tree": self.n_seen,
            "ratio": convergence_ratio(values, stderr, dof),
        }
        return Estimate(values, stderr, rows, columns, info, dof=dof)


def tree_means(scores: Floats, saw: Floats, *, zero_or_one: bool = False) -> tuple[Floats, ...]:
    """Mean scores of cells over the trees that score them; errors of these, of rows and columns.

    ``scores`` (trees, n): NaN where a tree has a row in its bag.
    ``saw`` (trees, m): 1 for the columns of a tree.
    ``zero_or_one``: trees that all agree do not prove that the next one will, so errors are those
        with half a right and half a wrong score more, as in Jeffreys' interval.

    One tree is part of many means, so the errors of the cells of a row, or of a column, go together
    by tree before they are squared: a mean is off by the sum of (score - mean) / count.

    >>> scores = np.array([[1.0, np.nan], [0.0, 1.0], [np.nan, 1.0]])
    >>> values, stderr, *_ = tree_means(scores, np.ones((3, 1)))
    >>> values.ravel(), stderr.ravel()
    (array([0.5, 1. ]), array([0.5, 0. ]))
    """
    (n_trees, n), m = scores.shape, saw.shape[1]
    values, variance, of_rows = np.zeros((n, m)), np.zeros((n, m)), np.zeros(n)
    of_columns, unseen = np.zeros((n_trees, m)), np.zeros(m)
    for start in range(0, n, max(1, _CHUNK // n_trees)):
        rows = slice(start, start + max(1, _CHUNK // n_trees))
        out = (~np.isnan(scores[:, rows])).astype(np.float64)
        part = np.nan_to_num(scores[:, rows].astype(np.float64))
        count = out.T @ saw
        values[rows] = mean = part.T @ saw / count
        squares = np.maximum((part**2).T @ saw - count * mean**2, 0.0)
        variance[rows] = squares / (count * np.maximum(count - 1, 1.0))
        off = part.T * ((1 / count) @ saw.T) - out.T * ((mean / count) @ saw.T)
        of_rows[rows] = np.square(off).sum(axis=1)
        of_columns += saw * (part @ (1 / count) - out @ (mean / count))
        if zero_or_one:
            more = 0.5 * (mean**2 + (1 - mean) ** 2) / count**2
            variance[rows] += more
            of_rows[rows] += more.sum(axis=1)
            unseen += more.sum(axis=0)
    by_column = np.sqrt(np.square(of_columns).sum(axis=0) + unseen)
    return values, np.sqrt(variance), np.sqrt(of_rows), by_column


def closeness(scaled: Floats, labels: Ints, counts: Ints) -> Floats:
    """How close every row is to the mean of its class in the bag.

    With d the Euclidean distance, it is (max d - d) / (max d - min d), the extremes being those of
    the rows in the bag. A row whose class is not in the bag is measured from the mean of all of it.
    """
    centre = np.average(scaled, axis=0, weights=counts)
    distance = np.linalg.norm(scaled - centre, axis=1)
    for label in np.unique(labels[counts > 0]):
        own = labels == label
        centre = np.average(scaled[own], axis=0, weights=counts[own])
        distance[own] = np.linalg.norm(scaled[own] - centre, axis=1)
    nearest, farthest = distance[counts > 0].min(), distance[counts > 0].max()
    if farthest - nearest <= _ROUNDING:
        return np.ones(len(distance))
    return np.asarray((farthest - distance) / (farthest - nearest))
