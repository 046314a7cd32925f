"""Explaining 1D values: a row's value as the sum of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._tables.frames import make_frame
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._valuation.values import CellValues


def explain_row(valuation: CellValues, row: Any = None, *, line: int | None = None) -> Any:
    """A row's value as the sum of its cells, largest in magnitude first.

    Parameters
    ----------
    row : object
        Name of the row.
    line : int, optional
        The line where it starts in the file that was read, instead of its name.

    Returns
    -------
    frame
        ``column``, ``content`` (the entry as text, where the table is known), ``value``, ``stderr``
        and ``sum``, the running sum of the values, whose last entry is the row's value.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: 2.0 * S[0] * F[1] - S[0] * F[0], 2, 2)
    >>> v.explain_row(0)[["column", "value", "sum"]].values.tolist()
    [['1', 2.0, 2.0], ['0', -1.0, 1.0]]
    """
    i = find_row(valuation, row, line)
    values = valuation.values[i]
    order = np.argsort(-np.abs(values), kind="stable")
    columns = {
        "column": [valuation.column_names[j] for j in order],
        "content": [valuation._entry(i, j) for j in order.tolist()],
        "value": values[order],
        "stderr": valuation.stderr[i, order],
        "sum": np.cumsum(values[order]),
    }
    return make_frame(columns, valuation._frame)


def find_row(valuation: CellValues, row: Any, line: int | None = None) -> int:
    """Position of a row given by its name, or by its line in the file."""
    if (row is None) == (line is None):
        raise InputError("give ", Setting("row"), " or ", Setting("line"))
    option, given, names = ("row", row, valuation.row_names)
    if line is not None:
        if valuation.lines is None:
            raise InputError(
                Setting("line", line),
                " needs values of a file whose rows have lines: give ",
                Setting("row"),
            )
        option, given, names = "line", line, valuation.lines
    try:
        wanted = str(given)
    except Exception:  # noqa: BLE001  (a row may be anything at all)
        wanted = ""
    known = names.tolist()
    position = next((k for k, name in enumerate(known) if str(name) == wanted), None)
    if position is None:
        examples = ", ".join(repr(name) for name in known[:5]) + (", ..." if len(known) > 5 else "")
        shown = Setting(option, given).shown(repr)
        are = "rows are named" if option == "row" else "rows start on lines"
        raise InputError(f"there is no {option} {shown}: {are} {examples}")
    return position
