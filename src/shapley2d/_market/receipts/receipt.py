"""Receipts: what was paid and why, in a file that anyone can check.

A receipt is a JSON object: ``format``; ``body``; ``digest``, the SHA-256 of the body's canonical
form (:func:`~shapley2d._market.receipts.digests.canonical_json`); and ``signature``, of the
same bytes, or null. Its layout is of no importance.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.json_record import parse_record
from shapley2d._base.limits import read_record_file
from shapley2d._base.words import printable
from shapley2d._market.payments import whole_units
from shapley2d._market.receipts.digests import RowDigests, canonical_json, read_alike, sha256
from shapley2d._market.receipts.signature import check_signature, public_key, sign
from shapley2d._market.receipts.sums import FACTS, check_body, payment_record
from shapley2d._tables.frames import make_frame
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from shapley2d._market.block_values import BlockValues

FORMAT = "shapley2d receipt 2"
"""Raise the number when older versions could not read what is written."""

_KNOWN = re.compile(r"shapley2d receipt (\d+)")


@dataclass(frozen=True, eq=False)
class Receipt:
    """What owners are worth and are paid, with digests of the data and settings behind it.

    Made by :meth:`BlockValuation.receipt <shapley2d.BlockValuation.receipt>`, read by
    :meth:`Receipt.load`.

    Attributes
    ----------
    body : dict
        ``made`` (date, versions, facts of the run), ``round``, ``question`` (settings, seed, and
        how files were read), ``digests``, ``values`` and ``payments`` (None where nothing was
        paid). Plain JSON values; amounts are text, to the cent.
    signature : dict or None
        ``algorithm``, ``public_key`` and ``signature``.
    """

    body: dict[str, Any]
    signature: dict[str, str] | None = None
    _frame: str = "pandas"

    @property
    def digest(self) -> str:
        """SHA-256 of the body."""
        return sha256(canonical_json(self.body))

    @property
    def payments(self) -> Any:
        """The payments as a frame, amounts as numbers; None where nothing was paid."""
        paid = self.body["payments"]
        if paid is None:
            return None
        values = {one["owner"]: one["value"] for one in self.body["values"]["owners"]}
        lines = paid["amounts"]
        columns: dict[str, Any] = {
            "owner": [line["owner"] for line in lines],
            "value": [values[line["owner"]] for line in lines],
        }
        for name in ("amount", "low", "high"):
            columns[name] = np.array([float(line[name]) for line in lines])
        return make_frame(columns, self._frame)

    def sign(self, key: str | os.PathLike[str]) -> Receipt:
        """Sign the receipt: a copy that has a signature.

        Parameters
        ----------
        key : path-like
            A PEM file with a private Ed25519 key, as ``openssl genpkey -algorithm ed25519`` makes
            it. Needs the package ``cryptography``.
        """
        return Receipt(self.body, sign(canonical_json(self.body), key), self._frame)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt as JSON; the file appears whole or not at all."""
        sealed = {"digest": self.digest, "signature": self.signature}
        record = {"format": FORMAT, "body": self.body, **sealed}
        text = json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False)
        with atomic_write(path, ".json") as temporary:
            temporary.write_text(f"{text}\n", encoding="ascii")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Receipt:
        """Read a receipt, and check all that can be checked without the data.

        Its digest and its signature must fit what it says, and so must all sums: the owners' values
        add up to what the table is worth, and every amount is what these values give. Anything else
        is refused, as are entries that a receipt does not have.
        """
        data = read_record_file(path)
        try:
            record = _parse(data)
        except ValueError as error:
            raise InputError(f"{path} is refused: {error}") from None
        receipt = cls(record["body"], record["signature"])
        receipt.check(path, record["digest"])
        return receipt

    def check(self, name: Any = "the receipt", digest: str | None = None) -> None:
        """Refuse a receipt that does not fit together, see :meth:`load`; messages say ``name``."""
        try:
            if digest not in (None, self.digest):
                raise ValueError("its digest does not fit: it was changed after it was written")  # noqa: TRY301
            if self.signature is not None:
                check_signature(canonical_json(self.body), self.signature)
            check_body(self.body)
        except InputError as error:  # an option that its method, or the package, refuses
            raise InputError(f"{name} is refused: ", *error.args) from None
        except ValueError as error:
            raise InputError(f"{name} is refused: {printable(str(error))}") from None
        except Exception as error:  # noqa: BLE001  (whatever a file provokes is the file's fault)
            raise InputError(
                f"{name} is refused: it is not a receipt of this form ({type(error).__name__})"
            ) from None

    def check_round(self, name: str) -> None:
        """Check that the receipt is of a round of payments, and not of an earlier one."""
        if self.body["round"] != name:
            here = self.body["round"]
            known = "of no round" if here is None else f"of round {here!r}"
            raise InputError(f"the receipt is {known}, not of ", Setting("round", name))

    def check_signer(self, key: str | os.PathLike[str]) -> None:
        """Check that a public key, in a PEM file, is the one that the receipt was signed with."""
        if self.signature is None:
            raise InputError("the receipt is not signed, so no key can tell who made it")
        if self.signature["public_key"] != public_key(key):
            raise InputError(
                "the receipt is signed, but not with ", Setting("public_key", str(key))
            )

    def check_block(self, owner: str, X: Any, y: Any = None) -> None:
        """Check that an owner's block is the one that was valued, from the block alone.

        Parameters
        ----------
        owner : str
        X : table of any kind, or path of a file
            The owner's rows, with its columns under the names that they have in the table. Their
            order does not matter. A cell that the owner does not have is left empty, where it has
            others of that row.
        y : 1-D array, optional
            The labels of these rows, to check them too.
        """
        known = {one["owner"]: one for one in self.body["digests"]["owners"]}
        if owner not in known:
            names = ", ".join(map(repr, [*known][:5])) + (", ..." if len(known) > 5 else "")
            raise InputError(f"the receipt has no owner {owner!r}: it has {names}")
        table = read_alike(X, self.body["digests"]["columns"])
        kind = self.body["digests"]["target_kind"]
        labels = None if y is None else [_label(one, kind) for one in np.asarray(y, dtype=object)]
        if labels is not None and len(labels) != table.n_rows:
            raise InputError(f"{table.n_rows} rows have {len(labels)} labels: give one for each")
        plain, labelled = RowDigests(table.columns, labels).whole()
        if plain != known[owner]["block"]:
            rows = known[owner]["n_rows"]
            raise InputError(
                f"this is not the block of {owner!r} that was valued: rows or entries differ "
                f"(there were {rows} rows with {known[owner]['n_cells']} cells; here are "
                f"{table.n_rows} rows of {table.n_columns} columns)"
            )
        if labelled is not None and labelled != known[owner]["labelled"]:
            raise InputError(f"the entries are those of {owner!r}, but the labels differ")

    def __repr__(self) -> str:
        n = len(self.body["values"]["owners"])
        paid = self.body["payments"]
        total = "" if paid is None else f" who share {paid['total']}"
        total += "" if self.body["round"] is None else f", round {self.body['round']!r}"
        signed = "signed" if self.signature else "not signed"
        return f"Receipt of {n} owners{total}, {signed}, digest {self.digest[:16]}"


