"""Whether all that a receipt says fits together, without the data."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from shapley2d._base.entries import is_number
from shapley2d._base.json_record import Maybe, check_form, real_number, whole_number
from shapley2d._market.audit_result import Audit
from shapley2d._market.owners import ESCROW, UNOWNED
from shapley2d._market.payments import RULES, divide_units, whole_units
from shapley2d.exceptions import InputError

_COLUMNS = ("drop", "number", "date", "text")
_WORDS = (
    "target", "groups", "time_order", "valid_weight", "row_id", "separator", "encoding",
    "owner_column",
)  # fmt: skip
_FORM = {  # entries that commands and checks read; settings are checked by what takes them
    "made": {"date": Maybe(str), "versions": {str: str}},
    "question": {
        "settings": {"task": str},
        "unrecorded": [str],
        "seed": Maybe(object),  # up to 2**128, checked where it is used
        "reading": Maybe(
            {
                **dict.fromkeys(_WORDS, Maybe(str)),
                **dict.fromkeys(_COLUMNS, Maybe([str])),
                "drop_keys": Maybe(bool),
            }
        ),
    },
}
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ROUNDING = 1e-9  # relative; sums of owners' values are rounded once each


def check_sums(body: dict[str, Any]) -> None:
    """Check the body of a receipt; a ValueError says in a phrase what does not fit."""
    fields = {"made", "question", "digests", "values", "payments", "audit"}
    if set(body) != fields:
        raise ValueError("its body is not what it should be")
    check_form(body, _FORM)
    for part, form in _FORM.items():
        if not {*form} <= {*body[part]}:
            raise ValueError(f"{part} in its body lacks an entry")
    _check_digests(body["digests"])
    names, values = _values(body["values"])
    brought = [one["owner"] for one in body["digests"]["owners"]]
    if not set(brought) <= {*names} or not {*names} - {*brought} <= {UNOWNED, ESCROW}:
        raise ValueError("its owners are not those whose blocks it has digests of")
    if body["payments"] is not None:
        _check_payments(body["payments"], names, values)
    if body["audit"] is not None:
        _check_audit(body, names, values)


def _check_digests(digests: dict[str, Any]) -> None:
    found = [digests["table"], digests["claims"]]
    if digests["validation"] is not None:
        found.append(digests["validation"]["rows"])
    for one in digests["owners"]:
        found += [one["block"], one["labelled"]]
        for size in ("n_rows", "n_cells"):
            whole_number(one[size], f"{size} of an owner")
    if not all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in found):
        raise ValueError("one of its digests is not a SHA-256 digest")
    for column in digests["columns"]:
        if not all(isinstance(column[key], str) for key in ("name", "kind", "notation")):
            raise ValueError("one of its columns has no name or kind")
    if not isinstance(digests["target"], str) or digests["target_kind"] not in ("number", "text"):
        raise ValueError("its target has no name or kind")


def _values(record: dict[str, Any]) -> tuple[list[str], list[float]]:
    """Names and values of the owners, which add up to what the table is worth."""
    names = [one["owner"] for one in record["owners"]]
    if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ValueError("its owners do not have one name each")
    values = [real_number(one["value"], "an owner's value", -np.inf) for one in record["owners"]]
    for one in record["owners"]:
        real_number(0.0 if one["stderr"] is None else one["stderr"], "a standard error")
    worth = real_number(record["worth"], "what the table is worth", -np.inf)
    off = abs(sum(values) - worth)
    if off > _ROUNDING * max(abs(worth), sum(map(abs, values))):
        raise ValueError(
            f"the owners' values sum to {sum(values):.6g}, but the table is worth {worth:.6g}"
        )
    return names, values


def _check_payments(paid: dict[str, Any], names: list[str], values: list[float]) -> None:
    digits, rule = paid["digits"], paid["negative"]
    if rule not in RULES or not isinstance(paid["trusted"], bool):
        raise ValueError("how it was paid is not known")
    unit = Decimal(1).scaleb(-whole_number(digits, "the number of its decimals", 0, 12))
    if [line["owner"] for line in paid["amounts"]] != names:
        raise ValueError("those who are paid are not its owners")
    total = _amount(paid["total"], unit, "its total")
    amounts = [_amount(line["amount"], unit, "an amount") for line in paid["amounts"]]
    if sum(amounts) != total:
        whole = sum(amounts, Decimal(0)).scaleb(-digits)
        raise ValueError(f"its amounts sum to {whole}, not to its total of {paid['total']}")
    wanted = expected_units(int(total), names, values, rule)
    for line, name, amount, right in zip(paid["amounts"], names, amounts, wanted, strict=True):
        if amount != right:
            raise ValueError(
                f"{name!r} is paid {line['amount']}, but its value gives "
                f"{Decimal(right).scaleb(-digits)}"
            )
    _check_ends(paid, names, values, amounts, unit)


def _check_ends(
    paid: dict[str, Any],
    names: list[str],
    values: list[float],
    amounts: list[Decimal],
    unit: Decimal,
) -> None:
    """Check intervals, unpaid-debt amounts and collateral."""
    owing = any(amount < 0 for amount in amounts)
    unpaid = expected_units(int(sum(amounts)), names, values, "zero") if owing else []
    for k, (line, amount) in enumerate(zip(paid["amounts"], amounts, strict=True)):
        low, high = (_amount(line[end], unit, "the end of an interval") for end in ("low", "high"))
        if not low <= amount <= high:
            raise ValueError(f"the interval of {line['owner']!r} does not hold its amount")
        also = {"if_unpaid", "collateral"} & set(line)
        if also != ({"if_unpaid", "collateral"} if owing else set()):
            raise ValueError("what is paid if debts are not is missing, or nobody owes")
        if owing:
            deposit = _amount(line["collateral"], unit, "a collateral")
            left = _amount(line["if_unpaid"], unit, "an amount")
            if deposit != max(-low, 0) or left != unpaid[k]:
                raise ValueError(f"what {line['owner']!r} should deposit, or gets, does not fit")


def expected_units(total: int, names: list[str], values: list[float], negative: str) -> list[int]:
    """What owners of these values are paid, in units of the last digit."""
    paid = [name != UNOWNED for name in names]
    kept = [k for k, one in enumerate(paid) if one]
    amounts = [0] * len(names)
    try:
        found = divide_units(
            total,
            [values[k] for k in kept],
            negative=negative,
            names=[names[k] for k in kept],
        )
    except InputError as error:
        raise ValueError(f"{error}, but it was divided") from None
    for k, amount in zip(kept, found, strict=True):
        amounts[k] = amount
    return amounts


def _check_audit(body: dict[str, Any], names: list[str], values: list[float]) -> None:
    """An audit of the same values says the same payments."""
    if not audit_fits(Audit.from_dict(body["audit"]), names, values, list(RULES)):
        raise ValueError("its audit is about other payments than its values give")


def audit_fits(
    audit: Audit, names: list[str], values: list[float], rules: list[str], off: int = 0
) -> bool:
    """Whether the payments of an audit are what values give by a rule, up to ``off`` cents."""
    total = whole_units(audit.total, 2)
    for rule in rules:
        try:
            units = expected_units(total, names, values, rule)
        except ValueError:
            continue
        given = dict(zip(names, units, strict=True))
        given = {name: one for name, one in given.items() if name not in (UNOWNED, ESCROW)}
        same = set(given) == set(audit.payments) and all(
            abs(round(100 * amount) - given[name]) <= off for name, amount in audit.payments.items()
        )
        if same:
            return True
    return False


def _amount(text: Any, unit: Decimal, what: str) -> Decimal:
    """An amount in units; infinite where an interval is open."""
    try:
        amount = Decimal(text) if isinstance(text, str) and not is_number(text) else None
    except InvalidOperation:
        amount = None
    if amount is None or amount.is_nan():
        raise ValueError(f"{what} is not an amount")
    units = amount / unit
    if amount.is_finite() and (units != units.to_integral_value() or abs(units) > 2**60):
        raise ValueError(f"{what} is not an amount")
    return units
