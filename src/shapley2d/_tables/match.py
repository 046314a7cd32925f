"""Which row of one version of a table is which row of another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Texts = tuple[str | None, ...]
"""The entries of a row."""


def matched_names(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[int, int]]:
    """Positions of equal names, each used once: at the same place if possible, else the first."""
    stay = {k for k, (one, other) in enumerate(zip(before, after, strict=False)) if one == other}
    waiting = defaultdict(list)
    for i in range(len(before) - 1, -1, -1):
        if i not in stay:
            waiting[before[i]].append(i)
    pairs = []
    for k, name in enumerate(after):
        if k in stay:
            pairs.append((k, k))
        elif waiting[name]:
            pairs.append((waiting[name].pop(), k))
    return pairs


def matched_rows(
    names: Sequence[NDArray[Any]], texts: Callable[[], Sequence[list[Texts]]] | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of the rows that two tables have, in the order of the second.

    Rows with names of their own go by these. Others go by their entries, which ``texts`` gives of
    the columns that both have; rows that were edited, by their place between rows that were not, if
    at least half of their entries are the same.
    """
    numbered = all(np.array_equal(one, np.arange(len(one))) for one in names)
    if numbered and texts is not None:
        old, new = texts()
        pairs = matched_names(old, new)
        pairs = sorted([*pairs, *_edited(old, new, pairs)], key=lambda pair: pair[1])
    else:
        pairs = matched_names(*([str(name) for name in one.tolist()] for one in names))
    both = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _edited(
    before: list[Texts], after: list[Texts], pairs: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Rows of both that are left, behind the same row, and equal in half of their entries."""
    partner = dict(pairs)  # from old to new
    left: dict[int, list[int]] = defaultdict(list)
    last = -1
    for i in range(len(before)):
        last = partner.get(i, last)
        if i not in partner:
            left[last].append(i)
    taken, found, last = set(partner.values()), [], -1
    for k, row in enumerate(after):
        if k in taken:
            last = k
            continue
        alike = [sum(a == b for a, b in zip(before[i], row, strict=True)) for i in left[last]]
        if alike and 2 * max(alike) >= len(row):
            found.append((left[last].pop(int(np.argmax(alike))), k))
    return found
