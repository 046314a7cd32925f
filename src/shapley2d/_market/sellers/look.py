"""A look at every seller: what is odd about its rows, beside the validation rows and in words.

An *alarm* says that something was made: near copies, cells that two claim, a column that others'
columns give. *Information* says that a seller is unusual, as honest ones are: other rows than the
validation rows, labels that others' rows do not bear out. P-values are corrected for all sellers
and tests together; what is about two parties names both and accuses neither.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.clusters import equal_lines
from shapley2d._base.streams import generator
from shapley2d._base.words import counted, plural
from shapley2d._market.sellers.chances import corrected, count_p_value, excess_p_value
from shapley2d._market.sellers.forest import (
    forest_features,
    how_computable,
    label_losses,
    tell_apart,
)
from shapley2d._market.sellers.points import Points
from shapley2d._market.sellers.twins import gaps, usual_distance
from shapley2d._market.sellers.units import FEWEST_ROWS, together, units_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._base.progress import Report
    from shapley2d._market.regions import Regions
    from shapley2d._market.sellers.units import Unit
    from shapley2d._tables.problem import Tables
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

LEVEL = 0.001
"""The chance of any alarm where all sellers are honest, as far as rows are independent."""

_TOLD = 0.01  # the same of information, which accuses nobody

MOST_ROWS = 500
"""Rows of a seller, and validation rows, that are compared; of more, a random sample."""

VALIDATION = "the validation table"

WHAT = {
    "others": "near copies of each other's rows",
    "own": "near copies of its own rows",
    "valid": "near copies of validation rows",
    "claims": "cells that both claim",
    "columns": "a column that others' columns give",
    "labels": "labels unlike those of others' rows",
    "different": "different from the validation rows",
}
"""What may be seen of a seller, by a short name."""

_SHOWN = 3  # rows that make a count worth a sentence
_PAIRS = 20  # of owners who claim the same cells, listed at most
_COMPUTABLE = 0.9  # R squared; of honest columns, not twice the same, at most 0.87 in four tables
_COLUMN_ROWS, _MOST_COLUMNS = 1000, 100  # that are compared; of more, a random sample


class Alarm(NamedTuple):
    """What was seen of a seller."""

    owner: str
    what: str  # one of the words of WHAT
    victim: str  # the other party, or parties, that it is about; empty if there is none
    sentence: str  # the evidence
    # the chance to see this of a seller whose rows come from where the validation rows come from;
    # None where it is a fact
    p: float | None
    alarm: bool = True  # whether it says that something was made; else it is information


class _Test(NamedTuple):
    """A p-value, and what makes an alarm of it; None where the evidence is too thin."""

    p: float
    tell: Callable[[], Alarm | None]


@dataclass(frozen=True)
class Look:
    """What was seen, and what was looked at in words."""

    alarms: list[Alarm]  # and information, which comes last
    words: str

    def record(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return {"words": self.words, "alarms": [alarm._asdict() for alarm in self.alarms]}


def look_at_sellers(
    tables: Tables, regions: Regions, seed: int, report: Report | None = None
) -> Look:
    """Look at the rows of every owner as they were read, copies too; unclaimed rows are left out.

    Without a validation table only claims are looked at. ``seed`` is of the samples and forests.
    """
    if tables.split is None:
        words = (
            "The sellers' rows were not looked at: that needs a validation table, which no seller "
            "has seen."
        )
        return Look(list(double_claims(regions)), words)
    rows = _Rows(tables.table, tables.target, tables.split.valid, tables.split.y_valid, regions)
    units = units_of(regions, rows.table.n_columns)
    alarms: list[_Test] = []
    notes: list[_Test] = []
    for k, unit in enumerate(units):
        if report is not None:
            report(k / len(units), f"looking at {unit.name}")
        if rows.valid.n_rows >= FEWEST_ROWS:
            seller = _Seller(unit, rows, generator(seed, "sellers", k))
            alarms.extend(seller.alarms())
            notes.extend(seller.notes())
    columns = _computed_columns(rows, generator(seed, "sellers", len(units)))
    once: dict[Any, Alarm] = {}  # of two parties: either may have been tested beside the other
    for alarm in _significant(alarms, LEVEL):
        once.setdefault((alarm.what, frozenset((alarm.owner, alarm.victim))), alarm)
    seen = [*double_claims(regions), *columns, *once.values()]
    told = [alarm._replace(alarm=False) for alarm in _significant(notes, _TOLD)]
    sampled = max([rows.valid.n_rows, *(unit.rows.size for unit in units)]) > MOST_ROWS
    words = _words(len(regions.names), len(alarms), len(seen), len(told), sampled=sampled)
    return Look([*seen, *told], words)


def _significant(tests: list[_Test], level: float) -> list[Alarm]:
    p_values = corrected([test.p for test in tests])
    found = [(test.tell(), p) for test, p in zip(tests, p_values, strict=True) if p <= level]
    return [alarm._replace(p=p) for alarm, p in found if alarm is not None]


@dataclass(frozen=True)
class _Rows:
    """Training rows, then validation rows: as points, with labels and with what a forest sees."""

    table: Table
    target: Target
    valid: Table
    y_valid: Target
    regions: Regions

    @cached_property
    def points(self) -> Points:
        return Points.of(self.table, self.valid)

    @cached_property
    def labels(self) -> Floats:
        return np.append(self.target.codes, self.y_valid.codes).astype(np.float64)

    @cached_property
    def features(self) -> tuple[Floats, Ints]:
        """What a forest sees, the label last, and the column that each feature is of."""
        return forest_features(self.table, self.valid, self.labels)

    @cached_property
    def held(self) -> Bools:
        """Mask (owners, rows)."""
        return self.regions.of_rows()

    @property
    def valid_rows(self) -> Ints:
        return np.arange(self.table.n_rows, self.labels.size)

    @property
    def classes(self) -> bool:
        return self.target.task == "classification"


class _Seller:
    """A unit's rows beside those of others and the validation rows."""

    def __init__(self, unit: Unit, tables: _Rows, random: np.random.Generator) -> None:
        self.unit, self.tables, self.random = unit, tables, random
        self.points = tables.points.take_columns(unit.columns)
        self.rows = _some(unit.rows, random)
        self.valid = _some(tables.valid_rows, random)
        claimed = np.flatnonzero(tables.held.any(axis=0))
        if len(unit.owners) == 1:  # its other rows are no other party's
            mine = tables.held[tables.regions.names.index(unit.owners[0])]
            claimed = claimed[~mine[claimed]]
        self.others = np.setdiff1d(claimed, unit.rows)

    def alarms(self) -> Iterator[_Test]:
        among = {"own": self.unit.rows, "others": self.others, "valid": self.tables.valid_rows}
        for what, rows in among.items():
            if rows.size >= FEWEST_ROWS:
                yield self._twins(what, rows)
        yield self._equal()

    def notes(self) -> Iterator[_Test]:
        features, of = self.tables.features
        seen = np.append(self.unit.columns, True)[of]
        both = np.append(self.rows, self.valid)
        inside = np.arange(both.size) < self.rows.size
        p, share, weights = tell_apart(features[both][:, seen], of[seen], inside, self.random)
        yield _Test(p, lambda: self._different(share, weights()))
        known = np.append(_some(self.others, self.random), self.valid)
        losses = label_losses(
            features[:, :-1][:, seen[:-1]], self.tables.labels, known, both, self.random,
            classes=self.tables.classes,
        )  # fmt: skip
        if self.tables.classes:  # a label that is borne out disagrees with nobody, however narrowly
            losses = np.where(losses < 0.5, 0.0, losses)
        p = excess_p_value(losses[inside], losses[~inside])
        yield _Test(p, lambda: self._labels(losses, inside))

    @cached_property
    def _rounded(self) -> tuple[Points, float]:
        """All rows rounded as the seller's are, and how far apart validation rows lie."""
        points = self.points.rounded_like(self.rows)
        return points, usual_distance(points, self.valid)

    def _twins(self, what: str, among: Ints) -> _Test:
        """Whether rows lie as copies do among some rows, more than validation rows do.

        Near rows and equal ones are counted each by themselves: where columns are coarse, many rows
        are equal by chance, and jitter would hide among them.
        """
        points, usual = self._rounded
        every, own, tried = self.tables.valid_rows, what == "own", []
        for equal in (False, True):
            mine = _some(among, self.random, every.size - 1) if equal else among[:0]
            known = gaps(points, self.valid, every, every if equal else every[:0], usual)
            if own and among.size < known.rows.size:
                # siblings lie as near in a small table, and the next rows farther: as many families
                families = known.families()
                order = self.random.permutation(int(families.max()) + 1)[families]
                rows = known.rows[np.argsort(order, kind="stable")[: among.size]]
                known = gaps(points, rows, rows, rows if equal else rows[:0], usual)
            theirs = known.apart(families=own)
            near = gaps(self.points, self.rows, among, mine, usual)
            tried.append((excess_p_value(near.apart(families=own), theirs), near, theirs))
        p, found, reference = min(tried, key=lambda one: one[0])
        p = min(1.0, len(tried) * p)

        def tell() -> Alarm | None:
            usual_gap = float(np.quantile(reference, 0.95))
            close = found.size > usual_gap
            if close.sum() < _SHOWN:
                return None
            times = float(np.exp(np.median(found.size[close])))
            expected = f"{(reference > usual_gap).sum():,} of {reference.size:,} validation rows"
            near = f"lies at least {times:.1f} times as near as the next ones"
            if what != "others":
                where = "another of these rows" if what == "own" else "a validation row"
                sentence = f"For {self._count(close)}, {where} {near}; so it is for {expected}."
                return self._alarm(what, "" if what == "own" else VALIDATION, sentence)
            held, names = self.tables.held, self.tables.regions.names
            claims = (np.flatnonzero(held[:, row]) for row in found.nearest[close])
            victims = Counter(together([names[k] for k in mine]) for mine in claims)
            victim, number = victims.most_common(1)[0][0], len(victims) - 1
            more = f" or {counted(number, 'other')}" if number else ""
            labels = self.tables.labels
            unlike = int((labels[self.rows[close]] != labels[found.nearest[close]]).sum())
            flipped = f"; {unlike:,} of them have another label" if self.tables.classes else ""
            sentence = (
                f"Rows of {self.unit.name} and {victim} are near copies of each other: for "
                f"{self._count(close)}, a row of {victim}{more} {near}{flipped if unlike else ''}; "
                f"so it is for {expected}. Distances cannot tell who copied from whom."
            )
            return self._alarm("others", victim, sentence)

        return _Test(p, tell)

    def _equal(self) -> _Test:
        """Whether more rows equal a validation row than validation rows equal another."""
        keys = equal_lines(np.column_stack([self.points.lines, self.tables.labels]))
        n = self.tables.table.n_rows
        known = np.bincount(keys[n:], minlength=keys.max() + 1)
        mine = int((known[keys[self.unit.rows]] > 0).sum())
        theirs, size = int((known[keys[n:]] > 1).sum()), self.unit.rows.size
        p = count_p_value(mine, size, mine + theirs, size + keys.size - n)
        sentence = (
            f"{mine:,} of the {size:,} rows of {self.unit.name} equal a validation row, the label "
            f"too; {theirs:,} of {keys.size - n:,} validation rows equal another."
        )
        return _Test(
            p, lambda: self._alarm("valid", VALIDATION, sentence) if mine >= _SHOWN else None
        )

    def _different(self, share: float, gains: Floats) -> Alarm:
        names = [*self.tables.table.column_names, "the label"]
        most = [k for k in np.argsort(-gains, kind="stable")[:3] if gains[k] > 0]
        sentence = (
            f"A forest tells the rows of {self.unit.name} from validation rows in "
            f"{100 * share:.0f} % of pairs that it has not seen (50 % if they were alike), mostly "
            f"by {', '.join(repr(names[k]) for k in most)}: another population, or rows that were "
            "made up."
        )
        return self._alarm("different", "", sentence)

    def _labels(self, losses: Floats, inside: Bools) -> Alarm:
        if self.tables.classes:
            here, there = (100 * float((losses[part] < 0.5).mean()) for part in (inside, ~inside))
            sentence = (
                f"The labels of {self.unit.name} disagree with all others' rows: a forest of these "
                f"bears out {here:.0f} % of them, and {there:.0f} % of the validation labels."
            )
        else:
            here, there = (float(np.mean(losses[part])) for part in (inside, ~inside))
            sentence = (
                f"The targets of {self.unit.name} disagree with all others' rows: on average they "
                f"are {here:.3g} from what a forest of these predicts, those of validation rows "
                f"{there:.3g}."
            )
        return self._alarm("labels", "", sentence)

    def _alarm(self, what: str, victim: str, sentence: str) -> Alarm:
        return Alarm(self.unit.name, WHAT[what], victim, sentence, None)

    def _count(self, which: Bools) -> str:
        size, every = which.size, self.unit.rows.size
        compared = "" if size == every else f" that were compared, out of {every:,},"
        return f"{which.sum():,} of the {size:,} rows of {self.unit.name}{compared}"


