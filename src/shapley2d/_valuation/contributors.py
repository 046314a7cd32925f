"""What a valuation of fragments answers about its contributors; other valuations refuse in a line.

The answers are those of the room of fragments, whose object the valuation holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os

    from shapley2d._base.arrays import Floats
    from shapley2d._valuation.values import CellValues


def _facts(valuation: CellValues, what: str) -> Any:
    if valuation._fragments is None:
        raise InputError(
            f"{what} of contributors come with value_fragments: these are values of "
            f"{valuation._size_words}"
        )
    return valuation._fragments


def payments(valuation: CellValues, total: Any, *, trusted: bool = False) -> Any:
    """An amount divided among the contributors in proportion to their values, to the cent.

    Who is worth less than nothing is paid 0, and the others share the whole amount.

    Parameters
    ----------
    total : number
        What is paid in all, with at most two decimals.
    trusted : bool
        Pay although there was no validation table, so that the contributors' own rows tested each
        other.

    Returns
    -------
    frame
        ``owner``, ``value``, ``amount``, and ``low`` and ``high``, the ends of the 95 % interval
        of the amount: what other validation rows, and other random orders, would pay.
    """
    return _facts(valuation, "payments").payments(valuation, total, trusted=trusted)


def best_sets(valuation: CellValues, costs: Any = None, budget: Any = None) -> Any:
    """Which contributors to sign: the best set of every size, or what to buy with a budget.

    Chosen among the sets whose scores were computed for the values: all of them, or those along
    random orders and the most valuable of every number. A set that was chosen by the rows that
    score it looks a little better than it is.

    Parameters
    ----------
    costs : dict or sequence, optional
        What each contributor costs, by name or in their order: then the sets that no cheaper one
        equals.
    budget : number, optional
        Only the sets that it pays for; the last one is the best.

    Returns
    -------
    frame
        ``size``, ``contributors``, ``score`` (less the baseline) with its 95 % interval ``low``
        and ``high``, and ``lost``, what all together score more, with its own; ``cost``.
    """
    return _facts(valuation, "best sets").best_sets(valuation, costs, budget)


def alone(valuation: CellValues) -> Floats:
    """The score of each contributor alone, less the baseline."""
    found: Floats = _facts(valuation, "scores").alone
    return found


def without(valuation: CellValues) -> Floats:
    """The score of all contributors but one, less the baseline."""
    found: Floats = _facts(valuation, "scores").without
    return found


def receipt(
    valuation: CellValues, path: str | os.PathLike[str] | None = None, **options: Any
) -> dict[str, Any]:
    """A receipt of the values and payments, which others can verify.

    Parameters
    ----------
    path : path-like, optional
        Where to write it, as JSON.
    pay : number, optional
        The amount to divide, as in :meth:`payments`; with ``trusted``.
    key : path-like, optional
        A private key (Ed25519, PEM) to sign with.

    Returns
    -------
    dict
        Digests of every file, the question, versions, values and payments. See
        :func:`~shapley2d.verify_receipt`.
    """
    found: dict[str, Any] = _facts(valuation, "receipts").receipt(valuation, path, **options)
    return found
