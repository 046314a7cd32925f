"""Warnings about columns: strays and notations of text, numbers too long, columns that look like keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.warnings import warn
from shapley2d._tables.texts.numbers import EXACT
from shapley2d.exceptions import InputWarning, Place, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._tables.table import Column, Table

_MIN_ROWS = 20  # in fewer rows all entries may differ by chance
_SHARE = 0.9
_KEY_NAME = re.compile(
    r"(?i)(^|[^a-z])(id|idx|index|uuid|guid|key|nr|no)$|^unnamed: \d+$|[a-z]I[dD]$"
)


_MOST = 3  # examples of strays
_READ = {
    "decimal commas": "with decimal commas",
    "thousands commas": "with commas between thousands",
    "day first": "with the day first",
    "month first": "with the month first",
}


@dataclass(frozen=True)
class Key:
    """A column that looks like a key.

    Attributes
    ----------
    name : str
    why : str
        What gives it away.
    text : bool
        Whether it is text: of no use to any model. Numbers may mean something after all.
    """

    name: str
    why: str
    text: bool


def looks_like_key(distinct: int, count: int) -> bool:
    """Whether so many different entries among so many are a key's.

    Examples
    --------
    >>> looks_like_key(95, 100), looks_like_key(5, 5)
    (True, False)
    """
    return count >= _MIN_ROWS and distinct >= _SHARE * count


def find_keys(table: Table) -> list[Key]:
    """Columns that look like keys, other than those of which the user said what they hold.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> find_keys(as_table({"name": [f"N{k}" for k in range(30)], "age": [k % 7 for k in range(30)]}))
    [Key(name='name', why='30 different texts in 30 rows', text=True)]
    """
    found = (_key(column) for column in table.columns if not column.from_text.asked)
    return [key for key in found if key is not None]


def _key(column: Column) -> Key | None:
    if column.kind not in ("category", "number"):
        return None
    present = column.entries[~np.isnan(column.entries)]
    if column.kind == "number":
        if present.size < _MIN_ROWS or not np.array_equal(present, np.round(present)):
            return None
        if present.size == column.entries.size and (np.diff(present) == 1).all():
            return Key(column.name, "it only counts the rows", text=False)
        if (
            not _KEY_NAME.search(column.name) and np.abs(present).max() <= EXACT
        ):  # longer ones are no measurements
            return None
    distinct = max(np.unique(present).size, column.from_text.distinct)  # before rounding
    if not looks_like_key(distinct, present.size):
        return None
    text = column.kind == "category"
    return Key(
        column.name,
        f"{distinct} different {'texts' if text else 'numbers'} in {present.size} rows",
        text,
    )


def in_words(keys: Iterable[Key]) -> str:
    """Keys with what gives them away.

    Examples
    --------
    >>> in_words([Key("id", "it only counts the rows", False)])
    "'id' (it only counts the rows)"
    """
    return ", ".join(f"{key.name!r} ({key.why})" for key in keys)


def warn_of_keys(table: Table) -> None:
    """Warn of columns of text that look like keys, all at once."""
    keys = [key for key in find_keys(table) if key.text]
    if not keys:
        return
    one = len(keys) == 1
    warn(
        InputWarning(
            Place("X"),
            f": {'column' if one else 'columns'} {in_words(keys)} {'looks like a key' if one else 'look like keys'}, "
            f"from which no model learns: drop {'it' if one else 'them'} ({[key.name for key in keys]}), or say that "
            f"{'it is' if one else 'they are'} meant by ",
            Setting("kinds", {key.name: "text" for key in keys}),
        )
    )


def warn_of_reading(table: Table, name: str = "X") -> None:
    """Warn of strays, and of notations, each in one message for the whole table."""
    strays = [column for column in table.columns if column.from_text.strays]
    if strays:
        n_strays = sum(len(column.from_text.strays) for column in strays)
        warn(
            InputWarning(
                Place(name),
                f": {n_strays} {'entry is not' if n_strays == 1 else 'entries are not'} what the column holds and "
                f"{'counts' if n_strays == 1 else 'count'} as missing: {'; '.join(map(_strays, strays))}: correct "
                f"{'it' if n_strays == 1 else 'them'}, or take the column as text by ",
                Setting("kinds", {column.name: "text" for column in strays}),
            )
        )
    rounded = [column for column in table.columns if column.from_text.distinct]
    if rounded:
        warn(
            InputWarning(
                Place(name),
                f": {'; '.join(map(_rounded, rounded))}: if they are keys or codes, drop the column, or take it as "
                "text by ",
                Setting("kinds", {column.name: "text" for column in rounded}),
            )
        )
    decided = [
        column for column in table.columns if column.from_text.example or column.from_text.remark
    ]
    if decided:
        warn(
            InputWarning(
                Place(name),
                f": {'; '.join(map(_notation, decided))}: if that is wrong, take the column as text by ",
                Setting("kinds", {column.name: "text" for column in decided}),
            )
        )


def _strays(column: Column) -> str:
    """``numbers in 'age' except 'x', 'l' and 3 more``."""
    texts = list(dict.fromkeys(column.from_text.strays.values()))
    shown = ", ".join(repr(text[:40]) for text in texts[:_MOST])
    count = len(column.from_text.strays)
    plural = {"number": "numbers", "date": "dates"}[column.kind]
    some = f"{count} that {'is no ' + column.kind if count == 1 else 'are no ' + plural}"
    return f"column {column.name!r} has {some} ({shown}{', ...' if len(texts) > _MOST else ''})"


def _notation(column: Column) -> str:
    read = column.from_text
    parts = [f"read {_READ[read.notation]} ({read.example})"] if read.example else []
    parts += [read.remark] if read.remark else []
    return f"column {column.name!r}: {', '.join(parts)}"


def _rounded(column: Column) -> str:
    numbers = column.entries[~np.isnan(column.entries)]
    digits = len(str(int(np.abs(numbers).max())))
    return (
        f"column {column.name!r} holds whole numbers of {digits} digits, too long for calculations: its "
        f"{column.from_text.distinct} different ones are rounded to {np.unique(numbers).size}"
    )
