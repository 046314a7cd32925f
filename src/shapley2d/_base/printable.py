"""Text of a user's table on a terminal: what could move the cursor, hide or turn text around is written out."""

from __future__ import annotations

import re
import unicodedata

_JOINERS = "\u200c\u200d"  # belong to words of some languages, and to emojis
_ASCII = re.compile(r"[ -~]*")


def is_harmless(letter: str) -> bool:
    r"""Whether a terminal shows the letter and does nothing else.

    Examples
    --------
    >>> is_harmless("é"), is_harmless("\x1b"), is_harmless("\x9b"), is_harmless("\u202e")
    (True, False, False, False)
    """
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or letter in _JOINERS


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters, marks of direction and lone surrogates as escapes.

    Parameters
    ----------
    text : str
    keep : str
        Letters to leave as they are, such as the breaks between lines of our own.

    Examples
    --------
    >>> printable("a\x1b[31mb\x7f\u202e")
    'a\\x1b[31mb\\x7f\\u202e'
    """
    if _ASCII.fullmatch(text):
        return text
    return "".join(
        letter if letter in keep or is_harmless(letter) else ascii(letter)[1:-1] for letter in text
    )
