"""Suggested entries, and how likely each is right.

That an entry is wrong and that a suggestion is right are two questions: an impossible age is surely
wrong, and nobody knows the right one. A finding about a column that names the new entry comes
before a prediction from the row: it uses what the entry itself, or the same thing in other rows,
says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._inspection.columns.finding import SURE, SURE_RIGHT, logistic
from shapley2d._inspection.columns.spelling import slips_of, token_slips_of, variants_of
from shapley2d._inspection.learned import LEARNED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._inspection.cells import Expected, ScoredCells
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView
    from shapley2d._inspection.company import Company

# How often the new entries of findings are right where the old ones are wrong: on hospital,
# flights, beers, and on errors planted into clean tables (benchmarks/findings.py, suggestions.py).
_RIGHT = {
    "notation": SURE, "spellings": 0.95, "spilled": 0.95, "units": 0.95, "suffix": SURE,
    "encoding": SURE,
    "signs": 0.9, "codes": 0.9, "words for missing": 0.85,
    "date orders": 0.9, "infinite": 0.9,
}  # fmt: skip


_MOST = 0.94
"""Cap on the probability that an offer is right: less than findings say of theirs."""

_WHY = {
    "encoding": "broken letters",
    "notation": "another notation",
    "suffix": "another unit, or none",
    "formats": "another format",
}
"""The reasons of entries that are suspect for how they are written."""


def offers(view: ColumnView, company: Company) -> Iterator[tuple[str, Any, Floats]]:
    """Entries that other texts of the column, and rows that agree elsewhere, offer for each one.

    With the name of the source, and what it says of its offer: the log of how much more frequent it
    is, or the log-odds of its share of the votes. None where there is no offer.
    """
    sources = (("slip", slips_of), ("variant", variants_of), ("token", token_slips_of))
    for name, find in sources:
        if found := find(view):
            texts, ratios = np.full(len(view.words) + 1, None), np.zeros(len(view.words) + 1)
            for k, meant in found.items():
                texts[k], ratios[k] = meant
            yield name, texts[view.codes], ratios[view.codes]
    if (company.usual >= 0).any():
        share = company.majority.clip(0.01, 0.99)
        yield "rows", np.array([*view.words, None])[company.usual], np.log(share / (1 - share))


def offered(
    views: Sequence[ColumnView],
    companies: Sequence[Company],
    expected: Sequence[Expected],
    suspects: Bools,
    known: int,
) -> dict[tuple[int, int], tuple[str | None, float]]:
    """The surest offer for every suspect that is surer than what its row predicts.

    The rows to judge are those of ``expected`` and ``suspects``, behind the first ``known``.
    """
    best: dict[tuple[int, int], tuple[str | None, float]] = {}
    for j, (view, company) in enumerate(zip(views, companies, strict=True)):
        rows = np.flatnonzero(suspects[:, j])
        for name, texts, said in offers(view, company) if rows.size else ():
            at, slope = LEARNED["right"][name]
            right = logistic(at + slope * said)
            for i in rows.tolist():
                text, sure = texts[known + i], float(min(right[known + i], _MOST))
                usual = best[i, j][1] if (i, j) in best else _row_sure(view, expected[j], known, i)
                if text is not None and sure > usual:
                    best[i, j] = text, sure
    return best


def _row_sure(view: ColumnView, expected: Expected, known: int, i: int) -> float:
    return expected.sure(i, float(view.column.entries[known + i]))


def with_suggestions(cells: ScoredCells, findings: Sequence[ColumnFinding]) -> ScoredCells:
    """The cells with the entries that findings suggest, each with how likely it is right.

    Of several suggestions for an entry the likeliest right is taken, slips included; one that is
    likelier right than not comes before an empty cell.
    """
    best = {
        (i, j): _offer(text, float(cells.probability[i, j]), sure)
        for (i, j), (text, sure) in cells.suggested.items()
    }
    notes = dict(cells.notes)
    # a rule of arithmetic has weighed the slips already
    for finding in sorted(findings, key=lambda one: one.kind != "arithmetic"):
        j = cells.names.index(finding.columns[0])
        rows = finding.rows.tolist()
        wrong = dict(zip(rows, finding.row_chances.tolist(), strict=True))
        right = dict(zip(rows, suggestion_chances(finding).tolist(), strict=True))
        for i, text in finding.suggestions.items():
            if (text or None) == cells.entries[j][i]:
                continue
            offer = _offer(text, wrong[i], right[i])
            if not offer[0] and cells.is_mark(i, j):  # is emptied unasked
                continue
            known = best.get((i, j))
            if known and known >= offer and finding.kind != "arithmetic":
                if known[-1] == text and finding.kind in _WHY:
                    notes.setdefault((i, j), _WHY[finding.kind])
                continue
            if text not in notes.get((i, j), text):
                notes.pop((i, j))  # a slip that leads elsewhere
            if finding.kind == "arithmetic":
                notes[i, j] = finding.text.partition(", except")[0]
            elif finding.kind in _WHY:
                notes[i, j] = _WHY[finding.kind]
            best[i, j] = offer
    return replace(
        cells,
        notes=notes,
        suggested={cell: (text or None, sure) for cell, (*_, sure, text) in best.items()},
    )


def _offer(text: str | None, wrong: float, sure: float) -> tuple[bool, float, float, str]:
    """A suggested entry, last, and how likely it is right; of two offers the larger is taken."""
    return bool(text) and sure >= 0.5, wrong * sure, sure, text or ""


def suggestion_chances(finding: ColumnFinding) -> Floats:
    """How likely suggested entries are right, where those in the table are wrong."""
    if finding.right is None:
        return np.full(finding.rows.size, _RIGHT.get(finding.kind, 0.5))
    return finding.right


def all_at_once(cells: ScoredCells, finding: ColumnFinding) -> list[tuple[int, str | None, float]]:
    """Row, new entry and chance of what a finding may change in one go.

    Entries that are likelier wrong than not, by all that is known of them, or that only another
    format says; and whose suggestion is sure and the one that the cell itself shows.
    """
    j = cells.names.index(finding.columns[0])
    is_same = finding.kind == "formats" and cells.columns[j].kind == "date"
    return [
        (i, text, float(cells.probability[i, j]))
        for i, right in zip(finding.rows.tolist(), suggestion_chances(finding), strict=True)
        if (is_same or cells.probability[i, j] >= 0.5)
        and i in finding.suggestions
        and right >= SURE_RIGHT
        and (text := finding.suggestions[i] or None) != cells.entries[j][i]
        and text == cells.expected_text(i, j)
    ]
