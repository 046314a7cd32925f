"""A receipt computed again from the data."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from shapley2d._base.progress import RunProgress
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import printable
from shapley2d._market.blocks import value_blocks
from shapley2d._market.receipts.question import settings_of
from shapley2d._market.receipts.receipt import Receipt, make_receipt
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

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
    every amount the same to the last digit. Owners and validation rows may come in any order. Its
    date, versions and round are what its maker says, and only a signature vouches for them. A
    receipt decides nothing: only the settings of its question are read, no file is written and
    nobody is contacted.

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
    shapley2d.exceptions.InputError: the data are not those of the receipt: other labels of 'A'
    """
    receipt = receipt if isinstance(receipt, Receipt) else Receipt.load(receipt)
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
        here = valuation.info["versions"]
        _compare(receipt.body, {"digests": valuation.info["digests"]}, here)
        asked: dict[str, Any] = {}
        if paid is not None:  # without a validation table it was made by trust
            asked = {"negative": paid["negative"], "digits": paid["digits"], "trusted": True}
            asked["pay"] = Decimal(paid["total"])
        again = make_receipt(valuation, **asked).body
    parts = ("made", "values") if paid is None else ("made", "values", "payments")
    _compare(receipt.body, {name: again[name] for name in parts}, here)


def _check_given(needed: Sequence[str], given: dict[str, Any]) -> None:
    for name in [*needed, *given]:
        if name not in given:
            made = "the receipt was made with ", Setting(name), ", which no file can hold"
            raise InputError(*made, ": give it again")
        if name not in needed:
            raise InputError(
                Setting(name), " is recorded in the receipt, or was not used: leave it out"
            )


_UNTOLD = ("date", "versions", "target", "target_kind")  # no data can tell
_WORDS = {
    "labelled": "other labels", "claims": "other rows or columns of owners",
    **dict.fromkeys(("validation", "rows"), "other validation rows"),
    "table": "other rows that nobody owns", "stderr": "another standard error",
}  # fmt: skip


def _compare(wanted: dict[str, Any], found: dict[str, Any], here: dict[str, str]) -> None:
    """Refuse a receipt of which a part that was computed again differs, with the name of it."""
    for part, again in found.items():
        for place, one, right in _differences(wanted[part], again):
            if place[0] in _UNTOLD or _same(place[-1], one, right, wanted):
                continue
            differs = "the data are not those of the receipt"
            what, shown = _named(place, missing=right is None), ""
            if part != "digests":
                differs = "the receipt does not follow from the data"
                made = wanted["made"]["versions"]
                shown = printable(f": {right}, not {one}")
                shown += "".join(
                    f"; made with {name} {version}, here is {here.get(name)}"
                    for name, version in made.items()
                    if version != here.get(name)
                )
            raise InputError(f"{differs}: {what}{shown}")


def _named(place: tuple[str, ...], *, missing: bool) -> str:
    """What differs, by its place in a record."""
    *_, lists, whose, name = ("", "", *place)
    words = _WORDS.get(name, f"another {name!r}")
    if lists in ("owners", "columns", "amounts"):
        return f"{words} of {whose!r}"
    if whose in ("owners", "columns"):
        return f"there is {'no' if missing else 'another'} {whose.removesuffix('s')} {name!r}"
    return words


def _differences(wanted: Any, found: Any, place: tuple[str, ...] = ()) -> Iterator[Any]:
    """Places of all that a record holds, lists by name, with what is wanted and what was found."""
    if isinstance(wanted, list) and isinstance(found, list):
        wanted, found = (
            {one.get("owner", one.get("name")): one for one in part} for part in (wanted, found)
        )
    if isinstance(found, dict) and isinstance(wanted, dict):
        for name in {**found, **wanted}:
            yield from _differences(wanted.get(name), found.get(name), (*place, name))
    else:
        yield place, wanted, found


def _same(name: str, wanted: Any, found: Any, receipt: dict[str, Any]) -> bool:
    """Whether entries are the same; other processors and versions round differently."""
    if wanted == found or wanted is None or found is None:
        return bool(wanted == found)
    if name in ("low", "high"):
        paid = receipt["payments"]
        off = 1.5 * 10.0 ** -int(paid["digits"]) + 1e-6 * float(paid["total"])
        return abs(float(wanted) - float(found)) <= off
    if name not in ("value", "worth", "stderr"):
        return False
    largest = max(abs(one["value"]) for one in receipt["values"]["owners"])
    return bool(abs(wanted - found) <= (1e-6 if name == "stderr" else 1e-9) * largest)
