"""SHA-256 digests of parts of a table, in a form that anyone can compute again.

The canonical form of a row is JSON without spaces and in ASCII: a list of an object with the row's
entries by column, sorted by name, and, in labelled digests, of its label. Missing entries are left
out. Numbers are written as Python writes floats, without a negative zero, booleans as 1.0 and 0.0,
dates as days since 1970;
everything else is text, and so are labels::

    [{"age":41.0,"job":"nurse"},"yes"]

The digest of a block is the SHA-256 of the digests of its rows in hexadecimal, sorted and each
followed by a newline. So the order of rows and columns does not matter, and how often a row occurs
does.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import as_text, is_number
from shapley2d._base.words import entry_text
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import as_category
from shapley2d._tables.table import Column, FromText, Table
from shapley2d._tables.target import with_label
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from shapley2d._market.job import BlocksJob
    from shapley2d._tables.problem import Split


def canonical_json(record: Any) -> bytes:
    r"""The bytes of a JSON record that digests and signatures are made of."""
    text = json.dumps(
        record, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return text.encode("ascii")


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


class RowDigests:
    """The rows of a table, ready to be digested; without or with a label for each."""

    def __init__(self, columns: Sequence[Column], labels: Iterable[Any] | None = None) -> None:
        self._order = sorted(range(len(columns)), key=lambda j: columns[j].name)
        self._entries = [_written(columns[j]) for j in self._order]
        self._labels = None if labels is None else [_label_text(label) for label in labels]

    def whole(self) -> tuple[str, str | None]:
        """The digests of all rows with all columns, see :meth:`block`."""
        n_rows = len(self._entries[0])
        return self.block(np.arange(n_rows), np.ones((n_rows, len(self._order)), dtype=bool))

    def block(self, rows: NDArray[np.intp], held: NDArray[np.bool_]) -> tuple[str, str | None]:
        """The digests of some cells, by a mask (rows, columns), without and with their labels."""
        texts = []
        for row, mine in zip(rows.tolist(), held[:, self._order].tolist(), strict=True):
            parts = [column[row] for column, held in zip(self._entries, mine, strict=True) if held]
            texts.append(f"{{{','.join(part for part in parts if part is not None)}}}")
        plain = _digest_of(f"[{text}]" for text in texts)
        if self._labels is None:
            return plain, None
        labels = [self._labels[row] for row in rows]
        pairs = zip(texts, labels, strict=True)
        return plain, _digest_of(f"[{text},{label}]" for text, label in pairs)


def _label_text(label: Any) -> str:
    """A label in JSON, of which 1, 1.0 and "1" are the same; classes may be beyond any float."""
    try:
        number = is_number(label) and math.isfinite(float(label))
    except OverflowError:
        number = False
    return json.dumps(entry_text(float(label)) if number else as_text(label))


def _digest_of(rows: Iterable[str]) -> str:
    """The digest of a collection of rows, in any order."""
    digests = sorted(sha256(row.encode("ascii")) for row in rows)
    return sha256("".join(f"{one}\n" for one in digests).encode("ascii"))


def _written(column: Column) -> list[Any]:
    name = json.dumps(column.name)
    if column.kind == "category":
        entries: list[Any] = column.text()
        known = {text: f"{name}:{json.dumps(text)}" for text in set(entries) if text is not None}
        return [known.get(text) for text in entries]
    numbers = (column.entries + 0.0).tolist()  # one zero
    written = [None if number != number else f"{name}:{number!r}" for number in numbers]  # noqa: PLR0124
    for row, stray in column.from_text.strays.items():
        written[row] = f"{name}:{json.dumps(stray)}"
    return written


def read_alike(data: Any, columns: Sequence[dict[str, Any]]) -> Table:
    """A table with some of the columns of another, read as :func:`data_digests` describes those."""
    known: Any = {
        one["name"]: Column(
            one["name"], one["kind"], np.zeros(0), (), FromText(notation=one["notation"])
        )
        for one in columns
    }
    table = as_table(data, "X", like=Table(tuple(known.values()), np.zeros(0), None))
    strange = [column for column in table.column_names if column not in known]
    if strange:
        raise InputError(f"column {strange[0]!r} is not in the receipt: leave it out")
    columns_alike = tuple(
        as_category(column.text(), column.name)
        if known[column.name].kind == "category" != column.kind
        else column
        for column in table.columns
    )
    return replace(table, columns=columns_alike)


def data_digests(job: BlocksJob, target_name: str) -> dict[str, Any] | None:
    """Digests of the tables behind a valuation, as plain JSON values; None without owners."""
    regions, label, tables = job.named.regions, job.named.label, job.tables
    if regions is None:
        return None
    table, target = tables.table, tables.target  # before copies were merged
    columns = (table if label is None else with_label(table, target, label)).columns
    rows, owners = RowDigests(columns, target.y.tolist()), []
    for number, name in enumerate(regions.names):
        held = regions.cells_of(number)
        there = np.flatnonzero(held.any(axis=1))
        plain, labelled = rows.block(there, held[there])
        sizes = {"n_rows": int(there.size), "n_cells": int(held.sum())}
        owners.append({"owner": name, "block": plain, "labelled": labelled, **sizes})
    claims = [
        [
            regions.names[owner],
            sorted(columns[j].name for j in np.flatnonzero(mine)),
            np.flatnonzero(there).tolist(),
        ]
        for owner, there, mine in zip(regions.owner, regions.rows, regions.columns, strict=True)
    ]
    return {
        "columns": [
            {"name": column.name, "kind": column.kind, "notation": column.from_text.notation}
            for column in columns
        ],
        "owners": owners,
        "claims": sha256(canonical_json(sorted(claims))),
        "validation": _of_validation(tables.split) if tables.validates else None,
        "table": rows.whole()[1],
        "target": target_name,
        "target_kind": "number" if target.y.dtype.kind in "iuf" else "text",
    }


def _of_validation(split: Split | None) -> dict[str, Any] | None:
    """The validation table with its labels and weights."""
    if split is None:
        return None
    labels: list[Any] = split.y_valid.y.tolist()
    if split.valid_weights is not None:
        pairs = zip(labels, split.valid_weights.tolist(), strict=True)
        labels = [f"{label} x {weight!r}" for label, weight in pairs]
    return {"rows": RowDigests(split.valid.columns, labels).whole()[1], "n_rows": len(labels)}


def in_one_order(split: Split) -> Split:
    """The validation rows in an order of their own, so that payments do not depend on another."""
    keys: list[NDArray[Any]] = []
    for column in split.valid.columns:
        entries = np.nan_to_num(column.entries, nan=-np.inf)
        if column.kind == "category":  # codes depend on the order of rows, texts do not
            place = np.append(np.argsort(np.argsort(np.array(column.categories, dtype=str))), -1)
            entries = place[np.where(np.isinf(entries), -1, entries).astype(np.intp)]
        keys.append(entries)
    weights = split.valid_weights
    keys += [np.unique(split.y_valid.y.astype(str), return_inverse=True)[1]]
    keys += [] if weights is None else [weights]
    order = np.lexsort(keys)
    return split.take_valid(order)
