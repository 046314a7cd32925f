"""Rows that break a rule between two columns, and entries that slipped into a neighbour column."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted
from shapley2d._inspection.columns.finding import SURE, ColumnFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import WrittenColumn

# Set by hand on tables whose truth is known: benchmarks/detection.py dirty.
_LIFT = 0.6  # a rule explains at least this part of the entries other than the commonest
_COVERED = 0.3  # at least this share of the rows is in groups of two or more
_SCREENED = 20_000  # rows on which pairs are chosen: all pairs of columns are tried
_MAX_GROUPS = 0.7  # groups per row; with more, too few entries repeat
_PER_COLUMN = 4  # rules used for one column
_WEAKER = 0.15  # rules weaker than the strongest by more than this only add noise
_VOTES = 3  # rows of a group that make a majority
_LEAST = 0.5  # breaches less likely wrong are not reported
_MIN_SPILLED = 3
_MAX_TOKENS = 500


@dataclass(frozen=True)
class _Rule:
    cause: int
    lift: float


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
    n_rows = columns[0].codes.size if columns else 0
    found = []
    for effect, causes in _choose([column.codes for column in columns]).items():
        verdicts = [
            _verdict(columns[rule.cause].codes, columns[effect].codes, rule.lift) for rule in causes
        ]
        spoke = np.array([verdict.speaks for verdict in verdicts])
        chances = np.array([verdict.chances for verdict in verdicts])
        # a rule that the row keeps speaks for its entry: where another one is broken, its cause
        # may be what is wrong
        chance = chances.sum(axis=0) / np.maximum(spoke.sum(axis=0), 1)
        rows = np.flatnonzero(chance >= _LEAST)
        if not rows.size:
            continue
        best = chances[:, rows].argmax(axis=0)
        usual = np.array([verdict.usual for verdict in verdicts])[best, rows]
        names = " or ".join(repr(columns[rule.cause].name) for rule in causes)
        found.append(
            ColumnFinding(
                (columns[effect].name, *(columns[rule.cause].name for rule in causes)),
                "rule",
                f"rows with the same {names} have the same {columns[effect].name!r}, except "
                f"{counted(rows.size, 'row')} of {n_rows:,}",
                rows,
                {int(i): columns[effect].words[int(k)] for i, k in zip(rows, usual, strict=True)},
                float(chance[rows].mean()),
                chance[rows],
            )
        )
    return found


@dataclass(frozen=True)
class _Verdict:
    """A rule applied to every row: the usual entry, how likely the row's own is wrong, if known."""

    usual: NDArray[np.intp]
    chances: NDArray[np.float64]
    speaks: NDArray[np.bool_]


def _choose(codes: Sequence[NDArray[np.intp]]) -> dict[int, list[_Rule]]:
    """The strongest rules for each column."""
    n = codes[0].size if codes else 0
    some = np.arange(n)
    if n > _SCREENED:
        some = np.sort(np.random.default_rng(0).permutation(n)[:_SCREENED])
    parts = [code[some] for code in codes]
    n_different = [np.unique(part[part >= 0]).size for part in parts]
    telling = [
        j for j, different in enumerate(n_different) if 1 < different <= _MAX_GROUPS * some.size
    ]
    found: dict[int, list[_Rule]] = {}
    for effect, cause in permutations(telling, 2):
        known = (parts[cause] >= 0) & (parts[effect] >= 0)
        lift = _lift(parts[cause][known], parts[effect][known]) if known.any() else 0.0
        if lift >= _LIFT:
            found.setdefault(effect, []).append(_Rule(cause, lift))
    return {effect: _strongest(rules) for effect, rules in found.items()}


def _strongest(rules: list[_Rule]) -> list[_Rule]:
    rules = sorted(rules, key=lambda rule: (-rule.lift, rule.cause))
    return [rule for rule in rules if rule.lift >= rules[0].lift - _WEAKER][:_PER_COLUMN]


