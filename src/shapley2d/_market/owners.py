"""Owners: who claims which part of a table.

A claim has an owner, a row and a column; an empty row or column means all of them.
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import as_text
from shapley2d._market.grid import is_empty
from shapley2d._tables.reading.files import Source
from shapley2d._tables.texts.column import clean_texts
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._market.grid import Sets

UNOWNED = "(unowned)"
"""Name of the entry for blocks without an owner."""

# Cyrillic and Greek letters and digits that look like Latin letters, and letters that are blank
_ALIKE = str.maketrans(
    "абвеіјкмнорсѕтухԁһανικορτυχγβεζημ" + "01",
    "abbeijkmhopcstyxdhavikoptuxybezhm" + "ol",
    "\u2800\u3164\u115f\u1160",
)

FIELDS = ("owner", "row", "column")
"""The columns of an owners table."""


@dataclass(frozen=True)
class Claim:
    """One line of an owners table, and its place for messages."""

    owner: str
    row: Any
    column: Any
    where: str


class AxisNames:
    """Finds rows or columns by set label, name, or position where names are no whole numbers."""

    def __init__(self, kind: str, names: Sequence[Any], sets: Sets | None = None) -> None:
        self._kind, self.size = kind, len(names)
        self._found: dict[str, Ints] = {}  # thousands of claims name the same columns
        keys = [entry_key(name) for name in names]
        # if names are whole numbers, numbers mean names, otherwise positions
        self._counted = all(key.isdecimal() for key in keys)
        self._numbers = np.array([int(key) for key in keys] if self._counted else range(self.size))
        known: dict[str, list[int]] = {}
        for position, key in enumerate(keys):
            known.setdefault(key, []).append(position)
        self._known = {key: np.array(places, dtype=np.intp) for key, places in known.items()}
        if sets is not None:  # 1 and "1" are two sets, with one name
            called, code = np.unique([entry_key(one) for one in sets.names], return_inverse=True)
            of_row = code[sets.labels]
            self._known |= {str(key): np.flatnonzero(of_row == k) for k, key in enumerate(called)}
        shown = ", ".join(str(name) for name in names[:5])
        self._hint = f"are {shown}{', ...' if self.size > 5 else ''}"
        if keys == [str(k) for k in range(self.size)]:
            self._hint = f"count from 0 to {self.size - 1}"

    def find(self, entry: Any, where: str) -> Ints:
        """Positions of an entry: empty (all), a list, a range or a single name."""
        if is_empty(entry):
            return np.arange(self.size)
        if isinstance(entry, (list, tuple, np.ndarray)):
            return self._union(entry, where)
        text = entry_key(entry)
        if text not in self._found:
            self._found[text] = self._find(text, where)
        return self._found[text]

    def _find(self, text: str, where: str) -> Ints:
        if text in self._known:
            return self._known[text]
        if text.isdecimal() and int(text) < self.size and not self._counted:
            return np.array([int(text)], dtype=np.intp)
        if bounds := re.fullmatch(r"(\d+)\s*-\s*(\d+)", text):
            first, last = int(bounds[1]), int(bounds[2])
            if first <= last and np.isin([first, last], self._numbers).all():
                return np.flatnonzero((self._numbers >= first) & (self._numbers <= last))
        if ";" in text:
            return self._union([part for part in text.split(";") if part.strip()], where)
        raise InputError(
            f"{where}: there is no {self._kind} {text!r}: the table's {self._kind}s {self._hint}"
        )

    def _union(self, entries: Iterable[Any], where: str) -> Ints:
        parts = [self.find(entry, where) for entry in entries]
        return np.unique(np.concatenate(parts)) if parts else np.arange(0)


def check_owners(path: str) -> None:
    """Refuse a column's name in the place of a file of owners."""
    if not Path(path).suffix and path != "-" and not Path(path).exists():
        words = f" is no file of owners; if column {path!r} names them, give "
        raise InputError(Setting("owners", path), words, Setting("owner_column", path))


def read_claims(owners: Any, name: str = "owners") -> list[Claim]:
    """The claims of an owners table, or of a file that was read; messages call it ``name``."""
    source = owners if isinstance(owners, Source) else None
    if source is not None:
        owners = clean_texts(source.table)
    if isinstance(owners, dict):
        with suppress(TypeError, ValueError):  # no columns, or of different lengths
            lines = zip(*owners.values(), strict=True)
            owners = [dict(zip(owners, line, strict=True)) for line in lines]
    frame = nw.from_native(owners, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        _check_fields(frame.columns, name)
        owners = list(frame.iter_rows(named=True))
    is_list = isinstance(owners, (list, tuple))
    if not is_list or not all(isinstance(record, dict) for record in owners):
        raise InputError(
            Setting("owners"),
            " must be a frame or a CSV file with the columns owner, row and column, "
            "a dict of such columns of one length, or a list of dicts",
        )
    claims = []
    for number, record in enumerate(owners):
        line = f"line {number + 1}" if source is None else source.where(number)
        place, owner = f"{name}, {line}", record.get("owner")
        _check_fields(record, place)
        if is_empty(owner):
            raise InputError(f"{place}: the owner is empty: name one")
        called = as_text(owner).strip()
        if called == UNOWNED:
            raise InputError(
                f"{place}: an owner cannot be called {called!r}, which means blocks without owner"
            )
        claims.append(Claim(called, record.get("row"), record.get("column"), place))
    if not claims:
        raise InputError(Setting("owners"), " has no lines: name at least one owner")
    return claims


def lookalikes(names: Iterable[str]) -> Iterator[str]:
    """Names that people would read as one, in words: one owner, or somebody's trick."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(_as_seen(name), name)
        if other != name:
            letters = ascii(name) if ascii(name) != repr(name) else ascii(other)
            yield (
                f"owners {other!r} and {name!r} look alike, but are two ({letters}): check that "
                "they are, or give them one name"
            )


def _as_seen(name: str) -> str:
    """A name without what nobody sees: other alphabets, case, accents, spaces, zero width."""
    text = unicodedata.normalize("NFKD", name).casefold().translate(_ALIKE)
    seen = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Mn"))
    return " ".join(seen.split())


def _check_fields(fields: Any, where: str) -> None:
    unknown = [field for field in fields if field not in FIELDS]
    if unknown:
        raise InputError(
            f"{where}: column {unknown[0]!r} is not known: the columns are owner, row and column"
        )
    if "owner" not in fields:
        raise InputError(
            f"{where}: there is no column 'owner': the columns are owner, row and column"
        )


def entry_key(entry: Any) -> str:
    """An entry for comparison: 3, "3" and 3.0 (3 in a frame with gaps) are the same."""
    if isinstance(entry, (float, np.floating)) and float(entry).is_integer():
        return str(int(entry))
    return as_text(entry).strip()
