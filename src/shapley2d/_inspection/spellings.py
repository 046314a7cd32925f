"""Rare categories that are one edit away from a frequent one: most often the same word, mistyped."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.recipe import MOST_WORDS, SPELLING_LENGTH, SPELLING_TIMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def misspellings(words: Sequence[str], counts: NDArray[np.int64]) -> dict[int, list[int]]:
    """For rare words the frequent ones that are one edit away, the most frequent first; by position.

    An edit replaces, inserts or leaves out a character, or swaps two neighbours. Words that differ
    in a digit are two codes, not two spellings.

    Examples
    --------
    >>> misspellings(["Birmingham", "Brimingham", "Boston"], np.array([812, 1, 30]))
    {1: [0]}
    """
    found: dict[int, list[int]] = {}
    reach: defaultdict[str, list[int]] = defaultdict(
        list
    )  # words by what is left of them without one character, or by themselves
    order = [
        int(k)
        for k in np.argsort(-counts, kind="stable")
        if counts[k] and len(words[k]) >= SPELLING_LENGTH
    ]
    if not order or counts[order[0]] < SPELLING_TIMES or len(words) > MOST_WORDS:
        return found
    for k in order:
        for key in _shortened(words[k]):
            for other in reach.get(key, ()):
                far = counts[other] < SPELLING_TIMES * counts[k] or not is_edit(
                    words[other], words[k]
                )
                if not far and other not in found.get(k, ()):
                    found.setdefault(k, []).append(other)
        if counts[k] >= SPELLING_TIMES:
            for key in _shortened(words[k]):
                reach[key].append(k)
    return {k: sorted(near, key=lambda other: -counts[other]) for k, near in sorted(found.items())}


def _shortened(word: str) -> set[str]:
    return {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))}


def is_edit(word: str, other: str) -> bool:
    """Whether one edit leads from one word to the other, and does not put a digit in the place of a digit."""
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    stop = 0
    while stop < min(len(word), len(other)) - start and word[-1 - stop] == other[-1 - stop]:
        stop += 1
    a, b = word[start : len(word) - stop], other[start : len(other) - stop]
    if (a.isdigit() and b.isdigit()) or (a + b).isdigit():
        return False
    return (len(a) <= 1 and len(b) <= 1) or (len(a) == 2 and b == a[::-1])
