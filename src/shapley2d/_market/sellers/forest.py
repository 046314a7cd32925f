"""What forests tell of rows: whether they differ from others, whether labels and columns follow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._models.random_forest import BinnedForestClassifier, BinnedForestRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Table

    Weights = Callable[[], Floats]  # by column

_FOLDS = 5
_MOST_DIGITS = 12  # after the decimal point; numbers with more are as good as unrounded


def tell_apart(
    features: Floats, of: Ints, inside: Bools, random: np.random.Generator
) -> tuple[float, float, Weights]:
    """How well a forest tells rows ``inside`` a set from others, the features ``of`` columns.

    Half of the rows of either set train a forest that scores the other half, and the reverse. If
    the sets are alike, rows that the forest has not seen are in random order by their scores, so a
    rank test (Mann and Whitney) is exact for either half; the smaller p-value counts twice. Beside
    it are the share of pairs in the right order, and what tells how much each column matters.
    """
    from scipy.stats import mannwhitneyu

    half = np.zeros(inside.size, dtype=bool)
    for part in (inside, ~inside):
        rows = random.permutation(np.flatnonzero(part))
        half[rows[: rows.size // 2]] = True
    p_values, shares = [], []
    for train in (half, ~half):
        predict = _grown(features[train], inside[train], random, classes=True)
        scores, told = predict(features[~train])[:, 1], inside[~train]
        test = mannwhitneyu(scores[told], scores[~told], alternative="greater", method="asymptotic")
        p_values.append(float(test.pvalue) if np.ptp(scores) else 1.0)
        shares.append(float(test.statistic) / (told.sum() * (~told).sum()))
    unseen, wanted = features[half], np.column_stack([~inside[half], inside[half]])
    weights = partial(_weights, predict, unseen, wanted, of, random)
    return min(1.0, 2 * min(p_values)), float(np.mean(shares)), weights


def _grown(
    features: Floats, wanted: NDArray[np.generic], random: np.random.Generator, *, classes: bool
) -> Callable[[Floats], Floats]:
    """What a forest predicts: the shares of all classes, or a number, one line per row."""
    forest = (BinnedForestClassifier if classes else BinnedForestRegressor)(
        random_state=int(random.integers(2**31))
    ).fit(features, wanted)
    return forest.predict_proba if classes else lambda unseen: forest.predict(unseen)[:, None]


def _weights(
    predict: Callable[[Floats], Floats],
    unseen: Floats,
    wanted: NDArray[Any],
    of: Ints,
    random: np.random.Generator,
) -> Floats:
    """By column: how much worse a forest predicts unseen rows if its entries are shuffled."""
    found = np.zeros(int(of.max()) + 1)
    for column in np.unique(of):
        shuffled = unseen.copy()
        shuffled[:, of == column] = random.permutation(unseen[:, of == column])
        found[column] = ((predict(shuffled) - wanted) ** 2).mean()
    return np.where(found > 0, found - ((predict(unseen) - wanted) ** 2).mean(), 0.0)


def label_losses(
    features: Floats,
    labels: Floats,
    known: Ints,
    judged: Ints,
    random: np.random.Generator,
    *,
    classes: bool,
) -> Floats:
    """How far the labels of rows are from what a forest of other rows predicts.

    Half of the ``known`` rows train a forest at a time, and no row is judged by one that it
    trained. A loss is the share of trees that vote for another class, or an absolute difference.
    """
    losses, times = np.zeros((2, labels.size))
    half = random.permutation(known.size) < known.size // 2
    for train in (known[half], known[~half]):
        unseen = np.setdiff1d(judged, train)
        score = _grown(features[train], labels[train], random, classes=classes)(features[unseen])
        if classes:
            here = np.unique(labels[train])
            losses[unseen] += 1.0 - (score * (labels[unseen, None] == here)).sum(axis=1)
        else:
            losses[unseen] += np.abs(score[:, 0] - labels[unseen])
        times[unseen] += 1
    return np.asarray(losses[judged] / times[judged])


def how_computable(
    features: Floats, of: Ints, wanted: Floats, random: np.random.Generator, *, classes: bool
) -> tuple[float, Weights]:
    """How much of a column forests of other columns predict in rows that they have not seen.

    Returns R squared, or for words the share of errors that are avoided; and what tells how much
    each column, the features ``of`` it, matters. Numbers are predicted as they are and by their
    ranks, and the better counts: ranks see through units, logarithms and bins; a little noise
    scrambles the ranks of a score that is mostly near 0 and 1.
    """
    from scipy.stats import rankdata

    codes = np.unique(wanted, return_inverse=True)[1].ravel()
    common = np.bincount(codes).max()
    if common >= wanted.size - 1:
        return 0.0, lambda: np.zeros(int(of.max()) + 1)
    fold = random.permutation(wanted.size) % _FOLDS
    best, weights = -np.inf, None
    for target in (codes,) if classes else (rankdata(wanted), wanted):
        wrong = 0.0
        for k in range(_FOLDS):
            train, unseen = fold != k, features[fold == k]
            predict = _grown(features[train], target[train], random, classes=classes)
            if classes:
                said = np.unique(target[train])[predict(unseen).argmax(axis=1)]
                wrong += float((said != target[fold == k]).sum())
            else:
                wrong += float(((predict(unseen)[:, 0] - target[fold == k]) ** 2).sum())
        spread = wanted.size - common if classes else wanted.size * np.var(target)
        share = 1.0 - wrong / float(spread)
        if share > best:
            here = target[fold == k, None]
            goal = (here == np.unique(target[train])) if classes else here
            best, weights = share, partial(_weights, predict, unseen, goal, of, random)
    assert weights is not None
    return best, weights


def forest_features(table: Table, valid: Table, labels: Floats) -> tuple[Floats, Ints]:
    """What a forest sees of rows, training rows first, and the column that each feature is of.

    Numbers and categories by their order, gaps before all, and the label; and how many decimals a
    number has, since made-up numbers often have more than measured ones. Nothing depends on which
    table a row is in.
    """
    lines, of = [], []
    for j, (mine, theirs) in enumerate(zip(table.columns, valid.columns, strict=True)):
        entries = np.append(mine.entries, theirs.entries)
        gone = np.isnan(entries)
        keys = entries[~gone]
        if mine.kind == "category":  # codes tell which table a category is from, texts do not
            keys = np.array(theirs.categories, dtype=str)[keys.astype(np.intp)]
        order = np.full(entries.size, -1.0)
        order[~gone] = np.unique(keys, return_inverse=True)[1].ravel()
        lines.append(order)
        of.append(j)
        if mine.kind == "number":
            digits = _decimals(entries)
            if digits.min() < digits.max():
                lines.append(digits)
                of.append(j)
    return np.column_stack([*lines, labels]), np.array([*of, table.n_columns], dtype=np.intp)


def _decimals(entries: Floats) -> Floats:
    """How many decimals each number has; 0 where it is missing.

    >>> _decimals(np.array([2.0, 0.25, np.nan, 1 / 3])).tolist()
    [0.0, 2.0, 0.0, 12.0]
    """
    more = [np.round(entries, digits) != entries for digits in range(_MOST_DIGITS)]
    return np.where(np.isnan(entries), 0.0, np.logical_and.accumulate(more).sum(axis=0))
