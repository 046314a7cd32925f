"""The random forest ``"forest"``, grown on binned columns: several times faster on small tables.

A model of a coalition is small and trained often; scikit-learn's checks of its input then take
longer than its trees. Splits look at most 62 cuts of a column, at its quantiles where it has more
distinct entries; missing entries lie below all others. Else it is Breiman's forest (2001,
doi:10.1023/A:1010933404324): bootstrapped rows, pure leaves, and the mean of the trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from shapley2d._models.kernels.forest import CODES, Predicted, grow_forest
from shapley2d._models.kernels.leaf_means import add_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class _BinnedForest(BaseEstimator):  # type: ignore[misc]
    """What both kinds share; ``random_state`` is a whole number, or None for another each time."""

    def __init__(self, n_estimators: int = 50, *, random_state: int | None = None) -> None:
        self.n_estimators, self.random_state = n_estimators, random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _grow(self, X: ArrayLike, own: NDArray[np.intp], numbers: Floats | None) -> Self:
        """Trees for classes, or for distinct ``numbers`` by their positions."""
        x = np.asarray(X, dtype=np.float64)
        n, m = x.shape
        self._cuts = [_cuts(column) for column in x.T]
        self.n_features_in_ = m
        random = np.random.default_rng(self.random_state)
        size = int(own.max()) + 1
        ranks = np.zeros(n) if numbers is None else numbers[own] - numbers.mean()
        predicted = Predicted(own.astype(np.int32), ranks, -1, size, numbers is None, blurred=False)
        bags = random.integers(n, size=(self.n_estimators, n), dtype=np.int32)
        tried = max(1, int(np.sqrt(m))) if numbers is None else m
        seed = random.integers(2**64, dtype=np.uint64)
        forest = grow_forest(self._codes(x), np.arange(m), predicted, bags, 1, tried, seed)
        self._forest = forest
        leaf = np.repeat(np.arange(forest.sizes.size), np.diff(forest.leaves))
        shares = forest.counts / forest.sizes[leaf]
        if numbers is None:
            means = np.zeros((forest.sizes.size, size))
            means[leaf, forest.bins] = shares
        else:
            means = np.bincount(leaf, shares * numbers[forest.bins]).astype(np.float64)[:, None]
        self._leaves = means
        return self

    def _codes(self, x: Floats) -> NDArray[np.uint8]:
        codes = np.zeros(x.shape, dtype=np.uint8)
        for j, cuts in enumerate(self._cuts):
            codes[:, j] = np.where(np.isnan(x[:, j]), 0, 1 + np.searchsorted(cuts, x[:, j]))
        return codes

    def _means(self, X: ArrayLike) -> Floats:
        codes = self._codes(np.asarray(X, dtype=np.float64))
        sums = np.zeros((len(codes), self._leaves.shape[1]))
        add_leaves(codes, self._forest, self._leaves, sums)
        return np.asarray(sums / self.n_estimators)


def _cuts(entries: Floats) -> Floats:
    """Where a column is cut: between its distinct entries, or at quantiles of more."""
    known = np.unique(entries[~np.isnan(entries)])
    if known.size > CODES - 1:
        steps = np.linspace(0, 1, CODES)[1:-1]
        return np.unique(np.quantile(entries[~np.isnan(entries)], steps, method="lower"))
    return np.asarray(known[:-1] + np.diff(known) / 2)


class BinnedForestClassifier(ClassifierMixin, _BinnedForest):  # type: ignore[misc]
    """A forest that votes by the shares of the classes in its leaves.

    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> BinnedForestClassifier(random_state=0).fit(X, y).predict([[-1.0], [9.0]]).tolist()
    ['a', 'b']
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Grow the trees."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        return self._grow(X, codes.ravel(), None)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The mean share of every class."""
        return self._means(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the highest share."""
        return np.asarray(self.classes_[self._means(X).argmax(axis=1)])


class BinnedForestRegressor(RegressorMixin, _BinnedForest):  # type: ignore[misc]
    """A forest that predicts the mean of its leaves.

    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [5.0, 5.0, 7.0, 7.0]
    >>> BinnedForestRegressor(random_state=0).fit(X, y).predict([[-1.0], [9.0]]).round(1).tolist()
    [5.2, 6.8]
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Grow the trees."""
        numbers, own = np.unique(np.asarray(y, dtype=np.float64), return_inverse=True)
        return self._grow(X, own.ravel(), numbers)

    def predict(self, X: ArrayLike) -> Floats:
        """The mean of the trees."""
        return self._means(X)[:, 0]
