"""Why an entry is suspect, in plain words, with the share that each reason has in its score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapley2d._inspection.findings import Findings

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
    found = []
    known = findings.suspects.get((row, column))
    if known:
        found.append((known, 0.0))
    if whole > 0:
        kind = findings.columns[column].kind
        shares = sorted(((name, part / whole) for name, part in parts.items()), key=lambda one: -one[1])
        for name, share in shares:
            if share >= LEAST_SHARE:
                found.append((_phrase(name, kind, expected, likely), share))
    return found


def reasons_text(reasons: list[tuple[str, float]]) -> str:
    """The reasons in one line.

    Examples
    --------
    >>> reasons_text([("far from what the row says: expected 34 to 41", 0.62), ("rare in the column", 0.3)])
    'far from what the row says: expected 34 to 41 (62 %); rare in the column (30 %)'
    """
    return "; ".join(words if not share else f"{words} ({share:.0%})".replace("%", " %") for words, share in reasons)


def _phrase(name: str, kind: str, expected: str | None, likely: str) -> str:
    numeric = kind in ("number", "date")
    wanted = f": expected {likely}" if likely else ""
    if name in ("distance",):
        return f"far from what the row says{wanted}"
    if name in ("surprise",):
        return "unlikely beside the rest of the row" + ("" if numeric else wanted)
    if name in ("stories",):
        return "an error explains it better than the row does"
    if name in ("class", "class z"):
        return "unusual among rows of its label"
    if name in ("repeat",):
        return "rare in a column whose entries repeat"
    if name in ("repair gain", "gain"):
        instead = "nothing" if expected is None else repr(expected)
        return f"with {instead} instead, the rest of the row fits better"
    if name in ("text",):
        return "not written like the others"
    return name
