"""What the score of a forest gains by every suggested entry, taken alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.ranking import ORDERS, rank_cells
from shapley2d._valuation.what_if import needs_trees
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.inspected import InspectedCells
    from shapley2d._valuation.values import CellValues


def entry_gains(inspection: InspectedCells, valuation: CellValues, n: int | None = None) -> Floats:
    """What each suggested entry, taken alone, adds to the score of a forest whose splits are held.

    Parameters
    ----------
    valuation : Valuation
        Of the same table, with ``method="forest"``, made in this session.
    n : int or None
        For the first n suspects, in every order of :meth:`~shapley2d.Inspection.rank`; by default
        for all cells, which takes a while in large tables.

    Returns
    -------
    ndarray of shape (n, p)
        Like ``scores``, the label's column last; 0 where the suggestion is the entry in the table,
        NaN where the gain is not known: the cell was not asked for, or not valued.

    Examples
    --------
    >>> from shapley2d import Forest, inspect_cells, value_cells
    >>> X = {"height": [150 + k % 40 for k in range(80)]}
    >>> X["weight"] = [height - 100.0 for height in X["height"]]
    >>> y = [weight > 70 for weight in X["weight"]]
    >>> X["weight"][7] = 570.0
    >>> v = value_cells(X, y, method=Forest(max_trees=50, tolerance=0), progress=False)
    >>> inspection = inspect_cells(X, y, progress=False)
    >>> bool(inspection.gains(v, n=1)[7, 1] > 0)
    True
    """
    held = needs_trees(valuation, "gains")
    cells = inspection._cells
    places = {str(name): i for i, name in enumerate(inspection.row_names.tolist())}
    names = [str(name) for name in valuation.row_names.tolist()]
    of_rows = {places[name]: k for k, name in enumerate(names) if name in places}
    columns = valuation.column_names[: held.n_columns]
    if len(of_rows) < len(names) or not set(columns) <= set(cells.names):
        raise InputError(Setting("valuation"), " is of another table: value the inspected one")
    of_columns = {cells.names.index(name): k for k, name in enumerate(columns)}
    if inspection._cells.has_label:
        of_columns[len(cells.names) - 1] = held.n_columns
    found = np.full(cells.scores.shape, np.nan)
    asked, changes = [], []
    for i, j in _suspects(inspection, n):
        if i not in of_rows or j not in of_columns:
            continue
        suggestion = cells.expected_text(i, j)
        if suggestion == cells.entries[j][i]:
            found[i, j] = 0.0
            continue
        asked.append((i, j))
        changes.append({(of_rows[i], of_columns[j]): suggestion})
    if asked:
        rows, at = np.array(asked, dtype=np.intp).T
        found[rows, at] = held.gains(changes)
    return found


def _suspects(inspection: InspectedCells, n: int | None) -> list[tuple[int, int]]:
    """The cells to ask for: the first ones in every order that there is."""
    if n is None:
        return rank_cells(inspection)
    orders = ORDERS if inspection._values is not None else ORDERS[:1]
    return list(dict.fromkeys(cell for by in orders for cell in rank_cells(inspection, n, by)))
