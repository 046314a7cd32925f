"""The library's messages in the words of the command line: flags, and names of files.

A message is a plain string, as Python shows it. What stands in quotes is the user's own and stays.
"""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""
_VALUE = (
    rf"{_QUOTED}|\{{(?:{_QUOTED}|[^}}'\"])*\}}|(?:\w+)?\((?:{_QUOTED}|[^)'\"])*\)|<[^>]*>"
    r"|[^\s,;:)]*[^\s,;:).]"
)
_WORDS = re.compile(
    rf"(?P<said>--[\w-]+(?: (?:{_QUOTED}|[^\s:;]+))?|{_QUOTED})"  # in words of ours already
    rf"|(?<![\w./\\-])(?P<name>[A-Za-z]\w*)(?:=(?P<value>{_VALUE}))?(?![\w/\\-]|\.\w)"
)
_KIND = re.compile(rf"({_QUOTED}): '(\w+)'")
_SAYS = re.compile(r" (?:has|must|does|goes|is|are|needs|says) ")
_ARGUMENTS = ("X", "y", "X_valid", "y_valid")
# advice in both languages: ``max_time="5m" (--max-time 5m)``
_BOTH = re.compile(r'\w+="[^"]*"(?: with \w+="[^"]*")? \((--[^)]*)\)')
# what takes care of what stands in the way, by flags that Python has no argument for
_ADVICE = {
    r"drop (that row|those rows) or": r"drop \1 (--drop-missing-target) or",
    r"drop (it|them) \(\[.*?\]\),": r"drop \1 (--drop-keys, or --drop),",
}

_flags: dict[str, str] = {}  # of the command that runs, by the names in Python
_files: dict[str, str] = {}  # what its tables are called in Python, and the files they are


def speak_for(options: Iterable[Any]) -> None:
    """Forget the command before, and learn the flags of this one."""
    _files.clear()
    _flags.clear()
    _flags.update({one.name: max(one.opts, key=len) for one in options if one.opts[0][0] == "-"})


def call(files: dict[str, str]) -> None:
    """Say which files messages mean by ``X``, ``y``, ``X_valid`` and other names."""
    _files.update(files)


def in_words(message: object) -> str:
    """A message of the library as the command line says it."""
    text = _BOTH.sub(r"\1", str(message))
    for advice, flag in _ADVICE.items() if "drop_keys" in _flags else ():
        text = re.sub(advice, flag, text)
    subject = next((one for one in _files if text.startswith((f"{one} ", f"{one}:"))), "")
    start = _files.get(subject, "")
    return start + _WORDS.sub(_word, text[len(subject) :])


def _word(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    flag = _flags.get(name or "")
    if value is None:
        if name in _ARGUMENTS:
            return _files.get(name, name)
        subject = found.start() == 0 and _SAYS.match(found.string, found.end())
        asked = found.string.endswith(" set ", 0, found.start())
        return flag if flag and ("_" in name or subject or asked) else found[0]
    if name == "kinds":
        kinds = [f"--{kind} {_plain(column)}" for column, kind in _KIND.findall(value)]
        return " ".join(kinds) or found[0]
    if flag is None or value == "True":
        return flag or found[0]
    return f"{flag} {_plain(value)}"


def _plain(code: str) -> str:
    """A value as one writes it in a shell."""
    try:
        return shlex.quote(str(literal_eval(code.removeprefix("Decimal"))))
    except (ValueError, SyntaxError):
        return code
