"""Words for people: plurals, choices, the nearest word, numbers, times, sizes, printable text."""

from __future__ import annotations

import difflib
import html
import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_JOINERS = "\u200c\u200d"  # part of words in some languages, and of emojis
_DAY_S, _YEAR_S = 86_400, 365.25 * 86_400
_ASCII = re.compile(r"[ -~]*")
_LONGEST = 200  # characters of a value in a message
FORMULA = re.compile(r"[\t\r\n]|[\s\x00-\x20\x7f\ufeff\u200b]*[=@+\-\uff1d\uff20\uff0b\uff0d]")
"""The start of text that a spreadsheet may run as a formula, full-width signs too."""


def plural(count: int, one: str, several: str = "") -> str:
    """The word that goes with a count; ``several`` where it is not ``one`` with an s."""
    return one if count == 1 else several or f"{one}s"


def counted(count: int, one: str, several: str = "") -> str:
    """The count and its word.

    >>> counted(1, "entry", "entries"), counted(2000, "entry", "entries")
    ('1 entry', '2,000 entries')
    """
    return f"{count:,} {plural(count, one, several)}"


def first_of(words: Sequence[str], most: int = 5) -> str:
    """The first of some words, and how many more there are.

    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more:,} more" if more > 0 else "")


def shown(value: Any) -> str:
    """A user's value in a message: as code, cut where it is long; its type where it has no code.

    >>> shown("a"), shown(None), len(shown("a" * 1000))
    ("'a'", 'None', 200)
    """
    scalar = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    try:
        text = repr(value.item() if scalar else value)
    except Exception:  # noqa: BLE001  (a failing repr must not hide the message)
        return f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def one_of(words: Iterable[Any]) -> str:
    """The choices of an option."""
    shown = [repr(word) for word in words]
    return " or ".join(shown) if len(shown) <= 2 else f"one of {', '.join(shown)}"


def nearest_word(word: str, known: Iterable[Any], cutoff: float = 0.6) -> str | None:
    """The known word, or number as text, that is most like another; None if none is similar.

    An ending that both have, such as .csv, says nothing; neither do capitals.

    >>> nearest_word("peple.csv", ["people.csv"]), nearest_word("nofile.csv", ["people.csv"])
    ('people.csv', None)
    """
    stem, dot, ending = word.rpartition(".")
    tail = f".{ending}" if stem and dot else ""
    stems = {one.removesuffix(tail).lower(): one for one in map(str, known)}
    near = difflib.get_close_matches(word.removesuffix(tail).lower(), stems, 1, cutoff)
    return stems[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[Any], cutoff: float = 0.6) -> str:
    """A hint at the nearest known word, to append to a message; empty if none is similar."""
    near = nearest_word(word, known, cutoff)
    return "" if near is None else f" (did you mean {near!r}?)"


def figure(number: float, digits: int = 3, *, signed: bool = False) -> str:
    """A number to some digits, without an exponent unless it is tiny or huge.

    >>> figure(0.01234), figure(-38.66), figure(12345.6, signed=True), figure(2.5e-9)
    ('0.0123', '-38.7', '+12,346', '2.5e-09')
    """
    sign = "+" if signed else ""
    size = abs(number)
    if size == 0 or not math.isfinite(number):
        return "0" if size == 0 else str(number)
    if not 1e-6 <= size < 1e9:
        return f"{number:{sign}.{digits}g}"
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    return f"{number:{sign},.{decimals}f}"


def entry_text(number: float) -> str:
    """A number of a table as text, exactly; a whole one without a decimal point."""
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def shorten(text: str, length: int) -> str:
    """Text of at most ``length`` characters, with an ellipsis where it was longer."""
    return text if len(text) <= length else text[: length - 1] + "…"


def format_seconds(seconds: float) -> str:
    """A time span in at most two units, one that nobody waits for in days or years.

    >>> format_seconds(0.05), format_seconds(8.2), format_seconds(90), format_seconds(7300)
    ('0.05 s', '8 s', '1 min 30 s', '2 h 1 min')
    >>> format_seconds(47 * 3600), format_seconds(3650 * 3600), format_seconds(1e9)
    ('47 h 0 min', '152 days', '32 years')
    """
    if seconds >= 1000 * _YEAR_S:
        return "more than 1,000 years"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if whole or not seconds > 0 else f"{seconds:.1g} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 2 * _DAY_S:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    if whole < 2 * _YEAR_S:
        return f"{round(whole / _DAY_S)} days"
    return f"{round(whole / _YEAR_S)} years"


def took_words(seconds: float | None) -> str:
    """How long a run took; empty below a minute, or if nobody knows."""
    return "" if seconds is None or seconds < 60 else format_seconds(seconds)


def format_bytes(count: float) -> str:
    """An amount of memory in a fitting unit.

    >>> format_bytes(900), format_bytes(3.2e6), format_bytes(2.5e9)
    ('1 kB', '3 MB', '2.5 GB')
    """
    if count < 1e6:
        return f"{max(math.ceil(count / 1e3), 1)} kB"
    return f"{count / 1e6:.0f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"


def is_harmless(letter: str) -> bool:
    r"""Whether a terminal shows the character and does nothing else."""
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or letter in _JOINERS


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters, direction marks and lone surrogates escaped.

    They could move the cursor, hide text or reverse it. Characters in ``keep`` stay, such as line
    breaks of our own.

    >>> printable("a\x1b[31mb\x7f\u202e")
    'a\\x1b[31mb\\x7f\\u202e'
    """
    if _ASCII.fullmatch(text):
        return text
    return "".join(
        letter if letter in keep or is_harmless(letter) else ascii(letter)[1:-1] for letter in text
    )


_SHARES = (
    "probability",
    "accuracy", "balanced_accuracy", "f1", "precision", "recall", "roc_auc", "average_precision",
    "jaccard", "top_k_accuracy", "r2", "explained_variance",
)  # fmt: skip


def is_share(scoring: str) -> bool:
    """Whether a score is a share, which people read in per cent."""
    return scoring.startswith(_SHARES)


def html_table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    """A table of plain text."""

    def line(texts: tuple[str, ...], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(text)}</{tag}>' for text in texts)}</tr>"

    heading = f"<thead>{line(head, 'th')}</thead>" if head else ""
    return f"<table>{heading}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"
