"""What other columns say of an entry: rows that share an entry vouch for, or outvote, each other.

An odd entry that several rows have together with another one is hardly a slip: all rows of the one
hospital in Alaska have its state, its city and its telephone number. And where rows with the same
entry in one column nearly all agree in another (an approximate functional dependency: TANE, Huhtala
et al. 1999, doi:10.1093/comjnl/42.2.100), one that does not is suspect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shapley2d._base.in_threads import map_in_threads
from shapley2d._inspection.binning import MOST_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._inspection.columns.view import ColumnView

_LIFT, _VOTES = 0.35, 3
"""A cause is one that explains this part of what the commonest entry does not, and has so many
groups of so many rows that agree."""


@dataclass(frozen=True)
class Company:
    """Of a column, arrays (n,).

    ``vouched`` is the log of the largest lift with another entry of the row. By the cause that the
    entry breaks most: ``broken`` is how unlikely it is among the other rows with the same cause,
    times the ``strength`` of that rule; ``votes`` is the share of these rows that have the usual
    entry. ``support`` is the log of the most rows that have it with the same cause, and ``against``
    the share of the causes that speak against it. Where an entry is not the ``usual`` word by some
    rule, or empty, ``majority`` is the largest share of the votes that such a word has, and
    ``cause`` the column; ``usual`` is -1 elsewhere.
    """

    vouched: Floats
    broken: Floats
    strength: Floats
    votes: Floats
    support: Floats
    against: Floats
    usual: Ints
    majority: Floats
    cause: Ints


SIGNALS = ("vouched", "broken", "strength", "votes", "support", "against")


def company(views: Sequence[ColumnView], threads: int = 1) -> list[Company]:
    """What the columns of a table say of each other.

    >>> from shapley2d._inspection.columns.view import column_views
    >>> from shapley2d._tables.convert import as_table
    >>> data = {"zip": [f"{k % 5}x" for k in range(50)], "town": [f"t{k % 5}" for k in range(50)]}
    >>> data["town"][7] = "t4"
    >>> _, town = company(column_views(as_table(data)))
    >>> int(town.broken.argmax()), int(town.usual[7])
    (7, 2)
    """
    known = views[0].known if views else 0
    distinct = [int((view.taught > 0).sum()) for view in views]
    causes = [k for k, size in enumerate(distinct) if 1 < size <= MOST_CATEGORIES * known]
    return list(map_in_threads(lambda j: _of_column(views, j, causes), range(len(views)), threads))


def _of_column(views: Sequence[ColumnView], j: int, causes: Sequence[int]) -> Company:
    view = views[j]
    n, known, width = view.codes.size, view.known, len(view.words)
    is_known = np.arange(n) < known
    found = {name: np.zeros(n) for name in (*SIGNALS, "majority")}
    usual, cause_of = np.full(n, -1, dtype=np.intp), np.full(n, -1, dtype=np.intp)
    speak = np.zeros(n)
    others_alike = view.spread(view.taught) - is_known  # other known rows with the same entry
    share = (view.spread(view.taught) + view.is_new) / view.size
    commonest = view.taught.max(initial=0) / max(view.taught.sum(), 1)
    for k in causes if (view.taught > 0).sum() > 1 else ():
        has_cause = views[k].codes >= 0
        there = np.flatnonzero((view.codes >= 0) & has_cause)
        if k == j or not there.size:
            continue
        cause, effect, own_row = views[k].codes[there], view.codes[there], is_known[there]
        pair, pairs = _encoded(cause * width + effect)
        counts = np.bincount(pair[own_row], minlength=pairs.size)
        group = pairs // width
        size = np.bincount(cause[own_row], minlength=len(views[k].words))
        same, others = counts[pair] - own_row, size[cause] - own_row
        by_chance = others_alike[there] * (views[k].taught[cause] - own_row)
        by_chance = by_chance / np.maximum(known - own_row, 1)
        lift = np.log((same + 0.5) / (by_chance + 0.5))
        found["vouched"][there] = np.maximum(found["vouched"][there], lift)
        order = np.lexsort((pairs, counts))  # the commonest last
        most, best = np.zeros((2, size.size), dtype=np.intp)
        most[group[order]], best[group[order]] = counts[order], pairs[order] % width
        several = size >= 2
        agree = (most[several] - 1).sum() / max(1, (size[several] - 1).sum())
        strength = (agree - commonest) / (1 - commonest) if commonest < 1 else 0.0
        if strength < _LIFT or (most >= _VOTES).sum() < _VOTES:
            continue
        voting = (most[cause] - (own_row & (best[cause] == effect))) / np.maximum(others, 1)
        rare = -np.log((same + share[there]) / (others + 1)) * strength
        heard, differs = others >= 2, best[cause] != effect
        speak[there] += heard
        found["against"][there] += heard & differs
        worse = heard & (rare > found["broken"][there])
        at = there[worse]
        found["broken"][at], found["strength"][at] = rare[worse], strength
        found["votes"][at] = voting[worse]
        clearer = heard & differs & (voting > found["majority"][there])
        at = there[clearer]
        found["majority"][at], usual[at], cause_of[at] = voting[clearer], best[cause][clearer], k
        empty = np.flatnonzero((view.codes < 0) & has_cause)
        cause = views[k].codes[empty]
        voting = np.where(size[cause] >= 2, most[cause] / np.maximum(size[cause], 1), 0.0)
        clearer = voting > found["majority"][empty]
        at = empty[clearer]
        found["majority"][at], usual[at], cause_of[at] = voting[clearer], best[cause][clearer], k
        support = np.log(same + 1) * strength
        found["support"][there] = np.maximum(found["support"][there], support)
    found["against"] /= np.maximum(speak, 1)
    return Company(**found, usual=usual, cause=cause_of)


def _encoded(keys: Ints) -> tuple[Ints, Ints]:
    """The position of every key among the distinct ones, and these."""
    encoded = pa.array(keys).dictionary_encode()
    return np.from_dlpack(encoded.indices).astype(np.intp), np.asarray(encoded.dictionary)
