"""Values as frames of the caller's kind: cells, rows, columns, and sums by any grouping."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.checks import check_flag
from shapley2d._base.entries import as_text, is_missing
from shapley2d._base.words import shown
from shapley2d._tables.align import as_series, in_order, index_of
from shapley2d._tables.frames import make_frame, objects
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._valuation.values import CellValues


def to_frame(valuation: CellValues, *, wide: bool = False, contents: bool = False) -> Any:
    """All cells as a tidy frame with the columns ``row``, ``column``, ``value`` and ``stderr``.

    Where a file was read, ``line`` beside ``row`` is the line where the row starts.

    Parameters
    ----------
    wide : bool
        The values in the shape of X instead, with its columns and, in pandas, its index.
    contents : bool
        Add the columns ``content``, the cell's entry as text, and ``label``, the target of its
        row.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: S.sum() * F.sum(), 2, 1, row_names=["a", "b"])
    >>> v.to_frame().values.tolist()
    [['a', '0', 1.0, 0.0], ['b', '0', 1.0, 0.0]]
    >>> v.to_frame(wide=True).loc["a", "0"]
    np.float64(1.0)
    """
    check_flag(wide, "wide")
    if not wide:
        return _cells(valuation, np.arange(valuation.values.size), contents=contents)
    if contents:
        raise InputError("wide=True has no place for contents: leave one of them out")
    if valuation._frame != "pandas":
        columns = zip(valuation.column_names, valuation.values.T.copy(), strict=True)
        return make_frame(dict(columns), valuation._frame)
    import pandas as pd

    native = None if valuation._table is None else valuation._table.native
    names = pd.Index(valuation.column_names)
    if isinstance(native, pd.DataFrame):
        own = native.columns
        names = own if len(own) == len(names) else own.append(names[len(own) :])  # the label
    return pd.DataFrame(valuation.values.copy(), _index(valuation), names)


def _cells(valuation: CellValues, at: Ints, *, contents: bool) -> Any:
    """A frame of the cells at these positions."""
    check_flag(contents, "contents")
    part, m = valuation._part("cells"), valuation.shape[1]
    columns = part.named(at)
    if contents:
        if valuation._table is None:
            raise InputError(
                "contents=True needs the entries of a table, which these values do not come with"
            )
        i, j = at // m, at % m
        columns["content"] = entries = np.empty(at.size, dtype=object)
        for k in np.unique(j).tolist():  # all of a million rows as text take half a minute
            entries[j == k] = valuation._table.columns[k].take(i[j == k]).text()
        if valuation._target is not None:
            known, place = np.unique(i, return_inverse=True)
            labels = [valuation._label(row) for row in known.tolist()]
            columns["label"] = objects(labels)[place]
    return make_frame(
        columns | {"value": part.values[at], "stderr": part.stderr[at]}, valuation._frame
    )


def lowest(valuation: CellValues, n: int = 10, *, contents: bool = False) -> Any:
    """The ``n`` cells of lowest value, i.e. the most harmful, as a frame like :meth:`to_frame`.

    Parameters
    ----------
    n : int
    contents : bool
        Show the cells' entries and the labels of their rows too, as the command line does.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: 2.0 * S[0] * F[1] - S[1] * F[0], 2, 2)
    >>> v.lowest(1).values.tolist()
    [[1, '0', -1.0, 0.0]]
    """
    return _cells(valuation, valuation._part("cells").first(n), contents=contents)


def highest(valuation: CellValues, n: int = 10, *, contents: bool = False) -> Any:
    """The ``n`` cells of highest value, as a frame like :meth:`lowest`."""
    at = valuation._part("cells").first(n, highest=True)
    return _cells(valuation, at, contents=contents)


def rows(valuation: CellValues) -> Any:
    """What each row adds, the lowest first.

    Returns
    -------
    frame
        ``row``, ``value``, ``stderr``, and ``low`` and ``high``, the ends of the 95 % interval;
        ``line`` where a file was read.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: 2.0 * S[0] * F[1] - S[1] * F[0], 2, 2)
    >>> v.rows()[["row", "value"]].values.tolist()
    [[1.0, -1.0], [0.0, 2.0]]
    """
    return _lines(valuation, "rows", len(valuation))


def lowest_rows(valuation: CellValues, n: int = 10) -> Any:
    """The ``n`` rows of lowest value, as a frame like :meth:`rows`."""
    return _lines(valuation, "rows", n)


def highest_rows(valuation: CellValues, n: int = 10) -> Any:
    """The ``n`` rows of highest value, the highest first, as a frame like :meth:`rows`."""
    return _lines(valuation, "rows", n, highest=True)


def columns(valuation: CellValues) -> Any:
    """What each column adds, the lowest first: a frame of ``column`` and as in :meth:`rows`."""
    return _lines(valuation, "columns", valuation.shape[1])


def _lines(valuation: CellValues, what: str, n: int, *, highest: bool = False) -> Any:
    """A frame of the lowest or highest rows or columns."""
    part = valuation._part(what)
    at = part.first(n, highest=highest)
    return _sums(valuation, part.named(at), part.values[at], part.stderr[at])


def _sums(valuation: CellValues, named: dict[str, Any], values: Floats, stderr: Floats) -> Any:
    half = valuation._interval_factor * stderr
    ends = {"low": values - half, "high": values + half}
    return make_frame({**named, "value": values, "stderr": stderr, **ends}, valuation._frame)


def sum_by(valuation: CellValues, groups: Any) -> Any:
    """Sums of the values by groups of rows or of cells, such as those of one seller.

    It is what to pay by where sellers are anonymous, so that anyone can take two names. A sum of
    cells does not move when its cells are split between names, merged or renamed, and whoever sells
    under two names gets no more. A group that joins as a whole (``row_groups``, or a contributor
    of :func:`~shapley2d.value_fragments`) is worth more or less once it is split, but is not paid
    for rows that teach the model nothing: use those where a contract says who the parties are.

    Parameters
    ----------
    groups : 1-D array, list or series; or array of the shape of the values
        The label of every row, or of every cell. A pandas series or frame goes by its index, as
        tables do. A cell without a label (None, NaN) is nobody's and is left out.

    Returns
    -------
    frame
        ``group``, ``value``, ``stderr``, and ``low`` and ``high``, the ends of the 95 % interval;
        the highest value first. ``stderr`` is known for a group that is one row, one column or one
        cell, and for all cells as ``total_stderr`` is. It is an upper bound for any other group,
        the sum of the standard errors of its parts, since these may be off in the same direction:
        how they are off together shows in the draws only, which a result does not keep.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: 2.0 * S[0] + S[1] * F[0] + S[2] * F[1], 3, 2)
    >>> v.sum_by(["a", "b", "b"])[["group", "value"]].values.tolist()
    [['a', 2.0], ['b', 2.0]]
    """
    names, codes = _numbered(_aligned(valuation, groups), valuation.shape)
    count, held = len(names), codes >= 0
    sums: Floats = np.bincount(codes[held], valuation.values[held], count).astype(np.float64)
    errors = np.minimum(
        _bound(codes, valuation.stderr, valuation.row_stderr, count),
        _bound(codes.T, valuation.stderr.T, valuation.column_stderr, count),
    )
    if count == 1 and held.all():
        errors = np.minimum(errors, valuation.total_stderr)
    order = np.argsort(-sums, kind="stable")
    return _sums(valuation, {"group": objects(names)[order]}, sums[order], errors[order])


def _bound(codes: Ints, stderr: Floats, of_lines: Floats, count: int) -> Floats:
    """At most the standard errors of the sums: whole lines by their own, other cells by theirs."""
    whole = (codes == codes[:, :1]).all(axis=1) & (codes[:, 0] >= 0)
    rest = codes[~whole]
    held = rest >= 0
    lines = np.bincount(codes[whole, 0], of_lines[whole], count)
    return np.asarray(lines + np.bincount(rest[held], stderr[~whole][held], count))


def _index(valuation: CellValues) -> Any:
    """The pandas index of the rows."""
    import pandas as pd

    native = None if valuation._table is None else valuation._table.native
    if isinstance(native, pd.DataFrame):
        return native.index
    n = len(valuation)
    numbered = np.array_equal(valuation.row_names, np.arange(n))
    return pd.RangeIndex(n) if numbered else pd.Index(valuation.row_names)


def _aligned(valuation: CellValues, groups: Any) -> Any:
    """The labels of rows or cells in the order of the rows, where both sides have an index."""
    flat = getattr(groups, "ndim", 1) == 1
    if index_of(groups) is None or len(groups) != len(valuation):
        found = as_series(groups, "groups") if flat else np.asarray(groups)
    else:
        rows = _index(valuation).to_frame()
        found = (
            as_series(groups, "groups", rows)
            if flat
            else in_order(nw.from_native(groups), rows, "groups").to_numpy()
        )
    return found.to_list() if isinstance(found, nw.Series) else found


def _numbered(listed: Any, shape: tuple[int, int]) -> tuple[list[str], Ints]:
    """The names of the groups, and the number of every cell's group; -1 where it is nobody's."""
    labels = np.asarray(listed, dtype=None if isinstance(listed, np.ndarray) else object)
    if labels.shape not in ((shape[0],), shape):
        given = " x ".join(map(str, labels.shape)) or "no"
        raise InputError(
            f"groups has {given} labels: pass one for each of the {shape[0]} rows, or an array of "
            f"{shape[0]} x {shape[1]} for the cells"
        )
    found: dict[str, int] = {}
    numbers = [
        -1 if is_missing(label) else found.setdefault(as_text(label), len(found))
        for label in labels.ravel().tolist()
    ]
    if not found:
        raise InputError("groups names no group")
    codes = np.array(numbers, dtype=np.intp).reshape(labels.shape)
    return list(found), np.broadcast_to(codes if labels.ndim > 1 else codes[:, None], shape)


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
        "column": objects(valuation.column_names)[order],
        "content": objects([valuation._entry(i, j) for j in order.tolist()]),
        "value": values[order],
        "stderr": valuation.stderr[i, order],
        "sum": np.cumsum(values[order]),
    }
    return make_frame(columns, valuation._frame)


def find_row(valuation: CellValues, row: Any, line: int | None = None) -> int:
    """Position of a row given by its name, or by its line in the file."""
    if (row is None) == (line is None):
        raise InputError("give row or line")
    option, given, names, are = "row", row, valuation.row_names, "rows are named"
    if line is not None:
        if valuation.lines is None:
            raise InputError(f"{line=} needs values of a file whose rows have lines: give row")
        option, given, names, are = "line", line, valuation.lines, "rows start on lines"
    known, wanted = names.tolist(), shown(given)
    with suppress(Exception):  # a row may be anything at all
        return [str(name) for name in known].index(str(given))
    examples = ", ".join(map(repr, known[:5])) + (", ..." if len(known) > 5 else "")
    raise InputError(f"there is no {option} {wanted}: {are} {examples}")


def strays(valuation: CellValues) -> Any:
    """Entries to check first: those that do not match their column's type.

    They are treated as missing. A frame of ``row``, ``column``, ``content`` and ``kind``, the
    type of the column; empty where there are none.

    Examples
    --------
    >>> import warnings
    >>> from shapley2d import value_cells
    >>> X, y = [["1"], ["2"], ["3"], ["7"], ["8"], ["9x"]], list("aaabbb")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     v = value_cells(X, y, cv=2)
    >>> v.strays.values.tolist()
    [[5, 'x0', '9x', 'number']]
    """
    found = valuation._strays
    at = np.array([i * valuation.shape[1] + j for i, j, *_ in found], dtype=np.intp)
    columns = valuation._part("cells").named(at)
    columns |= {"content": [text for *_, text, _ in found], "kind": [kind for *_, kind in found]}
    return make_frame(columns, valuation._frame)
