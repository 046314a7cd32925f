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
