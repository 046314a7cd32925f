"""What forests tell of rows: whether they differ from others, whether labels and columns follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._market.sellers.chances import rank_p_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table

_TREES = 30
_MOST_DIGITS = 12  # after the decimal point; numbers with more are as good as unrounded


def tell_apart(
    features: NDArray[np.float64], inside: NDArray[np.bool_], random: np.random.Generator
) -> tuple[float, float, NDArray[np.float64]]:
    """How well a forest tells two sets of rows apart.

    Half of the rows of either set train a forest that scores the other half, and the reverse. If
    the sets are alike, rows that the forest has not seen are in random order by their scores, so a
    rank test is exact for either half; the smaller p-value counts twice.

    Parameters
    ----------
    features : ndarray of shape (rows, features)
    inside : ndarray of bool
        Which set every row is in.
    random : Generator

    Returns
    -------
    p : float
    share : float
        Of the pairs of a row of either set that are in the right order.
    importances : ndarray of shape (features,)
    """
    from scipy.stats import rankdata

    half = np.zeros(inside.size, dtype=bool)
    for part in (inside, ~inside):
        rows = random.permutation(np.flatnonzero(part))
        half[rows[: rows.size // 2]] = True
    p_values, shares, importances = [], [], np.zeros(features.shape[1])
    for train in (half, ~half):
        scores, gains = _grow(features[train], inside[train], features[~train], random)
        told = inside[~train]
        p_values.append(rank_p_value(scores, told))
        size = int(told.sum())
        beyond = float(rankdata(scores)[told].sum()) - size * (size + 1) / 2
        shares.append(beyond / (size * (told.size - size)))
        importances += gains / 2
    return min(1.0, 2 * min(p_values)), float(np.mean(shares)), importances


def _grow(
    features: NDArray[np.float64],
    wanted: NDArray[np.generic],
    unseen: NDArray[np.float64],
    random: np.random.Generator,
    *,
    all_of: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Predictions for unseen rows by a random forest, and the importances of its features.

    A split tries the square root of the number of features, or ``all_of`` them.

    Tree by tree: scikit-learn's forest checks its input again for every tree, which takes several
    times as long as growing a tree on a few hundred rows.
    """
    from sklearn.tree import DecisionTreeRegressor

    x, new = features.astype(np.float32), unseen.astype(np.float32)
    y, n = wanted.astype(np.float64), len(wanted)
    features_tried = None if all_of else "sqrt"
    scores, gains = np.zeros((len(new), *wanted.shape[1:])), np.zeros(features.shape[1])
    for seed in random.integers(2**31, size=_TREES).tolist():
        drawn = np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
        tree = DecisionTreeRegressor(
            max_features=features_tried, min_samples_leaf=2, random_state=seed
        )
        tree.fit(x, y, sample_weight=drawn, check_input=False)
        scores += tree.predict(new, check_input=False).reshape(scores.shape) / _TREES
        gains += tree.feature_importances_ / _TREES
    return scores, gains


def label_losses(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    known: NDArray[np.intp],
    judged: NDArray[np.intp],
    random: np.random.Generator,
    *,
    classes: bool,
) -> NDArray[np.float64]:
    """How far the labels of rows are from what a forest of other rows predicts.

    Half of the ``known`` rows train a forest at a time, and no row is judged by one that it
    trained. A loss is the share of trees that vote for another class, or an absolute difference.
    """
    codes = np.unique(labels, return_inverse=True)[1].ravel()
    wanted = np.eye(int(codes.max()) + 1)[codes] if classes else labels[:, None]
    losses, times = np.zeros((2, labels.size))
    half = random.permutation(known.size) < known.size // 2
    for train in (known[half], known[~half]):
        unseen = np.setdiff1d(judged, train)
        score, _ = _grow(features[train], wanted[train], features[unseen], random, all_of=True)
        off = np.abs(score - wanted[unseen])
        losses[unseen] += (off * wanted[unseen]).sum(axis=1) if classes else off[:, 0]
        times[unseen] += 1
    return np.asarray(losses[judged] / times[judged])


def how_computable(
    features: NDArray[np.float64],
    wanted: NDArray[np.float64],
    random: np.random.Generator,
    *,
    classes: bool,
) -> tuple[float, NDArray[np.float64]]:
    """How much of a column forests of other columns predict in rows that they have not seen.

    Numbers are predicted by their ranks, so that units, logarithms and bins hide nothing. Returns
    R squared, or for words the share of errors that are avoided; and importances of the features.
    """
    from scipy.stats import rankdata

    codes = np.unique(wanted, return_inverse=True)[1].ravel()
    if np.bincount(codes).max() >= wanted.size - 1:
        return 0.0, np.zeros(features.shape[1])
    ranks = rankdata(wanted)
    half = random.permutation(wanted.size) < wanted.size // 2
    importances = np.zeros(features.shape[1])
    target = np.eye(int(codes.max()) + 1)[codes] if classes else ranks[:, None]
    scores = np.zeros(target.shape)
    for train in (half, ~half):
        part = features[train], target[train], features[~train]
        scores[~train], gain = _grow(*part, random, all_of=True)
        importances += gain
    if classes:
        wrong = float((scores.argmax(axis=1) != codes).mean())
        return 1.0 - wrong / (1.0 - np.bincount(codes).max() / codes.size), importances
    return 1.0 - float(np.mean((scores[:, 0] - ranks) ** 2) / np.var(ranks)), importances


def forest_features(
    table: Table, valid: Table, labels: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
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


def _decimals(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many decimals each number has; 0 where it is missing.

    Examples
    --------
    >>> _decimals(np.array([2.0, 0.25, np.nan, 1 / 3])).tolist()
    [0.0, 2.0, 0.0, 12.0]
    """
    found = np.zeros(entries.size)
    left = np.flatnonzero(~np.isnan(entries))
    for digits in range(_MOST_DIGITS + 1):
        numbers = entries[left]
        found[left] = digits
        left = left[np.round(numbers, digits) != numbers]
    return found
