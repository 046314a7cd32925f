"""Decisions about suspect cells, read from the CSV file that the page writes.

One line per cell: ``row`` (its position in the table, from 0), ``name`` (of the row, where it has
one), ``column``, ``entry`` (in the table), ``decision`` (``accept``, ``edit`` or ``right``),
``new`` (the entry that replaces it), ``probability``, ``why``, ``target`` (the column to predict)
and ``table`` (the fingerprint of the table).

The page puts an apostrophe before text that a spreadsheet would run as a formula; it is removed
here.
"""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path

from shapley2d._base.limits import read_record_file
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import FORMULA
from shapley2d._tables.reading.csv_text import decode
from shapley2d._tables.reading.spreadsheet import looks_like_spreadsheet
from shapley2d.exceptions import InputError

VERDICTS = ("accept", "edit", "right")
"""The possible decisions: take the suggested entry, write another one, leave the entry."""

_NEEDED = ("row", "column", "entry", "decision", "new", "table")
_GUARDED = re.compile(f"'+(?:{FORMULA.pattern})")
PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Decision:
    row: int  # its position
    column: str
    entry: str | None  # in the table
    verdict: str  # one of VERDICTS
    new: str | None = None  # replaces the entry; without meaning where that is right
    name: str = ""  # of the row, where it has one
    why: str = ""
    probability: float | None = None  # of being wrong, as the page showed it
    line: int = 0  # of the file, for messages

    @property
    def changes(self) -> bool:
        """Whether the entry is to be replaced."""
        return self.verdict != "right"


@dataclass(frozen=True)
class Decisions:
    made: list[Decision]
    table: str  # its fingerprint
    target: str = ""  # the column to predict; empty where there was none
    path: str = ""

    def where(self, decision: Decision) -> str:
        """File and line of a decision, for messages."""
        return f"{self.path}, line {decision.line}"


def read_decisions(path: str | os.PathLike[str]) -> Decisions:
    """Read a file of decisions; a line that does not fit is refused by its number."""
    name = os.fspath(path)
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{name} is a folder: name the file of decisions in it")
    if not place.is_file():
        raise InputError(f"there is no file {name}")
    data = read_record_file(place)
    if looks_like_spreadsheet(data):
        raise InputError(
            f"{name} is a spreadsheet: save it as CSV, with commas or semicolons, or download it "
            "again"
        )
    text, _, _, guess = decode(data, name, None)
    if guess is not None:  # a spreadsheet may have saved it in the letters of its country
        warn_input(
            f"{name} is not UTF-8: read as Western European letters (cp1252); if new entries "
            "look wrong, download it again"
        )
    return parse_decisions(text, name)


def parse_decisions(text: str, path: str = "decisions") -> Decisions:
    r"""Decisions from the text of a file.

    >>> parse_decisions("row,column,entry,decision,new,table\n3,age,341,edit,34,9f\n").made[0].new
    '34'
    """
    csv.field_size_limit(2**31 - 1)
    start = text.split("\n", 1)[0]
    # spreadsheets may have saved the file with another separator
    mark = next((mark for mark in ";\t" if start.count(mark) > start.count(",")), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        header = [field.strip() for field in next(reader, [])]
        lacks = [field for field in _NEEDED if field not in header]
        if lacks:
            raise InputError(
                f"{path} is not a file of decisions: it has no column {lacks[0]!r}; the page of "
                "shapley2d inspect downloads one"
            )
        made: list[Decision] = []
        tables: dict[str, int] = {}
        targets: dict[str, int] = {}
        line = 2
        for fields in reader:
            if fields and any(fields):
                if len(fields) != len(header):
                    raise InputError(
                        f"{path}, line {line}: {len(fields)} fields, but the header has "
                        f"{len(header)}"
                    )
                record = dict(zip(header, fields, strict=True))
                made.append(_decision(record, path, line))
                # a line added by hand goes with the others
                if table := record["table"].strip():
                    tables.setdefault(table, line)
                if target := _unguarded(record.get("target", "")):
                    targets.setdefault(target, line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not readable as CSV ({error})") from None
    for what, found in (("tables", tables), ("targets", targets)):
        if len(found) > 1:
            raise InputError(
                f"{path}, line {list(found.values())[1]}: decisions about two {what}: keep those "
                "about one"
            )
    cells: dict[tuple[int, str], int] = {}
    for decision in made:
        first = cells.setdefault((decision.row, decision.column), decision.line)
        if first != decision.line:
            raise InputError(
                f"{path}, line {decision.line}: row {decision.row}, column {decision.column!r} "
                f"was decided in line {first} already: keep one of them"
            )
    return Decisions(made, next(iter(tables), ""), next(iter(targets), ""), path)


def _decision(record: dict[str, str], path: str, line: int) -> Decision:
    row, verdict = record["row"].strip(), record["decision"].strip().lower()
    if not row.isdecimal() or len(row) > 15:
        raise InputError(
            f"{path}, line {line}: row {row[:40]!r} is not the position of a row: write 0 for the "
            "first row, 1 for the second"
        )
    if verdict not in VERDICTS:
        raise InputError(
            f"{path}, line {line}: decision {verdict[:40]!r} is not known: write accept, edit or "
            "right"
        )
    try:
        probability = float(record.get("probability", "") or "nan")
    except ValueError:
        probability = float("nan")
    return Decision(
        row=int(row),
        column=_unguarded(record["column"]),
        entry=_unguarded(record["entry"]) or None,
        verdict=verdict,
        new=_unguarded(record["new"]) or None,
        name=_unguarded(record.get("name", "")),
        why=_unguarded(record.get("why", "")),
        probability=probability if 0 <= probability <= 1 else None,
        line=line,
    )


def same_entry(one: str | None, other: str | None) -> bool:
    """Whether two texts are the same entry; 30.0 and 30 are the same number.

    >>> same_entry("30.0", "30"), same_entry("x", " x"), same_entry(None, ""), same_entry("1", "2")
    (True, True, True, False)
    """
    first, second = (one or "").strip(), (other or "").strip()
    numbers = PLAIN_NUMBER.fullmatch(first) and PLAIN_NUMBER.fullmatch(second)
    return first == second or bool(numbers and float(first) == float(second))


def _unguarded(text: str) -> str:
    """A field without the apostrophe that keeps a spreadsheet from running it.

    >>> _unguarded("'=1+1"), _unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if _GUARDED.match(text) else text
