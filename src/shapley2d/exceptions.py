"""Errors and warnings of the package.

A message that mentions an option or a table holds it as a field, a :class:`Setting` or a
:class:`Place`, so that the command line can name its flag or the user's file where Python names an
argument.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CacheWarning",
    "CheckpointWarning",
    "DeviceWarning",
    "InputError",
    "InputWarning",
    "LeakWarning",
    "PrecisionWarning",
    "UnseenLabelWarning",
    "UtilityError",
]

_NAME_ONLY: Any = object()
_LONGEST = 200  # characters of a value in a message
_LONGEST_NAME = 80
_LONG_NAMES = re.compile(
    rf"(?<!\w)(?P<mark>['\"])(?P<quoted>(?:(?!(?P=mark)).){{{_LONGEST_NAME + 1},}})(?P=mark)(?!\w)"
    rf"|[^\s/\\'\"]{{{_LONGEST_NAME + 1},}}"
)


def cut_names(message: str) -> str:
    """The message with at most 80 characters of any name: what is quoted, or is one long word.

    Folders of a path are words of their own.

    >>> cut_names("there is no column '" + 90 * "x" + "'") == (
    ...     "there is no column '" + 79 * "x" + "…'"
    ... )
    True
    """

    def cut(found: re.Match[str]) -> str:
        mark, name = found["mark"] or "", found["quoted"] or found[0]
        end = mark or name[len(name.rstrip(":,;.?)")) :]  # of the sentence
        return f"{mark}{name[: _LONGEST_NAME - 1]}…{end}"

    return _LONG_NAMES.sub(cut, message)


@dataclass(frozen=True)
class Setting:
    """An option in a message, with or without its value.

    Examples
    --------
    >>> str(Setting("cv", 5)), str(Setting("task", "regression")), str(Setting("include_label"))
    ('cv=5', "task='regression'", 'include_label')
    """

    name: str
    value: Any = _NAME_ONLY

    @property
    def has_value(self) -> bool:
        """Whether it has a value."""
        return self.value is not _NAME_ONLY

    def __str__(self) -> str:
        return f"{self.name}={self.shown(repr)}" if self.has_value else self.name

    def shown(self, write: Callable[[Any], str]) -> str:
        """The value as text by ``write``, shortened if long; its type if ``write`` fails."""
        try:
            text = write(self.plain)
        except Exception:  # noqa: BLE001  (a failing repr must not hide the message)
            return f"<{type(self.value).__name__}>"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."

    @property
    def plain(self) -> Any:
        """The value, with numpy scalars as Python ones."""
        scalar = getattr(self.value, "ndim", None) == 0 and hasattr(self.value, "item")
        return self.value.item() if scalar else self.value

    def __reduce__(self) -> tuple[Any, ...]:
        # the mark for "no value" does not survive pickling
        return (Setting, (self.name, self.value) if self.has_value else (self.name,))


@dataclass(frozen=True)
class Place:
    """A table or target in a message, by its argument: ``X``, ``y``, ``X_valid`` or ``y_valid``."""

    name: str

    def __str__(self) -> str:
        return self.name


class Worded(Exception):  # noqa: N818  (base of errors and warnings)
    """A message of text, options and places.

    Parameters
    ----------
    *parts : str, Setting or Place
        The message, part by part.

    Examples
    --------
    >>> error = InputError(Setting("cv", 1), " must be at least 2")
    >>> str(error)
    'cv=1 must be at least 2'
    >>> error.worded(lambda part: f"--{part.name}")
    '--cv must be at least 2'
    """

    def worded(self, word: Callable[[Setting | Place], str]) -> str:
        """The message with options and places in other words."""
        return cut_names(
            "".join(
                word(part) if isinstance(part, (Setting, Place)) else str(part)
                for part in self.args
            )
        )

    def __str__(self) -> str:
        return self.worded(str)


class InputError(Worded, ValueError):
    """The data or an option cannot be used; the message says which and what to do."""


class OutOfTimeError(InputError):
    """The time limit is over before there is anything to return; the message says what to do."""


class Note(Worded):
    """Something that the user should know about a file; it stops nothing."""


class UtilityError(RuntimeError):
    """A utility could not be computed; the message names the rows and columns."""


class InputWarning(Worded, UserWarning):
    """Something that the user should know about the data."""


class UnseenLabelWarning(Worded, UserWarning):
    """Validation labels that training never shows, so no model can predict them."""


class LeakWarning(Worded, UserWarning):
    """A column that repeats the target in every row."""


class PrecisionWarning(Worded, UserWarning):
    """An estimate stopped before it reached the requested precision."""


class DeviceWarning(Worded, UserWarning):
    """A GPU cannot be used; the CPU takes its place, with the same values up to their errors."""


class CacheWarning(Worded, UserWarning):
    """Compiled code cannot be cached in the usual place; values are unaffected."""


class CheckpointWarning(Worded, UserWarning):
    """A checkpoint cannot be read; an earlier one is used instead."""