def make_receipt(
    valuation: BlockValues,
    pay: Any = None,
    negative: str = "zero",
    digits: int = 2,
    *,
    trusted: bool = False,
    round: str | None = None,  # noqa: A002  (the word that people use)
    reading: dict[str, Any] | None = None,
) -> Receipt:
    """The receipt of a valuation of owners, see :meth:`shapley2d.BlockValuation.receipt`."""
    info = valuation.info
    digests, asked = info.get("digests"), info.get("asked")
    if not valuation._owner_names or not digests or not asked:
        raise InputError(
            "a receipt is about owners, and these values come without: name them by ",
            Setting("owners"),
        )
    if info.get("time_up"):
        raise InputError(
            "a time limit ended the run, so nobody could repeat it: run it again without ",
            Setting("max_time"),
        )
    if info.get("interrupted"):
        raise InputError("the run was interrupted, so nobody could repeat it: run it again first")
    if round is not None and not isinstance(round, str):
        raise InputError(Setting("round", round), " must be text, such as '2026-07'")
    body = {
        "made": {
            "date": info.get("date"),
            "versions": info.get("versions") or {},
            **{name: info.get(name) for name in FACTS},
        },
        "round": round,
        "question": {**asked, "seed": info.get("random_state"), "reading": reading},
        "digests": digests,
        "values": {
            "worth": float(valuation.total),
            "owners": [
                {"owner": name, "value": value, "stderr": error if np.isfinite(error) else None}
                for name, value, error in zip(
                    valuation._payee_names,
                    valuation._payee_values.tolist(),
                    valuation._payee_errors.stderr.tolist(),
                    strict=True,
                )
            ],
        },
        "payments": None
        if pay is None
        else _payments(valuation, pay, negative, digits, trusted=trusted),
    }
    return Receipt(json.loads(canonical_json(body)), _frame=valuation._frame)


def _payments(
    valuation: BlockValues, pay: Any, negative: str, digits: int, *, trusted: bool
) -> dict[str, Any]:
    columns = valuation._divided(pay, negative, digits, trusted=trusted)
    ends = list(zip(columns["low"], columns["high"], strict=True))
    values, names = columns["value"].tolist(), columns["owner"]
    return payment_record(whole_units(pay, digits), int(digits), negative, names, values, ends)


def _label(label: Any, kind: str) -> Any:
    """A label of a file, as a number where the table's are numbers."""
    if kind == "number" and isinstance(label, str):
        with suppress(ValueError):
            return float(label)
    return label


def _parse(data: bytes) -> dict[str, Any]:
    """The fields of a file that may come from anyone; a ValueError says what does not fit."""
    record = parse_record(data)
    json.loads(data, object_pairs_hook=_object, parse_constant=_finite, parse_float=_finite)
    version = _KNOWN.fullmatch(str(record.get("format")))
    if version and record["format"] != FORMAT:
        raise ValueError("it was written by another version of shapley2d: check it with that")
    fields = {"format", "body", "digest", "signature"}
    if not version or set(record) != fields or not isinstance(record["body"], dict):
        raise ValueError("it is not a receipt")
    return record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # readers would disagree about which of them counts
        raise ValueError("a field occurs twice")
    return found


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError(f"{text} is not a number")
    return float(text)
