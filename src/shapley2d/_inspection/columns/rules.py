"""Rows that break a rule between two columns.

A rule says that rows with the same A have the same B: the rows of one flight have one departure.
Many columns go together without such a rule, so it must pass three tests:

1. It explains nearly all of B, or much of it where B has so many different entries that rows can
   hardly agree by chance (the rows of one thing, which several sources tell about).
2. B shuffled agrees far less, however many pairs of columns are tried.
3. Its exceptions are spread over the groups as errors are. Two towns of the same name in two
   states break a rule in one group, again and again: they are no errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted
from shapley2d._inspection.columns.blame import Tie, blamed
from shapley2d._inspection.columns.finding import ColumnFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import WrittenColumn

# Set on four dirty tables whose truth is known, on their clean twins and on nine other clean
# tables: all pairs of columns of which a third of B or more is explained.
_LIFT = 0.8  # a rule explains at least this part of the entries other than the commonest
_LIFT_OF_THINGS = 0.45  # the same where rows can hardly agree by chance
_HARDLY = 0.1  # share of the commonest entry up to which that is so
_THINGS = 20  # groups that are needed then
_SPREAD = 0.7  # groups with exceptions, as a part of those that independent errors would hit
_COVERED = 0.3  # at least this share of the rows is in groups of two or more
_SCREENED = 20_000  # rows on which pairs are chosen: all pairs of columns are tried
_MAX_GROUPS = 0.7  # groups per row; with more, too few entries repeat
_MAX_NUMBERS = 0.3  # the same for numbers: with more they are amounts, equal by chance
_PER_COLUMN = 4  # rules used for one column
_WEAKER = 0.15  # rules weaker than the strongest by more than this only add noise
_VOTES = 3  # rows of a group that make a majority
_MIN_GROUPS = 3  # groups with a majority that make a rule
_LEAST = 0.3  # breaches less likely wrong are not reported
_LEAD, _MOST = (-0.6, 6.4), 0.97
"""Logit of the chance that a wrong entry makes a minority, and not an exception to the rule, by the
lead of the majority: 3 to 2 gives .6, 3 to 1 .88, 20 to 1 .99. Set on the tables of blame.py."""
_SHARE = (-4.0, 9.0)
"""Logit of the chance that the majority is right, by its share among the other rows of its group:
.45 gives .51, .6 .8, .8 .96. Set on 2,442 wrong entries of flights; in hospital and beers, whose
majorities are clear, all were right."""
_SHUFFLES = 20
_CHANCE = 0.01  # of one rule among all pairs of columns that have none
_REGULAR, _REGULAR_ROWS = 0.9, 5
"""Where this share of the rows of a group breaks a rule, and at least so many, the group follows
another rule: all hospitals of another state have another average."""


@dataclass(frozen=True)
class _Rule:
    cause: int
    lift: float


@dataclass(frozen=True)
class _Votes:
    """The majority of every group: rows with the same cause.

    Attributes
    ----------
    usual : ndarray of int
        The commonest effect of every group.
    most, size : ndarray of int
        Its rows, and all rows of the group whose effect is known.
    own : ndarray of int of shape (n,)
        Rows of its group that have a row's own effect; 0 where it is missing.
    """

    usual: NDArray[np.intp]
    most: NDArray[np.int64]
    size: NDArray[np.int64]
    own: NDArray[np.int64]

    @classmethod
    def count(cls, cause: NDArray[np.intp], effect: NDArray[np.intp]) -> _Votes:
        known = (cause >= 0) & (effect >= 0)
        n_causes, n_effects = int(cause.max()) + 1, int(effect.max()) + 1
        keys = cause.astype(np.int64) * n_effects + effect
        pairs, place, counts = np.unique(keys[known], return_inverse=True, return_counts=True)
        groups = pairs // n_effects
        order = np.lexsort((pairs, counts))  # the commonest last
        usual = np.zeros(n_causes, dtype=np.intp)
        most, size = np.zeros(n_causes, dtype=np.int64), np.zeros(n_causes, dtype=np.int64)
        usual[groups[order]] = pairs[order] % n_effects
        most[groups[order]] = counts[order]
        np.add.at(size, groups, counts)
        own = np.zeros(cause.size, dtype=np.int64)
        own[known] = counts[place]
        return cls(usual, most, size, own)

    @property
    def agreement(self) -> float:
        """Share of the rows that agree with the majority, one row of each group not counted."""
        groups = self.size >= 2
        return float((self.most[groups] - 1).sum() / max((self.size[groups] - 1).sum(), 1))

    @property
    def is_spread(self) -> bool:
        """Whether the exceptions hit about as many groups as independent errors would."""
        voted = self.most >= _VOTES
        most, size = self.most[voted], self.size[voted]
        share = 1 - most.sum() / max(size.sum(), 1)
        expected = (1 - (1 - share) ** size).sum()
        return bool((most < size).sum() >= _SPREAD * expected - 0.5)

    @property
    def n_majorities(self) -> int:
        """Number of groups with a majority."""
        return int((self.most >= _VOTES).sum())


def find_rules(columns: Sequence[WrittenColumn]) -> list[ColumnFinding]:
    """Rules that rows with the same A have the same B, each with the rows that break it.

    Examples
    --------
    >>> from shapley2d._inspection.columns.finding import written_columns
    >>> from shapley2d._tables.convert import as_table
    >>> city = ["Aa", "Bb", "Cc", "Cc"] * 5 + ["Aa", "Bb", "Cc", "Aa"]
    >>> X = {"zip": ["1", "2", "3", "4"] * 6, "city": city}
    >>> find_rules(written_columns(as_table(X)))[0].text
    "rows with the same 'zip' have the same 'city', except 1 row of 24"
    """
    rules = _choose(columns)
    judged = _judge(columns, rules)
    found = []
    for effect, causes in rules.items():
        verdict = judged[effect]
        rows = np.flatnonzero(verdict.chances >= _LEAST)
        if not rows.size:
            continue
        names = " or ".join(repr(columns[rule.cause].name) for rule in causes)
        usual = verdict.usual[rows].tolist()
        found.append(
            ColumnFinding(
                (columns[effect].name, *(columns[rule.cause].name for rule in causes)),
                "rule",
                f"rows with the same {names} have the same {columns[effect].name!r}, except "
                f"{counted(rows.size, 'row')} of {verdict.usual.size:,}",
                rows,
                {i: columns[effect].words[k] for i, k in zip(rows.tolist(), usual, strict=True)},
                float(verdict.chances[rows].mean()),
                verdict.chances[rows],
                verdict.right[rows],
            )
        )
    return found


def _judge(columns: Sequence[WrittenColumn], rules: dict[int, list[_Rule]]) -> dict[int, _Verdict]:
    """What all rules together say about the entries of every column that they are about."""
    applied = [
        _Applied.to(columns, rule.cause, effect)
        for effect, causes in rules.items()
        for rule in causes
    ]
    if not applied:
        return {}
    rows = np.flatnonzero(np.any([one.broken for one in applied], axis=0))
    wrong = blamed([one.tie(rows) for one in applied], n=columns[0].codes.size)
    judged = {}
    for effect in rules:
        about = [one for one in applied if one.effect == effect]
        broken = np.array([one.broken for one in about])
        empty = columns[effect].codes < 0
        chances = np.zeros(empty.size)
        chances[rows] = np.where(broken[:, rows].any(axis=0), wrong[effect], 0.0)
        speaks = np.array([one.speaks for one in about])
        agreed = np.array([one.agreed for one in about])
        # an empty cell says nothing against what the others say, if they agree
        of_empty = (speaks * agreed).sum(axis=0) / np.maximum(speaks.sum(axis=0), 1)
        chances[empty] = of_empty[empty]
        odds = np.array([one.odds for one in about])
        odds[:, rows] += np.log([1 - wrong[one.cause] for one in about])  # a wrong cause misleads
        surest = np.where(broken | (speaks & empty), odds, -np.inf)
        usual = np.array([one.usual for one in about])
        chosen = surest.argmax(axis=0), np.arange(empty.size)
        right = np.array([one.right for one in about])[chosen]
        judged[effect] = _Verdict(
            usual[chosen], np.minimum(chances, _MOST), np.minimum(right, _MOST)
        )
    return judged


@dataclass(frozen=True)
class _Applied:
    """A rule applied to every row; arrays of shape (n,)."""

    cause: int
    effect: int
    usual: NDArray[np.intp]
    speaks: NDArray[np.bool_]
    broken: NDArray[np.bool_]
    odds: NDArray[np.float64]
    lead: NDArray[np.float64]
    votes: NDArray[np.int64]
    agreed: NDArray[np.float64]
    right: NDArray[np.float64]
    stranger: NDArray[np.bool_]
    by_chance: float

    @classmethod
    def to(cls, columns: Sequence[WrittenColumn], j: int, k: int) -> _Applied:
        """Compare each row with the majority among the rows of the same cause."""
        cause, effect = columns[j].codes, columns[k].codes
        votes = _Votes.count(cause, effect)
        here = np.maximum(cause, 0)
        most, size = votes.most[here], votes.size[here]
        speaks = (cause >= 0) & (most >= _VOTES)
        differs = speaks & (effect != votes.usual[here])
        for some in (effect >= 0, effect < 0):
            speaks = speaks & ~_follow_another(columns, k, differs & some, speaks)
        ahead = (most - votes.own) / (most + votes.own + 1)
        share = most / np.maximum(size - (effect >= 0), 1)  # of the other rows
        shares = np.bincount(effect[effect >= 0]) / max(int((effect >= 0).sum()), 1)
        return cls(
            j,
            k,
            usual=votes.usual[here],
            speaks=speaks,
            broken=speaks & differs & (effect >= 0),
            odds=_LEAD[0] + _LEAD[1] * ahead,
            lead=np.maximum((2 * most - size) / (size + 1), 0.0),
            votes=most,
            stranger=~np.isin(effect, votes.usual[votes.most >= _VOTES]),
            agreed=0.5 + 0.5 * most / np.maximum(size, 1),
            right=1 / (1 + np.exp(-_SHARE[0] - _SHARE[1] * share)),
            by_chance=float((shares**2).sum()),
        )

    def tie(self, rows: NDArray[np.intp]) -> Tie:
        """The rule in some rows."""
        names = ("speaks", "broken", "odds", "lead", "votes", "stranger")
        cut = {name: getattr(self, name)[rows] for name in names}
        return Tie(self.cause, self.effect, **cut, by_chance=self.by_chance)


@dataclass(frozen=True)
class _Verdict:
    """The usual entry of every row, how likely the row's own is wrong, and of the usual right."""

    usual: NDArray[np.intp]
    chances: NDArray[np.float64]
    right: NDArray[np.float64]


