"""A receipt computed again from the data."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.progress import RunProgress
from shapley2d._base.warnings import without_warnings
from shapley2d._market.blocks import value_blocks
from shapley2d._market.receipts.question import settings_of
from shapley2d._market.receipts.receipt import Receipt, make_receipt
from shapley2d._market.receipts.sums import FACTS
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from shapley2d._methods.method import Method


def verify_receipt(
    receipt: Receipt | str | os.PathLike[str],
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    owners: Any = None,
    method: Method | None = None,
    rows: Any = None,
    columns: Any = None,
    cv: Any = None,
    groups: Any = None,
    time_order: Any = None,
    valid_weight: Any = None,
    scoring: Callable[..., float] | None = None,
    round: str | None = None,  # noqa: A002  (the word that people use)
    n_jobs: int | None = None,
    progress: Literal["auto"] | bool | Callable[[float, str], None] = "auto",
) -> None:
    """Compute a receipt again from the data; an :class:`~shapley2d.InputError` names what differs.

    The data must have the digests of the receipt, every value must be the same up to rounding, and
    every amount the same to the last digit. Owners and validation rows may come in any order. An
    audit is not computed again. A receipt decides nothing: only the settings of its question are
    read, no file is written and nobody is contacted.

    Parameters
    ----------
    receipt : Receipt or path of its file
    X, y, X_valid, y_valid, owners
        As in :func:`~shapley2d.value_blocks`; no ``owners`` where a column of X names them.
    method, rows, columns, cv, groups, time_order, valid_weight, scoring
        As in :func:`~shapley2d.value_blocks`, where the receipt could not record them: a method
        with a model of your own, arrays, functions. The receipt names those that it needs.
    round : str, optional
        The round of payments that the receipt must be of.
    n_jobs, progress
        As in :func:`~shapley2d.value_blocks`.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d import value_blocks, verify_receipt
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> owners = [{"owner": "A", "row": "0-19"}, {"owner": "B", "row": "20-39"}]
    >>> tables = X[:40], y[:40], X[40:], y[40:]
    >>> receipt = value_blocks(*tables, owners=owners, progress=False).receipt(100)
    >>> verify_receipt(receipt, *tables, owners=owners, progress=False)
    >>> y[0] = 1 - y[0]
    >>> verify_receipt(receipt, X[:40], y[:40], X[40:], y[40:], owners=owners, progress=False)
    Traceback (most recent call last):
    shapley2d.exceptions.InputError: the data are not those of the receipt: the labels of 'A' differ
    """
    if not isinstance(receipt, Receipt):
        receipt = Receipt.load(receipt)
    receipt.check()
    if round is not None:
        receipt.check_round(round)
    question, paid = receipt.body["question"], receipt.body["payments"]
    given = {
        "method": method, "rows": rows, "columns": columns, "cv": cv, "groups": groups,
        "time_order": time_order, "valid_weight": valid_weight, "scoring": scoring,
    }  # fmt: skip
    unrecorded = {name: value for name, value in given.items() if value is not None}
    _check_given(question["unrecorded"], unrecorded)
    settings = settings_of(question["settings"])
    with without_warnings():
        valuation = value_blocks(
            X,
            y,
            X_valid,
            y_valid,
            owners=owners,
            random_state=question["seed"],
            n_jobs=n_jobs,
            progress=RunProgress(progress),  # type: ignore[arg-type]  # a check takes no limit
            **settings,
            **unrecorded,
        )
        _compare_data(receipt.body["digests"], valuation.info["digests"])
        asked: dict[str, Any] = {}
        if paid is not None:
            asked = {name: paid[name] for name in ("negative", "digits", "trusted")}
            asked["pay"] = Decimal(paid["total"])
        again = make_receipt(valuation, **asked)
    _compare(receipt.body, again.body)


def _check_given(needed: Sequence[str], given: dict[str, Any]) -> None:
    missing = [name for name in needed if name not in given]
    if missing:
        raise InputError(
            "the receipt was made with ",
            Setting(missing[0]),
            ", which no file can hold: give it again",
        )
    extra = [name for name in given if name not in needed]
    if extra:
        raise InputError(
            Setting(extra[0]), " is recorded in the receipt, or was not used: leave it out"
        )


def _compare_data(wanted: dict[str, Any], found: dict[str, Any]) -> None:
    """Refuse other data, with the name of what differs."""
    differs = "the data are not those of the receipt: "
    if [one["name"] for one in wanted["columns"]] != [one["name"] for one in found["columns"]]:
        raise InputError(f"{differs}the table has other columns")
    if wanted["columns"] != found["columns"]:
        raise InputError(f"{differs}a column is read as another type")
    known = {one["owner"]: one for one in found["owners"]}
    for one in wanted["owners"]:
        here = known.get(one["owner"])
        if here is None:
            raise InputError(f"{differs}there is no owner {one['owner']!r}")
        if here["block"] != one["block"]:
            raise InputError(f"{differs}the block of {one['owner']!r} differs")
        if here["labelled"] != one["labelled"]:
            raise InputError(f"{differs}the labels of {one['owner']!r} differ")
    if set(known) != {one["owner"] for one in wanted["owners"]}:
        raise InputError(f"{differs}there are other owners")
    for part, words in (
        ("table", "rows that nobody owns differ"),
        ("validation", "the validation rows differ"),
        ("claims", "the owners have other rows or columns"),
    ):
        if wanted[part] != found[part]:
            raise InputError(f"{differs}{words}")


def _compare(wanted: dict[str, Any], found: dict[str, Any]) -> None:
    """Refuse other facts, values and amounts; owners are compared by name."""
    made, here = wanted["made"]["versions"], found["made"]["versions"]
    other = [name for name in made if made[name] != here.get(name)]
    why = "".join(f"; made with {name} {made[name]}, here is {here.get(name)}" for name in other)
    differs = "the receipt does not follow from the data: "
    for name in FACTS:
        if wanted["made"][name] != found["made"][name]:
            raise InputError(f"{differs}another {name!r} among the facts of the run{why}")
    values, again = _by_owner(wanted["values"]["owners"]), _by_owner(found["values"]["owners"])
    # other processors and versions round differently
    off = 1e-9 * max(abs(one["value"]) for one in again.values())
    for owner, one in values.items():
        value = again[owner]["value"]
        if abs(value - one["value"]) > off:
            raise InputError(
                f"{differs}{owner!r} is worth {value:.6g}, not {one['value']:.6g}{why}"
            )
        known, right = one["stderr"], again[owner]["stderr"]
        if (known is None) != (right is None) or abs((known or 0) - (right or 0)) > 1e3 * off:
            raise InputError(
                f"{differs}the standard error of {owner!r} is {right}, not {known}{why}"
            )
    if wanted["payments"] is None:
        return
    amounts, again = (_by_owner(one["payments"]["amounts"]) for one in (wanted, found))
    for owner, one in amounts.items():
        right = again[owner]
        if one["amount"] != right["amount"]:
            raise InputError(f"{differs}{owner!r} gets {right['amount']}, not {one['amount']}{why}")
        low, high = float(right["low"]), float(right["high"])
        width = high - low if np.isfinite(high - low) else np.inf
        unit = 10.0 ** -wanted["payments"]["digits"]
        off = 0.03 * width + 2 * unit  # ends are quantiles of simulations
        for end, exact in (("low", low), ("high", high)):
            if float(one[end]) != exact and not abs(float(one[end]) - exact) <= off:
                raise InputError(
                    f"{differs}the interval of {owner!r} is from {right['low']} to "
                    f"{right['high']}, not from {one['low']} to {one['high']}{why}"
                )


def _by_owner(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {line["owner"]: line for line in lines}