def _lift(cause: NDArray[np.intp], effect: NDArray[np.intp]) -> float:
    """Part of the entries other than the commonest that a cause explains in the other rows."""
    sizes = np.bincount(cause)
    groups = sizes >= 2
    repeated = groups[cause]
    if repeated.mean() < _COVERED:
        return 0.0
    n_effects = int(effect.max()) + 1
    pairs, counts = np.unique(cause.astype(np.int64) * n_effects + effect, return_counts=True)
    most = np.zeros(sizes.size, dtype=np.int64)
    np.maximum.at(most, pairs // n_effects, counts)
    agree = (most[groups] - 1).sum() / (sizes[groups] - 1).sum()
    base = np.bincount(effect[repeated]).max() / repeated.sum()
    return float((agree - base) / (1 - base)) if base < 1 else 0.0


def _verdict(cause: NDArray[np.intp], effect: NDArray[np.intp], lift: float) -> _Verdict:
    """Compare each row with the majority among the rows of the same cause."""
    known = (cause >= 0) & (effect >= 0)
    n_causes, n_effects = int(cause.max()) + 1, int(effect.max()) + 1
    usual = np.zeros(n_causes, dtype=np.intp)
    most, size = np.zeros(n_causes, dtype=np.int64), np.zeros(n_causes, dtype=np.int64)
    keys = cause.astype(np.int64) * n_effects + effect
    pairs, counts = np.unique(keys[known], return_counts=True)
    groups = pairs // n_effects
    order = np.lexsort((pairs, counts))  # the commonest last
    usual[groups[order]] = pairs[order] % n_effects
    most[groups[order]] = counts[order]
    np.add.at(size, groups, counts)
    own = np.where(known, counts[np.minimum(np.searchsorted(pairs, keys), pairs.size - 1)], 0)
    here = np.maximum(cause, 0)
    speaks = (cause >= 0) & (most[here] >= _VOTES)
    agrees = effect == usual[here]
    lead = (most[here] - own) / np.maximum(most[here] + own, 1)
    clear = np.where(effect >= 0, lead, most[here] / np.maximum(size[here], 1))
    return _Verdict(usual[here], np.where(speaks & ~agrees, lift * clear, 0.0), speaks)


def find_spilled(columns: Sequence[WrittenColumn]) -> list[ColumnFinding]:
    """Entries that end with what another column lacks, as ``San Francisco CA``.

    Examples
    --------
    >>> from shapley2d._inspection.columns.finding import written_columns
    >>> from shapley2d._tables.convert import as_table
    >>> city = ["Bend", "Gary", "Troy"] * 4 + ["Gary IN"] * 3
    >>> X = {"city": city, "state": ["OR", "IN", "NY"] * 4 + [""] * 3}
    >>> find_spilled(written_columns(as_table(X)))[0].suggestions
    {12: 'Gary', 13: 'Gary', 14: 'Gary'}
    """
    texts = [column for column in columns if column.is_text and column.column.kind == "category"]
    found = []
    for full, empty in permutations(texts, 2):
        if len(empty.words) > _MAX_TOKENS:
            continue
        rows = np.flatnonzero((empty.codes < 0) & (full.codes >= 0))
        if rows.size < _MIN_SPILLED:
            continue
        known = {
            word
            for word, count in zip(empty.words, empty.counts.tolist(), strict=True)
            if count and word
        }
        parts = {int(i): full.words[int(full.codes[i])].rpartition(" ") for i in rows}
        spilled = {
            i: part for i, part in parts.items() if part[2] in known and part[0].strip(" ,;")
        }
        if len(spilled) < _MIN_SPILLED:
            continue
        positions = np.array(list(spilled), dtype=np.intp)
        text = (
            f"{full.counted_entries(positions)} end with what is missing in {empty.name!r}, "
            f"such as {full.word(positions[0])!r}: move it there"
        )
        rest = {i: part[0].rstrip(" ,;") for i, part in spilled.items()}
        moved = {i: part[2] for i, part in spilled.items()}
        found.append(ColumnFinding((full.name, empty.name), "spilled", text, positions, rest, SURE))
        found.append(
            ColumnFinding((empty.name, full.name), "spilled", text, positions, moved, SURE)
        )
    return found
