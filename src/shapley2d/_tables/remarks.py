"""What a user should know about how columns of text were read: strays, and notations that had to be decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.warnings import warn
from shapley2d.exceptions import InputWarning, Place, Setting

if TYPE_CHECKING:
    from shapley2d._tables.table import Column, Table

_MOST = 3  # examples of strays
_READ = {
    "decimal commas": "with decimal commas",
    "thousands commas": "with commas between thousands",
    "day first": "with the day first",
    "month first": "with the month first",
}


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
