"""The data of an inspection: how odd every entry is, what was expected, in which order to look at them, and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice, check_whole
from shapley2d._results.reasons import reasons_of, reasons_text
from shapley2d._tables.frames import make_frame
from shapley2d._tables.table import MILLISECONDS_PER_DAY
from shapley2d._tables.wording import Wording
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from numpy.typing import NDArray

    from shapley2d._inspection.findings import ColumnFinding, Findings

ORDERS = ("wrong", "harm", "gain")
"""What suspects can be ranked by."""

HARM_WEIGHT = 2.0
"""What harm counts beside the score where both decide."""

_SHOWN_ALTERNATIVES = 3
_LEAST_CHANCE = 0.01


@dataclass(frozen=True, repr=False, eq=False)
class Inspected:
    """What an inspection found; see :class:`~shapley2d.Inspection` for the attributes."""

    findings: Findings
    row_names: NDArray[Any]
    values: NDArray[np.float64] | None = None
    frame: str = "pandas"
    digests: dict[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    settled: frozenset[tuple[int, int]] = frozenset()
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns, the label not counted."""
        n, p = self.findings.scores.shape
        return n, p - self.has_label

    @property
    def has_label(self) -> bool:
        """Whether the labels were inspected too."""
        return self.findings.has_label

    @property
    def all_names(self) -> list[str]:
        """Names of the columns, the label's last where there is one."""
        return [column.name for column in self.findings.columns]

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, the label's left out."""
        return self.all_names[: self.shape[1]]

    @property
    def label_name(self) -> str | None:
        """Name of the label; None without one."""
        return self.all_names[-1] if self.has_label else None

    @property
    def scores(self) -> NDArray[np.float64]:
        """How odd every entry is, comparable within the table."""
        return self.findings.scores[:, : self.shape[1]]

    @property
    def probability(self) -> NDArray[np.float64]:
        """How likely every entry is wrong."""
        return self.findings.probability[:, : self.shape[1]]

    @property
    def label_scores(self) -> NDArray[np.float64] | None:
        """How odd every label is; None without labels."""
        return self.findings.scores[:, -1] if self.has_label else None

    @property
    def label_probability(self) -> NDArray[np.float64] | None:
        """How likely every label is wrong; None without labels."""
        return self.findings.probability[:, -1] if self.has_label else None

    @property
    def columns(self) -> list[ColumnFinding]:
        """What is odd about whole columns: units, formats, codes, spellings, rules that rows break."""
        return list(self.findings.column_findings)

    @property
    def columns_first(self) -> list[ColumnFinding]:
        """The findings about columns in the order to look at them: first what can be changed, last what only is so."""
        return sorted(
            self.columns,
            key=lambda one: (not one.suggestions, one.kind in ("key", "constant", "empty")),
        )

    @cached_property
    def entries(self) -> list[list[str | None]]:
        """What stands in the table as text, one list per column, the label's last."""
        return [column.text() for column in self.findings.columns]

    @cached_property
    def wordings(self) -> list[Wording]:
        """How the columns write their entries."""
        return [Wording.of(column) for column in self.findings.columns]

    @cached_property
    def expected(self) -> Any:
        """What every entry should say, as a frame of the caller's kind: numbers, dates, booleans and text."""
        columns: dict[str, Any] = {}
        for j, name in enumerate(self.column_names):
            columns[name] = self._suggested(j)
        frame = make_frame(columns, self.frame)
        if self.frame == "pandas" and not np.array_equal(
            self.row_names, np.arange(len(self.row_names))
        ):
            frame.index = list(self.row_names)
        return frame

    @cached_property
    def label_expected(self) -> list[str | None] | None:
        """What every label should say, as text; None without labels."""
        if not self.has_label:
            return None
        return self.expected_texts(self.shape[1])

    def expected_text(self, row: int, column: int) -> str | None:
        """The suggested entry of a cell, by position, as the column would write it; None where nothing should stand."""
        return self.wordings[column].text(float(self.findings.expected[column].entries[row]))

    def expected_texts(self, column: int) -> list[str | None]:
        """The suggested entries of a column, by position, as :meth:`expected_text` has them."""
        return self.wordings[column].texts(self.findings.expected[column].entries)

    def likely_text(self, row: int, column: int) -> str:
        """The range that was expected of a number, or the likeliest alternatives of a category, in words."""
        expected, wording = self.findings.expected[column], self.wordings[column]
        if expected.low is not None and expected.high is not None:
            low, high = (wording.text(float(end[row])) for end in (expected.low, expected.high))
            return str(low) if low == high else f"{low} to {high}" if low and high else ""
        return ", ".join(
            f"{'(empty)' if text is None else text} {percent(chance)}"
            for text, chance in self.alternatives(row, column)
        )

    def alternatives(self, row: int, column: int) -> list[tuple[str | None, float]]:
        """The likeliest entries of a category or a boolean with their chances; empty for numbers."""
        expected, wording = self.findings.expected[column], self.wordings[column]
        if expected.alternatives is None or expected.chances is None:
            return []
        found = zip(
            expected.alternatives[row].tolist(), expected.chances[row].tolist(), strict=True
        )
        return [
            (None if code == -2 else wording.text(float(code)), float(chance))
            for code, chance in list(found)[:_SHOWN_ALTERNATIVES]
            if code != -1 and chance >= _LEAST_CHANCE
        ]

    def reasons(self, row: int, column: int) -> list[tuple[str, float]]:
        """Why a cell, by position, is suspect: words, and the share that they have in its score."""
        return reasons_of(
            self.findings,
            row,
            column,
            self.expected_text(row, column),
            self.likely_text(row, column),
        )

    def order(self, by: str = "wrong", most: int | None = None) -> NDArray[np.intp]:
        """Positions of the suspects in the matrices of all columns, flat, the first to look at first.

        Those that a person has called right are left out, and so are those without a value where
        harm decides.
        """
        check_choice(by, "by", ORDERS)
        if most is not None:
            check_whole(most, "most", 0)
        scores = self.findings.scores
        if by == "wrong":
            keys = (-scores.ravel(), -self.findings.probability.ravel())
        else:
            keys = (-scores.ravel(), -(self._harm() if by == "harm" else self.both()).ravel())
        order = np.lexsort(keys)
        if by == "harm":
            order = order[np.isfinite(self._harm().ravel()[order])]
        if self.settled:
            width = scores.shape[1]
            order = order[~np.isin(order, [i * width + j for i, j in self.settled])]
        return order if most is None else order[:most]

    def rank(self, by: str = "wrong", most: int | None = 20) -> Any:
        """The suspects as a frame, the first to look at first.

        Parameters
        ----------
        by : {"wrong", "harm", "gain"}
            ``"wrong"``: the likeliest wrong first. ``"harm"``: those that hurt a model most first.
            ``"gain"``: both, for a small table whose model is to become better. The last two need
            the ``valuation`` that was passed to :func:`~shapley2d.inspect_cells`.
        most : int or None
            How many; None for all.

        Returns
        -------
        frame
            With the columns ``row``, ``column``, ``entry``, ``expected``, ``likely`` (the range of
            a number, or the likeliest categories), ``probability``, ``score``, ``value`` (what the
            cell is worth to a model, where that is known) and ``reasons``.
        """
        return make_frame(self._lines(self.order(by, most), reasons=True), self.frame)

    def to_frame(self) -> Any:
        """All cells, in the order of the table: as :meth:`rank` has them, but without ``likely`` and ``reasons``."""
        return make_frame(
            self._lines(np.arange(self.findings.scores.size), reasons=False), self.frame
        )

    def _lines(self, flat: NDArray[np.intp], *, reasons: bool) -> dict[str, Any]:
        i, j = np.unravel_index(flat, self.findings.scores.shape)
        names = np.array(self.all_names, dtype=object)
        cells = list(zip(i.tolist(), j.tolist(), strict=True))
        columns: dict[str, Any] = {
            "row": self.row_names[i],
            "column": names[j],
            "entry": _objects([self.entries[b][a] for a, b in cells]),
            "expected": _objects(self._expected_of(i, j)),
        }
        if reasons:
            columns["likely"] = _objects([self.likely_text(a, b) for a, b in cells])
        columns["probability"] = self.findings.probability[i, j]
        columns["score"] = self.findings.scores[i, j]
        columns["value"] = np.full(i.size, np.nan) if self.values is None else self.values[i, j]
        if reasons:
            columns["reasons"] = _objects([reasons_text(self.reasons(a, b)) for a, b in cells])
        return columns

    def _expected_of(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> list[str | None]:
        texts: list[str | None] = [None] * i.size
        for column in np.unique(j).tolist():
            places = np.flatnonzero(j == column)
            found = self.wordings[column].texts(self.findings.expected[column].entries[i[places]])
            for place, text in zip(places.tolist(), found, strict=True):
                texts[place] = text
        return texts

    def _harm(self) -> NDArray[np.float64]:
        if self.values is None:
            raise InputError(
                Setting("by"),
                " needs cell values: pass ",
                Setting("valuation"),
                " to inspect_cells, or rank by 'wrong'",
            )
        return -self.values

    def both(self) -> NDArray[np.float64]:
        """Score and harm in one number, the first to look at largest."""
        harm = self._harm()
        terms = np.zeros_like(harm)
        for part in (
            slice(0, self.shape[1]),
            slice(self.shape[1], None),
        ):  # labels are worth more than cells
            known = harm[:, part][np.isfinite(harm[:, part])]
            spread = float(known.std()) if known.size else 0.0
            if spread > 0:
                terms[:, part] = np.nan_to_num(np.arcsinh(harm[:, part] / spread))
        return np.asarray(self.findings.scores + HARM_WEIGHT * terms)

    def _suggested(self, j: int) -> Any:
        """A column of suggested entries as numbers, dates, booleans or text."""
        column, wording = self.findings.columns[j], self.wordings[j]
        entries = wording.rounded(self.findings.expected[j].entries)
        gone = np.isnan(entries)
        if column.kind == "number":
            whole = (
                wording.decimals == 0 and not gone.any() and bool((np.abs(entries) < 2**53).all())
            )
            return entries.astype(np.int64) if whole else entries
        if column.kind == "date":
            stamps = np.round(np.where(gone, 0.0, entries) * MILLISECONDS_PER_DAY).astype(np.int64)
            dates = stamps.astype("datetime64[ms]")
            dates[gone] = np.datetime64("NaT", "ms")
            return dates
        if column.kind == "boolean":
            return _objects(
                [None if np.isnan(entry) else bool(entry) for entry in entries.tolist()]
            )
        return _objects([wording.text(entry) for entry in entries.tolist()])

    def settle(self, cells: Iterable[tuple[int, int]]) -> Self:
        """The inspection with more cells, by position, that a person has called right."""
        return replace(self, settled=self.settled | frozenset(cells))

    @property
    def expected_errors(self) -> float:
        """How many entries are wrong, by the probabilities."""
        return float(self.findings.probability.sum())


def percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _objects(items: list[Any]) -> NDArray[Any]:
    """Items as a column; None stays None."""
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column
