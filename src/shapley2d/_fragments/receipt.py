"""Receipts: what contributors are worth and are paid, and the files that it follows from.

A receipt is one JSON object. Its ``digest`` is the SHA-256 of its canonical form without ``digest``
and ``signature``: JSON in ASCII without spaces, names in order. The signature is of the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.json_record import Maybe, check_form, none_if_infinite, real_number
from shapley2d._base.limits import is_too_deep, read_record_file
from shapley2d._base.words import printable
from shapley2d._fragments.signature import sign
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os

    from shapley2d._valuation.valuation import Valuation

FORMAT = "shapley2d receipt 3"
"""Raise the number when older versions could not read what is written."""

PACKAGES = ("shapley2d", "numpy", "numba")
_MOST_LETTERS = 2**24
_DEPTH = 8
_DIGEST, _NUMBER = re.compile("[0-9a-f]{64}"), int | float
_AMOUNT = Maybe(re.compile(r"\d{1,15}\.\d\d"))
_FORM = {
    "format": re.compile(FORMAT),
    "made": {"date": str, "versions": dict.fromkeys(PACKAGES, re.compile(r"[\w.+!-]{1,40}"))},
    "question": {
        **dict.fromkeys(("on", "valid_weight", "scoring", "method"), Maybe(str)),
        "target": str,
        "labels_apart": bool,
        "max_time": object,
        "by": re.compile("contributor|column"),
        "disagree": re.compile("error|first|missing"),
        "task": re.compile("auto|classification|regression"),
        "kinds": Maybe({str: re.compile("number|date|text")}),
        "cv": Maybe(int),
        "semivalue": str | list,
        "random_state": int | None,
    },
    "contributors": [
        {
            "name": str, "file": str, "sha256": Maybe(_DIGEST), "amount": _AMOUNT,
            "value": _NUMBER, "plus_minus": Maybe(_NUMBER),
        }
    ],
    "others": [{"name": str, "file": str, "sha256": _DIGEST}],
    "score": str, "baseline": _NUMBER, "paid": _AMOUNT,
    "digest": _DIGEST,
    "signature": Maybe(
        {"public_key": _DIGEST, "signature": re.compile("[0-9a-f]{128}")}
    ),
}  # fmt: skip


def make_receipt(
    valuation: Valuation,
    path: str | os.PathLike[str] | None = None,
    *,
    pay: Any = None,
    trusted: bool = False,
    key: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """The receipt of a valuation of fragments, see :meth:`shapley2d.Valuation.receipt`."""
    facts, info = valuation._fragments, valuation.info
    if info.get("time_up") or info.get("interrupted"):
        raise InputError(
            "the run ended early, so nobody could repeat it: run it again without max_time "
            "or Ctrl-C"
        )
    each = facts.each(valuation)
    names = [one["contributor"] for one in each]
    cents = [] if pay is None else facts.cents(valuation, pay, trusted=trusted)
    own, others = facts.files[: len(names)], facts.files[len(names) :]
    if [one.role for one in own] != names:  # of one assembled table
        own, others = [("", "", None)] * len(names), facts.files
    record = {
        "format": FORMAT,
        "made": {
            "date": info["date"],
            "versions": {name: info["versions"][name] for name in PACKAGES},
        },
        "question": facts.question,
        "contributors": [
            {
                "name": one["contributor"],
                "file": file,
                "sha256": digest,
                "value": one["value"],
                "plus_minus": none_if_infinite(one["half"]),
                "amount": amount_text(paid),
            }
            for one, (_, file, digest), paid in zip(
                each, own, cents or [None] * len(each), strict=True
            )
        ],
        "others": [
            {"name": f"({role})", "file": file, "sha256": digest} for role, file, digest in others
        ],
        "score": facts.score,
        "baseline": facts.baseline,
        "paid": amount_text(sum(cents) or None),
    }
    body = signed_bytes(record)
    signature = None if key is None else sign(body, key)
    record |= {"digest": hashlib.sha256(body).hexdigest(), "signature": signature}
    text = json.dumps(record, indent=1, allow_nan=False)
    if path is not None:
        with atomic_write(path, ".json") as temporary:
            temporary.write_text(f"{text}\n", encoding="ascii")
    return record


def amount_text(cents: int | None) -> str | None:
    """An amount as a receipt writes it."""
    return None if cents is None else f"{cents // 100}.{cents % 100:02}"


def signed_bytes(record: dict[str, Any]) -> bytes:
    """The canonical form of all that a receipt says."""
    body = {name: part for name, part in record.items() if name not in ("digest", "signature")}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def read_receipt(source: dict[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """A receipt of the form above, whoever wrote it; anything else is refused in one line."""
    data = source if isinstance(source, dict) else read_record_file(source)
    try:
        record = _parse(json.dumps(data) if isinstance(data, dict) else data.decode())
        check_form(record, _FORM, "it", exact=True)
        for number in numbers_in(record).values():
            real_number(number, "a number in it", -math.inf)
        if len({one["name"] for one in files_in(record)}) < len(files_in(record)):
            raise ValueError("two of its files have one name")  # noqa: TRY301
    except Exception as error:  # noqa: BLE001  (whatever a file provokes is the file's fault)
        name = "the receipt" if isinstance(source, dict) else source
        raise InputError(f"{name} is refused: {printable(str(error))}") from None
    return record


def files_in(record: dict[str, Any]) -> list[dict[str, Any]]:
    """All that a receipt has digests of; what is no contributor's has a name in brackets."""
    return [*record["contributors"], *record["others"]]


def numbers_in(record: dict[str, Any]) -> dict[str, float]:
    """The numbers of a receipt, by what they are."""
    found = {"the baseline": record["baseline"]}
    for one in record["contributors"]:
        found[f"the value of {one['name']!r}"] = one["value"]
        found[f"the interval of {one['name']!r}"] = one["plus_minus"] or 0.0
    return found


def _parse(text: str) -> dict[str, Any]:
    if len(text) > _MOST_LETTERS or is_too_deep(text, _DEPTH):
        raise ValueError("it is longer, or nested more deeply, than any receipt")
    try:
        record: dict[str, Any] = json.loads(text, object_pairs_hook=_once)
        json.dumps(record, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    found = record.get("format") if isinstance(record, dict) else None
    if found != FORMAT:
        raise ValueError(f"its format is {found!r}, this version reads {FORMAT!r}")
    return record


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # readers would disagree about which of them counts
        raise ValueError("an entry occurs twice")
    return found
