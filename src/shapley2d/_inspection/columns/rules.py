"""Approximate functional dependencies, and the rows that break them.

A dependency A -> B says that rows with the same A have the same B: the rows of one flight have one
departure. (TANE, Huhtala et al. 1999, doi:10.1093/comjnl/42.2.100, finds them all; here A is one
column, and few are kept.) Many columns go together without such a rule, so it must pass two
tests:

1. Of the rows 95 % obey it, and it explains nearly all that the commonest entry does not; or, where
   several sources tell about the same thing, it explains much of it. A thing has a name and is no
   number; and its Bs are so different that rows can hardly agree by chance.
2. Its exceptions are spread over the groups as errors are. Two towns of the same name in two
   states break a rule in one group, again and again: they are no errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted
from shapley2d._inspection.binning import MOST_CATEGORIES
from shapley2d._inspection.columns.blame import Tie, blamed
from shapley2d._inspection.columns.finding import COMMON, HABIT, LOW, SCREENED, SUREST, logistic

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

# Set on four dirty tables whose truth is known, on their clean twins and on nine other clean
# tables: all pairs of columns of which a third of B or more is explained.
_LIFT, _LIFT_OF_THINGS = 0.8, 0.45
"""Part of the entries other than the commonest that a rule explains at least; the second where
several sources tell about the same thing."""
_THINGS = 20  # groups that are needed then
_SPREAD = 0.7  # groups with exceptions, as a part of those that independent errors would hit
_VOTES = 3  # rows of a group that make a majority, and groups with one that make a rule
_LEAD = 6.0
"""What the lead of the majority adds to the logit that a wrong entry broke a rule, and not an
exception to it. Where the majority is unanimous, that logit is how rare exceptions in company are:
rows of a group that share another entry. In tables as in benchmarks/calibration.py 87 % of the
entries that rules call 86 % likely wrong are wrong; by the lead alone it was 39 %."""
_SHARE = (-4.0, 9.0)
"""Logit of the chance that the majority is right, by its share among the other rows of its group:
.45 gives .51, .6 .8, .8 .96. Set on 2,442 wrong entries of flights; in hospital and beers, whose
majorities are clear, all were right."""
_REGULAR, _REGULAR_ROWS = 0.9, 5
"""Where this share of the rows of a group breaks a rule, and at least so many, the group follows
another rule: all hospitals of another state have another average."""


@dataclass(frozen=True)
class _Votes:
    """The majority of every group: rows with the same cause."""

    usual: NDArray[np.intp]  # the commonest effect of every group
    most: NDArray[np.int64]  # its rows
    size: NDArray[np.int64]  # all rows of the group whose effect is known
    own: NDArray[np.int64]  # (n,): rows of its group that have a row's own effect; 0 if missing

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


def find_rules(
    columns: Sequence[ColumnView], measured: Collection[str] = ()
) -> Iterator[ColumnFinding]:
    """Dependencies between two columns, each with the rows that break it.

    Of columns of text, those ``measured`` hold numbers with a unit.
    """
    rules = _choose(columns, measured)
    ties = [_tie(columns, cause, effect) for effect, causes in rules.items() for cause in causes]
    if not ties:
        return
    broken = np.flatnonzero(np.any([one.broken for one in ties], axis=0))
    wrong = blamed([one.take(broken) for one in ties], n=columns[0].codes.size)
    for effect, causes in rules.items():
        about = [one for one in ties if one.effect == effect]
        usual, chances, right = _judge(columns[effect], about, broken, wrong)
        rows = np.flatnonzero(chances >= LOW)
        if not rows.size:
            continue
        names = tuple(columns[cause].name for cause in causes)
        words, best = columns[effect].words, usual[rows].tolist()
        same, name = f"rows with the same {' or '.join(map(repr, names))}", columns[effect].name
        n_differ = int((columns[effect].codes[rows] >= 0).sum())
        differ = f"{counted(n_differ, 'row')} of {usual.size:,}"
        text = f"{same} have the same {name!r}{f', except {differ}' if n_differ else ''}"
        if n_differ > HABIT * usual.size:  # no rule, but sources that contradict each other
            text = f"{same} contradict each other in {name!r}: {differ} differ from the commonest"
        if n_differ < rows.size:
            text += f"; it tells {counted(rows.size - n_differ, 'empty entry', 'empty entries')}"
        yield columns[effect].finding(
            "rule",
            text,
            rows,
            {i: words[k] for i, k in zip(rows.tolist(), best, strict=True)},
            chances[rows],
            depends_on=names,
            right=right[rows],
        )
    for cause in wrong.keys() - rules.keys():
        rows = broken[wrong[cause] >= LOW]
        names = tuple(columns[one.effect].name for one in ties if one.cause == cause)
        if rows.size:
            yield columns[cause].finding(
                "rule",
                f"{columns[cause].entries(rows, 'contradicts', 'contradict')} "
                f"{' or '.join(map(repr, names))} of other rows: check which of the two is wrong",
                rows,
                chance=np.minimum(wrong[cause][wrong[cause] >= LOW], SUREST),
                depends_on=names,
            )


def _judge(
    column: ColumnView,
    rules: list[Tie],
    broken_rows: NDArray[np.intp],
    wrong: dict[int, NDArray[np.float64]],
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """The usual entry of every row by the surest rule, how likely its own is wrong, this right."""
    empty = column.codes < 0
    broken, speaks, odds, usual, votes, size = (
        np.array([getattr(one, name) for one in rules])
        for name in ("broken", "speaks", "odds", "usual", "votes", "size")
    )
    chances = np.zeros(empty.size)
    chances[broken_rows] = np.where(broken[:, broken_rows].any(axis=0), wrong[rules[0].effect], 0.0)
    # an empty cell says nothing against what the others say, if they agree
    agreed = (speaks * (0.5 + 0.5 * votes / np.maximum(size, 1))).sum(axis=0)
    chances[empty] = (agreed / np.maximum(speaks.sum(axis=0), 1))[empty]
    # a wrong cause misleads
    odds[:, broken_rows] += np.log([1 - wrong[one.cause] for one in rules])
    surest = np.where(broken | (speaks & empty), odds, -np.inf).argmax(axis=0)
    chosen = surest, np.arange(empty.size)
    share = (votes / np.maximum(size - ~empty, 1))[chosen]  # of the other rows
    right = logistic(_SHARE[0] + _SHARE[1] * share)
    return usual[chosen], np.minimum(chances, SUREST), np.minimum(right, SUREST)


def _tie(columns: Sequence[ColumnView], j: int, k: int) -> Tie:
    """A dependency applied: each row against the majority among the rows of the same cause."""
    cause, effect = columns[j].codes, columns[k].codes
    groups = _Votes.count(cause, effect)
    here = np.maximum(cause, 0)
    most = groups.most[here]
    speaks = (cause >= 0) & (most >= _VOTES)
    differs = speaks & (effect != groups.usual[here])
    for some in (effect >= 0, effect < 0):
        speaks = speaks & ~_follow_another(columns, k, differs & some, speaks)
    ahead = (most - groups.own) / (most + groups.own + 1)
    shares = np.bincount(effect[effect >= 0]) / max(int((effect >= 0).sum()), 1)
    broken = speaks & differs & (effect >= 0)
    in_company = (int((broken & (groups.own > 1)).sum()) + 0.5) / (int(speaks.sum()) + 1)
    return Tie(
        j,
        k,
        speaks=speaks,
        broken=broken,
        odds=_LEAD * (ahead - 1) - np.log(in_company),
        usual=groups.usual[here],
        votes=most,
        size=groups.size[here],
        stranger=~np.isin(effect, groups.usual[groups.most >= _VOTES]),
        by_chance=float((shares**2).sum()),
    )


def _choose(columns: Sequence[ColumnView], measured: Collection[str]) -> dict[int, list[int]]:
    """The causes of each column that a rule is about, the strongest first."""
    n = columns[0].codes.size if columns else 0
    random = np.random.default_rng(0)
    some = np.arange(n)
    if n > SCREENED:
        some = np.sort(random.permutation(n)[:SCREENED])
    parts = [column.codes[some] for column in columns]
    n_distinct = [np.unique(part[part >= 0]).size for part in parts]
    is_number = [column.column.kind in ("number", "date") for column in columns]
    varied = [j for j, one in enumerate(n_distinct) if 1 < one <= MOST_CATEGORIES * some.size]
    found: dict[int, list[tuple[float, int]]] = {}
    for effect, cause in permutations(varied, 2):
        known = (parts[cause] >= 0) & (parts[effect] >= 0)
        if not known.any():
            continue
        order = _order(columns[cause]) if is_number[cause] else None
        is_name = order is None and columns[cause].name not in measured
        lift = _lift(parts[cause][known], parts[effect][known], order, is_name=is_name)
        if lift:
            found.setdefault(effect, []).append((-lift, cause))
    return {effect: [cause for _, cause in sorted(rules)] for effect, rules in found.items()}


def _order(column: ColumnView) -> NDArray[np.intp]:
    """The distinct texts of a column of numbers or dates from the smallest to the largest."""
    numbers = np.full(len(column.words), np.nan)
    written = column.codes >= 0
    numbers[column.codes[written]] = column.column.entries[written]
    return np.argsort(numbers, kind="stable")


def _lift(
    cause: NDArray[np.intp],
    effect: NDArray[np.intp],
    order: NDArray[np.intp] | None,
    *,
    is_name: bool,
) -> float:
    """Part of the entries other than the commonest that a cause explains in the other rows.

    0.0 where that is too little for a rule, or the exceptions are not spread like errors. Numbers
    next to each other often go with the same entry, as amounts do: with an ``order``, what the
    next number explains as well does not count.
    """
    votes = _Votes.count(cause, effect)
    commonest = np.bincount(effect).max() / effect.size
    base = commonest
    if order is not None:
        base = max(commonest, _agree_with_next(votes, cause, effect, order))
    lift = (votes.agreement - base) / (1 - base) if base < 1 else 0.0
    n = int((votes.most >= _VOTES).sum())
    is_strong = votes.agreement >= 1 - HABIT and lift >= _LIFT and n >= _VOTES
    is_rare = commonest <= COMMON and n >= _THINGS
    is_of_things = is_name and is_rare and lift >= _LIFT_OF_THINGS
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


def _follow_another(
    columns: Sequence[ColumnView],
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
