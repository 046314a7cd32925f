"""What can go wrong, by name."""

from __future__ import annotations


class InputError(ValueError):
    """The data or an option cannot be used; the message names it and says what to do."""


class UtilityError(RuntimeError):
    """A utility could not be computed; the message names the coalition it was asked for."""


class UnseenLabelWarning(UserWarning):
    """Validation labels that the training table never shows: no model can get them right."""


class LeakWarning(UserWarning):
    """A column that repeats the target in every row."""


class PrecisionWarning(UserWarning):
    """An estimate ended before it reached the precision that was asked for."""


class CheckpointWarning(UserWarning):
    """A checkpoint cannot be read; an earlier one takes its place."""
