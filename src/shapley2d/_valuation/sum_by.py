"""Sums of values by any grouping of their rows or cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import as_text, is_missing
from shapley2d._tables.frames import make_frame
from shapley2d._tables.target_entries import as_series
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._valuation.values import CellValues


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
        The label of every row, or of every cell. A cell without a label (None, NaN) is nobody's
        and is left out.

    Returns
    -------
    frame
        ``group``, ``value``, ``stderr``, and ``low`` and ``high``, the ends of the 95 % interval;
        the highest value first. ``stderr`` is known for a group that is one row, one column or one
        cell, and for all cells as ``total_stderr`` is. It is an upper bound for any other group,
        the sum of the standard errors of its parts, since these may be off in the same direction.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: 2.0 * S[0] + S[1] * F[0] + S[2] * F[1], 3, 2)
    >>> v.sum_by(["a", "b", "b"])[["group", "value"]].values.tolist()
    [['a', 2.0], ['b', 2.0]]
    """
    names, codes = _numbered(groups, valuation.shape)
    count, values = len(names), valuation.values
    held = codes >= 0
    sums = np.bincount(codes[held], values[held], count)
    errors = np.minimum(
        _bound(codes, valuation.stderr, valuation.row_stderr, count),
        _bound(codes.T, valuation.stderr.T, valuation.column_stderr, count),
    )
    if count == 1 and held.all():
        errors = np.minimum(errors, valuation.total_stderr)
    order = np.argsort(-sums, kind="stable")
    sums, errors = sums[order], errors[order]
    half = valuation._interval_factor * errors
    columns = {
        "group": [names[k] for k in order.tolist()],
        "value": sums,
        "stderr": errors,
        "low": sums - half,
        "high": sums + half,
    }
    return make_frame(columns, valuation._frame)


def _bound(codes: Ints, stderr: Floats, of_lines: Floats, count: int) -> Floats:
    """At most the standard errors of the sums: whole lines by their own, other cells by theirs."""
    whole = (codes == codes[:, :1]).all(axis=1) & (codes[:, 0] >= 0)
    rest = codes[~whole]
    held = rest >= 0
    lines = np.bincount(codes[whole, 0], of_lines[whole], count)
    return np.asarray(lines + np.bincount(rest[held], stderr[~whole][held], count))


def _numbered(groups: Any, shape: tuple[int, int]) -> tuple[list[str], Ints]:
    """The names of the groups, and the number of every cell's group; -1 where it is nobody's."""
    series = groups if getattr(groups, "ndim", 1) > 1 else as_series(groups, "groups")
    listed = series.to_list() if isinstance(series, nw.Series) else groups
    labels = np.asarray(listed, dtype=None if isinstance(listed, np.ndarray) else object)
    if labels.shape not in ((shape[0],), shape):
        given = " x ".join(map(str, labels.shape)) or "no"
        raise InputError(
            Setting("groups"),
            f" has {given} labels: pass one for each of the {shape[0]} rows, or an array of "
            f"{shape[0]} x {shape[1]} for the cells",
        )
    found: dict[str, int] = {}
    numbers = [
        -1 if is_missing(label) else found.setdefault(as_text(label), len(found))
        for label in labels.ravel().tolist()
    ]
    if not found:
        raise InputError(Setting("groups"), " names no group")
    codes = np.array(numbers, dtype=np.intp).reshape(labels.shape)
    return list(found), np.broadcast_to(codes if labels.ndim > 1 else codes[:, None], shape)
