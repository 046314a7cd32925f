"""Explaining 1D values: a row's value as the sum of its cells, and rows worth nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.warnings import warn
from shapley2d._tables.frames import make_frame
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def similar_rows(
    valuation: CellValues,
    row: Any = None,
    n: int = 5,
    *,
    within: float | None = None,
    line: int | None = None,
) -> Any:
    """Rows of nearly the same 1D value: those whose cells agree most with the row's, then least.

    Two rows can be worth the same for the same reasons or for quite different ones; the cells show
    which.

    Parameters
    ----------
    row : object
        Name of the row.
    n : int
        Rows to list of either kind; fewer where there are fewer than ``2 n`` candidates.
    within : float, optional
        Rows whose 1D values differ by at most this are candidates. By default the closest rows: at
        most a tenth of all, or ``4 n`` if that is more, and no further than a tenth of the row's
        own value or of the standard deviation of all rows' values, whichever is larger.
    line : int, optional
        The line where the row starts in the file that was read, instead of its name.

    Returns
    -------
    frame
        ``row`` (and ``line``, where a file was read), ``value`` (1D), ``agreement`` (the
        correlation of the two rows' cells, 1 for the same profile) and ``kind``: ``"most"`` or
        ``"least"``. Highest agreement first. Empty, with a warning that names the closest row,
        where no row is worth nearly the same.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: S[:2].sum() * F[0] + S[2] * F[1], 3, 3)
    >>> v.similar_rows(0, n=1)[["row", "agreement", "kind"]].values.tolist()
    [[1, 1.0, 'most'], [2, -0.5, 'least']]
    """
    check_whole(n, "n", 1)
    i = find_row(valuation, row, line)
    apart = np.abs(valuation.row_values - valuation.row_values[i])
    apart[i] = np.inf
    if within is not None and within < 0:
        raise InputError(Setting("within", within), " must not be negative")
    largest = _nearly(valuation.row_values, i) if within is None else within
    near = np.flatnonzero(apart <= largest)
    if within is None:
        near = near[np.argsort(apart[near], kind="stable")[: max(4 * n, apart.size // 10)]]
    if not near.size:
        _warn_of_none(valuation, i, apart, largest)
    agreement = _agreement(valuation.values, i)[near]
    order = np.argsort(-agreement, kind="stable")
    most = min(n, (order.size + 1) // 2)
    least = min(n, order.size - most)
    chosen = np.concatenate([order[:most], order[order.size - least :]])
    columns = {
        **valuation._row_columns(near[chosen]),
        "value": valuation.row_values[near[chosen]],
        "agreement": agreement[chosen],
        "kind": ["most"] * most + ["least"] * least,
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


def _nearly(rows: NDArray[np.float64], i: int) -> float:
    """How far a row's value may be from that of row ``i``; a little more, for rounding."""
    tenth = 0.1 * max(abs(float(rows[i])), float(rows.std()))
    return tenth * (1 + 1e-9) + 1e-15 * float(np.abs(rows).max())


def _warn_of_none(valuation: CellValues, i: int, apart: NDArray[np.float64], within: float) -> None:
    names, values, word = valuation._shown_rows, valuation.row_values, valuation._row_word
    message = f"no row is worth nearly the same as {word} {names[i]} ({values[i]:+.3g})"
    if values.size == 1:
        warn(InputWarning(message, ": it is the only one"))
        return
    closest = int(apart.argmin())
    where = f"the closest, {word} {names[closest]} ({values[closest]:+.3g}), is not within"
    warn(
        InputWarning(
            f"{message}: {where} {within:.2g}; for more distant ones raise ", Setting("within")
        )
    )


def _agreement(values: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    """Correlation of every row's cells with those of row ``i``; 0 where a row's cells are equal."""
    centred = values - values.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1)
    size = norms * norms[i]
    # cells that are equal except for rounding have no profile
    flat = (norms <= 1e-12 * np.abs(values).max(axis=1)) | (size == 0)
    return np.where(flat, 0.0, centred @ centred[i] / np.where(flat, 1.0, size)).round(12)
