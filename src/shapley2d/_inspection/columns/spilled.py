"""Entries that slipped into a neighbour column, as ``San Francisco CA``."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.finding import SURE, ColumnFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._inspection.columns.finding import WrittenColumn

_MIN_SPILLED = 3
_OF_EMPTY = 0.2  # at least this share of the rows that lack the other entry end with one
_OF_FILLED = 0.2  # and others at most this part as often: breeds and models end with such words too
_MAX_TOKENS = 500


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
        lacks = empty.codes < 0
        rows = np.flatnonzero(lacks & (full.codes >= 0))
        if rows.size < _MIN_SPILLED:
            continue
        known = {
            word
            for word, count in zip(empty.words, empty.counts.tolist(), strict=True)
            if count and word
        }
        parts = [word.rpartition(" ") for word in full.words]
        ends = np.array([part[2] in known and part[0].strip(" ,;") != "" for part in parts])
        positions = rows[ends[full.codes[rows]]]
        others = full.codes[~lacks & (full.codes >= 0)]
        usual = float(ends[others].mean()) if others.size else 0.0
        share = positions.size / rows.size
        if positions.size < _MIN_SPILLED or share < _OF_EMPTY or usual > _OF_FILLED * share:
            continue
        spilled = {int(i): parts[int(full.codes[i])] for i in positions}
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