def _choose(columns: Sequence[WrittenColumn]) -> dict[int, list[_Rule]]:
    """The strongest rules for each column."""
    n = columns[0].codes.size if columns else 0
    some = np.arange(n)
    random = np.random.default_rng(0)
    if n > _SCREENED:
        some = np.sort(random.permutation(n)[:_SCREENED])
    parts = [column.codes[some] for column in columns]
    n_different = [np.unique(part[part >= 0]).size for part in parts]
    is_number = [column.column.kind in ("number", "date") for column in columns]
    telling = [
        j for j, different in enumerate(n_different) if 1 < different <= _MAX_GROUPS * some.size
    ]
    worth = NormalDist().inv_cdf(1 - _CHANCE / max(len(telling) * (len(telling) - 1), 1))
    found: dict[int, list[_Rule]] = {}
    for effect, cause in permutations(telling, 2):
        if is_number[cause] and n_different[cause] > _MAX_NUMBERS * some.size:
            continue
        known = (parts[cause] >= 0) & (parts[effect] >= 0)
        if not known.any():
            continue
        order = _order(columns[cause]) if is_number[cause] else None
        lift = _lift(parts[cause][known], parts[effect][known], order)
        if lift and _beats_shuffled(parts[cause][known], parts[effect][known], worth, random):
            found.setdefault(effect, []).append(_Rule(cause, lift))
    return {effect: _strongest(rules) for effect, rules in found.items()}


