"""Redundancy: repeated keys, near-duplicate rows, columns that are equal, or spill into another."""

from __future__ import annotations

import re
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._inspection.columns.finding import COMMON, RARE, SURE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

_WORDS = re.compile(r"[^\W\d_],? [^\W\d_]")


def find_duplicates(
    columns: Sequence[ColumnView], keys: Collection[str]
) -> Iterator[ColumnFinding]:
    """Repeated entries of a key, and the one column in which two otherwise equal rows differ."""
    if not columns or columns[0].codes.size * RARE < 1:
        return
    for column in (one for one in columns if one.name in keys):
        rows = column.rows(column.counts > 1)
        # names and titles of several words are written twice for two things
        are_names = column.share(column.where(_WORDS.search)) > 0.5
        if 0 < rows.size <= RARE * column.codes.size and not are_names:
            yield column.finding(
                "repeated key",
                f"{column.entries(rows, 'repeats', 'repeat')} another one, "
                f"{column.example(rows)}, though nearly all differ: check which row it belongs to",
                rows,
                chance=0.5,  # of two rows with the same key one is wrong
            )
    yield from _near_duplicates([column for column in columns if column.name not in keys])


def _near_duplicates(columns: Sequence[ColumnView]) -> Iterator[ColumnFinding]:
    """Rows that agree in all columns but one, if rows hardly agree by chance."""
    if len(columns) < 2:
        return
    random = np.random.default_rng(0)
    # a random number per entry: rows with the same sum are equal
    parts = [
        random.integers(0, 2**63, len(column.words) + 1, dtype=np.uint64)[column.codes]
        for column in columns
    ]
    whole = np.asarray(np.sum(parts, axis=0, dtype=np.uint64))
    same = _shared(whole)
    if same.mean() > RARE:
        return
    alike = [float(((column.counts / max(column.n_written, 1)) ** 2).sum()) for column in columns]
    found = []
    for j, (column, part) in enumerate(zip(columns, parts, strict=True)):
        rows = np.flatnonzero(_shared(whole - part) & ~same & (column.codes >= 0))
        by_chance = whole.size**2 * float(np.prod(alike[:j] + alike[j + 1 :]))
        if rows.size and by_chance <= RARE * rows.size:
            found.append((column, rows))
    if sum(rows.size for _, rows in found) > RARE * whole.size:
        return
    for column, rows in found:
        yield column.finding(
            "near-duplicates",
            f"{counted(rows.size, 'row')} {plural(rows.size, 'is', 'are')} the same as another "
            f"one except in {column.name!r}, such as row {rows[0]}: check whether they are "
            "one row, and which entry is right",
            rows,
            chance=RARE,  # of 723 rows in 27 tables 3 % were wrong: mostly two of a kind
        )


def _shared(numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which numbers occur more than once."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray(counts[place] > 1)


def find_siblings(columns: Sequence[ColumnView]) -> Iterator[ColumnFinding]:
    """Rows in which two columns differ that are equal nearly everywhere else."""
    varied = [
        column
        for column in columns
        if column.n_written * RARE >= 1 and column.counts.max() <= COMMON * column.n_written
    ]
    words = dict.fromkeys(word for column in varied for word in column.words)
    places = {word: k for k, word in enumerate(words)}
    texts = [np.array([*map(places.__getitem__, one.words), -1])[one.codes] for one in varied]
    for (one, ours), (other, theirs) in combinations(zip(varied, texts, strict=True), 2):
        both = (ours >= 0) & (theirs >= 0)
        rows = np.flatnonzero(both & (ours != theirs))
        if not 0 < rows.size <= RARE * both.sum():
            continue
        text = (
            f"{one.name!r} and {other.name!r} hold the same, except in "
            f"{counted(rows.size, 'row')} of {int(both.sum()):,}: check which of the two is right"
        )
        for about, like in ((one, other), (other, one)):
            new = {i: like.word(i) for i in rows.tolist()}
            yield about.finding("unequal", text, rows, new, UNKNOWN, depends_on=(like.name,))


def find_spilled(columns: Sequence[ColumnView]) -> Iterator[ColumnFinding]:
    """Entries that end with what another column lacks, as ``San Francisco CA``."""
    texts = [column for column in columns if column.is_text and column.column.kind == "category"]
    for full, empty in permutations(texts, 2):
        lacks, written = empty.codes < 0, full.codes >= 0
        if not (lacks & written).any():
            continue
        known = {word for word, count in zip(empty.words, empty.counts, strict=True) if count}
        parts = [word.rpartition(" ") for word in full.words]
        ends = np.array([part[2] in known and part[0].strip(" ,;") != "" for part in parts])
        ends_so = ends[full.codes]
        rows = np.flatnonzero(lacks & written & ends_so)
        share, usual = (
            ends_so[some].mean() if some.any() else 0.0
            for some in (lacks & written, ~lacks & written)
        )
        # breeds and models end with such words too, whether the other column is filled or not
        if rows.size < 3 or usual > COMMON * share:
            continue
        text = (
            f"{full.entries(rows, 'end', 'end')} with what is missing in {empty.name!r}, "
            f"such as {full.word(rows[0])!r}: move it there"
        )
        spilled = {int(i): parts[int(full.codes[i])] for i in rows}
        rest = {i: part[0].rstrip(" ,;") for i, part in spilled.items()}
        moved = {i: part[2] for i, part in spilled.items()}
        yield full.finding("spilled", text, rows, rest, SURE, depends_on=(empty.name,))
        yield empty.finding("spilled", text, rows, moved, SURE, depends_on=(full.name,))
