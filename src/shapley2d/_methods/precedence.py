"""The option ``precedence``: players who can only join after others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._tables.per_row import read_times
from shapley2d._tables.table import RowNames
from shapley2d._theory.precedence import Precedence
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._methods.record import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import GivenRows

AXES = ("rows", "columns")


def check_precedence(precedence: Any) -> None:
    """Check what can be checked before the players are known."""
    if precedence is None:
        return
    if not isinstance(precedence, Mapping) or not precedence or not set(precedence) <= set(AXES):
        raise InputError(
            Setting("precedence", precedence),
            ' must be a dict of "rows", "columns" or both, each with a number for every player: '
            "lower ones join first",
        )


def with_precedence(
    run: Run,
    precedence: Any,
    rows: Sequence[Any],
    columns: Sequence[Any],
    *,
    label: str | None = None,
    given: GivenRows | None = None,
) -> Run:
    """The run with the precedence of its players.

    Parameters
    ----------
    run : Run
    precedence : mapping or None
        For ``"rows"`` and ``"columns"``: a number for every player in order, or by its name; names
        left out come first.
    rows, columns : sequence
        Names of the players.
    label : str, optional
        The label's column where it is a player: it is always among the first.
    given : GivenRows, optional
        The user's rows, where some were left out for their targets.

    Examples
    --------
    >>> from shapley2d._methods.run import Run
    >>> run = with_precedence(Run.create(), {"rows": {"b": 1}}, ["a", "b"], ["u"])
    >>> run.precedence.rows.tolist()
    [0, 1]
    """
    if precedence is None:
        return run
    if run.semivalues != ("shapley", "shapley"):
        raise InputError(
            Setting("precedence"),
            " restricts the orders that Shapley's value averages over: leave ",
            Setting("semivalue"),
            " out",
        )
    if given is not None and "rows" in precedence and not isinstance(precedence["rows"], Mapping):
        of_all = read_times(precedence["rows"], given.names, "precedence")
        precedence = {**precedence, "rows": of_all[given.kept]}
    numbers = [
        _read(precedence[axis], list(names), axis, label if axis == "columns" else None)
        if axis in precedence
        else None
        for axis, names in zip(AXES, (rows, columns), strict=True)
    ]
    return replace(run, precedence=Precedence(*numbers))


def _read(given: Any, names: list[Any], axis: str, label: str | None) -> NDArray[np.intp] | None:
    """The precedence of one axis, counted from 0; None where all players have the same."""
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise InputError(
                Setting("precedence"), f": there is no {axis[:-1]} {unknown[0]!r} to order"
            )
        given = [given.get(name, -np.inf) for name in names]
        numbers = np.array([_number(value, name) for name, value in zip(names, given, strict=True)])
    else:
        known = names if label is None else names[:-1]
        numbers = read_times(given, RowNames(np.asarray(known, dtype=object)), "precedence")
        if label is not None:
            numbers = np.append(numbers, -np.inf)
    ranks = np.unique(numbers, return_inverse=True)[1].astype(np.intp)
    return ranks if ranks.any() else None


def _number(value: Any, name: Any) -> float:
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or value != value:  # noqa: PLR0124  (NaN)
        raise InputError(
            Setting("precedence"), f": that of {name!r} must be a number, not {value!r}"
        )
    return float(value)


def check_takes_precedence(method: Method, run: Run) -> None:
    """Refuse a precedence that the method cannot respect."""
    if run.precedence.is_set and not method.precedence:
        raise InputError(
            Setting("precedence"),
            " does not go with ",
            Setting("method", method.name),
            ", in which players join in no order: use ",
            Setting("method", "mc"),
            " or ",
            Setting("method", "exact"),
        )
