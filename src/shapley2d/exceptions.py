"""Errors and warnings of the package.

A message names an option as code has it, ``name=value``, a table by its argument, ``X`` or
``y_valid``, and quotes what comes from the user's table; so the command line can put its flags and
the user's files in their places.
"""

from __future__ import annotations

import re

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


class _Message(Exception):  # noqa: N818  (base of errors and warnings)
    """A message, in which long names are cut."""

    def __str__(self) -> str:
        return cut_names(super().__str__())


class InputError(_Message, ValueError):
    """The data or an option cannot be used; the message says which and what to do."""


class OutOfTimeError(InputError):
    """The time limit is over before there is anything to return; the message says what to do."""


class UtilityError(RuntimeError):
    """A utility could not be computed; the message names the rows and columns."""


class InputWarning(_Message, UserWarning):
    """Something that the user should know about the data."""


class UnseenLabelWarning(_Message, UserWarning):
    """Validation labels that training never shows, so no model can predict them."""


class LeakWarning(_Message, UserWarning):
    """A column that repeats the target in every row."""


class PrecisionWarning(_Message, UserWarning):
    """An estimate stopped before it reached the requested precision."""


class DeviceWarning(_Message, UserWarning):
    """A GPU cannot be used; the CPU takes its place, with the same values up to their errors."""


class CacheWarning(_Message, UserWarning):
    """Compiled code cannot be cached in the usual place; values are unaffected."""


class CheckpointWarning(_Message, UserWarning):
    """A checkpoint cannot be read; an earlier one is used instead."""
