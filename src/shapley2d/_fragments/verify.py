"""A receipt checked by itself, and from the files."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import counted
from shapley2d._fragments.join import digest_of
from shapley2d._fragments.payments import divide
from shapley2d._fragments.receipt import make_receipt, numbers_in, read_receipt, signed_bytes
from shapley2d._fragments.signature import is_signed
from shapley2d._fragments.signature import public_key as key_in
from shapley2d._fragments.value import value_fragments
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

_SAME = 1e-9
_DIFFERS = "differs: "


@dataclass(frozen=True)
class Verification:
    """What :func:`shapley2d.verify_receipt` found.

    Attributes
    ----------
    lines : tuple of str
        A sentence a check; of those that failed it begins with ``differs:``.
    """

    lines: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that was checked holds."""
        return not any(line.startswith(_DIFFERS) for line in self.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def verify_receipt(
    receipt: dict[str, Any] | str | os.PathLike[str],
    fragments: Mapping[str, Any] | None = None,
    *,
    labels: Any = None,
    valid: Any = None,
    public_key: str | os.PathLike[str] | None = None,
    method: Any = None,
    n_jobs: int | None = None,
    progress: Literal["auto"] | bool | Callable[[float, str], None] = "auto",
) -> Verification:
    """Check a receipt: that nothing in it was changed and, with the files, that it follows from them.

    A receipt decides nothing: it names no path that is opened and no code that is run, and of the
    arguments of :func:`~shapley2d.value_fragments` only those of the question are taken from it.

    Parameters
    ----------
    receipt : dict or path
        What :meth:`Valuation.receipt` returned, or its file.
    fragments : mapping, optional
        Files or frames by contributor; one of another name is recognized by its digest. With all of
        them, the values are computed again.
    labels, valid : path or frame, optional
        Labels and validation table, where the receipt has them.
    public_key : path-like, optional
        A PEM file: the receipt must be signed with the private key that goes with it.
    method : optional
        The model, where the values were computed with one of your own, which no file can hold.
    n_jobs, progress
        As in :func:`~shapley2d.value_fragments`.

    Returns
    -------
    Verification
        ``ok``, and a sentence on each check in ``lines``.
    """
    record = read_receipt(receipt)
    lines = _lines_of_receipt(record, public_key)
    others = {"labels": labels, "validation": valid}
    given = {role: source for role, source in others.items() if source is not None}
    if fragments is None and not given:
        return Verification(tuple(lines))
    found, told = _match_files(record, fragments or {}, given)
    lines += told
    lacking = [one["name"] for one in record["contributors"] if one["name"] not in found]
    lacking += [one["name"] for one in record["others"] if one["name"] not in given]
    if lacking:
        lines.append(f"The values were not computed again: that needs {_quoted(lacking)}, too.")
    else:
        run = {"n_jobs": n_jobs, "progress": progress}
        lines += _lines_of_values(record, found, given, method, run)
    return Verification(tuple(lines))


def _lines_of_receipt(record: dict[str, Any], key: str | os.PathLike[str] | None) -> list[str]:
    """What can be said without the files."""
    body, signature = signed_bytes(record), record["signature"]
    fits = hashlib.sha256(body).hexdigest() == record["digest"]
    lines = [
        "Nothing in the receipt was changed: its digest fits."
        if fits
        else f"{_DIFFERS}the receipt's digest does not fit: it was changed after it was written."
    ]
    if signature is None:
        unsigned = "The receipt is not signed: anyone could have written it."
        lines.append(unsigned if key is None else _DIFFERS + unsigned)
    elif not is_signed(body, signature):
        lines.append(f"{_DIFFERS}the signature does not fit what the receipt says.")
    elif key is None:
        lines.append(f"It was signed with the key {signature['public_key']}.")
    else:
        same = signature["public_key"] == key_in(key)
        lines.append(
            f"It was signed with the key of {key}."
            if same
            else f"{_DIFFERS}the receipt was signed with another key than that of {key}."
        )
    return [*lines, *_lines_of_sums(record)]


def _lines_of_sums(record: dict[str, Any]) -> list[str]:
    """Whether values add up, and payments follow from them."""
    each, total = record["contributors"], record["total"]
    values, names = [float(one["value"]) for one in each], [one["name"] for one in each]
    lines = []
    if abs(sum(values) - total) > _SAME * max(1.0, *map(abs, values)):
        lines.append(
            f"{_DIFFERS}the values sum to {sum(values):.6g}, the receipt says {total:.6g}."
        )
    amounts = [one["amount"] for one in each]
    if record["paid"] is None:
        wrong = [name for name, amount in zip(names, amounts, strict=True) if amount is not None]
        return [
            *lines,
            *[f"{_DIFFERS}nothing is paid, but {name!r} has an amount." for name in wrong],
        ]
    try:
        right = divide(_cents(record["paid"]), values, names)
    except InputError as error:
        return [*lines, f"{_DIFFERS}{error}."]
    wrong = [
        f"{_DIFFERS}{name!r} is paid {amount}, the values give {cents / 100:.2f}."
        for name, amount, cents in zip(names, amounts, right, strict=True)
        if amount is None or _cents(amount) != cents
    ]
    return [
        *lines,
        *(wrong or [f"The payments of {record['paid']} follow from the values to the cent."]),
    ]


def _cents(amount: str) -> int:
    return int(amount.replace(".", ""))


def _match_files(
    record: dict[str, Any], fragments: Mapping[str, Any], given: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The fragments by the contributors of a receipt, and whether each file is the one it has."""
    known = {one["name"]: one["sha256"] for one in record["contributors"]}
    others = {one["name"]: one["sha256"] for one in record["others"]}
    found, lines = {}, []
    for name, source in fragments.items():
        digest = digest_of(source)
        like = [one for one in known if known[one] == digest and one not in {**fragments, **found}]
        whose = name if name in known else like[0] if like else None
        if whose is None:
            lines.append(
                f"{_DIFFERS}{name!r} is no contributor of the receipt, nor has one its file."
            )
            continue
        found[whose] = source
        lines.append(_same_file(whose, known[whose] == digest))
    for role, source in given.items():
        if role not in others:
            lines.append(f"{_DIFFERS}the receipt has no file of {role}.")
        else:
            lines.append(_same_file(role, others[role] == digest_of(source)))
    return {name: found[name] for name in known if name in found}, lines


def _same_file(name: str, same: bool) -> str:
    return f"{name}: the same file." if same else f"{_DIFFERS}{name}: not the file that was valued."


def _lines_of_values(
    record: dict[str, Any], fragments: dict[str, Any], given: dict[str, Any], method: Any, run: Any
) -> list[str]:
    """The values computed again, and what of them differs."""
    question = dict(record["question"])
    if (question["method"] is None) != (method is not None):
        raise InputError(
            "the receipt was made with a model that no file can hold: give it again as "
            if method is None
            else "the receipt names its own ",
            Setting("method"),
            "" if method is None else ": leave it out",
        )
    question["method"] = method or question["method"]
    try:
        with without_warnings():
            valuation = value_fragments(
                fragments,
                question.pop("y"),
                given.get("validation"),
                labels=given.get("labels"),
                **question,
                **run,
            )
            again = make_receipt(valuation)
    except InputError as error:
        return [f"{_DIFFERS}the values cannot be computed again: {error}."]
    numbers = numbers_in(again)
    wrong = [
        f"{_DIFFERS}{what}: computed again it is {numbers[what]:.10g}, the receipt says {said:.10g}."
        for what, said in numbers_in(record).items()
        if not abs(numbers.get(what, math.nan) - said) <= _SAME
    ]
    if not wrong:
        return [f"Computed again from the files: {counted(len(fragments), 'value')}, all the same."]
    here, there = again["made"]["versions"], record["made"]["versions"]
    versions = [
        f"The receipt was made with {name} {there[name]}, here is {here[name]}."
        for name in here
        if here[name] != there[name]
    ]
    return [*wrong, *versions]


def _quoted(names: list[str]) -> str:
    return ", ".join(map(repr, names))
