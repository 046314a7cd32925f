"""Splits of a cross-valuation: random folds, whole groups, in order of time, or the user's own."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.streams import fold_state
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import counted, plural, shown
from shapley2d._tables.row_words import row_words
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

Part = tuple["Ints", "Ints"]
"""Positions of the training rows and of the validation rows."""


class Splitter(Protocol):
    """A splitter of scikit-learn, or one like it."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Positions of the training rows and of the validation rows, one split at a time."""


class Parts(NamedTuple):
    """The splits, and how they were made in words (empty for random folds)."""

    splits: list[Part]
    how: str = ""


def check_cv(cv: Any) -> None:
    """Check that ``cv`` is a number of folds, a splitter or a list of splits."""
    if is_count(cv):
        check_whole(cv, "cv", 2)
    elif isinstance(cv, (str, bytes)) or not (hasattr(cv, "split") or _is_iterable(cv)):
        raise InputError(
            f"cv={shown(cv)} must be a whole number of at least 2, one of scikit-learn's "
            "splitters, or a list of pairs of training rows and validation rows"
        )


def is_count(cv: Any) -> bool:
    """Whether ``cv`` is a number of folds."""
    return isinstance(cv, (int, float, np.number))


def _is_iterable(cv: Any) -> bool:
    try:
        iter(cv)
    except TypeError:  # a 0-d array has __iter__ too
        return False
    return True


def split_rows(
    table: Table,
    target: Target,
    cv: Any,
    *,
    seed: int,
    groups: Ints | None = None,
    time: Floats | None = None,
    given: tuple[int, Ints] | None = None,
) -> Parts:
    """Lay out the splits of a cross-valuation.

    A number ``cv`` makes random folds, stratified by class; of whole groups where there are
    ``groups``; in order of ``time`` where there is one, each fold after all rows that train. A
    splitter of scikit-learn sees the rows in order of ``time``; one without a seed is given the
    run's. A list has positions in the user's table: ``given`` has its number of rows and the
    positions of the rows that ``table`` kept.
    """
    if is_count(cv):
        parts = _counted(table, target, int(cv), seed, groups, time)
    elif hasattr(cv, "split"):
        parts = Parts(_by_splitter(table, target, cv, seed, groups, time), _one_line(cv))
    else:
        parts = Parts(_listed(cv, *(given or (table.n_rows, np.arange(table.n_rows)))), "as listed")
    _refuse_leaks(parts.splits, table, groups, time)
    _warn_of_rows_that_never_train(parts.splits, table.n_rows)
    return parts


def _counted(
    table: Table, target: Target, folds: int, seed: int, groups: Ints | None, time: Floats | None
) -> Parts:
    if time is not None:
        splits = _in_time(time, folds)
        if groups is None:
            return Parts(splits, "earlier rows train, later ones validate")
        apart = [(train[~np.isin(groups[train], groups[test])], test) for train, test in splits]
        if not all(train.size for train, _ in apart):
            raise InputError(
                "groups and time_order leave no rows to train on: every earlier row is of "
                "a group that validates; leave one of them out"
            )
        return Parts(apart, "earlier rows train, later ones of other groups validate")
    if groups is not None:
        return Parts(_by_groups(target, folds, seed, groups), "rows of a group stay together")
    return Parts(_at_random(table.n_rows, target, folds, seed))


def _at_random(n_rows: int, target: Target, folds: int, seed: int) -> list[Part]:
    if n_rows < 2 * folds:
        raise InputError(
            f"{counted(n_rows, 'row')} {plural(n_rows, 'is', 'are')} too few for "
            f"cv={shown(folds)} (n_samples={n_rows} must be at least {2 * folds}): pass a "
            "validation table or fewer folds"
        )
    stratified = target.task == "classification" and np.bincount(target.codes).max() >= folds
    fold = _stratified(target.codes, folds, seed) if stratified else _shuffled(n_rows, folds, seed)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]


def _shuffled(n_rows: int, folds: int, seed: int) -> Ints:
    """The fold of every row, as by ``KFold`` of scikit-learn, whose import takes a second."""
    order, fold = np.arange(n_rows), np.empty(n_rows, dtype=np.intp)
    np.random.RandomState(fold_state(seed)).shuffle(order)
    fold[order] = np.sort(np.arange(n_rows) % folds)
    return fold


def _stratified(codes: NDArray[np.integer], folds: int, seed: int) -> Ints:
    """The same as by ``StratifiedKFold``: class after class, in the order of their first rows."""
    random, fold = np.random.RandomState(fold_state(seed)), np.empty(codes.size, dtype=np.intp)
    classes, first, counts = np.unique(codes, return_index=True, return_counts=True)
    taken = 0
    for k in np.argsort(first):
        members = np.sort(np.arange(taken, taken + counts[k]) % folds)
        random.shuffle(members)
        fold[codes == classes[k]] = members
        taken += counts[k]
    return fold


