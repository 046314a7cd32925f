"""What stands out in a table now, and what does no longer, since an earlier inspection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._tables.frames import make_frame, objects
from shapley2d._tables.match import matched_names, matched_rows
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._inspection.inspected import InspectedCells


def compare(after: InspectedCells, before: InspectedCells) -> Any:
    """What moved since an inspection of another version of the table.

    Rows with names go by these; others by their entries, as in
    :meth:`Valuation.compare <shapley2d.Valuation.compare>`.

    Parameters
    ----------
    before : Inspection

    Returns
    -------
    frame
        The entries and labels that stand out in one of the two only, new ones first: ``row`` (and
        ``line``), ``column``, ``entry_before``, ``entry``, and how likely they were and are wrong,
        ``before`` and ``after``. An entry of a new row or column has no ``before``.

    Examples
    --------
    >>> from shapley2d import inspect_cells
    >>> X = {"height": [150 + k % 40 for k in range(80)]}
    >>> X["weight"] = [height - 100.0 for height in X["height"]]
    >>> first = inspect_cells(X, progress=False)
    >>> X["weight"][7] = 570.0
    >>> second = inspect_cells(X, progress=False)
    >>> second.compare(first)[["row", "column", "entry_before", "entry"]].values.tolist()[0]
    [7, 'weight', '57', '570']
    """
    if not hasattr(before, "_cells"):
        raise InputError("compare needs another inspection")
    first, second = before._cells, after._cells
    pairs = matched_names(first.names, second.names)
    old, new = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    rows = matched_rows(
        (before.row_names, after.row_names),
        lambda: [
            list(zip(*(cells.entries[j] for j in columns.tolist()), strict=True))
            for cells, columns in ((first, old), (second, new))
        ],
    )
    was, stood = np.full(second.scores.shape, np.nan), np.zeros(second.scores.shape, dtype=bool)
    entries = np.full(second.scores.shape, None, dtype=object)
    here, there = np.ix_(rows[1], new), np.ix_(rows[0], old)
    was[here], stood[here] = first.probability[there], first.standing_out[there]
    entries[here] = np.array(first.entries, dtype=object).T[there]
    i, j = np.nonzero(stood != second.standing_out)
    first_new = np.lexsort((-second.probability[i, j], stood[i, j]))
    i, j = i[first_new], j[first_new]
    columns = {
        **after._row_columns(i),
        "column": np.array(second.names, dtype=object)[j],
        "entry_before": objects(entries[i, j].tolist()),
        "entry": objects([second.entries[b][a] for a, b in zip(i, j, strict=True)]),
        "before": was[i, j],
        "after": second.probability[i, j],
    }
    return make_frame(columns, after._frame)
