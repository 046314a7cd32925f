"""A receipt checked by itself, and from the files."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import counted
from shapley2d._fragments.digest import content_digest
from shapley2d._fragments.payments import divide
from shapley2d._fragments.receipt import (
    amount_text,
    files_in,
    make_receipt,
    numbers_in,
    read_receipt,
    signed_bytes,
)
from shapley2d._fragments.signature import is_signed
from shapley2d._fragments.signature import public_key as key_in
from shapley2d._fragments.value import value_fragments
from shapley2d._tables.intake import is_path
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

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
    """Check that nothing in a receipt was changed and, with the files, that its values follow.

    A receipt decides nothing: it names no path that is opened and no code that is run, and of the
    arguments of :func:`~shapley2d.value_fragments` only those of the question are taken from it.

    Parameters
    ----------
    receipt : dict or path
        What :meth:`Valuation.receipt` returned, or its file.
    fragments : dict of tables or paths, optional
        What contributors gave, by name; one of another name is recognized by its digest. One
        assembled table and its owners are ``"(fragments)"`` and ``"(owners)"``.
    labels, valid : optional
        Labels and validation table, where the receipt has them. With all files, the values are
        computed again.
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

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shapley2d import value_fragments, verify_receipt
    >>> table = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 2)), columns=["age", "debt"])
    >>> late = (table.age + table.debt > 0).rename("late")
    >>> pieces = {"Bank": table.loc[:59, ["age"]], "Shop": table.loc[:59, ["debt"]]}
    >>> y, later = late[:60], table[60:].assign(late=late)
    >>> v = value_fragments(pieces, y, later, method="tree", progress=False)
    >>> receipt = v.receipt(pay=1000)
    >>> verify_receipt(receipt, pieces, labels=y, valid=later, progress=False).ok
    True
    >>> receipt["contributors"][0]["amount"] = "999.00"
    >>> print(verify_receipt(receipt).lines[0])
    differs: the receipt's digest does not fit: it was changed after it was written.
    """
    record, said = read_receipt(receipt), _Said()
    _check_record(record, public_key, said)
    others = {"(labels)": labels, "(validation)": valid}
    given = {name: one for name, one in {**(fragments or {}), **others}.items() if one is not None}
    if given:
        wanted = {one["name"]: one["sha256"] for one in files_in(record) if one["sha256"]}
        found = _match_files(wanted, given, said)
        if lacking := [repr(name) for name in wanted if name not in found]:
            said.append(f"The values were not computed again: give {', '.join(lacking)}, too.")
        else:
            run = {"n_jobs": n_jobs, "progress": progress}
            _check_values(record, found, method, run, said)
    return Verification(tuple(said))


class _Said(list[str]):
    """Sentences, one for each check."""

    def check(self, fits: bool, right: str, wrong: str) -> None:
        self.append(right if fits else f"{_DIFFERS}{wrong}")

    def differs(self, *wrong: str) -> None:
        self += [f"{_DIFFERS}{one}" for one in wrong]


def _check_record(record: dict[str, Any], key: str | os.PathLike[str] | None, said: _Said) -> None:
    """Check what can be checked without the files."""
    body, signature = signed_bytes(record), record["signature"]
    said.check(
        hashlib.sha256(body).hexdigest() == record["digest"],
        "Nothing in the receipt was changed: its digest fits.",
        "the receipt's digest does not fit: it was changed after it was written.",
    )
    if signature is None:
        unsigned = "The receipt is not signed: anyone could have written it."
        said.check(key is None, unsigned, unsigned)
    elif not is_signed(body, signature):
        said.differs("the signature does not fit what the receipt says.")
    else:
        who = signature["public_key"]
        said.check(
            key is None or who == key_in(key),
            f"It was signed with the key {who if key is None else f'of {key}'}.",
            f"the receipt was signed with another key than that of {key}.",
        )
    each, paid = record["contributors"], record["paid"]
    values, names = [float(one["value"]) for one in each], [one["name"] for one in each]
    cents: Sequence[int | None] = [None] * len(each)
    try:
        if paid is not None:
            cents = divide(int(paid.replace(".", "")), values, names)
    except InputError as error:
        said.differs(f"{error}.")
        return
    wrong = [
        f"{one['name']!r} is paid {one['amount']}, its value gives {right}."
        for one, right in zip(each, map(amount_text, cents), strict=True)
        if one["amount"] != right
    ]
    said.differs(*wrong)
    if paid and not wrong:
        said.append(f"The payments of {paid} follow from the values to the cent.")


def _match_files(wanted: dict[str, str], given: dict[str, Any], said: _Said) -> dict[str, Any]:
    """What was given, by its name in the receipt; said to be the file that was valued or not."""
    found: dict[str, Any] = {}
    for name, source in given.items():
        digest = content_digest(source, name.strip("()"))[1]  # a series by its role
        alike = [one for one in wanted if wanted[one] == digest and one not in {**given, **found}]
        if name not in wanted and not alike:
            said.differs(f"{name}: no file of the receipt, neither by its name nor by its digest.")
            continue
        whose = name if name in wanted else alike[0]
        found[whose] = source
        differs = f"{whose}: not the file that was valued."
        said.check(wanted[whose] == digest, f"{whose}: the same file.", differs)
    return found


def _check_values(
    record: dict[str, Any], found: dict[str, Any], method: Any, run: Any, said: _Said
) -> None:
    """Compute the values again, and say what of them differs."""
    question = record["question"] | {"method": record["question"]["method"] or method}
    if question["method"] is None:
        raise InputError(
            "the receipt was made with a model that no file can hold: give it again as method"
        )
    del question["max_time"]
    names = [one["name"] for one in record["contributors"]]
    y, labels = question.pop("target"), found.get("(labels)")
    if question.pop("labels_apart") and not hasattr(labels, "columns") and not is_path(labels):
        y, labels = labels, None
    try:
        with without_warnings():
            valuation = value_fragments(
                found.get("(fragments)") or {name: found[name] for name in names},
                y,
                found.get("(validation)"),
                labels=labels,
                owners=found.get("(owners)"),
                **question,
                **run,
            )
            again = make_receipt(valuation)
    except InputError as error:
        said.differs(f"the values cannot be computed again: {error}.")
        return
    mine, theirs = numbers_in(again), numbers_in(record)
    wrong = [
        f"{what} is {mine[what]:.10g}, the receipt says {theirs[what]:.10g}."
        for what in mine
        if not math.isclose(mine[what], theirs[what], rel_tol=_SAME, abs_tol=_SAME)
    ]
    said.differs(*wrong)
    here, there = again["made"]["versions"], record["made"]["versions"]
    if not wrong:
        count = counted(len(names), "value")
        said.append(f"Computed again from the files: {count}, all the same.")
    elif here != there:
        said.append(f"The receipt was made by {there}, here is {here}.")
