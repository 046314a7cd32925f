"""The page that leads from the paper's statements to the code: every entry resolves."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split(" | ")]
    for line in (ROOT / "docs/paper.md").read_text().splitlines()
    if line.startswith("| ") and "`" in line
]
NUMBERED = re.compile(r"(?:Definition|Theorem|Corollary|Algorithm|Axiom) [\dA-E.]*\d")


def resolved(name):
    """The object behind a dotted name: the longest module that it begins with, then attributes."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[count:], found)
    raise AssertionError(name)


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:40] for row in ROWS])
def test_every_entry_leads_somewhere(row):
    named = [resolved(name) for name in re.findall(r"`(shapley2d[\w.]+)`", " ".join(row))]
    for path, _, test in re.findall(r"`(tests/[\w/.]+)(::(\w+))?`", " ".join(row)):
        assert not test or f"def {test}(" in (ROOT / path).read_text()
        assert (ROOT / path).is_file()
    for statement in NUMBERED.findall(row[0]):
        assert any(statement in (one.__doc__ or "") for one in named), statement


def test_no_statement_of_the_paper_is_missing():
    there = " ".join(row[0] for row in ROWS)
    for statement in (
        *("Definition 3.1", "Definition 3.2", "Theorem 3.3", "Corollary 3.4", "Corollary D.1"),
        *("Axiom 1", "Axiom 2", "Axiom 3", "Axiom 4", "Algorithm 1", "Algorithm 2"),
        *("Table 1", "Table 2"),
    ):
        assert statement in there
