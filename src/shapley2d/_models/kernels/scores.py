"""Scores inside the kernels: of classifiers by answers or probabilities, and R squared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import CACHE

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACCURACY, BALANCED_ACCURACY, F1, LOG_LOSS, ROC_AUC = range(5)
"""Scores of a classifier; accuracy is the number of right answers."""

_LEAST = np.finfo(np.float64).eps  # probabilities are cut there, as in scikit-learn


@numba.njit(nogil=True, cache=CACHE)
def class_score(
    score: tuple[int, float],
    scores: NDArray[np.float64],
    present: NDArray[np.int64],
    n_present: int,
    blocks: NDArray[np.int64],
    right: NDArray[np.uint8],
) -> float:
    """The score of a classifier that predicts the class with the largest of ``scores``.

    ``score``: one of the constants above, and what it needs to know, see :func:`answers_score`.
    ``scores, present, n_present, blocks, right``: as in :func:`count_right`. The log loss takes
        logarithms of probabilities up to a constant, the area under the ROC curve two classes.
    """
    kind = score[0]
    if kind == ACCURACY:
        return float(count_right(scores, present, n_present, blocks, right))
    if kind == LOG_LOSS:
        return _log_likelihood(scores, present, n_present, blocks)
    if kind == ROC_AUC:
        return _area(scores[present[1]] - scores[present[0]], blocks[1])
    by_class = np.zeros(blocks.size - 1)
    count_right(scores, present, n_present, blocks, right)
    for a in range(n_present):
        for t in range(blocks[present[a]], blocks[present[a] + 1]):
            by_class[present[a]] += right[t]
    return answers_score(score, by_class, blocks)


@numba.njit(nogil=True, cache=CACHE)
def answers_score(
    score: tuple[int, float], by_class: NDArray[np.float64], blocks: NDArray[np.int64]
) -> float:
    """A score from the number of right answers in every class.

    ``score``: the balanced accuracy with the number of labels that validation shows, or the F1 of
        two classes with the position of the positive one.
    ``by_class`` (n_classes,).
    ``blocks`` (n_classes + 1,).
    """
    kind, parameter = score
    if kind == BALANCED_ACCURACY:
        total = 0.0
        for c in range(by_class.size):
            if blocks[c + 1] > blocks[c]:
                total += by_class[c] / (blocks[c + 1] - blocks[c])
        return total / parameter
    wrong = 0.0
    for c in range(by_class.size):
        wrong += blocks[c + 1] - blocks[c] - by_class[c]
    found = 2.0 * by_class[int(parameter)]
    return found / (found + wrong) if found > 0 else 0.0


@numba.njit(nogil=True, cache=CACHE)
def _log_likelihood(
    scores: NDArray[np.float64],
    present: NDArray[np.int64],
    n_present: int,
    blocks: NDArray[np.int64],
) -> float:
    """The mean logarithm of the true classes' probabilities; absent classes have the least."""
    total = blocks[blocks.size - 1] * math.log(_LEAST)
    for a in range(n_present):
        own = present[a]
        for t in range(blocks[own], blocks[own + 1]):
            largest = scores[own, t]
            for b in range(n_present):
                largest = max(largest, scores[present[b], t])
            mass = 0.0
            for b in range(n_present):
                mass += math.exp(scores[present[b], t] - largest)
            probability = math.exp(scores[own, t] - largest) / mass
            total += math.log(min(max(probability, _LEAST), 1.0 - _LEAST)) - math.log(_LEAST)
    return float(total / blocks[blocks.size - 1])


@numba.njit(nogil=True, cache=CACHE)
def _area(margins: NDArray[np.float64], first: int) -> float:
    """The share of pairs of a row of either class (the second from ``first`` on) in right order."""
    low = np.sort(margins[:first])
    total = 0.0
    for t in range(first, margins.size):
        below = np.searchsorted(low, margins[t], "left")
        total += below + 0.5 * (np.searchsorted(low, margins[t], "right") - below)
    return float(total / (first * (margins.size - first)))


@numba.njit(nogil=True, cache=CACHE)
def count_right(
    scores: NDArray[np.float64],
    present: NDArray[np.int64],
    n_present: int,
    blocks: NDArray[np.int64],
    right: NDArray[np.uint8],
) -> int:
    """Validation rows whose class has the largest score, the first of equal ones winning.

    ``scores`` (n_classes, T).
    ``present``: the classes that training shows, ascending, in its first ``n_present`` places.
    ``blocks`` (n_classes + 1,): the validation rows of class c are ``blocks[c] .. blocks[c + 1] -
        1``.
    ``right`` (T,): room to work in.
    """
    count = 0
    for a in range(n_present):
        own = present[a]
        start, stop = blocks[own], blocks[own + 1]
        right[start:stop] = 1
        for b in range(n_present):
            other = present[b]
            if b < a:
                for t in range(start, stop):
                    right[t] &= scores[own, t] > scores[other, t]
            elif b > a:
                for t in range(start, stop):
                    right[t] &= scores[own, t] >= scores[other, t]
        for t in range(start, stop):
            count += right[t]
    return count


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract", "reassoc", "nsz"})
def squared_error(predictions: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    """Sum of squared differences."""
    total = 0.0
    for t in range(targets.size):
        off = predictions[t] - targets[t]
        total += off * off
    return total


@numba.njit(nogil=True, cache=CACHE)
def r_squared(error: float, spread: float) -> float:
    """R squared from the squared error and the mean's; for constant targets 1 if exact, else 0."""
    if spread > 0.0:
        return 1.0 - error / spread
    return 1.0 if error == 0.0 else 0.0
