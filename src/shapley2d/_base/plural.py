"""Singular and plural in messages."""

from __future__ import annotations


def plural(count: int, one: str, several: str = "") -> str:
    """The word that goes with a count; ``several`` where it is not ``one`` with an s.

    Examples
    --------
    >>> plural(1, "row"), plural(2, "row"), plural(2, "is", "are")
    ('row', 'rows', 'are')
    """
    return one if count == 1 else several or f"{one}s"


def counted(count: int, one: str, several: str = "") -> str:
    """The count and its word.

    Examples
    --------
    >>> counted(1, "entry", "entries"), counted(2000, "entry", "entries")
    ('1 entry', '2,000 entries')
    """
    return f"{count:,} {plural(count, one, several)}"
