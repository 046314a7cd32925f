"""The library's messages in the words of the command line: flags, and names of files."""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from functools import cache
from typing import TYPE_CHECKING

from shapley2d.exceptions import Place, Setting, Worded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


# advice in both languages: ``max_time="5m" (--max-time 5m)``
_BOTH = re.compile(r'\w+="[^"]*"(?: with \w+="[^"]*")? \((--[^)]*)\)')


_QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""
_SETTING = re.compile(
    rf"{_QUOTED}|(?<![\w-])(?P<name>[A-Za-z]\w*)"
    rf"(?:=(?P<value>{_QUOTED}|\{{(?:{_QUOTED}|[^}}'\"])*\}}|[\w.-]*\w))?(?![\w(-])"
)


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
    words = message.worded(lambda part: _word(part, names or {}))
    if not all(isinstance(part, str) for part in message.args):
        return words
    name = next((one for one in names or {} if words.startswith((f"{one} ", f"{one}:"))), "")
    return _SETTING.sub(_set, (names or {}).get(name, "") + words[len(name) :])


def _set(found: re.Match[str]) -> str:
    """A setting in a message that is plain text."""
    name, value = found["name"], found["value"]
    if name is None or (name not in _flags() and not (name == "kinds" and value)):
        return found[0]
    if value is None:
        asked = found.string.endswith(" set ", 0, found.start())
        return _flags()[name] if "_" in name or not found.start() or asked else found[0]
    try:
        return _word(Setting(name, literal_eval(value)), {})
    except (ValueError, SyntaxError):
        return f"{_flags().get(name, name)} {value}"


def _word(part: Setting | Place, names: Mapping[str, str]) -> str:
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