def _strongest(rules: list[_Rule]) -> list[_Rule]:
    rules = sorted(rules, key=lambda rule: (-rule.lift, rule.cause))
    return [rule for rule in rules if rule.lift >= rules[0].lift - _WEAKER][:_PER_COLUMN]


def _order(column: WrittenColumn) -> NDArray[np.intp]:
    """The distinct texts of a column of numbers or dates from the smallest to the largest."""
    numbers = np.full(len(column.words), np.nan)
    written = column.codes >= 0
    numbers[column.codes[written]] = column.column.entries[written]
    return np.argsort(numbers, kind="stable")


def _lift(
    cause: NDArray[np.intp], effect: NDArray[np.intp], order: NDArray[np.intp] | None
) -> float:
    """Part of the entries other than the commonest that a cause explains in the other rows.

    0.0 where that is too little for a rule, or the exceptions are not spread like errors. Numbers
    next to each other often go with the same entry, as amounts do: with an ``order``, what the
    next number explains as well does not count.
    """
    if (np.bincount(cause)[cause] >= 2).mean() < _COVERED:
        return 0.0
    votes = _Votes.count(cause, effect)
    commonest = np.bincount(effect).max() / effect.size
    base = (
        commonest
        if order is None
        else max(commonest, _agree_with_next(votes, cause, effect, order))
    )
    lift = (votes.agreement - base) / (1 - base) if base < 1 else 0.0
    n = votes.n_majorities
    is_strong = lift >= _LIFT and n >= _MIN_GROUPS
    is_of_things = lift >= _LIFT_OF_THINGS and commonest <= _HARDLY and n >= _THINGS
    return lift if (is_strong or is_of_things) and votes.is_spread else 0.0


