"""The library's messages in the words of the command line: flags, and names of files."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import TYPE_CHECKING

from shapley2d.exceptions import Place, Row, Setting, Worded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


# advice in both languages: ``max_time="5m" (--max-time 5m)``
_BOTH = re.compile(r'\w+="[^"]*"(?: with \w+="[^"]*")? \((--[^)]*)\)')


class Names(dict[str, str]):
    """What to call ``X``, ``y``, ``X_valid`` and ``y_valid``, and where their rows are in words."""

    def __init__(self, *given: Mapping[str, str]) -> None:
        super().__init__(*given)
        # from the position of a row to words such as ``line 7``, for each table
        self.where: dict[str, Callable[[int], str]] = {}


@cache
def _flags() -> dict[str, str]:
    # only a message needs them: --help is quick without
    from shapley2d.cli.methods import flags
    from shapley2d.cli.options import option_flags

    return {**option_flags(), **flags()}


def in_words(message: object, names: Mapping[str, str] | None = None) -> str:
    """A message of the library as the command line says it; ``names`` are those of tables."""
    if not isinstance(message, Worded):
        return _BOTH.sub(r"\1", str(message))
    return message.worded(lambda part: _word(part, names or {}))


def _word(part: Setting | Place | Row, names: Mapping[str, str]) -> str:
    if isinstance(part, Row):
        if part.line is not None:
            return str(part)
        where = names.where.get(part.table) if isinstance(names, Names) else None
        return str(part) if where is None else where(part.position)
    if isinstance(part, Place):
        return names.get(part.name, part.name)
    if part.name == "kinds" and part.has_value:
        return " ".join(
            f"--{kind} {shlex.quote(str(column))}" for column, kind in part.plain.items()
        )
    flag = _flags().get(part.name)
    if flag is None:
        return str(part)
    if part.has_value and part.value is True:
        return flag
    return f"{flag} {shlex.quote(part.shown(str))}" if part.has_value else flag