def _by_groups(target: Target, folds: int, seed: int, groups: Ints) -> list[Part]:
    """Folds of whole groups, stratified by class as far as possible."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    count = int(groups.max()) + 1
    if count < folds:
        raise InputError(
            f"groups has {counted(count, 'group')}, too few for "
            f"cv={shown(folds)}{': ask for fewer folds' if count > 1 else ': leave it out'}"
        )
    settings = {"n_splits": folds, "shuffle": True, "random_state": fold_state(seed)}
    rows = np.zeros(groups.size)
    if target.task == "classification" and np.bincount(target.codes).max() >= folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            parts = list(StratifiedGroupKFold(**settings).split(rows, target.codes, groups))
        if all(train.size and test.size for train, test in parts):
            return parts
    return list(GroupKFold(**settings).split(rows, None, groups))


def _in_time(time: Floats, folds: int) -> list[Part]:
    """Folds in order of time, as ``TimeSeriesSplit``, but never splitting rows of one moment."""
    moments = np.unique(time)
    if moments.size <= folds:
        raise InputError(
            f"time_order has {counted(moments.size, 'distinct moment')}, too few for "
            f"cv={shown(folds)}, which takes {folds + 1}: ask for fewer folds"
        )
    for steps in (np.sort(time), moments):  # folds of equal rows, else of equal moments
        size = steps.size // (folds + 1)
        cuts = steps[steps.size - folds * size :: size] if size else steps[:0]
        if np.unique(cuts).size == folds and cuts[0] > steps[0]:
            break
    ends = np.append(cuts[1:], np.inf)
    return [
        (np.flatnonzero(time < start), np.flatnonzero((time >= start) & (time < stop)))
        for start, stop in zip(cuts, ends, strict=True)
    ]


def _by_splitter(
    table: Table, target: Target, splitter: Any, seed: int, groups: Ints | None, time: Floats | None
) -> list[Part]:
    order = np.arange(table.n_rows) if time is None else np.argsort(time, kind="stable")
    ordered = table if time is None else table.take_rows(order)
    seeded = splitter
    if getattr(splitter, "random_state", 0) is None:  # so that a seed gives the same values
        seeded = copy.copy(splitter)
        seeded.random_state = fold_state(seed)
    labels = target.codes[order]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = list(
                seeded.split(ordered.native, labels, None if groups is None else groups[order])
            )
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"cv={shown(splitter)} cannot split these rows: {_one_line(error)}"
        ) from error
    checked = _listed(found, order.size, np.arange(order.size))
    return [(np.sort(order[train]), np.sort(order[test])) for train, test in checked]


def _listed(cv: Iterable[Any], n_rows: int, kept: Ints) -> list[Part]:
    """The splits of a list, without rows that were left out because of their targets."""
    splits = []
    for k, pair in enumerate(cv, start=1):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise InputError(
                f"cv: split {k} is not a pair of training rows and validation rows"
            ) from None
        sides = [_positions(rows, n_rows, f": split {k} ") for rows in (train, test)]
        both = np.intersect1d(sides[0], sides[1])
        if both.size:
            raise InputError(
                f"cv: split {k} has row {both[0]} on both sides: a row trains or validates, "
                "not both"
            )
        here = [np.flatnonzero(np.isin(kept, rows)) for rows in sides]
        for rows, what in zip(here, ("train", "validate"), strict=True):
            if not rows.size:
                raise InputError(f"cv: split {k} has no rows that {what}")
        splits.append((here[0], here[1]))
    if not splits:
        raise InputError(
            "cv has no splits: list a pair of training rows and validation rows at least"
        )
    return splits


def _positions(rows: Any, n_rows: int, where: str) -> Ints:
    """Distinct positions of rows, given as whole numbers or as a mask."""
    try:
        array = np.asarray(rows)
    except ValueError:
        array = np.zeros((0, 0))
    if array.dtype == bool and array.shape == (n_rows,):
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"cv{where}must list rows by their positions, as whole numbers")
    outside = array[(array < 0) | (array >= n_rows)]
    if outside.size:
        raise InputError(f"cv{where}lists row {outside[0]}, but positions are 0 to {n_rows - 1}")
    distinct, counts = np.unique(array, return_counts=True)
    if distinct.size < array.size:
        raise InputError(f"cv{where}lists row {distinct[counts > 1][0]} twice")
    return distinct.astype(np.intp)


def _refuse_leaks(
    splits: list[Part], table: Table, groups: Ints | None, time: Floats | None
) -> None:
    """Refuse splits that separate a group or train on later rows."""
    for k, (train, test) in enumerate(splits, start=1):
        if groups is not None:
            shared = np.intersect1d(groups[train], groups[test])
            if shared.size:
                one, other = (
                    row_words(table, rows[groups[rows] == shared[0]][0]) for rows in (train, test)
                )
                raise InputError(
                    f"cv: split {k} trains on {one} and validates on {other}, which are of "
                    "the same group: use a splitter that respects groups, such as "
                    "GroupKFold, or a number of folds"
                )
        if time is not None and time[train].max() > time[test].min():
            raise InputError(
                f"cv: split {k} trains on {row_words(table, train[time[train].argmax()])}, "
                f"which is later than {row_words(table, test[time[test].argmin()])}, which "
                "validates: use a splitter that keeps the order of time_order, such as "
                "TimeSeriesSplit, or a number of folds"
            )


def _warn_of_rows_that_never_train(splits: list[Part], n_rows: int) -> None:
    trains = np.zeros(n_rows, dtype=bool)
    for train, _ in splits:
        trains[train] = True
    never = int(n_rows - trains.sum())
    if never:
        warn_input(
            f"{never} of {n_rows} rows train in no fold: their values are 0, which says "
            "nothing about them"
        )


def _one_line(thing: Any) -> str:
    return " ".join(str(thing).split())
