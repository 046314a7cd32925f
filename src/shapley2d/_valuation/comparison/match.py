"""Which row of one version of a table is which row of another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._valuation.values import CellValues


def matched_names(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[int, int]]:
    """Positions of equal names, each used once."""
    waiting = defaultdict(list)
    for i in range(len(before) - 1, -1, -1):
        waiting[before[i]].append(i)
    return [(waiting[name].pop(), k) for k, name in enumerate(after) if waiting[name]]


def matched_rows(
    before: CellValues, after: CellValues, columns: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of the rows that both have, in the order of the second.

    Rows with names of their own go by these. Others go by their entries; rows that were edited, by
    their place between rows that were not, if at least half of their entries are the same.
    """
    names = [[str(name) for name in one.row_names.tolist()] for one in (before, after)]
    if not (_is_numbered(before) and _is_numbered(after)) or before._table is None:
        pairs = matched_names(*names)
    else:
        old = _texts(before, [i for i, _ in columns])
        new = _texts(after, [j for _, j in columns])
        pairs = matched_names(old, new)
        pairs = sorted([*pairs, *_edited(old, new, pairs)], key=lambda pair: pair[1])
    both = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _is_numbered(values: CellValues) -> bool:
    """Whether rows have no names but their positions."""
    return np.array_equal(values.row_names, np.arange(len(values.row_names)))


def _texts(values: CellValues, columns: Sequence[int]) -> list[tuple[str | None, ...]]:
    contents = values._contents or []
    labels = [] if values._labels is None else [values._labels]
    return list(zip(*(contents[j] for j in columns), *labels, strict=True))


def _edited(
    before: list[tuple[str | None, ...]],
    after: list[tuple[str | None, ...]],
    pairs: list[tuple[int, int]],
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
