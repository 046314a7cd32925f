"""Whether all that a receipt says fits together, without the data."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from shapley2d._base.json_record import Maybe, check_form, real_number, whole_number
from shapley2d._market.owners import UNOWNED
from shapley2d._market.payments import RULES, divide_units
from shapley2d._market.receipts.question import check_question

FACTS = {
    **dict.fromkeys(("method", "parties", "task", "baseline"), str),
    "intervals": Maybe(str), "n_valid": int, "folds": Maybe(int),
}  # fmt: skip
"""Facts of a run that a receipt tells, and their forms."""

_PACKAGES = ("shapley2d", "python", "numpy", "numba", "scikit-learn", "scipy")
_VERSION = re.compile(r"[\w.+!-]{1,40}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_READING = {  # options of the command line, by which files were read
    "target": str, "include_label": bool, "drop_keys": bool, "drop_missing_target": bool,
    **dict.fromkeys(("drop", "number", "date", "text"), Maybe([str])),
    **dict.fromkeys(("groups", "time_order", "valid_weight", "row_id"), Maybe(str)),
    **dict.fromkeys(("separator", "encoding", "owner_column", "scoring", "baseline"), Maybe(str)),
}  # fmt: skip
_LINE = dict.fromkeys(("owner", "amount", "low", "high"), str)
_OWNER = {"owner": str, "block": _DIGEST, "labelled": _DIGEST, "n_rows": int, "n_cells": int}
_FORM = {
    "made": {"date": str, "versions": dict.fromkeys(_PACKAGES, _VERSION), **FACTS},
    "round": Maybe(str),
    "question": {
        "settings": dict,
        "unrecorded": [str],
        "seed": object,  # up to 2**128, checked where it is used
        "reading": Maybe(_READING),
    },
    "digests": {
        "table": _DIGEST,
        "claims": _DIGEST,
        "validation": Maybe({"rows": _DIGEST, "n_rows": int}),
        "owners": [_OWNER],
        "columns": [{"name": str, "kind": str, "notation": str}],
        "target": str,
        "target_kind": re.compile("number|text"),
    },
    "values": {
        "worth": object,
        "owners": [{"owner": str, "value": object, "stderr": Maybe(float)}],
    },
    "payments": Maybe({"total": str, "digits": int, "negative": str, "amounts": [_LINE]}),
}
_ROUNDING = 1e-9  # relative; sums of owners' values are rounded once each


def check_body(body: dict[str, Any]) -> None:
    """Check the body of a receipt; a ValueError says in a phrase what does not fit."""
    check_form(body, _FORM, "its body", exact=True)
    check_question(body["question"])
    _check_date(body["made"]["date"])
    names, values = _values(body["values"])
    brought = [one["owner"] for one in body["digests"]["owners"]]
    if len({*brought}) < len(brought) or {*names} - {UNOWNED} != {*brought}:
        raise ValueError("its owners are not those whose blocks it has digests of")
    if body["payments"] is not None:
        _check_payments(body["payments"], names, values)


def _check_date(text: str) -> None:
    """A receipt was made on a day of the calendar, and not in the future."""
    form = "%Y-%m-%d %H:%M UTC"
    try:
        made = datetime.strptime(text, form).replace(tzinfo=UTC)
        fits = f"{made:{form}}" == text and made <= datetime.now(UTC) + timedelta(days=1)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"it cannot have been made on {text!r}")


def _values(record: dict[str, Any]) -> tuple[list[str], list[float]]:
    """Names and values of the owners, which add up to what the table is worth."""
    names = [one["owner"] for one in record["owners"]]
    if len({*names}) < len(names):
        raise ValueError("its owners do not have one name each")
    values = [real_number(one["value"], "an owner's value", -np.inf) for one in record["owners"]]
    worth = real_number(record["worth"], "what the table is worth", -np.inf)
    off = abs(sum(values) - worth)
    if off > _ROUNDING * max(abs(worth), sum(map(abs, values))):
        raise ValueError(
            f"the owners' values sum to {sum(values):.6g}, but the table is worth {worth:.6g}"
        )
    return names, values


def _check_payments(paid: dict[str, Any], names: list[str], values: list[float]) -> None:
    """Every amount is what the values give, and written in one way, so that none is misread."""
    digits = whole_number(paid["digits"], "the number of its decimals", 0, 12)
    rule = paid["negative"]
    if rule not in RULES:
        raise ValueError("how it was paid is not known")
    if [line["owner"] for line in paid["amounts"]] != names:
        raise ValueError("those who are paid are not its owners")
    total = _amount(paid["total"], digits, "its total")
    if not total.is_finite():
        raise ValueError("its total is not an amount")
    ends = [
        [_amount(line[end], digits, "the end of an interval") for end in ("low", "high")]
        for line in paid["amounts"]
    ]
    right = payment_record(int(total.scaleb(digits)), digits, rule, names, values, ends)["amounts"]
    for line, one, (low, high) in zip(paid["amounts"], right, ends, strict=True):
        owner, amount = line["owner"], one["amount"]
        if line["amount"] != amount:
            raise ValueError(f"{owner!r} is paid {line['amount']}, but its value gives {amount}")
        if not low <= Decimal(amount) <= high:
            raise ValueError(f"the interval of {owner!r} does not hold its amount")


def payment_record(
    units: int, digits: int, rule: str, names: list[str], values: list[float], ends: list[Any]
) -> dict[str, Any]:
    """Payments as a receipt writes them: units of the last digit, divided by the values."""
    divided = divide_units(units, values, negative=rule, names=names)
    lines = [
        {
            "owner": name,
            "amount": amount_text(Decimal(part).scaleb(-digits), digits),
            "low": amount_text(low, digits),
            "high": amount_text(high, digits),
        }
        for name, part, (low, high) in zip(names, divided, ends, strict=True)
    ]
    total = amount_text(Decimal(units).scaleb(-digits), digits)
    return {"total": total, "digits": digits, "negative": rule, "amounts": lines}


def _amount(text: str, digits: int, what: str) -> Decimal:
    """An amount that is written as :func:`amount_text` writes it."""
    try:
        amount = Decimal(text)
        fits = not amount.is_finite() or abs(amount.scaleb(digits)) <= 2**60
        if fits and text == amount_text(amount, digits):
            return amount
    except (ArithmeticError, ValueError):
        pass
    raise ValueError(f"{what} is not written as an amount is: {text!r}")


def amount_text(amount: Any, digits: int) -> str:
    """An amount as a receipt writes it; the ends of an interval may be infinite."""
    if not np.isfinite(float(amount)):
        return "inf" if amount > 0 else "-inf"
    text = f"{amount:.{digits}f}"
    return text.removeprefix("-") if not float(text) else text
