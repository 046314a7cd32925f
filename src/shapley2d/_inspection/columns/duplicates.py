"""Rows that repeat another one in all columns but one, and entries of a key that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._inspection.columns.finding import LOW, ColumnFinding

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import WrittenColumn

_MIN_ROWS = 50
_MIN_COLUMNS = 5  # in fewer columns rows agree by chance
_RARE = 0.02  # share of the rows up to which repetition is an exception, not how the table is made
_BY_CHANCE = 0.05  # rows that would agree in unrelated columns, as a part of those that do
_REPEATED_KEY = 0.5  # of two rows with the same key one is wrong


def find_duplicates(columns: Sequence[WrittenColumn], keys: Collection[str]) -> list[ColumnFinding]:
    """Entries that repeat in a key, and entries in which two rows differ that are else the same.

    Examples
    --------
    >>> from shapley2d._inspection.columns.finding import written_columns
    >>> from shapley2d._tables.convert import as_table
    >>> X = {f"c{step}": [f"{k * step % 1009}" for k in range(190)] for step in range(3, 8)}
    >>> for column in X.values():
    ...     column.append(column[7])
    >>> X["c4"][190] = "12345"
    >>> [(f.columns, f.rows.tolist()) for f in find_duplicates(written_columns(as_table(X)), [])]
    [(('c4',), [7, 190])]
    """
    if not columns or columns[0].codes.size < _MIN_ROWS:
        return []
    found = [_repeated(column) for column in columns if column.name in keys]
    found += _near([column for column in columns if column.name not in keys])
    return [finding for finding in found if finding is not None]


def _repeated(column: WrittenColumn) -> ColumnFinding | None:
    rows = column.rows(column.counts > 1)
    if not 0 < rows.size <= _RARE * column.codes.size:
        return None
    return ColumnFinding(
        (column.name,),
        "repeated key",
        f"{column.counted_entries(rows)} {plural(rows.size, 'repeats', 'repeat')} another one, "
        f"{column.example(rows)}, though nearly all differ: check which row it belongs to",
        rows,
        {},
        _REPEATED_KEY,
    )


def _near(columns: Sequence[WrittenColumn]) -> list[ColumnFinding]:
    """Rows that agree in all columns but one."""
    if len(columns) < _MIN_COLUMNS:
        return []
    random = np.random.default_rng(0)
    # a random number per entry: rows with the same sum are the same
    parts = [
        random.integers(0, 2**63, len(column.words) + 1, dtype=np.uint64)[column.codes]
        for column in columns
    ]
    whole = np.zeros(columns[0].codes.size, dtype=np.uint64)
    for part in parts:
        whole += part
    same = _shared(whole)
    if same.mean() > _RARE:
        return []
    alike = [float(((column.counts / max(column.n_written, 1)) ** 2).sum()) for column in columns]
    found = []
    for j, (column, part) in enumerate(zip(columns, parts, strict=True)):
        rows = np.flatnonzero(_shared(whole - part) & ~same & (column.codes >= 0))
        by_chance = whole.size**2 * float(np.prod(alike[:j] + alike[j + 1 :]))
        if rows.size and by_chance <= _BY_CHANCE * rows.size:
            found.append((column, rows))
    if sum(rows.size for _, rows in found) > _RARE * whole.size:
        return []
    return [
        ColumnFinding(
            (column.name,),
            "near-duplicates",
            f"{counted(rows.size, 'row')} {plural(rows.size, 'is', 'are')} the same as another "
            f"one except in {column.name!r}, such as row {rows[0]}: check whether they are "
            "one row, and which entry is right",
            rows,
            {},
            LOW,
        )
        for column, rows in found
    ]


def _shared(numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which numbers occur more than once."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray(counts[place] > 1)
