"""Single entries and names of a user's table: missing, a number, or text that files can hold."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable


def is_number(item: Any) -> bool:
    """Whether an object is a real number (int, float, decimal, fraction), booleans excluded.

    >>> is_number(1.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(item, (Real, Decimal)) and not isinstance(item, (bool, np.bool_))


def as_text(item: Any) -> str:
    r"""An entry or a name as text that can be written: lone surrogates become their escapes.

    Python reads them from files in an unknown encoding and from cut JSON, but no file, page or
    terminal takes them. All text of a user's table passes through here, and so do bytes.
    """
    if isinstance(item, bytes):
        return item.decode("utf-8", "backslashreplace")
    return str(item).encode("utf-8", "backslashreplace").decode()


def with_texts(items: Iterable[Any]) -> list[Any]:
    """The items, those that are text or bytes by :func:`as_text`."""
    items = list(items)
    if set(map(type, items)) == {str}:  # once for every distinct text: labels repeat
        changed = {item: text for item in set(items) if (text := as_text(item)) != item}
        return [changed.get(item, item) for item in items] if changed else items
    return [as_text(item) if isinstance(item, (str, bytes)) else item for item in items]


def is_missing(item: Any) -> bool:
    """Whether an entry is None, NaN, NaT or pandas' NA; all but None do not equal themselves.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if item is None:
        return True
    if isinstance(item, (str, bytes, int)):
        return False
    if isinstance(item, Decimal):
        return item.is_nan()  # a signalling NaN cannot be compared, not even with itself
    equal = item == item  # noqa: PLR0124
    return equal is not True and not (isinstance(equal, (bool, np.bool_)) and bool(equal))
