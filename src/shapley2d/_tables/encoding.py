"""Tables as matrices for scikit-learn's models, in which a column stays one player.

A category becomes one 0/1 column per value, so one player may own several columns of the matrix and
takes them all along when it leaves. The encoding is made once and is the same for every coalition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Column, Table

# the largest number of a column may lie between these: squares then fit 32-bit and 64-bit floats
_ORDINARY = (1e-30, 1e30)


@dataclass(frozen=True)
class EncodedTables:
    """Training and validation matrices, and which of their columns belong to which player."""

    # (n, width) and (T, width): encoded tables; missing numbers are NaN, a missing category has no
    # 1
    train: Floats
    valid: Floats
    # (width,): the player, i.e. the column of the table, behind every column of the matrices
    owners: Ints
    # (n_players,): whether a player's encoded columns hold NaN anywhere
    has_missing: Bools


def encode_tables(train: Table, valid: Table) -> EncodedTables:
    """Encode a training table and a validation table with the same columns."""
    return encode_columns(train.columns, valid.columns)


def encode_columns(train: Sequence[Column], valid: Sequence[Column]) -> EncodedTables:
    """Encode columns of a training table and those of a validation table."""
    pieces = [_encode(t, v) for t, v in zip(train, valid, strict=True)]
    widths = [left.shape[1] for left, _ in pieces]
    missing = [bool(np.isnan(left).any() or np.isnan(right).any()) for left, right in pieces]
    return EncodedTables(
        train=np.concatenate([left for left, _ in pieces], axis=1),
        valid=np.concatenate([right for _, right in pieces], axis=1),
        owners=np.repeat(np.arange(len(pieces)), widths),
        has_missing=np.array(missing),
    )


def fill_means(matrix: Floats, source: Floats | None = None) -> Floats:
    """The matrix with missing numbers replaced by column means; 0 if a column has no number.

    The means are those of ``source``, by default of the matrix itself.

    >>> fill_means(np.array([[1.0, np.nan], [np.nan, np.nan], [5.0, np.nan]])).tolist()
    [[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]]
    """
    source = matrix if source is None else source
    known = ~np.isnan(source)
    means = np.where(known, source, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(np.isnan(matrix), means, matrix)


def near_one(*matrices: Floats, by_column: bool) -> tuple[Floats, ...]:
    """Scale extremely large or small columns to about 1, by the same powers of two in all matrices.

    Their squares, or their 32-bit versions, would be 0 or infinite. A power of two rounds nothing,
    and ordinary columns are unchanged. The first matrix decides the scales: one for every column
    with ``by_column``, for models that ignore scales; otherwise all columns share one.

    >>> (scaled,) = near_one(np.array([[3e-160, 5.0], [-6e-160, 7.0]]), by_column=True)
    >>> scaled.round(3).tolist()
    [[0.264, 5.0], [-0.527, 7.0]]
    >>> near_one(np.array([[3e-160, 5.0]]), by_column=False)[0].tolist()
    [[3e-160, 5.0]]
    """
    largest = np.max(np.abs(np.nan_to_num(matrices[0])), axis=0, initial=0.0)
    if not by_column:
        largest = np.full_like(largest, largest.max(initial=0.0))
    extreme = (largest > 0) & ((largest < _ORDINARY[0]) | (largest > _ORDINARY[1]))
    if not extreme.any():
        return matrices
    shift = np.where(extreme, -np.frexp(largest)[1], 0)
    return tuple(np.ldexp(matrix, shift) for matrix in matrices)


def as_float32(matrix: Floats) -> NDArray[np.float32]:
    """The matrix as 32-bit numbers, as trees use them, clipped to their range."""
    largest = float(np.finfo(np.float32).max)
    return np.ascontiguousarray(np.clip(matrix, -largest, largest), dtype=np.float32)


def _encode(train: Column, valid: Column) -> tuple[Floats, Floats]:
    if train.kind != "category":
        return train.entries[:, None], valid.entries[:, None]
    codes = train.entries[~np.isnan(train.entries)].astype(np.intp)
    counts = np.bincount(codes, minlength=1)
    # the 50 most frequent, ties in alphabetical order; the others share a column
    kept = np.sort(np.lexsort((np.arange(counts.size), -counts))[:50])
    rest = counts.sum() > counts[kept].sum()
    return _one_hot(train.entries, kept, rest=rest), _one_hot(valid.entries, kept, rest=rest)


def _one_hot(entries: Floats, kept: Ints, *, rest: bool) -> Floats:
    matrix: Floats = np.equal(entries[:, None], kept[None, :]).astype(np.float64)
    if not rest:
        return matrix
    other = ~np.isnan(entries) & ~matrix.any(axis=1)
    return np.concatenate([matrix, other[:, None].astype(np.float64)], axis=1)
