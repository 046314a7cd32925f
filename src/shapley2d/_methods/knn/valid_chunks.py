"""Validation rows in chunks that are alike: each has its part of every class, or of every range of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def deal_rows(y: NDArray[Any], size: int, random: np.random.Generator) -> list[NDArray[np.intp]]:
    """Random chunks of rows, of nearly equal sizes.

    Rows in the order of their labels, those of one label in random order, are dealt out to the
    chunks in rounds, every round in an order of its own. So the first chunks are a stratified
    random sample of all rows.

    Parameters
    ----------
    y : ndarray of shape (T,)
        Labels, or targets.
    size : int
        Rows of a chunk, at most.
    random : Generator

    Examples
    --------
    >>> labels = np.array([0, 0, 1, 1, 0, 1])
    >>> [labels[chunk].tolist() for chunk in deal_rows(labels, 2, np.random.default_rng(0))]
    [[0, 1], [0, 1], [0, 1]]
    """
    count = -(-len(y) // max(size, 1))
    order = random.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    rounds = random.permuted(np.tile(np.arange(count), (-(-len(y) // count), 1)), axis=1).ravel()[
        : len(y)
    ]
    if len(y) % count:  # the last round is for some of the chunks only
        rounds[-(len(y) % count) :] = random.permutation(count)[: len(y) % count]
    return [np.sort(order[rounds == k]) for k in range(count)]


def in_turn(parts: list[list[NDArray[np.intp]]]) -> list[tuple[int, NDArray[np.intp]]]:
    """The chunks of several splits, one of each in turn, so that the first ones cover all splits alike."""
    numbered = [
        (place, k, chunk) for k, chunks in enumerate(parts) for place, chunk in enumerate(chunks)
    ]
    return [(k, chunk) for _, k, chunk in sorted(numbered, key=lambda entry: entry[:2])]
