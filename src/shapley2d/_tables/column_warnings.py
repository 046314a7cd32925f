"""Warnings about columns: stray entries, ambiguous notations, rounded numbers, keys.

A key names the rows instead of describing them, so no model can learn from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.warnings import warn_input
from shapley2d._base.words import counted, first_of, plural, shown
from shapley2d._tables.texts.numbers import EXACT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._base.arrays import Floats
    from shapley2d._tables.table import Column, Table

MIN_ROWS = 20
"""In fewer rows entries may all differ, or equal the target, by chance."""

_KEY_NAME = re.compile(
    r"(?i)(^|[^a-z])(id|idx|index|uuid|guid|key|nr|no)$|^unnamed: \d+$|[a-z]I[dD]$"
)


_MOST = 3  # examples of stray entries in a message
_READ = {
    "decimal commas": "with decimal commas",
    "thousands commas": "with commas between thousands",
    "day first": "with the day first",
    "month first": "with the month first",
}


@dataclass(frozen=True)
class Key:
    """A column that looks like a key."""

    name: str
    why: str  # the evidence
    text: bool  # whether it is text, which is of no use to any model; numbers may mean something


def looks_like_key(distinct: int, count: int) -> bool:
    """Whether a column with this many distinct values is a key."""
    return count >= MIN_ROWS and distinct >= 0.9 * count


def find_keys(table: Table) -> list[Key]:
    """Columns that look like keys, except those whose kind the user set."""
    found = (_key(column) for column in table.columns if not column.from_text.asked)
    return [key for key in found if key is not None]


def _key(column: Column) -> Key | None:
    if column.kind not in ("category", "number"):
        return None
    present = column.entries[~np.isnan(column.entries)]
    if column.kind == "category" and not looks_like_key(len(column.categories), present.size):
        return None
    if column.kind == "number":
        if present.size < MIN_ROWS or not (_are_whole(present[:100]) and _are_whole(present)):
            return None
        if present.size == column.entries.size and (np.diff(present) == 1).all():
            return Key(column.name, "it only counts the rows", text=False)
        is_short = np.abs(present).max() <= EXACT  # longer numbers are codes, not measurements
        if is_short and not _KEY_NAME.search(column.name):
            return None
    distinct = max(np.unique(present).size, column.from_text.distinct)  # before rounding
    if not looks_like_key(distinct, present.size):
        return None
    text = column.kind == "category"
    return Key(
        column.name,
        f"{distinct:,} different {'texts' if text else 'numbers'} in {present.size:,} rows",
        text,
    )


def _are_whole(numbers: Floats) -> bool:
    return np.array_equal(numbers, np.round(numbers))


def in_words(keys: Iterable[Key]) -> str:
    """Names of keys, each with the evidence."""
    return ", ".join(f"{key.name!r} ({key.why})" for key in keys)


def warn_of_empty(table: Table) -> None:
    """Warn of all columns without an entry, in one message."""
    names = [repr(column.name) for column in table.columns if np.isnan(column.entries).all()]
    if names:
        n, first = len(names), first_of(names, _MOST)
        warn_input(
            f"X: {plural(n, 'column')} {first} {plural(n, 'is', 'are')} empty throughout: "
            f"nothing can be learned from {plural(n, 'it, so drop it', 'them, so drop them')}"
        )


def warn_of_keys(table: Table) -> None:
    """Warn of all columns of text that look like keys, in one message."""
    keys = [key for key in find_keys(table) if key.text]
    if not keys:
        return
    n = len(keys)
    warn_input(
        f"X: {plural(n, 'column')} {in_words(keys)} "
        f"{plural(n, 'looks like a key', 'look like keys')}, from which no model learns: drop "
        f"{plural(n, 'it', 'them')} ({[key.name for key in keys]}), or keep "
        f"{plural(n, 'it', 'them')} with kinds={shown({key.name: 'text' for key in keys})}"
    )


def warn_of_reading(table: Table, name: str = "X") -> None:
    """Warn of stray entries, of rounded numbers and of notations, one message each per table."""

    def tell(columns: list[Column], words: str) -> None:
        if columns:
            as_text = {column.name: "text" for column in columns}
            warn_input(f"{name}: {words} with kinds={shown(as_text)}")

    strays = [column for column in table.columns if column.from_text.strays]
    n = sum(len(column.from_text.strays) for column in strays)
    tell(
        strays,
        f"{counted(n, 'entry', 'entries')} {plural(n, 'does', 'do')} not match "
        f"{plural(n, 'its', 'their')} column's type and {plural(n, 'is', 'are')} treated as "
        f"missing: {'; '.join(map(_strays, strays))}: correct {plural(n, 'it', 'them')}, or read "
        "the column as text",
    )
    rounded = [column for column in table.columns if column.from_text.distinct]
    words = "if they are keys or codes, drop the column, or read it as text"
    tell(rounded, f"{'; '.join(map(_rounded, rounded))}: {words}")
    decided = [one for one in table.columns if one.from_text.example or one.from_text.remark]
    words = "if that is wrong, read the column as text"
    tell(decided, f"{'; '.join(map(_notation, decided))}: {words}")


def _strays(column: Column) -> str:
    texts = [repr(text[:40]) for text in dict.fromkeys(column.from_text.strays.values())]
    count = len(column.from_text.strays)
    wrong = plural(count, f"is not a {column.kind}", f"are not {column.kind}s")
    return f"column {column.name!r} has {count:,} that {wrong} ({first_of(texts, _MOST)})"


def _notation(column: Column) -> str:
    read = column.from_text
    parts = [f"read {_READ[read.notation]} ({read.example})"] if read.example else []
    parts += [read.remark] if read.remark else []
    return f"column {column.name!r}: {', '.join(parts)}"


def _rounded(column: Column) -> str:
    numbers = column.entries[~np.isnan(column.entries)]
    digits = len(str(int(np.abs(numbers).max())))
    return (
        f"column {column.name!r} holds whole numbers of {digits} digits, which cannot be "
        f"represented exactly: {column.from_text.distinct} distinct numbers become "
        f"{np.unique(numbers).size} after rounding"
    )
