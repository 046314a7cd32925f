"""The order in which to look at suspect cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.checks import check_choice, check_whole
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._inspection.inspected import InspectedCells

ORDERS = ("wrong", "harm", "gain")
"""What suspects can be ranked by."""

# Chosen by the accuracy that the first repairs of small tables gained; docs/evidence/inspection.md.
_HARM_WEIGHT = 2.0


def rank_cells(
    inspection: InspectedCells,
    n: int | None = None,
    by: str = "wrong",
    part: str = "both",
    least: float | None = None,
) -> list[tuple[int, int]]:
    """Row and column of the suspects, the first to look at first.

    They are of one ``part`` of the table, its ``"entries"`` or its ``"labels"``, or of ``"both"``,
    and at ``least`` this likely wrong: labels by default 1 %, since others are not worth a look.

    Entries that are what is expected come last, unless a finding about their column names them.
    Cells that a person has called right are left out, and with ``by="harm"`` those without a value.
    So are keys, from which nothing follows, except where a finding names one of their entries.
    """
    check_choice(by, "by", ORDERS)
    if n is not None:
        check_whole(n, "n", 0)
    cells = inspection._cells
    if by == "wrong":
        first = cells.probability
    else:
        first = _harm(inspection) if by == "harm" else gain_scores(inspection)
    named = _named(inspection)
    first, width = first.ravel(), cells.scores.shape[1]
    keys = {one.columns[0] for one in inspection.findings if one.kind == "key"}
    allowed = (named | [name not in keys for name in cells.names]).ravel()
    least = (0.01 if part == "labels" else 0.0) if least is None else least
    allowed &= cells.probability.ravel() >= least
    if by == "harm":
        allowed &= np.isfinite(first)
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
        named[finding.rows, cells.names.index(finding.columns[0])] = True
    return named


def gain_scores(inspection: InspectedCells) -> Floats:
    """Score and harm of every cell in one number, the largest to look at first."""
    harm = _harm(inspection)
    terms = np.zeros_like(harm)
    m = inspection.shape[1]
    for part in (slice(0, m), slice(m, None)):  # labels are worth more than cells
        known = harm[:, part][np.isfinite(harm[:, part])]
        spread = float(known.std()) if known.size else 0.0
        if spread > 0:
            terms[:, part] = np.nan_to_num(np.arcsinh(harm[:, part] / spread))
    return np.asarray(inspection._cells.scores + _HARM_WEIGHT * terms)


def _harm(inspection: InspectedCells) -> Floats:
    if inspection._values is None:
        raise InputError(
            Setting("by"),
            " needs cell values: pass ",
            Setting("valuation"),
            " to inspect_cells, or rank by 'wrong'",
        )
    return -inspection._values
