"""The order in which to look at suspect cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.checks import check_whole

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools
    from shapley2d._inspection.inspected import InspectedCells


def rank_cells(
    inspection: InspectedCells,
    n: int | None = None,
    part: str = "both",
    least: float | None = None,
) -> list[tuple[int, int]]:
    """Row and column of the suspects, the first to look at first.

    They are of one ``part`` of the table, its ``"entries"`` or its ``"labels"``, or of ``"both"``,
    and at ``least`` this likely wrong: labels by default 1 %, since others are not worth a look.

    Entries that are what is expected come last, unless a finding about their column names them.
    Cells that a person has called right are left out; so are keys, from which nothing follows,
    except where a finding names one of their entries.
    """
    if n is not None:
        check_whole(n, "n", 0)
    cells = inspection._cells
    named = _named(inspection)
    first, width = cells.probability.ravel(), cells.scores.shape[1]
    keys = {one.columns[0] for one in inspection.findings if one.kind == "key"}
    allowed = (named | [name not in keys for name in cells.names]).ravel()
    least = (0.01 if part == "labels" else 0.0) if least is None else least
    allowed &= first >= least
    if part != "both":
        is_label = np.arange(first.size) % width >= inspection.shape[1]
        allowed &= is_label == (part == "labels")
    allowed[[i * width + j for i, j in inspection._settled]] = False
    nothing_else = (cells.as_expected & ~named).ravel()
    places = np.flatnonzero(allowed & ~nothing_else)
    if n is None or places.size < n:
        places = np.flatnonzero(allowed)
    elif n:  # millions of others are not sorted
        least = np.partition(first[places], places.size - n)[places.size - n]
        places = places[first[places] >= least]
    scores = cells.scores.ravel()[places]
    order = places[np.lexsort((-scores, -first[places], nothing_else[places]))]
    rows, columns = np.divmod(order[:n], width)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _named(inspection: InspectedCells) -> Bools:
    """Which cells a finding about their column names."""
    cells = inspection._cells
    named = np.zeros(cells.scores.shape, dtype=bool)
    for finding in inspection.findings:
        if finding.probability:  # others are facts
            named[finding.rows, cells.names.index(finding.columns[0])] = True
    return named
