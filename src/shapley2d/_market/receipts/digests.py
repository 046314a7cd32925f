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
from dataclasses import dataclass, replace
from functools import cached_property
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
    from shapley2d._market.regions import Regions
    from shapley2d._tables.problem import Split, Tables


def canonical_json(record: Any) -> bytes:
    r"""The bytes of a JSON record that digests and signatures are made of."""
    text = json.dumps(
        record, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return text.encode("ascii")


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, eq=False)
class RowDigests:
    """The rows of a table, ready to be digested."""

    columns: tuple[Column, ...]
    labels: Sequence[Any] | None = None  # one for each row

    def whole(self) -> tuple[str, str | None]:
        """The digests of all rows with all columns, see :meth:`block`."""
        n_rows = len(self._entries[0])
        return self.block(np.arange(n_rows), np.ones((n_rows, len(self.columns)), dtype=bool))

    def block(self, rows: NDArray[np.intp], held: NDArray[np.bool_]) -> tuple[str, str | None]:
        """The digests of some cells, without and with the labels of their rows.

        ``held`` is a mask (rows, columns) of the cells.
        """
        columns = [self._entries[j] for j in self._order]
        texts = []
        for row, mine in zip(rows.tolist(), held[:, self._order].tolist(), strict=True):
            parts = [column[row] for column, held in zip(columns, mine, strict=True) if held]
            texts.append(f"{{{','.join(part for part in parts if part is not None)}}}")
        plain = digest_of(sha256(f"[{text}]".encode("ascii")) for text in texts)
        if self.labels is None:
            return plain, None
        ends = self._labels
        pairs = zip(rows.tolist(), texts, strict=True)
        return plain, digest_of(
            sha256(f"[{text},{ends[row]}]".encode("ascii")) for row, text in pairs
        )

    @cached_property
    def _order(self) -> list[int]:
        """Columns sorted by name."""
        return sorted(range(len(self.columns)), key=lambda j: self.columns[j].name)

    @cached_property
    def _entries(self) -> list[list[Any]]:
        """Every column's entries as ``"name":entry``; None where missing."""
        return [_written(column) for column in self.columns]

    @cached_property
    def _labels(self) -> list[str]:
        assert self.labels is not None
        return [  # 1, 1.0 and "1" are the same label
            json.dumps(entry_text(float(label)) if _is_float(label) else as_text(label))
            for label in self.labels
        ]


def _is_float(label: Any) -> bool:
    """Whether a label is a number that a float can hold; classes may be whole numbers beyond."""
    try:
        return is_number(label) and math.isfinite(float(label))
    except OverflowError:
        return False


def digest_of(digests: Iterable[str]) -> str:
    """The digest of a collection of digests, in any order."""
    return sha256("".join(f"{one}\n" for one in sorted(digests)).encode("ascii"))


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


def described(columns: Iterable[Column]) -> list[dict[str, str]]:
    """What is needed to read the same columns again: names, kinds and notations."""
    return [
        {"name": column.name, "kind": column.kind, "notation": column.from_text.notation}
        for column in columns
    ]


def read_alike(data: Any, columns: Sequence[dict[str, str]], name: str = "X") -> Table:
    """A table with some of the columns of another, read as those were.

    ``columns`` are as :func:`described` gives them; messages call the table ``name``.
    """
    known = {
        one["name"]: Column(
            one["name"],
            one["kind"],  # type: ignore[arg-type]
            np.zeros(0),
            (),
            FromText(notation=one["notation"]),
        )
        for one in columns
    }
    like = Table(tuple(known.values()), np.zeros(0), None)
    table = as_table(data, name, like=like)
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
    regions = job.named.regions
    if regions is None:
        return None
    table, target = job.tables.table, job.tables.target  # before copies were merged
    label = job.named.label
    valued = table if label is None else with_label(table, target, label)
    rows = RowDigests(valued.columns, target.y.tolist())
    names = [column.name for column in valued.columns]
    return {
        "columns": described(valued.columns),
        "owners": _of_owners(regions, rows),
        "claims": sha256(canonical_json(_claims(regions, names))),
        "validation": _of_validation(job.tables),
        "table": rows.whole()[1],
        "target": target_name,
        "target_kind": "number" if target.y.dtype.kind in "iuf" else "text",
    }


def _of_owners(regions: Regions, rows: RowDigests) -> list[dict[str, Any]]:
    lines = []
    for number, name in enumerate(regions.names):
        held = regions.cells_of(number)
        there = np.flatnonzero(held.any(axis=1))
        plain, labelled = rows.block(there, held[there])
        sizes = {"n_rows": int(there.size), "n_cells": int(held.sum())}
        lines.append({"owner": name, "block": plain, "labelled": labelled, **sizes})
    return lines


def _claims(regions: Regions, names: list[str]) -> list[Any]:
    """Who has which rows and columns, in one order."""
    return sorted(
        [
            regions.names[owner],
            sorted(names[j] for j in np.flatnonzero(columns)),
            np.flatnonzero(rows).tolist(),
        ]
        for owner, rows, columns in zip(
            regions.owner.tolist(), regions.rows, regions.columns, strict=True
        )
    )


def _of_validation(tables: Tables) -> dict[str, Any] | None:
    """The validation table with its labels and weights; None where the method uses none."""
    split = tables.split
    if split is None or not tables.validates:
        return None
    labels: list[Any] = split.y_valid.y.tolist()
    if split.valid_weights is not None:
        pairs = zip(labels, split.valid_weights.tolist(), strict=True)
        labels = [f"{label} x {weight!r}" for label, weight in pairs]
    digests = RowDigests(split.valid.columns, labels)
    return {"rows": digests.whole()[1], "n_rows": split.valid.n_rows}


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
