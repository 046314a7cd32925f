"""A split as the kernels of the sweeps take it: encoded tables, targets, score and baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._games.sweeps.scoring import (
    ClassScore,
    ConstantBaseline,
    class_score,
    varying_members,
)
from shapley2d._kernels.scores import ACCURACY
from shapley2d._tables.encoding import encode_tables, fill_means, near_one
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split


@dataclass(frozen=True)
class EncodedSplit:
    """Encoded tables without missing entries, and which of their columns belong to which player."""

    train: NDArray[np.float64]  # (n, width)
    # (width, T): in classification the validation rows are those of :func:`class_blocks`, in that
    # order
    valid: NDArray[np.float64]
    # the encoded columns of every player, i.e. of every column of the table; none where the table
    # is counted from a ``baseline`` and the player is the same in all rows
    members: tuple[NDArray[np.intp], ...]
    score: ClassScore | None  # of a classification
    # what coalitions are worth that have nothing to learn from; None leaves it to the model and
    # counts from 0
    baseline: ConstantBaseline | None


def encode_split(
    split: Split,
    baseline: str = "labels",
    scoring: str | None = None,
    *,
    scale_free: bool = False,
) -> EncodedSplit:
    """Encode a split as for scikit-learn's estimators.

    A category is one 0/1 column per value, which come and go together. A missing number is filled
    with the mean of the column over the whole training table, so that its value does not depend on
    the coalition. With ``scale_free``, all columns may be multiplied by one number without changing
    the model, and extremely large or small numbers are brought near 1.

    >>> from shapley2d._tables.problem import make_problem
    >>> X = [["red", 1.0], ["blue", None], ["red", 5.0]]
    >>> (split,) = make_problem(X, [0, 1, 0], X, [0, 1, 0]).splits
    >>> encoded = encode_split(split)
    >>> encoded.train.tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 3.0], [0.0, 1.0, 5.0]]
    >>> [members.tolist() for members in encoded.members]
    [[0, 1], [2]]
    """
    encoded = encode_tables(split.train, split.valid)
    train, valid = fill_means(encoded.train), fill_means(encoded.valid, encoded.train)
    if scale_free:
        train, valid = near_one(train, valid, by_column=False)
    if split.y.task == "classification":
        valid = valid[class_blocks(split)[0]]
    members = tuple(np.flatnonzero(encoded.owners == j) for j in range(split.train.n_columns))
    valid = np.ascontiguousarray(valid.T)
    score = class_score(split, scoring) if split.y.task == "classification" else None
    if baseline == "zero":
        plain = score is None or score.kind == ACCURACY
        constants = None if plain else ConstantBaseline(split, train, score, from_zero=True)
        return EncodedSplit(train, valid, members, score, constants)
    constants = ConstantBaseline(split, train, score, from_zero=False)
    return EncodedSplit(train, valid, varying_members(train, members), score, constants)


def class_blocks(split: Split) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The validation rows in blocks of one class, and where the blocks begin, with their end.

    Rows of a label that training never shows are left out: they are never right.
    """
    codes = split.y_valid.codes
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    starts = np.searchsorted(codes[order], np.arange(split.y.classes.size + 1))
    return order, starts.astype(np.int64)


class NumberTargets(NamedTuple):
    """Targets of a regression, less the mean of training."""

    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    spread: float  # squared deviations of the validation targets from their mean


def number_targets(split: Split) -> NumberTargets:
    """The targets of a regression; R squared needs two validation rows."""
    if split.valid.n_rows < 2:
        raise InputError("R squared needs at least two validation rows: pass more, or fewer folds")
    train, valid = (np.asarray(y.codes, dtype=np.float64) for y in (split.y, split.y_valid))
    centre = float(train.mean())
    spread = float(np.sum((valid - valid.mean()) ** 2))
    return NumberTargets(train - centre, valid - centre, spread)
