"""Boosted trees that judge coalitions: a table is coded once, a coalition is a mask of its cells.

Numbers become bins whose edges come from the validation rows alone, text becomes codes by its
frequency there. So what a coalition predicts depends on its own cells and the validation table, and
on nothing that others hold.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._trees.kernels.boosting import boost

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target

    Codes = NDArray[np.uint8]

BINS = 64
"""Bins of a number."""

MOST = 254
"""Categories with a code of their own: the most frequent ones; the others share one."""

ROUNDS, DEPTH, RATE, L2, LEAST, SHARE, FEW = 80, 3, 0.08, 0.5, 5.0, 0.3, 3
BYLEVEL = False


@dataclass(frozen=True)
class Boosting:
    """A table, its labels and the validation rows, coded; missing entries are 0.

    Rows and columns are added up in the order of the table: who wants the same bits for the same
    cells sorts them first.
    """

    codes: Codes  # (columns, rows)
    valid: Codes  # (columns, validation rows)
    n_bins: Ints  # (columns,): codes of each, 0 included
    is_text: Bools
    keys: Ints  # what draws the columns of a round: names, not places
    y: NDArray[np.int64]  # classification: positions of the labels
    z: Floats  # regression: the numbers
    n_classes: int  # 0 in regression

    @classmethod
    def coded(cls, train: Table, y: Target, valid: Table) -> Self:
        """Code a table and the validation rows, which have its columns and codes."""
        shape = train.n_columns, train.n_rows
        codes, others = np.empty(shape, np.uint8), np.empty((shape[0], valid.n_rows), np.uint8)
        n_bins = np.empty(shape[0], np.intp)
        for j, (column, seen) in enumerate(zip(train.columns, valid.columns, strict=True)):
            coder = _Categories(seen) if seen.kind == "category" else _Numbers(seen)
            codes[j], others[j], n_bins[j] = coder.codes(column), coder.codes(seen), coder.n_bins
        return cls(
            codes,
            others,
            n_bins,
            np.array([column.kind == "category" for column in train.columns]),
            np.array([zlib.crc32(name.encode()) for name in train.column_names], np.intp),
            y.codes if y.classes.size else np.zeros(train.n_rows, np.int64),
            np.zeros(0) if y.classes.size else np.asarray(y.codes, dtype=np.float64),
            y.classes.size,
        )

    def predict(self, held: Bools, seed: int = 0) -> Floats | None:
        """Probabilities of the classes for the validation rows, or numbers (1, validation rows).

        ``held`` (columns, rows): the coalition's cells. Rows and columns in which it holds no entry
        are not there, and what else it does not hold is missing. None where nothing can be learned:
        the labels are all equal, or no column differs between rows.
        """
        there = held & (self.codes > 0)
        rows, columns = np.flatnonzero(there.any(axis=0)), np.flatnonzero(there.any(axis=1))
        if not rows.size:
            return None
        part = np.ix_(columns, rows)
        codes = self.codes[part] * there[part]
        varies = (codes != codes[:, :1]).any(axis=1)
        y = self.y[rows]
        z, middle, scale = np.zeros(0), 0.0, 1.0
        if self.n_classes:
            alike = (y == y[0]).all()
        else:
            z = self.z[rows]
            alike = (z == z[0]).all()
            middle, scale = float(z.mean()), float(z.std()) or 1.0
            z = (z - middle) / scale
        if alike or not varies.any():
            return None
        columns = columns[varies]
        raw = boost(
            codes[varies], self.valid, columns, self.n_bins[columns], self.is_text[columns],
            self.keys[columns], y, z, self.n_classes, seed, ROUNDS, DEPTH, RATE, L2, LEAST,
            max(SHARE, FEW / columns.size), BYLEVEL,
        )  # fmt: skip
        if self.n_classes == 0:
            return middle + scale * raw
        if self.n_classes == 2:
            raw = np.concatenate([np.zeros_like(raw), raw])
        raw = np.exp(raw - raw.max(axis=0))
        return np.asarray(raw / raw.sum(axis=0))


class _Numbers:
    """Bins of numbers, by their validation entries: between distinct ones, quantiles of more."""

    def __init__(self, seen: Column) -> None:
        known = seen.entries[~np.isnan(seen.entries)]
        distinct = np.unique(known)
        if distinct.size > BINS:
            self._edges = np.unique(np.quantile(known, np.arange(1, BINS) / BINS))
        elif distinct.size == 1:  # below it, equal, above
            self._edges = np.array([np.nextafter(distinct[0], -np.inf), distinct[0]])
        else:
            self._edges = distinct[:-1] / 2 + distinct[1:] / 2
        self.n_bins = self._edges.size + 2

    def codes(self, column: Column) -> Codes:
        entries = column.entries
        codes = np.searchsorted(self._edges, entries) + 1
        return np.where(np.isnan(entries), 0, codes).astype(np.uint8)


class _Categories:
    """Codes of categories, the most frequent of the validation rows first, then by name."""

    def __init__(self, seen: Column) -> None:
        entries = seen.entries[~np.isnan(seen.entries)].astype(np.intp)
        counts = np.bincount(entries, minlength=len(seen.categories)).tolist()
        ranked = sorted((-n, name) for n, name in zip(counts, seen.categories, strict=True) if n)
        self._own = {name: code for code, (_, name) in enumerate(ranked[: MOST - 1], start=1)}
        self.n_bins = len(self._own) + 2

    def codes(self, column: Column) -> Codes:
        other = len(self._own) + 1
        own = [self._own.get(name, other) for name in column.categories]
        places = np.where(np.isnan(column.entries), len(own), column.entries).astype(np.intp)
        return np.array([*own, 0], dtype=np.uint8)[places]