def _agree_with_next(
    votes: _Votes, cause: NDArray[np.intp], effect: NDArray[np.intp], order: NDArray[np.intp]
) -> float:
    """Share of the rows whose effect is the usual one of the next number."""
    present = order[np.isin(order, cause)]
    if present.size < 2:  # one number in all rows whose effect is known
        return 0.0
    following = np.zeros(int(cause.max()) + 1, dtype=np.intp)
    following[present] = np.append(present[1:], present[-2:-1])
    return float((votes.usual[following[cause]] == effect).mean())


def _beats_shuffled(
    cause: NDArray[np.intp],
    effect: NDArray[np.intp],
    worth: float,
    random: np.random.Generator,
) -> bool:
    """Whether shuffled effects agree so much less that no try among all pairs explains it."""
    shuffled = [_Votes.count(cause, random.permutation(effect)).agreement for _ in range(_SHUFFLES)]
    far = float(np.mean(shuffled) + worth * np.std(shuffled, ddof=1))
    return _Votes.count(cause, effect).agreement > max(far, *shuffled)


def _follow_another(
    columns: Sequence[WrittenColumn],
    effect: int,
    broken: NDArray[np.bool_],
    speaks: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Rows that break a rule together with all rows that share another entry of theirs."""
    regular = np.zeros(broken.size, dtype=bool)
    for j, column in enumerate(columns):
        if j == effect:
            continue
        at = speaks & (column.codes >= 0)
        codes = column.codes[at]
        rows = np.bincount(codes, minlength=len(column.words))
        breaches = np.bincount(codes, broken[at], minlength=len(column.words))
        group = (rows >= _REGULAR_ROWS) & (breaches >= _REGULAR * rows)
        regular |= np.append(group, False)[column.codes]
    return regular & broken
