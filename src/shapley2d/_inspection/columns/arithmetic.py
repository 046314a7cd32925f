"""Rules of arithmetic between columns, and the rows that break them.

``a = b + c``, ``a = b + c + d``, ``a = b * c`` and ``a = b * c * (1 - d)``, with d as a fraction or
in percent, and a constant times b, up to the decimals that a shows; and dates of which one is never
before the other. A rule must hold in 19 of 20 of the rows in which it says something: those in
which it would not hold if one of its columns were shuffled.

Candidates are found in a few rows: all pairs and triples of numbers of a row, and which numbers of
the row their sum and their product are. Other rows leave few of them.

Which entry broke a rule is a question for Bayes' rule again: one of them is wrong, and the rule
says what it was then. The likeliest is the one whose new number is usual in its column, whose old
one is not, and which a slip explains (:mod:`~shapley2d._inspection.columns.typed`). Or none is
wrong, and the row is an exception to the rule, as others that are off by as much: a second tax
rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.words import counted
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.finding import (
    HABIT,
    LOW,
    RARE,
    SCREENED,
    SUREST,
    UNKNOWN,
    UNSURE,
)
from shapley2d._inspection.columns.typed import MOST_SUSPECTS, Slips

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

_TRIED = 80  # rows in which rules are tried; a fifth of them is searched for rules
_ONE = -1  # in the place of a factor that a rule does not have: a column of ones, and no rate
_NONE = -2  # among the suspects of a row: none of them, the row is an exception


@dataclass(frozen=True)
class _Numbers:
    columns: list[ColumnView]
    values: Floats  # (m + 1, n), the ones last
    steps: Floats  # (m,): of the last decimal that a column shows
    # (m + 1,): what 1 is in a column of rates; 0.0 where it holds none
    rates: Floats

    @classmethod
    def of(cls, columns: Sequence[ColumnView]) -> _Numbers:
        chosen, values, steps, rates = [], [], [], []
        for one in columns:
            entries = one.column.entries
            known = np.flatnonzero(~np.isnan(entries))
            if one.column.kind != "number" or known.size < FEWEST_ROWS:
                continue
            low, high = float(entries[known].min()), float(entries[known].max())
            if low < high:
                some = one.column.take(known[:: -(-known.size // SCREENED)])
                chosen.append(one)
                values.append(entries)
                steps.append(Slips.of(some).step)
                rates.append(0.0 if low < 0 or high > 100 else 100.0 if high > 1 else 1.0)
        ones = np.ones(values[0].size if values else 0)
        return cls(chosen, np.array([*values, ones]), np.array(steps), np.array([*rates, np.inf]))


@dataclass(frozen=True)
class _Rule:
    """A rule between columns of numbers: a, b, and c, d or a constant factor where it has them."""

    numbers: _Numbers
    is_sum: bool
    places: tuple[int, int, int, int]
    factor: float = 1.0

    def gives(self, values: Floats, k: int) -> Floats:
        """What the rule says of its k-th column, by the others; ``values`` in their order."""
        a, b, c, d = values
        rate = self.numbers.rates[self.places[3]]
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.is_sum:
                d = d * (self.places[3] != _ONE)
                found = (b + c + d, a - c - d, a - b - d, a - b - c)[k]
            else:
                b, rest = b * self.factor, 1 - d / rate
                of_b = a / (c * rest * self.factor)
                found = (b * c * rest, of_b, a / (b * rest), rate * (1 - a / (b * c)))[k]
        return np.asarray(found)

    def of(self, rows: Ints | slice) -> Floats:
        """The numbers of some rows, of shape (4, rows)."""
        return self.numbers.values[:, rows][list(self.places)]

    def holds(self, values: Floats, steps: float = 1.0) -> Bools:
        """Where the rule holds, up to one in the last decimal of a, as where parts are rounded.

        Up to half of it where a constant times one column is rounded.
        """
        off = np.abs(self.gives(values, 0) - values[0])
        most = (
            1.0001 * steps * (1.0 if self.factor == 1 else 0.5) * self.numbers.steps[self.places[0]]
        )
        return np.asarray(off <= most + 1e-9 * np.abs(values[0]))

    def __str__(self) -> str:
        columns, rates = self.numbers.columns, self.numbers.rates
        a, b, c, d = (repr(columns[k].name) if k != _ONE else "" for k in self.places)
        if self.is_sum:
            return f"{a} = {b} + {c}{f' + {d}' if d else ''}"
        if self.factor != 1:
            return f"{a} = {self.factor:g} x {b}"
        percent = " / 100" if rates[self.places[3]] == 100 else ""
        return f"{a} = {b}{f' x {c}' if c else ''}{f' x (1 - {d}{percent})' if d else ''}"


def find_arithmetic(columns: Sequence[ColumnView]) -> Iterator[ColumnFinding]:
    """Rules of arithmetic with exceptions, each with the entries that likely broke it."""
    numbers = _Numbers.of(columns)
    if len(numbers.columns) >= 2 and math.comb(len(numbers.columns), 2) <= SCREENED:
        best: dict[int | frozenset[int], tuple[float, int, _Rule]] = {}
        for rule in _candidates(numbers):
            share = _share_broken(rule)
            # a constant's rule may stand beside another one, but not beside its inverse
            about = rule.places[0] if rule.factor == 1 else frozenset(rule.places)
            if share < HABIT:
                found = share, len(str(rule)), rule
                best[about] = min(best.get(about, found), found, key=lambda one: one[:2])
        yield from _exceptions(numbers, [rule for *_, rule in best.values()])
    yield from _starts_after_ends(columns)


def _candidates(numbers: _Numbers) -> list[_Rule]:
    """Rules that hold in nearly all of a few rows."""
    random = np.random.default_rng(0)
    n = numbers.values.shape[1]
    rows = random.choice(n, min(n, _TRIED), replace=False)
    m = len(numbers.columns)
    b, c = np.triu_indices(m, 1)
    none = np.full(b.size, _ONE)
    rates = np.flatnonzero(numbers.rates[:m])
    # the pairs of b and c, b alone, and each with a rate d
    pairs = np.column_stack([(b, c), (np.arange(m), np.full(m, _ONE))])
    with_rates = np.array([*np.repeat(pairs, rates.size, axis=1), np.tile(rates, pairs.shape[1])])
    with_rates = with_rates[:, (with_rates[:2] != with_rates[2]).all(axis=0)]
    sums = two = np.array([b, c, none])
    if math.comb(m, 3) <= SCREENED:
        sums = np.column_stack([two, *combinations(range(m), 3)])
    found = _proportions(numbers, rows)
    for is_sum, forms in ((True, sums), (False, np.column_stack([two, with_rates]))):
        left: set[tuple[int, int, int, int]] = set()
        for row in rows[: _TRIED // 5].tolist():
            tried = _started(numbers, forms, row, is_sum=is_sum)
            fails = np.zeros(tried.shape[1])
            for k, other in enumerate(rows.tolist()):
                given = _given(numbers, tried[1:], other, is_sum=is_sum)
                off = np.abs(given - numbers.values[tried[0], other])
                fails += off > 1.0001 * numbers.steps[tried[0]] + 1e-9 * np.abs(given)
                kept = fails <= 1 + k / 8
                tried, fails = tried[:, kept], fails[kept]
                if not fails.size:
                    break
            left |= {(a, b, c, d) for a, b, c, d in tried.T.tolist()}
        found += [_Rule(numbers, is_sum, form) for form in sorted(left)]
    return found


def _proportions(numbers: _Numbers, rows: Ints) -> list[_Rule]:
    """Columns that are a constant times another one; the shortest constant that will do."""
    found, some = [], numbers.values[:-1, rows]
    for b, of_b in enumerate(some):
        with np.errstate(all="ignore"):
            ratios = np.nan_to_num(some / of_b, posinf=0.0, neginf=0.0)
        low, middle, high = np.quantile(ratios, [0.2, 0.5, 0.8], axis=1)
        for a in np.flatnonzero((middle != 0) & (high - low <= 0.01 * np.abs(middle))).tolist():
            shortest = {float(f"{middle[a]:.{k}g}") for k in range(1, 7)} - {0.0, 1.0}
            places = a, b, _ONE, _ONE
            if a != b:
                found += [
                    _Rule(numbers, is_sum=False, places=places, factor=one)
                    for one in sorted(shortest)
                ]
    return found


def _given(numbers: _Numbers, forms: Ints, row: int, *, is_sum: bool) -> Floats:
    """What many forms of b, c and d give in one row."""
    b, c, d = numbers.values[forms, row]
    if is_sum:
        return np.asarray(b + c + d * (forms[2] != _ONE))
    return np.asarray(b * c * (1 - d / numbers.rates[forms[2]]))


def _started(numbers: _Numbers, forms: Ints, row: int, *, is_sum: bool) -> Ints:
    """The forms that give another number of a row, each with its column.

    Not those that would give it with one part less: adding nothing, and multiplying by 1.
    """
    line = numbers.values[:-1, row]
    b, c, d = numbers.values[forms, row]
    neutral = 0.0 if is_sum else 1.0
    says = (b != neutral) & ((c != neutral) | (forms[1] == _ONE)) & ((d != 0) | (forms[2] == _ONE))
    given = _given(numbers, forms, row, is_sum=is_sum)
    says &= np.isfinite(given) & (given != 0)
    forms, given = forms[:, says], given[says]
    found = [np.zeros((4, 0), dtype=np.intp)]
    for step in np.unique(numbers.steps).tolist():
        of_step = np.flatnonzero((numbers.steps == step) & ~np.isnan(line))
        order = of_step[np.argsort(line[of_step])]
        low = np.searchsorted(line[order], given - step)
        high = np.searchsorted(line[order], given + step, "right")
        which = np.repeat(np.arange(given.size), high - low)
        after = np.arange(which.size) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
        targets = order[low[which] + after]
        other = (forms[:, which] != targets).all(axis=0)
        found.append(np.vstack([targets[other], forms[:, which[other]]]))
    return np.column_stack(found)


def _share_broken(rule: _Rule) -> float:
    """Rows that break a rule, as a part of those that break it with one of its columns shuffled."""
    random = np.random.default_rng(0)
    n = rule.numbers.values.shape[1]
    values = rule.of(random.choice(n, min(n, SCREENED), replace=False))
    values = values[:, ~np.isnan(values).any(axis=0)]
    if values.shape[1] < FEWEST_ROWS:
        return 1.0
    a, *parts = (k for k in rule.places if k != _ONE)
    steps = rule.numbers.steps
    # a few whole numbers are roughly so many times others, or the sum of fractions
    is_rough = rule.factor != 1 or (rule.is_sum and steps[parts].min() < steps[a])
    if is_rough and np.subtract(*np.quantile(values[0], [0.9, 0.1])) < 100 * steps[a]:
        return 1.0
    broken = float((~rule.holds(values)).mean())
    shuffled = []
    for k, place in enumerate(rule.places):
        if place != _ONE:
            other = values.copy()
            other[k] = random.permutation(other[k])
            shuffled.append(float((~rule.holds(other)).mean()))
    by_chance = min(shuffled)
    if by_chance * values.shape[1] < FEWEST_ROWS or broken > HABIT:
        return 1.0
    return broken / by_chance


class _Suspect(NamedTuple):
    """An entry that may have broken a rule: how likely so, what the rule gives, how surely."""

    weight: float
    new: float
    sure: float
    is_empty: bool


def _exceptions(numbers: _Numbers, rules: list[_Rule]) -> Iterator[ColumnFinding]:
    """The entries that likely broke rules, by rule and column."""
    used = {k for rule in rules for k in rule.places if k != _ONE}
    slips = {k: Slips.of(numbers.columns[k].column) for k in used}
    judged = [_Judged.of(rule, slips) for rule in rules]
    for one in judged:
        others = [other for other in judged if other is not one]
        wrong: dict[int, list[tuple[int, str, float, float]]] = {}
        for i, suspects in one.suspects.items():
            for k, chance in _agreed(i, suspects, others, numbers.steps):
                if chance >= LOW:
                    text = str(slips[k].writer.text(suspects[k].new, exact=True))
                    wrong.setdefault(k, []).append((i, text, chance, suspects[k].sure))
        for k, found in sorted(wrong.items()):
            which, texts, chances, right = zip(*found, strict=True)
            column = numbers.columns[k]
            names = [numbers.columns[o].name for o in one.rule.places if o not in (k, _ONE)]
            yield column.finding(
                "arithmetic",
                f"{one.rule}, except in {counted(one.n_broken, 'row')} of "
                f"{one.n_known:,}: {column.entries(np.array(which), 'may', 'may')} be wrong",
                np.array(which, dtype=np.intp),
                dict(zip(which, texts, strict=True)),
                np.array(chances),
                depends_on=tuple(names),
                right=np.array(right),
            )


@dataclass(frozen=True)
class _Judged:
    """A rule, and by row and column the entries that may have broken it."""

    rule: _Rule
    n_known: int
    n_broken: int
    holds: Bools
    suspects: dict[int, dict[int, _Suspect]]

    @classmethod
    def of(cls, rule: _Rule, slips: dict[int, Slips]) -> _Judged:
        every = rule.of(slice(None))
        empty = np.isnan(every)
        known = ~empty.any(axis=0)
        broken = known & ~rule.holds(every)
        # one empty cell, in a column with few of them, follows from the others
        fills = (empty.sum(axis=0) == 1) & (empty.mean(axis=1)[empty.argmax(axis=0)] <= RARE)
        # where no part is rounded, the rule tells the last decimal too
        is_exact = (known & ~rule.holds(every, 0.5)).mean() <= RARE
        rows = np.flatnonzero(broken | fills)[:MOST_SUSPECTS].tolist()
        steps = 0.5 if is_exact else 1.0
        suspects = {i: dict(_suspects(rule, slips, every[:, i], steps)) for i in rows}
        broken_rows = np.flatnonzero(broken)[:MOST_SUSPECTS]
        given, entries = rule.gives(every[:, broken_rows], 0), every[0, broken_rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            off = entries - given if rule.is_sum else entries / given
        column = slips[rule.places[0]]
        meant = column.writer.rounded(given).tolist()
        # others that are off by as much, up to the last decimal; not by a slip of one kind
        no_slip = [
            column.typed(*pair) <= RARE for pair in zip(entries.tolist(), meant, strict=True)
        ]
        others = off[np.isfinite(off) & np.array(no_slip, dtype=bool)]
        for i, entry, one in zip(broken_rows.tolist(), entries, given, strict=True):
            alike = one + others if rule.is_sum else one * others
            company = max(int((np.abs(alike - entry) <= 1.0001 * column.step).sum()) - 2, 0)
            alone = column.share(float(entry), less=1) / 2  # in company, the others tell the entry
            parts = zip(rule.places[1:], every[1:, i].tolist(), strict=True)
            row = math.prod(slips[k].share(x, less=1) for k, x in parts if k != _ONE)
            weight = row * (alone + company) / known.sum() / RARE
            suspects.setdefault(i, {})[_NONE] = _Suspect(weight, 0.0, 0.0, is_empty=False)
        return cls(rule, int(known.sum()), int(broken.sum()), known & ~broken, suspects)


def _agreed(
    i: int, suspects: dict[int, _Suspect], others: list[_Judged], steps: Floats
) -> Iterator[tuple[int, float]]:
    """How likely each suspect of a row is wrong, in view of the other rules.

    An entry with which another rule holds is right. Where one entry explains several broken rules,
    and these give the same instead, it is that one.
    """
    right = {k for other in others if other.holds[i] for k in other.rule.places}
    weights = {k: one.weight for k, one in suspects.items() if k not in right}
    weights = weights or {k: one.weight for k, one in suspects.items()}
    for other in (one.suspects.get(i, {}) for one in others):
        both = {
            k: weight * other[k].weight
            for k, weight in weights.items()
            if k in other
            and k != _NONE
            and np.isclose(other[k].new, suspects[k].new, RARE, steps[k])
        }
        if both:
            weights = both
    total = sum(weights.values())
    for k, weight in weights.items():
        if total > 0 and k != _NONE:
            yield k, UNKNOWN if suspects[k].is_empty else min(weight / total, SUREST)


def _suspects(
    rule: _Rule, slips: dict[int, Slips], values: Floats, steps: float
) -> Iterator[tuple[int, _Suspect]]:
    """The entries of a row that may have broken a rule, by column."""
    parts = [(k, place) for k, place in enumerate(rule.places) if place != _ONE]
    empty = [k for k, _ in parts if np.isnan(values[k])]
    for k, place in parts:
        slip, raw = slips[place], float(rule.gives(values, k))
        if not np.isfinite(raw) or (empty and k not in empty):
            continue
        new = float(slip.writer.rounded(np.array(raw)))
        tried = np.array([values] * 3)
        tried[:, k] = new, new - slip.step, new + slip.step
        holds = rule.holds(tried.T, steps)
        if not holds[0]:
            continue  # it would have more decimals than its column
        # a follows from the others; how likely are they, with this one corrected?
        row = np.prod(
            [
                slips[o].share(new) if m == k else slips[o].share(float(values[m]), less=1)
                for m, o in parts
                if m
            ]
        )
        typed = 1.0 if empty else slip.typed(float(values[k]), new)
        sure = SUREST if k == 0 or not holds[1:].any() else UNSURE
        yield place, _Suspect(float(row) * typed, new, sure, bool(empty))


def _starts_after_ends(columns: Sequence[ColumnView]) -> Iterator[ColumnFinding]:
    """Dates of which one is never before the other, except in a few rows."""
    dates = [one for one in columns if one.column.kind == "date"]
    random = np.random.default_rng(0)
    for early, late in permutations(dates, 2):
        start, end = early.column.entries, late.column.entries
        known = np.flatnonzero(~np.isnan(start) & ~np.isnan(end))
        rows = known[start[known] > end[known]]
        by_chance = (
            float((random.permutation(start[known]) > end[known]).mean()) if known.size else 0.0
        )
        if not 0 < rows.size <= HABIT * known.size * by_chance or known.size < FEWEST_ROWS:
            continue
        # a date beyond nearly all others of its column is the wrong one of the two
        odd = {
            one.name: ~(low <= one.column.entries[rows]) | (one.column.entries[rows] > high)
            for one in (early, late)
            for low, high in [np.nanquantile(one.column.entries, [RARE / 4, 1 - RARE / 4])]
        }
        for one, other in ((early, late), (late, early)):
            chances = np.where(odd[one.name] == odd[other.name], UNKNOWN, 0.0)
            chances[odd[one.name] & ~odd[other.name]] = UNSURE
            kept = chances > 0
            if kept.any():
                yield one.finding(
                    "start after end",
                    f"{early.name!r} is never after {late.name!r}, except in "
                    f"{counted(rows.size, 'row')} of {known.size:,}: check which of the two is "
                    "wrong",
                    rows[kept],
                    chance=chances[kept],
                    depends_on=(other.name,),
                )
