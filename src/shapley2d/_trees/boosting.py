"""Boosted trees that judge coalitions: a table is coded once, a coalition is a mask of its cells.

Numbers become bins whose edges come from the validation rows alone, text becomes codes by its
frequency there. So what a coalition predicts depends on its own cells and the validation table, and
on nothing that others hold.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._trees.kernels.boosting import CODES, LEAST, Tree, add_tree

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target

    Codes = NDArray[np.uint8]

BINS = 64
"""Most bins of a number."""

ROUNDS, RATE = 50, 0.15
"""Rounds, and how much of its best step each takes."""

DEPTH = 6
"""Levels of splits before a tree is cut back."""

SHRINK = 6.0
"""Rows that say nothing and are counted in every leaf."""

PRICE = 1.5
"""What a split must gain times its level, in units of the gain that chance brings."""

SHARE, FEW = 0.25, 4
"""The share of the columns that a level draws on average, and how many at least."""


@dataclass(frozen=True)
class Boosting:
    """A table, its labels and the validation rows, coded; missing entries are 0.

    Rows and columns are added up in the order of the table: who wants the same bits for the same
    cells in any order sorts them first.
    """

    codes: Codes  # (columns, rows)
    valid: Codes  # (columns, validation rows)
    n_bins: Ints  # (columns,): one more than the largest code of each
    is_text: Bools
    keys: Ints  # what draws the columns of a level: names, not places
    y: NDArray[Any]  # the numbers, or the positions of the labels
    n_classes: int  # 0 in regression

    @classmethod
    def coded(cls, train: Table, y: Target, valid: Table) -> Self:
        """Code a table and the validation rows, which have its columns and codes."""
        m = train.n_columns
        codes, others = np.empty((m, train.n_rows), np.uint8), np.empty((m, valid.n_rows), np.uint8)
        n_bins = np.empty(m, np.intp)
        for j, (column, seen) in enumerate(zip(train.columns, valid.columns, strict=True)):
            coder = _Categories(seen) if seen.kind == "category" else _Numbers(seen)
            codes[j], others[j], n_bins[j] = coder.codes(column), coder.codes(seen), coder.n_bins
        return cls(
            codes,
            others,
            n_bins,
            np.array([column.kind == "category" for column in train.columns]),
            np.array([zlib.crc32(name.encode()) for name in train.column_names], np.intp),
            y.codes,
            y.classes.size,
        )

    def predict(self, held: Bools, seed: int = 0) -> Floats | None:
        """Probabilities of the classes for the validation rows, or numbers (1, validation rows).

        ``held`` (columns, rows): the coalition's cells. Columns that do not differ between its rows
        are not there, nor are rows without an entry in the others; what else it does not hold is
        missing. None where nothing can be learned: no columns are left, or all labels are equal.
        """
        columns, codes = np.arange(len(held)), held * self.codes
        while True:  # rows may go with a column that teaches nothing
            rows = np.flatnonzero(codes.any(axis=0))
            part = codes[:, rows]
            varies = (part != part[:, :1]).any(axis=1)
            if varies.all():
                break
            columns, codes = columns[varies], codes[varies]
        y = self.y[rows]
        if not columns.size or (y == y[0]).all():
            return None
        if not self.n_classes:
            middle, scale = y.mean(), y.std() or 1.0
            raw = self._boost(part, columns, (y[None] - middle) / scale, np.zeros(1), seed)
            return np.asarray(middle + scale * raw)
        # classes that only others hold are not known: predictions depend on these cells alone
        present, own, counts = np.unique(y, return_inverse=True, return_counts=True)
        first = np.log(counts + 0.5) - np.log(y.size + 0.5 * present.size)
        if present.size == 2:  # one score, the log-odds of the second
            first = first[1:] - first[:1]
        targets = own == np.arange(present.size)[-first.size :, None]
        shares = _shares(self._boost(part, columns, targets, first, seed))
        found = np.zeros((self.n_classes, shares.shape[1]))
        found[present] = shares if present.size > 2 else np.concatenate([1.0 - shares, shares])
        return found

    def _boost(
        self, codes: Codes, columns: Ints, targets: Floats | Bools, first: Floats, seed: int
    ) -> Floats:
        """Raw scores of the validation rows; ``targets`` and ``first`` have a line for each."""
        valid, n_bins = self.valid[columns], self.n_bins[columns]
        is_text, keys = self.is_text[columns], self.keys[columns]
        scores, raw = (np.repeat(first[:, None], x.shape[1], axis=1) for x in (codes, valid))
        at = np.empty(codes.shape[1], np.intp)
        depth = min(DEPTH, (at.size - 1).bit_length())
        nodes = 2**depth - 1
        tree = Tree(
            np.empty(nodes, np.intp),
            np.empty((nodes, CODES), np.bool_),
            np.empty((2 * nodes + 1, 2)),
            np.empty((nodes, 3)),
            np.empty(2 * nodes + 1),
            np.empty(2**depth * int(n_bins.max())),
            np.empty(CODES, np.intp),
            np.empty(CODES),
        )
        share = max(SHARE, FEW / columns.size)
        curved, l2 = np.ones(scores.shape), np.full(first.size, SHRINK)
        for round_ in range(ROUNDS):
            if self.n_classes:
                shares = _shares(scores)
                slopes, curved = shares - targets, np.maximum(shares * (1.0 - shares), LEAST)
                if round_ == 0:
                    l2 = SHRINK * curved[:, 0]
            else:
                slopes = scores - targets
            for k in range(first.size):
                add_tree(
                    tree, codes, valid, n_bins, is_text, keys, at, slopes[k], curved[k], scores[k],
                    raw[k], 2**32 * seed + round_, depth, RATE, l2[k], share, PRICE,
                )  # fmt: skip
        return raw


def _shares(scores: Floats) -> Floats:
    """Probabilities by scores: log-odds in a single line, else by softmax over the lines."""
    if len(scores) == 1:
        return np.asarray(1.0 / (1.0 + np.exp(-scores)))
    powers = np.exp(scores - scores.max(axis=0))
    return np.asarray(powers / powers.sum(axis=0))


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
    """Codes of categories, the most frequent of the validation rows first, then by name.

    All others share the last code.
    """

    def __init__(self, seen: Column) -> None:
        entries = seen.entries[~np.isnan(seen.entries)].astype(np.intp)
        counts = np.bincount(entries, minlength=len(seen.categories)).tolist()
        ranked = sorted((-n, name) for n, name in zip(counts, seen.categories, strict=True) if n)
        self._own = {name: code for code, (_, name) in enumerate(ranked[: CODES - 2], start=1)}
        self.n_bins = len(self._own) + 2

    def codes(self, column: Column) -> Codes:
        other = len(self._own) + 1
        own = [self._own.get(name, other) for name in column.categories]
        places = np.where(np.isnan(column.entries), len(own), column.entries).astype(np.intp)
        return np.array([*own, 0], dtype=np.uint8)[places]