def double_claims(regions: Regions) -> Iterator[Alarm]:
    """Owners who claim the same cells; a claim has no author, so both are named."""
    patterns, held = regions.patterns()
    n_rows = np.bincount(patterns)
    pairs = {
        pair
        for pattern, column in np.argwhere(held.sum(axis=1) > 1).tolist()
        for pair in combinations(np.flatnonzero(held[pattern, :, column]).tolist(), 2)
    }
    both = {pair: np.asarray(held[:, pair].all(axis=1)) for pair in pairs}
    counts = [(-int(n_rows @ shared.sum(axis=1)), pair) for pair, shared in both.items()]
    for less, pair in sorted(counts)[:_PAIRS]:
        count, (one, two) = -less, (regions.names[k] for k in pair)
        rows = int(n_rows[both[pair].any(axis=1)].sum())
        shares = (
            f"{100 * count / int(n_rows @ held[:, k].sum(axis=1)):.3g} % of what "
            f"{regions.names[k]} claims"
            for k in pair
        )
        sentence = (
            f"{one} and {two} both claim {counted(count, 'cell')} in {counted(rows, 'row')} and "
            f"share what {plural(count, 'it is', 'they are')} worth: {', '.join(shares)}."
        )
        yield Alarm(one, WHAT["claims"], two, sentence, None)


