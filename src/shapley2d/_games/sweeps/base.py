"""What the sweeps share: coalitions as chains, tables as filled numbers, and the game around a kernel."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._tables.encoding import encode_tables
from shapley2d._theory.coalitions import NestedCoalitions
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split
    from shapley2d._theory.coalitions import Coalitions


class Chain(NamedTuple):
    """A run of coalitions, each within the next: the order in which players join, and how many have by then.

    ``start`` is the position of the run in the list of coalitions; coalitions of nobody are left out.
    """

    order: NDArray[np.intp]
    sizes: NDArray[np.intp]
    start: int


def chains(coalitions: Coalitions) -> list[Chain]:
    """Cut a list of coalitions into runs of nested ones.

    The coalitions of a permutation are one chain; any other list falls into short ones, of a single coalition at
    worst, so that a kernel for chains serves every list.

    Examples
    --------
    >>> from shapley2d._theory.coalitions import MaskCoalitions
    >>> for chain in chains(MaskCoalitions([[0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])):
    ...     print(chain.order.tolist(), chain.sizes.tolist(), chain.start)
    [1, 0] [1, 2] 1
    [2] [1] 3
    """
    if isinstance(coalitions, NestedCoalitions):
        return [Chain(coalitions.order, np.arange(1, len(coalitions), dtype=np.intp), 1)]
    masks = coalitions.masks()
    sizes = masks.sum(axis=1, dtype=np.intp)
    breaks = (masks[:-1] & ~masks[1:]).any(axis=1) | (sizes[:-1] == 0)
    starts = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(masks)]
    found = []
    for start, stop in itertools.pairwise(starts):
        if start < stop and sizes[start]:
            members = np.flatnonzero(masks[stop - 1])
            joins = masks[start:stop, members].argmax(axis=0)
            order = members[np.argsort(joins, kind="stable")]
            found.append(Chain(order, sizes[start:stop], start))
    return found


class SweepGame(ABC):
    """The performance of a built-in model trained on rows S and columns F, on a validation table.

    A chain of nested row coalitions under a chain of nested column coalitions, as one permutation pair of a Monte
    Carlo draw has them, is filled in one sweep; other coalitions are swept in the chains they fall into. The score
    is the accuracy, or R squared in regression. No rows or no columns are worth 0; rows of a single class predict
    that class.

    Tables are encoded as for scikit-learn's estimators, a category being one 0/1 column per value that come and go
    together. A missing number is filled with the mean of the column over the whole training table, so that its value
    does not depend on the coalition.

    Parameters
    ----------
    split : Split
        Training and validation rows, checked.

    Attributes
    ----------
    n_rows, n_columns : int
        Numbers of players.
    model : str
        The name of the sweep.
    """

    model: str

    def __init__(self, split: Split) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self.classifies = split.y.task == "classification"
        encoded = encode_tables(split.train, split.valid)
        train, valid = _filled(encoded.train, encoded.valid)
        self._members = [np.flatnonzero(encoded.owners == j) for j in range(self.n_columns)]
        self._widths = np.array([members.size for members in self._members])
        self._n_valid = split.valid.n_rows
        if self.classifies:
            self._codes = split.y.codes.astype(np.int64)
            self._n_classes = split.y.classes.size
            order, self._blocks = class_blocks(split)
            valid = valid[order]
        else:
            self._targets, self._targets_valid = number_targets(split)
        self._train = train
        self._valid = np.ascontiguousarray(valid.T)

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities: one line per row coalition, one column per column coalition."""
        matrix = np.zeros((len(rows), len(columns)))
        column_chains = [(chain, *self._encoded_chain(chain)) for chain in chains(columns)]
        for line in chains(rows):
            lines = slice(line.start, line.start + line.sizes.size)
            for chain, order, ends in column_chains:
                part = slice(chain.start, chain.start + ends.size)
                matrix[lines, part] = self._grid(line.order, line.sizes, order, ends)
        return matrix

    def _encoded_chain(self, chain: Chain) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The encoded columns in the order in which their players join, and how many have at each coalition."""
        order = np.concatenate([self._members[player] for player in chain.order])
        return order, np.cumsum(self._widths[chain.order], dtype=np.intp)[chain.sizes - 1]

    @abstractmethod
    def _grid(
        self,
        rows: NDArray[np.intp],
        sizes: NDArray[np.intp],
        columns: NDArray[np.intp],
        ends: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Utilities of the first ``sizes`` of ``rows`` under the first ``ends`` of the encoded ``columns``."""


def class_blocks(split: Split) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The validation rows in blocks of one class, and where the blocks begin, with their end.

    Rows of a label that training never shows are left out: they are never right.
    """
    codes = split.y_valid.codes
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    return order, np.searchsorted(codes[order], np.arange(split.y.classes.size + 1)).astype(np.int64)


def number_targets(split: Split) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The targets of a regression, of training and of validation, of which R squared can be told."""
    if split.valid.n_rows < 2:
        raise InputError("R squared needs at least two validation rows: pass more, or fewer folds")
    return np.asarray(split.y.codes, dtype=np.float64), np.asarray(split.y_valid.codes, dtype=np.float64)


def _filled(
    train: NDArray[np.float64], valid: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both tables with missing numbers replaced by the training mean (0 where a column has no number)."""
    known = ~np.isnan(train)
    means = np.where(known, train, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, train, means), np.where(np.isnan(valid), means, valid)
