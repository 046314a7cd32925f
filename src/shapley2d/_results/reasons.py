"""Why an entry is suspect, in plain words, with the share that each reason has in its score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapley2d._inspection.findings import Findings

_WORDS = {
    "class": "unusual among rows of its label",
    "repeat": "rare in a column whose entries repeat",
    "text": "not written like the others",
}

LEAST_SHARE = 0.1
"""Reasons that make up less of a score are not worth a word."""


def reasons_of(
    findings: Findings, row: int, column: int, expected: str | None, likely: str
) -> list[tuple[str, float]]:
    """Reasons with their shares, the largest first; what else is known of the entry comes before them, with share 0.

    Parameters
    ----------
    findings : Findings
    row, column : int
    expected : str or None
        The suggested entry, as text.
    likely : str
        The range of a number, or the alternatives of a category, as text.
    """
    parts = {name: max(0.0, float(part[row, column])) for name, part in findings.parts.items()}
    whole = sum(parts.values())
    kind = findings.columns[column].kind
    known = findings.suspects.get((row, column))
    found = [(known, 0.0)] if known else []
    shares: dict[str, float] = {}
    for name, part in parts.items():
        words = _phrase(name, kind, expected, likely)
        if name == "class" and not findings.has_label:
            words = "unusual in its column"
        shares[words] = shares.get(words, 0.0) + (part / whole if whole > 0 else 0.0)
    listed = sorted(shares.items(), key=lambda one: -one[1])
    return found + [(words, share) for words, share in listed if share >= LEAST_SHARE]


def reasons_text(reasons: list[tuple[str, float]]) -> str:
    """The reasons in one line.

    Examples
    --------
    >>> reasons_text([("far from what the row says: expected 34 to 41", 0.62), ("rare in the column", 0.3)])
    'far from what the row says: expected 34 to 41 (62 %); rare in the column (30 %)'
    """
    return "; ".join(
        words if not share else f"{words} ({100 * share:.0f} %)" for words, share in reasons
    )


def _phrase(name: str, kind: str, expected: str | None, likely: str) -> str:
    """A part of the score in words; several that say the same to a reader share them."""
    if name in ("distance", "surprise", "stories"):
        start = (
            "far from what the row says"
            if kind in ("number", "date")
            else "does not go with the rest of the row"
        )
        return f"{start}: expected {likely}" if likely else start
    if name == "gain":
        instead = "nothing" if expected is None else repr(expected)
        return f"with {instead} instead, the rest of the row fits better"
    return _WORDS.get(name, name)
