"""Words that stand for an entry that is not there."""

from __future__ import annotations

MISSING = (
    "", "?", "NA", "N/A", "#N/A", "#NA", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "<NA>", "NaT",
)  # fmt: skip
"""What counts as missing in every column, as it is written here."""

MISSING_AMONG_NUMBERS = (
    "-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", ".", "..", "...", "na", "n/a", "n.a.", "n.a", "nan", "null", "#n/a",
    "none", "nil", "empty", "(empty)", "blank", "(blank)", "missing", "unknown", "unk", "not available",
    "not applicable", "not known", "no data", "0000-00-00", "0000-00-00 00:00:00",
)  # fmt: skip
"""What else counts as missing in a column of numbers or dates, in any case of its letters."""
