"""Rows that stand in a table twice, or in the trusted table already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import plural
from shapley2d._inspection.columns.finding import COMMON, ColumnFinding
from shapley2d._tables.row_words import row_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

ROWS = ("repeated rows", "known rows")
"""Kinds of findings about whole rows; they are told of the table's first column."""


def find_repeated_rows(
    table: Table, columns: Sequence[Column], known: Sequence[Column] = ()
) -> Iterator[ColumnFinding]:
    """Rows that repeat an earlier one in all ``columns``, or are among the ``known`` ones.

    Nothing is found where chance explains it: rows of few different entries are often the same,
    even if their columns have nothing to do with each other.
    """
    yield from _found(table, [one.written() for one in columns], columns[0].name)
    trusted = {one.name: one for one in known}
    both = [
        [*trusted[one.name].written(), *one.written()] for one in columns if one.name in trusted
    ]
    yield from _found(table, both, columns[0].name)


def _found(
    table: Table, texts: Sequence[Sequence[str | None]], about: str
) -> Iterator[ColumnFinding]:
    """A finding of the rows of a table; if the columns are longer, known rows stand before them."""
    if len(texts) < 2:  # a column repeats its entries
        return
    n, before = table.n_rows, len(texts[0]) - table.n_rows
    sums, alike = _sums(texts)
    if before:
        rows = np.flatnonzero(np.isin(sums[before:], sums[:before]))
        said = f"{plural(rows.size, 'is', 'are')} in the reference already"
    else:
        rows = np.setdiff1d(np.arange(n), np.unique(sums, return_index=True)[1])
        said = plural(rows.size, "repeats an earlier one", "repeat earlier ones")
    if rows.size and n * (before or n / 2) * alike <= COMMON * rows.size:
        text = (
            f"{rows.size:,} of {n:,} rows {said}, such as {row_words(table, rows[0])}: check "
            "whether they were counted twice, and keep copies on one side of a split"
        )
        yield ColumnFinding((about,), ROWS[before > 0], text, rows)


def _sums(texts: Sequence[Sequence[str | None]]) -> tuple[NDArray[np.uint64], float]:
    """A sum of random numbers for each row, the same for equal rows only.

    And how likely two rows are equal if their columns have nothing to do with each other.
    """
    random = np.random.default_rng(0)
    sums, alike = np.zeros(len(texts[0]), dtype=np.uint64), 1.0
    for column in texts:
        place: dict[str | None, int] = {}
        codes = np.array([place.setdefault(text, len(place)) for text in column])
        sums += random.integers(0, 2**63, len(place), dtype=np.uint64)[codes]
        alike *= float(np.square(np.bincount(codes) / codes.size).sum())
    return sums, alike
