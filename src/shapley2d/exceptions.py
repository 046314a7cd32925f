"""What can go wrong, by name.

A message may mention an option or one of the tables. It holds them as fields, a :class:`Setting` or
a :class:`Place`, so that the command line can name its own flag, or the user's file, where Python
names an argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME_ONLY: Any = object()
_LONGEST = 200  # characters of a value in a message


@dataclass(frozen=True)
class Setting:
    """An option in a message, with its value or by its name alone.

    Examples
    --------
    >>> str(Setting("cv", 5)), str(Setting("task", "regression")), str(Setting("include_label"))
    ('cv=5', "task='regression'", 'include_label')
    """

    name: str
    value: Any = _NAME_ONLY

    @property
    def has_value(self) -> bool:
        """Whether a value comes with the name."""
        return self.value is not _NAME_ONLY

    def __str__(self) -> str:
        return f"{self.name}={self.shown(repr)}" if self.has_value else self.name

    def shown(self, write: Callable[[Any], str]) -> str:
        """The value as ``write`` puts it, shortened where it is long; its type where it cannot be written at all."""
        try:
            text = write(self.plain)
        except Exception:  # noqa: BLE001  (a representation that fails must not hide the message)
            return f"<{type(self.value).__name__}>"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."

    @property
    def plain(self) -> Any:
        """The value, a numpy scalar as a Python one."""
        scalar = getattr(self.value, "ndim", None) == 0 and hasattr(self.value, "item")
        return self.value.item() if scalar else self.value

    def __reduce__(
        self,
    ) -> tuple[Any, ...]:  # the mark of a missing value does not survive pickling
        return (Setting, (self.name, self.value) if self.has_value else (self.name,))


@dataclass(frozen=True)
class Place:
    """A table or target in a message, by the name of its argument: ``X``, ``y``, ``X_valid`` or ``y_valid``."""

    name: str

    def __str__(self) -> str:
        return self.name


class Worded(Exception):  # noqa: N818  (what errors and warnings have in common)
    """A message of text, options and places.

    Parameters
    ----------
    *parts : str, Setting or Place
        The message, part by part.

    Examples
    --------
    >>> error = InputError(Setting("cv", 1), " must be at least 2")
    >>> str(error), error.option
    ('cv=1 must be at least 2', 'cv')
    >>> error.worded(lambda part: f"--{part.name}")
    '--cv must be at least 2'
    """

    @property
    def option(self) -> str | None:
        """Name of the first option in the message."""
        return next((part.name for part in self.args if isinstance(part, Setting)), None)

    @property
    def place(self) -> str | None:
        """Name of the first table or target in the message."""
        return next((part.name for part in self.args if isinstance(part, Place)), None)

    def worded(self, word: Callable[[Setting | Place], str]) -> str:
        """The message with options and places in other words."""
        return "".join(
            word(part) if isinstance(part, (Setting, Place)) else str(part) for part in self.args
        )

    def __str__(self) -> str:
        return self.worded(str)


class InputError(Worded, ValueError):
    """The data or an option cannot be used; the message names it and says what to do."""


class OptionError(Worded, TypeError):
    """An option that the method does not have; the message names the nearest that it has."""


class Note(Worded):
    """Something that a user should know about the reading of a file; it stops nothing."""


class UtilityError(RuntimeError):
    """A utility could not be computed; the message names the coalition it was asked for."""


class InputWarning(Worded, UserWarning):
    """Something about the data that the user should know."""


class UnseenLabelWarning(Worded, UserWarning):
    """Validation labels that the training table never shows: no model can get them right."""


class LeakWarning(Worded, UserWarning):
    """A column that repeats the target in every row."""


class PrecisionWarning(Worded, UserWarning):
    """An estimate ended before it reached the precision that was asked for."""


class BackendWarning(Worded, UserWarning):
    """A GPU cannot be used; the processor takes its place, and the values are the same up to their errors."""


class CacheWarning(Worded, UserWarning):
    """Compiled code cannot be kept where it usually is; the values are the same."""


class CheckpointWarning(Worded, UserWarning):
    """A checkpoint cannot be read; an earlier one takes its place."""
