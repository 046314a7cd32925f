"""One seller: its rows, those of others, and the tests of both beside the validation rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.words import counted
from shapley2d._market.sellers.exchange import p_value
from shapley2d._market.sellers.forest import tell_apart
from shapley2d._market.sellers.neighbours import Neighbours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._market.sellers.points import Points

WHAT = {
    "others": "near copies of another's rows",
    "own": "near copies of its own rows",
    "valid": "near copies of validation rows",
    "labels": "labels unlike those nearby",
    "different": "different from the validation rows",
    "equal": "rows equal to validation rows",
    "text": "text among numbers",
    "claims": "cells that another claims too",
    "columns": "a column that says what another's says",
}
"""What may be seen of a seller, by a short name."""

VALIDATION = "the validation table"
"""The victim where rows were taken from there."""

MOST_ROWS = 500
"""Rows of a seller, and validation rows, whose distances are compared; of more, a random sample."""

_FEWEST_ROWS = 8  # with fewer, no test can be significant after correction
_SIDES = 3  # times as many validation rows as a seller has, or 100: more would add time, not power
_CHUNK = 256  # rows at a time whose distances to all rows of others are held
_SHOWN = 3  # rows that make a count worth a sentence


class Alarm(NamedTuple):
    """What was seen of a seller.

    Attributes
    ----------
    owner : str
    what : str
        One of the words of :data:`WHAT`.
    victim : str
        Whose rows, cells or columns it is about; empty if nobody's.
    sentence : str
        The evidence.
    p : float or None
        The chance to see this of a seller whose rows come from where the validation rows come from;
        None where it is a fact.
    """

    owner: str
    what: str
    victim: str
    sentence: str
    p: float | None


@dataclass(frozen=True)
class Tables:
    """Training rows, then validation rows: as points, with labels and with what a forest sees.

    Attributes
    ----------
    points : Points
    labels : ndarray of float
    classes : bool
        Whether labels are codes of classes.
    features : ndarray of shape (rows, features)
        What a forest sees.
    feature_of : ndarray of int
        The column that each comes from; the number of columns for the label.
    names : list of str
        Of the columns, the label last.
    n_train : int
    """

    points: Points
    labels: NDArray[np.float64]
    classes: bool
    features: NDArray[np.float64]
    feature_of: NDArray[np.intp]
    names: list[str]
    n_train: int


class Seller:
    """A seller's rows beside those of others and the validation rows.

    Parameters
    ----------
    name : str
    tables : Tables
    rows : ndarray of int
        Of the seller.
    columns : ndarray of bool
        That it has in these rows.
    others : ndarray of int
        Rows of other sellers.
    owner_of : callable
        From a training row to the name of its owner.
    random : Generator
    """

    def __init__(
        self,
        name: str,
        tables: Tables,
        rows: NDArray[np.intp],
        columns: NDArray[np.bool_],
        others: NDArray[np.intp],
        owner_of: Callable[[int], str],
        random: np.random.Generator,
    ) -> None:
        self.name, self.tables, self.columns = name, tables, columns
        self.n_rows, self.others, self.owner_of, self.random = rows.size, others, owner_of, random
        self.points = tables.points.take_columns(columns)
        valid = np.arange(tables.n_train, tables.labels.size)
        mine = _some(rows, MOST_ROWS, random)
        theirs = _some(valid, min(MOST_ROWS, max(100, _SIDES * mine.size)), random)
        self.pool = np.append(mine, theirs)
        self.inside = np.arange(self.pool.size) < mine.size

    def tests(self) -> Iterator[tuple[float, Callable[[], Alarm]]]:
        """P-values, each with what makes an alarm of it."""
        if min(int(self.inside.sum()), int((~self.inside).sum())) < _FEWEST_ROWS:
            return
        if self.others.size:
            p = p_value(self._near.near_others, self.inside, self.random)
            yield p, self._others_alarm
        yield p_value(self._near.twins, self.inside, self.random), self._own_alarm
        yield p_value(self._near.near_rest, self.inside, self.random), self._valid_alarm
        yield p_value(self._near.odd_labels, self.inside, self.random), self._labels_alarm
        yield self._told_apart[0], self._different_alarm

    @cached_property
    def _near(self) -> Neighbours:
        return Neighbours(
            self.points.distances(self.pool, self.pool),
            self.tables.labels[self.pool],
            classes=self.tables.classes,
            elsewhere=self._elsewhere[0] if self.others.size else None,
        )

    @cached_property
    def _elsewhere(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """The distance of every row to the nearest of another seller, and that row."""
        nearest, row = [], []
        for start in range(0, self.pool.size, _CHUNK):
            apart = self.points.distances(self.pool[start : start + _CHUNK], self.others)
            nearest.append(apart.min(axis=1))
            row.append(self.others[apart.argmin(axis=1)])
        return np.concatenate(nearest), np.concatenate(row)

    @cached_property
    def _told_apart(self) -> tuple[float, float, NDArray[np.float64]]:
        """The p-value of a forest, the share of pairs that it tells apart, and its importances."""
        label = len(self.tables.names) - 1
        seen = np.append(self.columns, True)[self.tables.feature_of]
        features = self.tables.features[self.pool][:, seen]
        p, share, importances = tell_apart(features, self.inside, self.random)
        of_columns = np.zeros(label + 1)
        np.add.at(of_columns, self.tables.feature_of[seen], importances)
        return p, share, of_columns

    def _others_alarm(self) -> Alarm:
        to_others, row = self._elsewhere
        own = self._nearest_own()
        closer = self.inside & (to_others < self._closest())
        words = "lie nearer to a row of {} than any two validation rows lie to each other"
        compared = ""
        if closer.sum() < _SHOWN:
            half = to_others < own / 2
            closer = self.inside & half
            words = "lie less than half as far from a row of {} as from any row of its own"
            theirs = half & ~self.inside
            compared = f"; so do {theirs.sum():,} of {(~self.inside).sum():,} validation rows"
        if not closer.any():
            closer = self.inside
            words = "lie closer to rows of {} than to its own, compared with validation rows"
        victims = Counter(self.owner_of(other) for other in row[closer].tolist())
        victim = victims.most_common(1)[0][0]
        number = len(victims) - 1
        whose = victim + (f" or of {counted(number, 'other owner')}" if number else "")
        unlike = self.tables.labels[self.pool[closer]] != self.tables.labels[row[closer]]
        labels = ""
        if self.tables.classes and unlike.any():
            labels = f"; {unlike.sum():,} of them with another label"
        sentence = (
            f"{self._count(int(closer.sum()))} {words.format(whose)}{compared}{labels}. Distances "
            "cannot tell who copied from whom."
        )
        return self._alarm("others", victim, sentence)

    def _own_alarm(self) -> Alarm:
        closer = int((self.inside & (self._nearest_own() < self._closest())).sum())
        if closer >= _SHOWN:
            words = f"lie nearer to another of its rows than any two {_VALID} lie to each other"
            return self._alarm("own", "", f"{self._count(closer)} {words}.")
        here, there = (
            float(np.exp(self._near.twins(part[None])[0])) for part in (self.inside, ~self.inside)
        )
        sentence = (
            f"The rows of {self.name} lie in groups: outside its group, the next row is {here:.1f} "
            f"times as far as inside; for {_VALID} {there:.1f} times."
        )
        return self._alarm("own", "", sentence)

    def _valid_alarm(self) -> Alarm:
        apart = self._near.nearest(self.inside, ~self.inside)
        half = int((apart < self._nearest_own()[self.inside] / 2).sum())
        equal = int((apart == 0).sum())
        sentence = (
            f"{self._count(half)} lie less than half as far from a validation row as from any row "
            f"of its own; {equal:,} equal one in all but the label."
        )
        return self._alarm("valid", VALIDATION, sentence)

    def _labels_alarm(self) -> Alarm:
        here, there = (
            float(self._near.label_gap(part[None], ~self.inside[None])[0])
            for part in (self.inside, ~self.inside)
        )
        if self.tables.classes:
            sentence = (
                f"The labels of {self.name}'s rows agree with {100 * (1 - here):.0f} % of the "
                f"labels of the nearest {_VALID}; the labels of {_VALID} with "
                f"{100 * (1 - there):.0f} %."
            )
        else:
            sentence = (
                f"The targets of {self.name}'s rows are {here:.3g} from the mean of the nearest "
                f"{_VALID}; the targets of {_VALID} are {there:.3g}."
            )
        return self._alarm("labels", "", sentence)

    def _different_alarm(self) -> Alarm:
        _, share, importances = self._told_apart
        most = [k for k in np.argsort(-importances, kind="stable")[:3] if importances[k] > 0]
        by = ", ".join(repr(self.tables.names[k]) for k in most)
        sentence = (
            f"A forest tells the rows of {self.name} from {_VALID} in {100 * share:.0f} % of pairs "
            f"that it has not seen (50 % if they were alike), mostly by {by}: another population, "
            f"or rows that were made up.{self._beside()}"
        )
        return self._alarm("different", "", sentence)

    def _beside(self) -> str:
        """Whose rows most of the seller's lie beside: a hint at what they were made from."""
        if not self.others.size:
            return ""
        owners = [self.owner_of(row) for row in self._elsewhere[1][self.inside].tolist()]
        name, count = Counter(owners).most_common(1)[0]
        nearest = f"the nearest to {count:,} of its {len(owners):,}"
        return f" Of the rows of others, one of {name} is {nearest}."

    def _alarm(self, what: str, victim: str, sentence: str) -> Alarm:
        return Alarm(self.name, WHAT[what], victim, sentence, None)

    def _nearest_own(self) -> NDArray[np.float64]:
        """The distance of every row to the nearest of its side: the seller's, or validation."""
        found = np.empty(self.pool.size)
        for part in (self.inside, ~self.inside):
            found[part] = self._near.nearest(part, part)
        return found

    def _closest(self) -> float:
        """The distance of the two validation rows that lie nearest to each other."""
        return float(self._nearest_own()[~self.inside].min())

    def _count(self, number: int) -> str:
        compared = int(self.inside.sum())
        which = "" if compared == self.n_rows else f" that were compared, out of {self.n_rows:,},"
        return f"{number:,} of {self.name}'s {compared:,} rows{which}"


_VALID = "validation rows"


def _some(rows: NDArray[np.intp], count: int, random: np.random.Generator) -> NDArray[np.intp]:
    if rows.size <= count:
        return rows
    return np.sort(random.choice(rows, count, replace=False))