def _computed_columns(tables: _Rows, random: np.random.Generator) -> Iterator[Alarm]:
    """Columns that can be computed from those of other owners and the labels, in unseen rows."""
    regions, names = tables.regions, tables.table.column_names
    owns = np.zeros((len(regions.names), len(names)), dtype=bool)
    np.logical_or.at(owns, regions.owner, regions.columns[:, : len(names)])
    apart = [j for j in range(len(names)) if (owns[:, j] != owns.any(axis=1)).any()]
    rows = _some(
        np.append(np.flatnonzero(tables.held.any(axis=0)), tables.valid_rows), random, _COLUMN_ROWS
    )
    features, of = tables.features
    told: set[frozenset[str]] = set()
    if len(apart) > _MOST_COLUMNS:
        apart = random.choice(apart, _MOST_COLUMNS, replace=False).tolist()
    for j in apart:
        foreign = np.asarray(owns.any(axis=0) & ~owns[owns[:, j]].any(axis=0))
        used = np.append(foreign, True)[of]
        if not foreign.any() or not owns[:, j].any():
            continue
        known = features[rows][:, used]
        known[rows >= tables.table.n_rows, -1] = -1  # no seller knows the validation labels
        mine, theirs = tables.table.columns[j], tables.valid.columns[j]
        words = mine.kind in ("category", "boolean")
        wanted = np.append(mine.entries, theirs.entries)
        wanted = features[:, np.flatnonzero(of == j)[0]] if words else wanted
        there = ~np.isnan(wanted[rows])
        if there.sum() < FEWEST_ROWS:
            continue
        share, weights = how_computable(
            known[there], of[used], wanted[rows][there], random, classes=words
        )
        if share < _COMPUTABLE:
            continue
        *by_column, of_label = weights()
        order = np.argsort(by_column)[::-1]
        main = [k for k in order if foreign[k] and by_column[k] >= 0.1 * by_column[order[0]]]
        who = owns[:, j], owns[:, main].any(axis=1)
        one, other = (together([regions.names[k] for k in np.flatnonzero(part)]) for part in who)
        parties = frozenset((one, other))
        if parties in told:  # the other way round, or another column of theirs
            continue
        told.add(parties)
        sources = ", ".join(repr(names[k]) for k in main[:3])
        sources += ", the labels" if of_label >= 0.1 * by_column[order[0]] else ""
        sentence = (
            f"{names[j]!r} of {one} can be computed from columns of {other} ({sources}): these "
            f"give {100 * share:.0f} % of it in rows not seen before. Nothing tells who computed "
            "what, or whether one thing was measured twice."
        )
        yield Alarm(one, WHAT["columns"], other, sentence, None)


def _some(rows: Ints, random: np.random.Generator, count: int = MOST_ROWS) -> Ints:
    if rows.size <= count:
        return rows
    return np.sort(random.choice(rows, count, replace=False))


def _words(n_owners: int, n_tests: int, n_alarms: int, n_notes: int, *, sampled: bool) -> str:
    sample = f" At most {MOST_ROWS} rows of each are compared with all others." if sampled else ""
    found = "nothing looks fabricated" if not n_alarms else counted(n_alarms, "alarm")
    notes = f" {counted(n_notes, 'note')} {plural(n_notes, 'is', 'are')} for information:"
    notes += " honest sellers are unusual, too."
    return (
        f"The rows of {counted(n_owners, 'owner')} were looked at beside the validation rows: "
        f"{found} in {counted(n_tests, 'test')} (p-values corrected by Holm, at 0.1 %)."
        f"{sample}{notes if n_notes else ''} An alarm is what was seen, not a verdict; no alarm is "
        "no proof of honesty."
    )
