"""Files of decisions, written as the page writes them."""

import csv
import io
import re
from pathlib import Path

FIELDS = ["row", "name", "column", "entry", "decision", "new", "probability", "why", "target",
          "table"]  # fmt: skip
FORMULA = re.compile(
    r"'*(?:[\t\r\n]|[\s\x00-\x20\x7f\ufeff\u200b]*[=@+\-\uff1d\uff20\uff0b\uff0d])"
)
PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(text):
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if FORMULA.match(text) and not PLAIN_NUMBER.fullmatch(text) else text


def decisions_text(made, table, target=""):
    """The text of a file of decisions."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(FIELDS)
    for one in made:
        chance = "" if one.probability is None else f"{one.probability:.4g}"
        fields = (str(one.row), one.name, one.column, one.entry, one.verdict, one.new)
        writer.writerow(
            [guarded(field or "") for field in (*fields, chance, one.why, target, table)]
        )
    return stream.getvalue()


def write_decisions(path, made, table, target=""):
    """Write a file of decisions."""
    text = "\ufeff" + decisions_text(made, table, target)
    Path(path).write_bytes(text.encode("utf-8", "replace"))
